//! The check of a workload: all lanes exit, with outputs of their own that are the same in QEMU.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use kvrm::{Factory, Register, Report, Stop, Stream};

use super::qemu;
use super::workload::Workload;

/// The largest output of a lane, in bytes.
const OUTPUT_MAX: usize = 1 << 20;

/// The outcome of a lane that has exited with status 0.
pub(super) struct Outcome {
    pub(super) steps: u64,
    pub(super) output: Vec<u8>,
}

/// Runs lanes until they exit. Returns their outcomes and the report.
pub(super) fn complete(
    workload: &Workload,
    engine: impl Factory,
    lanes: usize,
) -> Result<(Vec<Outcome>, Report)> {
    let mut machine = workload.machine(lanes, engine, OUTPUT_MAX)?;
    let report = machine.run(u64::MAX)?;
    let (stops, steps) = (machine.stops()?, machine.registers(Register::Steps)?);
    let outcomes: Result<Vec<_>> = stops
        .into_iter()
        .zip(steps)
        .enumerate()
        .map(|(lane, (stop, steps))| {
            let error = String::from_utf8_lossy(machine.output(lane, Stream::Error)?).into_owned();
            match stop {
                Some(Stop::Exit { code: 0 }) if error.is_empty() => {}
                Some(stop) => bail!("lane {lane} stopped: {stop}; error output: {error:?}"),
                None => bail!("lane {lane} did not run"),
            }
            Ok(Outcome { steps, output: machine.output(lane, Stream::Output)?.to_vec() })
        })
        .collect();
    Ok((outcomes?, report))
}

/// Checks the outputs of all lanes. Returns the report of their run.
pub(super) fn run(
    workload: &Workload,
    engine: impl Factory,
    lanes: usize,
    qemu: Option<&Path>,
) -> Result<Report> {
    let (outcomes, report) = complete(workload, engine, lanes)?;
    let mut seen = BTreeMap::new();
    for (lane, outcome) in outcomes.iter().enumerate() {
        if let Some(other) = seen.insert(&outcome.output, lane) {
            bail!("lanes {other} and {lane} print the same");
        }
        if let Some(qemu) = qemu {
            let theirs = qemu::output(workload, qemu, lane)?;
            ensure!(
                theirs == outcome.output,
                "lane {lane} prints {:?}, but QEMU {:?}",
                String::from_utf8_lossy(&outcome.output),
                String::from_utf8_lossy(&theirs)
            );
        }
    }
    Ok(report)
}
