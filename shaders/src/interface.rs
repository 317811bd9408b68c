//! What host and kernels share, generated from the modules by `cargo xtask codegen`: structs in buffers, bind groups, and
//! kernels with their variants, overrides and entry points.

use crate::kernel::KernelInfo;

#[rustfmt::skip]
pub mod machine;
#[rustfmt::skip]
pub mod networks;
#[rustfmt::skip]
pub mod spiking;

/// All kernels.
pub fn kernels() -> impl Iterator<Item = &'static KernelInfo> {
    [machine::KERNELS, networks::KERNELS, spiking::KERNELS].into_iter().flatten()
}
