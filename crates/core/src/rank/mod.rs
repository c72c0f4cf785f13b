//! What makes a memory answer a question: terms, vectors, cues, the weighted sum and the threshold.
//!
//! Everything here is arithmetic over values. The engine keeps the index and calls in: [`terms`] turns
//! text into index terms, [`embed`] into a vector, [`cues`] reads what a question asks for and what a
//! memory carries, [`time`] finds the window a question names, [`score`] adds the signals up, [`closeness`]
//! reads the best once more for words that belong together, and [`relevance`] decides whether a result is worth showing to someone who did not ask.

pub mod chunk;
pub mod closeness;
pub mod cues;
pub mod embed;
pub mod excerpt;
pub mod relevance;
pub mod score;
pub mod terms;
pub mod time;
