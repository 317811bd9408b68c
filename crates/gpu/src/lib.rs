//! The engine that runs lanes on a GPU, through wgpu.
//!
//! Three rooms: `device` knows adapters, buffers and pipelines; `machine` runs the lanes of `kvrm_machine`, and
//! [`spiking`] the networks of `kvrm_spiking`, each on a device.

pub mod device;
mod machine;
mod select;
pub mod spiking;

pub use device::adapter::AdapterInfo;
pub use device::buffer::Buffer;
pub use device::error::{Error, Request};
pub use device::{Device, adapter, buffer, doctor, pipeline};
#[doc(hidden)]
pub use machine::bounds::Bounds;
pub use machine::class_selection::{ClassSelection, SelectionMode};
pub use machine::engine::{GpuExecutor, Place};
pub use machine::lowering::{Lowering, digest};
pub use machine::networks;
#[doc(hidden)]
pub use machine::recovery::Recovering;
pub use select::{Choice, Engine, GpuEngine};
