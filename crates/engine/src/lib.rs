//! The state of mem0-code: the evidence store, and the places a memory can live behind one trait.

pub mod api;
pub mod db;
pub mod embedded;
pub mod evidence;
pub mod llm;
pub mod platform;
