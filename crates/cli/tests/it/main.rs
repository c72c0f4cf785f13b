//! Black-box tests: the real binary, real processes, a temporary home.
//!
//! `cases` runs the behaviour cases of `tests/cases/`; `faults` holds what no case can say in JSON:
//! crashes, full disks, races. `docs/design/testing.md` tells which kind of test goes where.

mod cases;
mod faults;
mod handoff;
mod process;
mod review;
mod serve;
mod wiring;
