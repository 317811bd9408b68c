//! The data from which the memory oracle learns: streams of page accesses of real programs, splits, and windows with labels. Its
//! measures.

mod pattern;
mod recorder;
mod scores;
mod sequences;
mod split;
mod synthetic;
mod window;

pub use pattern::Pattern;
pub use recorder::{PageLog, RecordEngine};
pub use scores::OracleScores;
pub use sequences::{heard_in_use, inputs, sequences};
pub use split::{Part, UnknownPart};
pub use synthetic::synthetic_stream;
pub use window::{DELTAS, HORIZON, WINDOW_ACCESSES, Window, are_used, heard};
