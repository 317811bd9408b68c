//! The data from which the memory oracle learns: streams of page accesses of real programs, splits, and windows with labels.

mod pattern;
mod recorder;
mod split;
mod window;

pub use pattern::Pattern;
pub use recorder::{PageLog, RecordEngine};
pub use split::Part;
pub use window::{DELTAS, HORIZON, WINDOW_ACCESSES, Window, heard};
