//! tbd
mod program;
pub use program::{Permissions, Segment};
