//! What goes wrong on real machines: crashes, full disks, damaged files, locks, closed pipes, odd input.
//!
//! Every test runs the real binary in a home of its own and looks at what is left: rows, memories,
//! files. Numbers are exact; nothing is judged by a log line.

mod damage;
mod disk;
mod guards;
mod home;
mod hooks;
mod input;
mod kills;
mod locks;
mod model;
mod races;
mod server;
