//! Errors that a call may have after a fault, and lanes beside those of the reference.

use std::error::Error as _;

use kvrm_gpu::Error;
use kvrm_machine::{Executor, Violation};
use kvrm_testkit::lanes::{Lane, of_executor};

/// What a typed error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The device was lost, and the state is kept.
    Lost,
    /// The device was lost, and the state with it.
    StateLost,
    /// Memory is full.
    NoMemory,
    /// All frames are in use.
    NoFrames,
}

impl Told {
    /// What the report calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lost => "errors that say that the device was lost and the state is kept",
            Self::StateLost => "errors that say that the state was lost",
            Self::NoMemory => "errors that say that memory is full",
            Self::NoFrames => "errors that say that all frames are in use",
        }
    }
}

/// What the error of a GPU says; a failure of the test if it is not one of those that faults may lead to.
pub(crate) fn told(error: &(dyn std::error::Error + 'static)) -> Result<Told, String> {
    let gpu = error.downcast_ref::<Error>().or_else(|| error.source()?.downcast_ref());
    match gpu {
        Some(Error::DeviceLost { kept: true, .. }) => Ok(Told::Lost),
        Some(Error::StateLost { .. }) => Ok(Told::StateLost),
        Some(Error::OutOfMemory { .. }) => Ok(Told::NoMemory),
        Some(Error::OutOfFrames { .. }) => Ok(Told::NoFrames),
        Some(other) => Err(format!("an error that no fault explains: {other}")),
        None => Err(format!("an error that is not the GPU's: {error:?}")),
    }
}

/// The error of a machine, in the same way.
pub(crate) fn told_by_machine(error: &kvrm_machine::Error) -> Result<Told, String> {
    match error {
        kvrm_machine::Error::Engine(cause) => told(&**cause as &(dyn std::error::Error + 'static)),
        other => Err(format!("an error that is not the engine's: {other}")),
    }
}

/// The error of a network, in the same way.
pub(crate) fn told_by_network(error: &kvrm_spiking::Error) -> Result<Told, String> {
    match error.source().and_then(|cause| cause.downcast_ref::<Error>()) {
        Some(error) => told(error),
        None => Err(format!("an error that is not the engine's: {error:?}")),
    }
}

/// All that an executor shows: its lanes, how many frames they own, what they have mapped, and what an audit finds.
pub(crate) type Shown = (Vec<Lane>, usize, Vec<String>, Vec<Violation>);

/// All that an executor shows.
pub(crate) fn shown(executor: &mut dyn Executor) -> Result<Shown, kvrm_machine::Error> {
    let lanes = of_executor(executor)?;
    let frames = executor.frames_used()?;
    let map = |lane| executor.page_map(lane).map(|map| format!("{:?}", map.regions()));
    let maps: Result<_, _> = (0..lanes.len()).map(map).collect();
    Ok((lanes, frames, maps?, executor.audit()?))
}

/// Says what differs first.
pub(crate) fn difference(gpu: &Shown, reference: &Shown) -> Result<(), String> {
    audited(&gpu.3)?;
    for (number, (gpu, reference)) in gpu.0.iter().zip(&reference.0).enumerate() {
        same_lane(number, gpu, reference)?;
    }
    if gpu.1 != reference.1 {
        return Err(format!("{} frames in use on the GPU, {} on the reference", gpu.1, reference.1));
    }
    match gpu.2.iter().zip(&reference.2).position(|(gpu, reference)| gpu != reference) {
        Some(lane) => Err(format!(
            "lane {lane} has other pages mapped: {} on the GPU, {} on the reference",
            gpu.2[lane], reference.2[lane]
        )),
        None => Ok(()),
    }
}

/// Says what an audit has found.
pub(crate) fn audited(violations: &[Violation]) -> Result<(), String> {
    violations.first().map_or(Ok(()), |first| {
        Err(format!("the audit finds {} violations, first: {first}", violations.len()))
    })
}

/// Says what differs of a lane.
pub(crate) fn same_lane(number: usize, gpu: &Lane, reference: &Lane) -> Result<(), String> {
    if gpu == reference {
        return Ok(());
    }
    let mut what = format!("lane {number} differs; on the GPU\n{gpu:?}on the reference\n{reference:?}");
    let pages = gpu.dirty.iter().zip(gpu.memory.iter().zip(&reference.memory));
    for (page, (gpu, reference)) in pages {
        if let Some(at) = (0..gpu.len().min(reference.len())).find(|&at| gpu[at] != reference[at]) {
            let (there, gpu, reference) = (page + at as u64, gpu[at], reference[at]);
            what += &format!("{there:#x}: {gpu:#04x} on the GPU, {reference:#04x} on the reference\n");
        }
    }
    Err(what)
}
