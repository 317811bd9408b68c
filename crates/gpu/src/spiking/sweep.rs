//! Independent simulations on several engines at the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::choice::{BurstEngine, BurstEngineError, OpenBurstEngine};
use crate::device::adapter;
use crate::device::gpu_selection::GpuSelection;
use crate::device::registry;

/// Engines that run independent simulations at the same time: other seeds, other parameters, other networks.
///
/// ```
/// use kvrm_gpu::spiking::{BurstEngine, BurstEngineError, BurstEngines, OpenBurstEngine};
/// use kvrm_spiking::{Simulation, networks};
///
/// let engines = BurstEngines::new(BurstEngine::Reference.open()?).and(BurstEngine::Parallel.open()?);
/// let run = |engine: &OpenBurstEngine, seed: usize| {
///     let network = networks::feagi(100, 10, seed as u64)?;
///     let mut simulation = engine.simulation(network)?;
///     simulation.inject(0, 1)?;
///     simulation.run(100)?;
///     Ok::<_, BurstEngineError>(simulation.step())
/// };
/// let mut steps = Vec::new();
/// engines.sweep(8, run, |_, result| {
///     steps.push(result);
///     Ok(())
/// })?;
/// assert_eq!(steps, [100; 8]);
/// # Ok::<(), BurstEngineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BurstEngines {
    /// There is at least one.
    engines: Vec<OpenBurstEngine>,
}

impl BurstEngines {
    /// Opens the selected GPUs.
    ///
    /// # Errors
    ///
    /// The host has no such GPUs, or one of them cannot be opened.
    pub fn open_gpus(selection: &GpuSelection) -> Result<Self, BurstEngineError> {
        let adapters = adapter::adapters();
        let chosen = selection.choose(&adapters)?;
        let devices = chosen.into_iter().map(registry::open_adapter);
        let engines = devices.map(|device| Ok(BurstEngine::on_gpu(&device?)));
        Ok(Self { engines: engines.collect::<Result<_, BurstEngineError>>()? })
    }

    /// Starts with one engine.
    #[must_use]
    pub fn new(engine: OpenBurstEngine) -> Self {
        Self { engines: vec![engine] }
    }

    /// Adds an engine. A GPU may be added more than once, so that the host prepares one network while another one runs.
    #[must_use]
    pub fn and(mut self, engine: OpenBurstEngine) -> Self {
        self.engines.push(engine);
        self
    }

    /// Returns the engines.
    #[must_use]
    pub fn engines(&self) -> &[OpenBurstEngine] {
        &self.engines
    }

    /// Calls `run` for each number from 0 to `points` - 1, on all engines at the same time, and then `each` with the number and the
    /// result, in the order of the numbers.
    ///
    /// Each engine has a thread of its own, which takes the next number when it is ready, so engines of different speed are all
    /// busy to the end. As a network gives the same spikes on each engine, results depend on neither their number nor their speed.
    ///
    /// # Errors
    ///
    /// The error of the lowest number for which `run` or `each` fails. No number is begun after a failure.
    pub fn sweep<T: Send, E: Send>(
        &self,
        points: usize,
        run: impl Fn(&OpenBurstEngine, usize) -> Result<T, E> + Sync,
        mut each: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for engine in &self.engines {
                let (sender, next, run) = (sender.clone(), &next, &run);
                scope.spawn(move || {
                    // Numbers are begun in their order, so all below one that fails are run, too.
                    while let Some(point) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < points)
                    {
                        let result = run(engine, point);
                        if result.is_err() {
                            next.store(points, Ordering::Relaxed);
                        }
                        if sender.send((point, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let (mut waiting, mut expected) = (BTreeMap::new(), 0);
            for (point, result) in receiver {
                waiting.insert(point, result);
                while let Some(result) = waiting.remove(&expected) {
                    each(expected, result?)?;
                    expected += 1;
                }
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn engines(count: usize) -> BurstEngines {
        let engine = || BurstEngine::Reference.open().expect("the CPU is always there");
        (1..count).fold(BurstEngines::new(engine()), |engines, _| engines.and(engine()))
    }

    #[test]
    fn each_point_runs_once_and_results_come_in_order() {
        for (count, points) in [(1, 5), (3, 100), (4, 2), (2, 0)] {
            let begun = Mutex::new(vec![0; points]);
            let run = |_: &OpenBurstEngine, point: usize| {
                begun.lock().expect("no test panics")[point] += 1;
                // Later points are often ready first.
                thread::sleep(std::time::Duration::from_micros(50 * (point as u64 % 7)));
                Ok::<_, ()>(10 * point)
            };
            let mut results = Vec::new();
            let each = |point, result| {
                results.push((point, result));
                Ok(())
            };
            engines(count).sweep(points, run, each).expect("no failure");
            let expected: Vec<_> = (0..points).map(|point| (point, 10 * point)).collect();
            assert_eq!(results, expected, "{count} engines");
            assert_eq!(begun.into_inner().expect("no test panics"), vec![1; points], "{count} engines");
        }
    }

    #[test]
    fn the_first_failure_is_returned_and_nothing_begins_after_it() {
        for count in 1..5 {
            let begun = AtomicUsize::new(0);
            let run = |_: &OpenBurstEngine, point: usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                if point % 10 == 9 { Err(point) } else { Ok(()) }
            };
            let mut results = 0;
            let count_results = |_, ()| {
                results += 1;
                Ok(())
            };
            assert_eq!(engines(count).sweep(1000, run, count_results), Err(9), "{count} engines");
            assert_eq!(results, 9, "all results before the failure are returned");
            assert!(begun.into_inner() < 1000, "{count} engines go on after a failure");
        }
    }
}
