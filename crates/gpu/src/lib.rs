//! The engine that runs lanes on a GPU, through wgpu.

pub mod adapter;
pub mod buffer;
mod columns;
pub mod device;
mod dispatch;
pub mod doctor;
mod engine;
mod error;
mod kernels;
mod lowering;
pub mod networks;
mod pace;
mod pages;
pub mod pipeline;
mod recovery;
mod select;
pub mod spiking;
mod store;

pub use adapter::AdapterInfo;
pub use buffer::Buffer;
pub use device::Device;
pub use dispatch::{Dispatch, Mode};
#[doc(hidden)]
pub use engine::Bounds;
pub use engine::GpuExecutor;
pub use error::Error;
pub use lowering::{Lowering, digest};
#[doc(hidden)]
pub use recovery::Recovering;
pub use select::{Choice, Engine, GpuEngine};
