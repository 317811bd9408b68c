//! The engines that run lanes and spiking networks on a GPU, through wgpu.
//!
//! The crate has three parts. [`device`] opens adapters and manages buffers and pipelines. `machine` runs the lanes of
//! `kvrm_machine` on a device; [`Engine`] and [`GpuEngine`] are its interface. [`spiking`] runs the networks of
//! `kvrm_spiking` on a device.
//!
//! [`loop_networks`] and [`memory_oracle`] evaluate networks of `kvrm_models` on a device.
//!
//! ```no_run
//! use kvrm_gpu::Engine;
//! use kvrm_machine::{Machine, Program};
//!
//! let program = Program::open("guests/bin/sha256.elf")?;
//! let mut machine = Machine::builder(program).lanes(1000).engine(Engine::Gpu).build()?;
//! println!("{}", machine.run(u64::MAX)?);
//! # Ok::<(), kvrm_machine::Error>(())
//! ```

mod auto;
pub mod device;
mod gpu;
mod gpus;
mod layers;
pub mod loop_advice;
pub mod loop_networks;
mod machine;
pub mod memory_oracle;
mod select;
pub mod spiking;
mod stored;

pub use auto::NoGpu;
pub use device::adapter::AdapterInfo;
pub use device::buffer::Buffer;
pub use device::error::{Error, Request};
pub use device::gpu_selection::GpuSelection;
pub use device::{Device, adapter, buffer, doctor, pipeline};
pub use gpu::GpuEngine;
pub use gpus::GpusEngine;
#[doc(hidden)]
pub use machine::bounds::Bounds;
pub use machine::class_selection::{ClassSelection, SelectionMode};
#[doc(hidden)]
pub use machine::engine::dump::{BufferDump, SliceDump};
pub use machine::engine::{GpuExecutor, Place};
#[doc(hidden)]
pub use machine::host_faults::{HostFault, HostFaults};
pub use machine::host_file::HostFile;
pub use machine::lowering::{Lowering, digest};
pub use machine::memory_limits::MemoryLimits;
pub use machine::networks;
pub use machine::prefetch::Prefetch;
#[doc(hidden)]
pub use machine::recovery::RecoveringExecutor;
#[doc(hidden)]
pub use machine::translation::RegionBounds;
pub use machine::translation::Translation;
pub use select::{Engine, EngineChoice};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
