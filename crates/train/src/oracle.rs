//! The data from which the memory oracle learns: streams of page accesses of real programs, splits, and windows with labels. Its
//! measures.

mod heard;
mod recorder;
mod scores;
mod split;
mod synthetic;

pub use heard::{heard, heard_in_use};
pub use recorder::{PageLog, RecordEngine};
pub use scores::OracleScores;
pub use split::{Part, UnknownPart};
pub use synthetic::synthetic_stream;
