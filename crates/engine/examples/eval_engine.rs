//! `eval_recall.py -- target/release/examples/eval_engine`: the embedded engine under a retrieval benchmark.
//! `WEIGHTS="dense=0.5,session=0.4"` in the environment measures other weights.

use std::io;

use mem0_code_core::rank::score::Weights;
use mem0_code_engine::embedded::eval;

fn main() -> io::Result<()> {
    let mut weights = Weights::default();
    for pair in std::env::var("WEIGHTS").unwrap_or_default().split(',').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| io::Error::other("WEIGHTS: name=value"))?;
        if !weights.set(name, value.parse().map_err(io::Error::other)?) {
            return Err(io::Error::other(format!("WEIGHTS: no weight named {name}")));
        }
    }
    eval::run_with(&weights, io::stdin().lock(), io::stdout().lock())
}
