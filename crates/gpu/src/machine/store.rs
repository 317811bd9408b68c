//! The store: the buffers of a machine on the device, and the dispatches of its kernels.

pub(crate) mod code;
mod frames;
pub(crate) mod host_frames;
mod kept;
pub(crate) mod limits;
mod loops;
pub(crate) mod moves;
mod parameters;
mod passes;
pub(crate) mod places;
pub(crate) mod regions;
mod resident;
mod rows;
pub(crate) mod tlb;
pub(crate) mod transfer;
pub(crate) mod views;

pub(crate) use parameters::Launch;
pub(crate) use resident::{Store, StoreConfig};
