//! The engine that runs lanes on one GPU.

use kvrm_machine::{Executor, Factory, Plan};

use crate::device::error::Error;
use crate::device::{Device, registry};
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;
use crate::machine::host_file::HostFile;
use crate::machine::memory_limits::MemoryLimits;
use crate::machine::prefetch::Prefetch;
use crate::machine::recovery::RecoveringExecutor;
use crate::machine::translation::Translation;

/// An engine that runs lanes on an open device.
///
/// ```no_run
/// use kvrm_gpu::GpuEngine;
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpuEngine::open(Some("NVIDIA"))?;
/// println!("{}", engine.device().info());
/// let program = Program::open("guests/bin/sha256.elf")?;
/// let mut machine = Machine::builder(program).lanes(1000).engine(engine).build()?;
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GpuEngine {
    device: Device,
    selection: ClassSelection,
    translation: Translation,
    memory: Option<MemoryLimits>,
    host_file: Option<HostFile>,
    prefetch: Prefetch,
    places: Option<u32>,
}

impl GpuEngine {
    /// Creates an engine on `device` that finds classes in the table, and translates hot code where that is faster.
    #[must_use]
    pub fn new(device: Device) -> Self {
        Self {
            device,
            selection: ClassSelection::TABLE,
            translation: Translation::Auto,
            memory: None,
            host_file: None,
            prefetch: Prefetch::default(),
            places: None,
        }
    }

    /// Sets when hot code is translated.
    #[must_use]
    pub fn with_translation(self, translation: Translation) -> Self {
        Self { translation, ..self }
    }

    /// Sets how lanes find the classes of instructions.
    #[must_use]
    pub fn with_class_selection(self, selection: ClassSelection) -> Self {
        Self { selection, ..self }
    }

    /// Sets the memory that a machine may take of the device and of the host. Without limits, frames stay on the device, and lanes stop
    /// if it is full.
    #[must_use]
    pub fn with_memory(self, memory: MemoryLimits) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Sets the file for frames that find no room in the memory of the host. It has an effect only with [`GpuEngine::with_memory`].
    #[must_use]
    pub fn with_host_file(self, file: HostFile) -> Self {
        Self { host_file: Some(file), ..self }
    }

    /// Sets which pages come back from the host before lanes need them, instead of those at [`Policy::Stride`]. It has an effect only with
    /// [`GpuEngine::with_memory`].
    ///
    /// [`Policy::Stride`]: kvrm_prefetch::Policy::Stride
    #[must_use]
    pub fn with_prefetch(self, prefetch: Prefetch) -> Self {
        Self { prefetch, ..self }
    }

    /// Sets the largest number of frames on the device, instead of that which [`GpuEngine::with_memory`] allows, for measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn with_places(self, places: u32) -> Self {
        Self { places: Some(places), ..self }
    }

    /// Opens the adapter that [`adapter::choose`](crate::adapter::choose) chooses for `wanted`.
    ///
    /// Opening takes a while, so the device stays open for the next caller with the same `wanted`, unless it is lost.
    ///
    /// # Errors
    ///
    /// No adapter fits, or the adapter cannot be opened.
    pub fn open(wanted: Option<&str>) -> Result<Self, Error> {
        registry::open(wanted).map(Self::new)
    }

    /// Returns the device that lanes run on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

impl Factory for GpuEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        let bounds = Bounds {
            translation: self.translation,
            memory: self.memory,
            host_file: self.host_file.clone(),
            prefetch: self.prefetch.clone(),
            places: self.places,
            ..Bounds::NONE
        };
        Ok(Box::new(RecoveringExecutor::new(&self.device, plan, &self.selection, bounds)?))
    }

    fn images_max(&self) -> usize {
        GpuExecutor::images_max(&self.device)
    }
}
