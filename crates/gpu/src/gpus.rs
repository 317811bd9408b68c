//! The engine that divides lanes among several GPUs.

use std::num::NonZeroU32;

use kvrm_machine::{Executor, Factory, Plan, SplitEngine, device_names};

use crate::device::adapter::{self, AdapterInfo};
use crate::device::error::Error;
use crate::device::gpu_selection::GpuSelection;
use crate::device::{Device, registry};
use crate::gpu::GpuEngine;
use crate::machine::class_selection::ClassSelection;
use crate::machine::host_file::HostFile;
use crate::machine::memory_limits::MemoryLimits;
use crate::machine::prefetch::Prefetch;
use crate::machine::speed::steps_per_second;
use crate::machine::translation::Translation;

/// The weight of the fastest GPU, compared with which those of others are rounded.
const WEIGHT_MAX: f64 = 1000.0;

/// An engine that divides the lanes of a machine among several GPUs, as [`SplitEngine`] does.
///
/// Equal GPUs get as many lanes each. If there are different models, a short program measures the speed of each model once in
/// a process, and lanes are divided in proportion to the speeds. Nothing is measured while lanes run, so it pays
/// to leave out a GPU that other programs use.
///
/// A GPU that is lost is recovered as if it were the only one: the call fails, and the next one restores its lanes. The lanes of
/// the other GPUs go on where they are.
///
/// ```no_run
/// use kvrm_gpu::{GpuSelection, GpusEngine};
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpusEngine::open(&GpuSelection::All)?;
/// println!("{}", engine.description());
/// let program = Program::open("guests/bin/sha256.elf")?;
/// let mut machine = Machine::builder(program).lanes(100_000).engine(engine).build()?;
/// println!("{}", machine.run(u64::MAX)?);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GpusEngine {
    /// The GPUs with their weights. There is at least one.
    gpus: Vec<(GpuEngine, NonZeroU32)>,
}

impl GpusEngine {
    /// Opens the selected GPUs, all at the same time, and measures their speed if they are different models.
    ///
    /// Opening takes a while, so the devices stay open for the next caller.
    ///
    /// # Errors
    ///
    /// - [`Error::TooFewGpus`], [`Error::SameGpu`] and the errors of [`adapter::choose`](crate::adapter::choose): the
    ///   host has no such GPUs.
    /// - A GPU cannot be opened, or fails while it is measured.
    pub fn open(selection: &GpuSelection) -> Result<Self, Error> {
        let adapters = adapter::adapters();
        let chosen = selection.choose(&adapters)?;
        let devices = chosen.into_iter().map(registry::open_adapter).collect::<Result<Vec<_>, Error>>()?;
        Self::new(devices)
    }

    /// Creates an engine on open devices, which may be the same one several times. Measures their speed if they are different
    /// models.
    ///
    /// # Errors
    ///
    /// There is no device, or one fails while it is measured.
    pub fn new(devices: impl IntoIterator<Item = Device>) -> Result<Self, Error> {
        let devices: Vec<Device> = devices.into_iter().collect();
        let Some((first, others)) = devices.split_first() else { return Err(Error::NoAdapter) };
        let are_equal = others.iter().all(|device| device.info().is_same_model(first.info()));
        let speeds = if are_equal { vec![1.0; devices.len()] } else { speeds(&devices)? };
        let gpus = devices.into_iter().map(GpuEngine::new).zip(weights(&speeds));
        Ok(Self { gpus: gpus.collect() })
    }

    /// Creates an engine on a single GPU.
    #[must_use]
    pub fn of(gpu: GpuEngine) -> Self {
        Self { gpus: vec![(gpu, NonZeroU32::MIN)] }
    }

    /// Sets when hot code is translated, on each GPU for itself.
    #[must_use]
    pub fn with_translation(self, translation: Translation) -> Self {
        self.map(|gpu| gpu.with_translation(translation))
    }

    /// Sets how lanes find the classes of instructions.
    #[must_use]
    pub fn with_class_selection(self, selection: &ClassSelection) -> Self {
        self.map(|gpu| gpu.with_class_selection(selection.clone()))
    }

    /// Sets the memory that a machine may take of each GPU, and of the host for the lanes of each GPU.
    #[must_use]
    pub fn with_memory(self, memory: MemoryLimits) -> Self {
        self.map(|gpu| gpu.with_memory(memory))
    }

    /// Sets the file for frames that find no room in the memory of the host. The lanes of each GPU have a file of their own, with a
    /// number added to the name from the second one on if the first is still there.
    #[must_use]
    pub fn with_host_file(self, file: &HostFile) -> Self {
        self.map(|gpu| gpu.with_host_file(file.clone()))
    }

    /// Sets which pages come back from the host before lanes need them, on each GPU for itself.
    #[must_use]
    pub fn with_prefetch(self, prefetch: &Prefetch) -> Self {
        self.map(|gpu| gpu.with_prefetch(prefetch.clone()))
    }

    fn map(self, change: impl Fn(GpuEngine) -> GpuEngine) -> Self {
        Self { gpus: self.gpus.into_iter().map(|(gpu, weight)| (change(gpu), weight)).collect() }
    }

    /// Returns the devices that lanes run on. There is at least one.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.gpus.iter().map(|(gpu, _)| gpu.device())
    }

    /// Returns the properties of the adapters, in the order of the devices.
    pub fn adapters(&self) -> impl Iterator<Item = &AdapterInfo> {
        self.devices().map(Device::info)
    }

    /// Returns the adapters in one line. Equal ones are counted: `8 x NAME`.
    #[must_use]
    pub fn description(&self) -> String {
        let names: Vec<String> = self.adapters().map(ToString::to_string).collect();
        device_names(names.iter().map(String::as_str)).unwrap_or_default()
    }

    /// Returns the engine of several GPUs, or `None` if there is only one.
    fn split(&self) -> Option<SplitEngine> {
        let ((first, weight), others) = self.gpus.split_first()?;
        let split = others.iter().fold(SplitEngine::new(first.clone(), *weight), |split, (gpu, weight)| {
            split.and(gpu.clone(), *weight)
        });
        (!others.is_empty()).then_some(split)
    }
}

impl Factory for GpusEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        match self.split() {
            Some(split) => split.executor(plan),
            None => self.gpus[0].0.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        self.split().map_or_else(|| self.gpus[0].0.images_max(), |split| split.images_max())
    }
}

/// Measures the speed of each model once. One GPU after the other, because they would share the host.
fn speeds(devices: &[Device]) -> Result<Vec<f64>, Error> {
    let first_of_model = |device: &Device| {
        devices
            .iter()
            .find(|other| other.info().is_same_model(device.info()))
            .map_or_else(|| device.clone(), Clone::clone)
    };
    devices.iter().map(|device| steps_per_second(&first_of_model(device))).collect()
}

/// Returns weights in proportion to speeds.
fn weights(speeds: &[f64]) -> Vec<NonZeroU32> {
    let fastest = speeds.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let weight = |speed: &f64| NonZeroU32::new((WEIGHT_MAX * speed / fastest).round() as u32);
    speeds.iter().map(|speed| weight(speed).unwrap_or(NonZeroU32::MIN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_in_proportion_to_speeds() {
        let weights = |speeds: &[f64]| weights(speeds).into_iter().map(NonZeroU32::get).collect::<Vec<_>>();
        assert_eq!(weights(&[1.0; 3]), [1000; 3], "equal GPUs");
        assert_eq!(weights(&[25e9, 100e9, 33.333e9]), [250, 1000, 333], "rounded");
        assert_eq!(weights(&[1e6, 100e9]), [1, 1000], "a slow GPU gets something");
        assert_eq!(weights(&[0.0, 0.0]), [1, 1], "no measured speed");
    }
}
