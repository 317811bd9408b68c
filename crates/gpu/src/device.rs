//! Adapters, open devices, their buffers and pipelines, self-tests, and all errors of the GPU. This layer knows no
//! particular kernel beyond those of its self-tests.

pub mod adapter;
pub mod buffer;
pub mod doctor;
pub(crate) mod error;
mod fault_counters;
mod faults;
pub(crate) mod gpu_selection;
pub(crate) mod kernel;
pub(crate) mod lock;
pub(crate) mod logical;
pub mod pipeline;
pub(crate) mod registry;
mod self_tests;
mod unbounded;

pub use logical::Device;
pub use self_tests::{LoopLimit, int64_test, loop_limit, width};
