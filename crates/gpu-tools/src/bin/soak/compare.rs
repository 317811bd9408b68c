//! Classification of the errors that faults may cause, and comparison of lanes with those of the reference.

use std::error::Error as _;

use kvrm_gpu::Error;
use kvrm_machine::{Executor, Violation};
use kvrm_testkit::lanes::{Lane, of_executor};

/// The kinds of errors that injected faults may cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The device was lost, but the state is kept.
    Lost,
    /// The device was lost, and the state cannot be restored.
    StateLost,
    /// Memory is full.
    NoMemory,
    /// All frames are in use.
    NoFrames,
}

impl ErrorKind {
    /// Returns the text for the report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lost => "errors: the device was lost and the state is kept",
            Self::StateLost => "errors: the state was lost",
            Self::NoMemory => "errors: memory is full",
            Self::NoFrames => "errors: all frames are in use",
        }
    }
}

/// Returns the kind of an error of the GPU engine.
///
/// # Errors
///
/// No fault explains the error, so the test has failed.
pub(crate) fn classify(error: &(dyn std::error::Error + 'static)) -> Result<ErrorKind, String> {
    let gpu = error.downcast_ref::<Error>().or_else(|| error.source()?.downcast_ref());
    match gpu {
        Some(Error::DeviceLost { is_recoverable: true, .. }) => Ok(ErrorKind::Lost),
        Some(Error::StateLost { .. }) => Ok(ErrorKind::StateLost),
        Some(Error::OutOfMemory { .. } | Error::NetworkTooLarge { .. }) => Ok(ErrorKind::NoMemory),
        Some(Error::OutOfFrames { .. }) => Ok(ErrorKind::NoFrames),
        Some(other) => Err(format!("no fault explains the error: {other}")),
        None => Err(format!("the error is not of the GPU engine: {error:?}")),
    }
}

/// Returns the kind of an error of a machine, as [`classify`] does.
pub(crate) fn classify_machine_error(error: &kvrm_machine::Error) -> Result<ErrorKind, String> {
    match error {
        kvrm_machine::Error::Engine(cause) => classify(&**cause as &(dyn std::error::Error + 'static)),
        other => Err(format!("the error is not of the engine: {other}")),
    }
}

/// Returns the kind of an error of a network, as [`classify`] does.
pub(crate) fn classify_network_error(error: &kvrm_spiking::Error) -> Result<ErrorKind, String> {
    match error.source().and_then(|cause| cause.downcast_ref::<Error>()) {
        Some(error) => classify(error),
        None => Err(format!("the error is not of the engine: {error:?}")),
    }
}

/// The complete visible state of an executor: lanes, number of frames in use, mapped regions of each lane, and
/// violations that an audit finds.
pub(crate) type VisibleState = (Vec<Lane>, usize, Vec<String>, Vec<Violation>);

/// Reads the visible state of an executor.
pub(crate) fn visible_state(executor: &mut dyn Executor) -> Result<VisibleState, kvrm_machine::Error> {
    let lanes = of_executor(executor)?;
    let frames = executor.frames_used()?;
    let map = |lane| executor.page_map(lane).map(|map| format!("{:?}", map.regions()));
    let maps: Result<_, _> = (0..lanes.len()).map(map).collect();
    Ok((lanes, frames, maps?, executor.audit()?))
}

/// Compares two states. The error is the first difference, or the first violation on the GPU.
pub(crate) fn compare_states(gpu: &VisibleState, reference: &VisibleState) -> Result<(), String> {
    check_audit(&gpu.3)?;
    for (number, (gpu, reference)) in gpu.0.iter().zip(&reference.0).enumerate() {
        compare_lane(number, gpu, reference)?;
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

/// Fails if an audit has found violations.
pub(crate) fn check_audit(violations: &[Violation]) -> Result<(), String> {
    violations.first().map_or(Ok(()), |first| {
        Err(format!("the audit found {} violations, the first one: {first}", violations.len()))
    })
}

/// Compares a lane on the GPU with the same lane on the reference.
pub(crate) fn compare_lane(number: usize, gpu: &Lane, reference: &Lane) -> Result<(), String> {
    if gpu == reference {
        return Ok(());
    }
    let mut what = format!("lane {number} differs; on the GPU\n{gpu:?}on the reference\n{reference:?}");
    let pages = gpu.private_pages.iter().zip(gpu.memory.iter().zip(&reference.memory));
    for (page, (gpu, reference)) in pages {
        if let Some(at) = (0..gpu.len().min(reference.len())).find(|&at| gpu[at] != reference[at]) {
            let (there, gpu, reference) = (page + at as u64, gpu[at], reference[at]);
            what += &format!("{there:#x}: {gpu:#04x} on the GPU, {reference:#04x} on the reference\n");
        }
    }
    Err(what)
}
