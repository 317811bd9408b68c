//! The burst engine on a GPU: networks of `kvrm_spiking`, with the same state as its reference after every step.
//!
//! A step is two dispatches. `neurons` takes every neuron through it and lists, in pieces of equal work, the rows of
//! those that fired; `propagate` adds what their synapses bring to the ring. Where the shortest delay has several steps,
//! both do as many at once. The clock is in storage, so a command buffer holds thousands of steps, and nothing is read
//! back in between. Sums are integers, which atomics add in any order to the same result.

mod change;
mod digest;
mod executor;
mod faster;
mod fault;
mod kernels;
mod layout;
mod leg;
mod pace;
mod plan;
mod progress;
mod recording;
mod recovery;
mod store;
mod transfer;

pub use faster::{CACHE_VARIABLE, Speeds};
#[doc(hidden)]
pub use fault::Fault;
pub use kernels::{BurstKernels, Kernel};
pub use plan::Options;
#[doc(hidden)]
pub use recovery::Bounds;
pub use recovery::BurstExecutor;
