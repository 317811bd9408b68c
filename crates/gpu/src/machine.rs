//! The executor that runs lanes on a GPU: its memory, its kernels and its recovery.

pub(crate) mod bounds;
pub(crate) mod class_selection;
mod columns;
pub(crate) mod engine;
pub(crate) mod host_faults;
pub(crate) mod host_file;
mod kernels;
mod loop_jobs;
pub(crate) mod lowering;
pub(crate) mod memory_limits;
pub mod networks;
mod pace;
mod pages;
mod pass_jobs;
pub(crate) mod prefetch;
pub(crate) mod recovery;
pub(crate) mod speed;
mod stopwatch;
mod store;
pub(crate) mod translation;
