//! The measurement of QEMU's user mode: one process on each core of the host.

use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use kvrm::Engine;

use super::check::complete;
use super::qemu::output;
use super::workload::Workload;
use crate::bench::measure::REPETITIONS;

/// The speed of QEMU.
pub(super) struct Measured {
    /// The number of processes at a time.
    pub(super) processes: usize,
    /// The speeds of all repetitions in MIPS, the slowest first.
    pub(super) all: Vec<f64>,
}

impl Measured {
    pub(super) fn mips(&self) -> f64 {
        self.all[self.all.len() / 2]
    }
}

/// Measures QEMU for about `seconds` per repetition, with as many processes at a time as the host has cores. The process
/// on a core always has the input of the lane with the number of the core.
pub(super) fn measure(workload: &Workload, qemu: &Path, seconds: f64) -> Result<Measured> {
    let processes = thread::available_parallelism()?.get();
    let (expected, _) = complete(workload, Engine::Jit, processes)?;
    let repetition = || -> Result<f64> {
        let begin = Instant::now();
        let run = |lane: usize| -> Result<(u64, f64)> {
            let mut steps = 0;
            while begin.elapsed().as_secs_f64() < seconds {
                ensure!(
                    output(workload, qemu, lane)? == expected[lane].output,
                    "QEMU prints something else than lane {lane}"
                );
                steps += expected[lane].steps;
            }
            Ok((steps, begin.elapsed().as_secs_f64()))
        };
        thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = (0..processes).map(|lane| scope.spawn(move || run(lane))).collect();
            // Each core has a time of its own, because the others wait for none.
            threads.into_iter().try_fold(0.0, |sum, thread| {
                let (steps, seconds) = thread.join().map_err(|_| anyhow!("a thread panicked"))??;
                Ok(sum + steps as f64 / seconds / 1e6)
            })
        })
    };
    let mut all = (0..REPETITIONS).map(|_| repetition()).collect::<Result<Vec<_>>>()?;
    all.sort_unstable_by(f64::total_cmp);
    Ok(Measured { processes, all })
}
