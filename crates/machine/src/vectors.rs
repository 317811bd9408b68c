//! Test vectors: state before, a few instructions, state after. The format is described in `docs/vectors.md`.

mod compare;
mod file;
mod format;
mod run;
mod setup;

pub use compare::Mismatch;
pub use file::{OpenError, VectorError, open, parse};
pub use format::{Bytes, Hex, Number, State, StopName, Vector};
pub use run::run_all;
pub use setup::STEPS_MAX;
