//! The burst engine on a GPU. It runs networks of `kvrm_spiking` and has the same state as the reference after every
//! step.
//!
//! With the kernels that can run any network, a step takes two dispatches. The kernel `neurons` updates all neurons and splits the rows of the neurons that fired
//! into pieces of equal work. The kernel `propagate` delivers the spikes: it adds the weights of their synapses to the
//! ring of coming input. If the shortest delay has several steps, each dispatch does that many steps (a batch). The
//! clock is in a storage buffer, so a command buffer holds thousands of steps, and the host reads nothing back in
//! between. Sums are integers, so atomic additions give the same result in any order.

mod blocked;
mod blocks;
mod change;
mod choice;
mod chunk;
mod digest;
mod divisors;
mod executor;
mod explain;
mod fault;
mod feed;
mod kernels;
mod layout;
mod memory;
mod options;
mod pace;
mod plan;
mod progress;
mod recovery;
mod report;
mod speeds;
mod store;
mod sweep;
mod transfer;

pub use choice::{BurstChoice, BurstEngine, BurstEngineError, ChoiceReason, OpenBurstEngine};
pub use explain::{BurstPlan, KernelPlan, Unsuitable};
#[doc(hidden)]
pub use fault::Fault;
pub use kernels::{BurstKernels, Kernel};
pub use options::Options;
#[doc(hidden)]
pub use recovery::Bounds;
pub use recovery::BurstExecutor;
pub use speeds::{Speeds, StepTimes};
pub use sweep::BurstEngines;

pub use crate::stored::CACHE_VARIABLE;
