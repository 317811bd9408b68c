//! The GPU executor: one file for each of its tasks.

mod accelerating;
mod accelerator;
mod audit;
mod cache;
pub(crate) mod checkpoint;
mod compiler;
mod console;
mod drift;
pub(crate) mod dump;
mod exchange;
mod executor;
mod heard;
pub(crate) mod lane_views;
pub(crate) mod lanes;
mod memory;
mod moving;
mod oracle_lanes;
pub(crate) mod pending;
mod predictors;
mod prefetching;
pub(crate) mod registers;
mod remembered;
mod running;
mod stops;
mod translating;
mod translator;
mod tuner;
mod views;
mod waiting;
mod words;

pub use exchange::Place;
pub use lanes::GpuExecutor;
