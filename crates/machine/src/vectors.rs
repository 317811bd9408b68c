//! Test vectors: a state, a few instructions, and the state after them. `docs/vectors.md` describes the format.
//!
//! ```
//! use kvrm_machine::vectors::parse;
//!
//! let line = r#"{"name":"nop","pc":"0x10000","code":["d503201f"],"steps":1,"final":{"pc":"0x10004"}}"#;
//! let vectors = parse("example.jsonl", line)?;
//! assert!(vectors[0].run().is_empty(), "the vector passes");
//! # Ok::<(), kvrm_machine::vectors::VectorError>(())
//! ```

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
