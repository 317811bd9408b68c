//! Lanes on a GPU: the executor, by what it does.

pub(crate) mod apart;
mod audit;
pub(crate) mod cache;
pub(crate) mod checkpoint;
mod console;
mod exchange;
mod executor;
pub(crate) mod lanes;
mod memory;
pub(crate) mod registers;
mod running;
mod stops;
mod words;

pub use exchange::Place;
pub use lanes::GpuExecutor;
