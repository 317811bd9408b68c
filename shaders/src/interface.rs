//! The interface between host and kernels: structs in buffers, bind groups, and kernels with their variants, overrides
//! and entry points. `cargo xtask codegen` generates the submodules from the WGSL modules.

use crate::kernel::KernelInfo;

#[rustfmt::skip]
pub mod machine;
#[rustfmt::skip]
pub mod networks;
#[rustfmt::skip]
pub mod spiking;

/// Returns all kernels.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    [machine::KERNELS, networks::KERNELS, spiking::KERNELS].into_iter().flatten()
}
