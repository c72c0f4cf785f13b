//! The server: a real process on loopback, asked over HTTP and through our own client.

mod contract;
mod http;
mod server;
