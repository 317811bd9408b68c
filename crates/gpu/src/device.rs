//! An adapter that was opened, its buffers and pipelines, and every error they can have. Knows no kernel.

pub mod adapter;
pub mod buffer;
pub mod doctor;
pub(crate) mod error;
mod faults;
mod injected;
pub(crate) mod kernel;
pub(crate) mod lock;
pub(crate) mod logical;
pub mod pipeline;
pub(crate) mod registry;
mod self_tests;

pub use logical::Device;
pub use self_tests::{LoopLimit, int64_test, loop_limit, width};
