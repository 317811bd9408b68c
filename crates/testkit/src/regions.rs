//! What regions have to be, compared with what the reference executes. Each check panics if a region is wrong.

mod control_flow;
mod execution;
mod liveness;
mod program;
mod selection;
mod structure;

pub use control_flow::{check_form, check_lengths};
pub use execution::check_execution;
pub use liveness::check_liveness;
pub use program::{Lane, Program};
pub use selection::check_selection;
pub use structure::check_structure;
