//! The measured speeds of the CPU and the GPU, which tell which engine is faster for a network. They are measured once
//! on a machine and stored in a file.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kvrm_spiking::networks::{feagi, feagi_input};
use kvrm_spiking::{Executor, Parallel};

use super::{BurstExecutor, BurstKernels, Options};
use crate::stored;

/// The numbers of neurons of the measured networks. In this range the time of a step grows with the size on a CPU, and
/// hardly on a GPU.
const SIZES: [u32; 4] = [1 << 10, 1 << 13, 1 << 16, 1 << 18];
/// The number of synapses of each neuron.
const SYNAPSES: u32 = 64;
/// The fraction of the neurons that fires in a step.
const FIRING_FRACTION: f64 = 0.01;
/// The number of steps in a run. Runs are repeated for [`MEASURE_TIME`].
const STEPS: u64 = 50;
/// The time for which one engine is measured on one network.
const MEASURE_TIME: Duration = Duration::from_millis(40);

/// The measured time of a step on all cores of the CPU and on a GPU, for networks of several sizes.
///
/// ```no_run
/// use kvrm_gpu::Device;
/// use kvrm_gpu::spiking::{BurstKernels, Speeds};
///
/// let kernels = BurstKernels::new(&Device::open(None)?);
/// if Speeds::load_or_measure(&kernels)?.gpu_is_faster(100_000) {
///     println!("a network of 100,000 neurons runs faster on {}", kernels.device().info());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    /// The times for each of [`SIZES`].
    rows: Vec<StepTimes>,
}

/// The measured time of a step of one network, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTimes {
    /// The number of neurons of the network.
    pub neurons: u32,
    /// The time on all cores of the CPU.
    pub cpu: f64,
    /// The time on the GPU.
    pub gpu: f64,
}

impl Speeds {
    /// Loads the stored speeds of this machine with a GPU, or measures them now, which takes a second.
    ///
    /// Measurements are stored in the folder that [`CACHE_VARIABLE`](super::CACHE_VARIABLE) names, or in the user's folder
    /// for caches. There is a file for each combination of GPU, driver, number of threads and version of KVRM. A file
    /// that is missing or damaged is measured again; failures to write it are ignored.
    ///
    /// # Errors
    /// The GPU fails.
    pub fn load_or_measure(kernels: &BurstKernels) -> Result<Self, kvrm_spiking::Error> {
        let file = stored::folder().map(|folder| folder.join(file_name(kernels)));
        let known = file.as_ref().and_then(|file| Self::parse(&fs::read_to_string(file).ok()?));
        if let Some(known) = known {
            return Ok(known);
        }
        let measured = Self::measure(kernels)?;
        if let Some(file) = file {
            // If this fails, the next process measures again.
            let _ = stored::write(&file, &measured.text());
        }
        Ok(measured)
    }

    /// Measures the speeds now.
    ///
    /// # Errors
    /// The GPU fails.
    pub fn measure(kernels: &BurstKernels) -> Result<Self, kvrm_spiking::Error> {
        let row = |neurons| {
            let network = Arc::new(feagi(neurons, SYNAPSES, 1)?);
            let gpu = BurstExecutor::new(kernels, Arc::clone(&network), Options::default());
            let mut gpu = gpu.map_err(|error| kvrm_spiking::Error::Engine(error.into()))?;
            let cpu = step_time(&mut Parallel::new(network), neurons)?;
            Ok(StepTimes { neurons, cpu, gpu: step_time(&mut gpu, neurons)? })
        };
        Ok(Self { rows: SIZES.into_iter().map(row).collect::<Result<_, kvrm_spiking::Error>>()? })
    }

    /// Returns the times of the measured network whose size is nearest to `neurons` neurons, by ratio.
    #[must_use]
    pub fn step_times(&self, neurons: u32) -> StepTimes {
        let distance = |row: &&StepTimes| (f64::from(row.neurons) / f64::from(neurons.max(1))).ln().abs();
        let nearest = self.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        // There is a row for each size, so this default is never used.
        nearest.copied().unwrap_or(StepTimes { neurons: 0, cpu: 0.0, gpu: f64::INFINITY })
    }

    /// Returns whether the GPU is faster than the CPU for a network of `neurons` neurons, by the times of
    /// [`Speeds::step_times`].
    #[must_use]
    pub fn gpu_is_faster(&self, neurons: u32) -> bool {
        let StepTimes { cpu, gpu, .. } = self.step_times(neurons);
        gpu < cpu
    }

    /// Returns the text to store: for each size a line with neurons, microseconds a step on the CPU, and on the GPU.
    fn text(&self) -> String {
        self.rows
            .iter()
            .map(|StepTimes { neurons, cpu, gpu }| format!("{neurons} {cpu:.3} {gpu:.3}\n"))
            .collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let row = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let neurons = words.next()?.parse().ok()?;
            let mut time = || words.next()?.parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0);
            Some(StepTimes { neurons, cpu: time()?, gpu: time()? })
        };
        let rows: Vec<StepTimes> = text.lines().map(row).collect::<Option<_>>()?;
        rows.iter().map(|row| row.neurons).eq(SIZES).then_some(Self { rows })
    }
}

/// Measures the shortest time of a step, in microseconds.
fn step_time(executor: &mut dyn Executor, neurons: u32) -> Result<f64, kvrm_spiking::Error> {
    let input = feagi_input(neurons, FIRING_FRACTION, STEPS, 1)?;
    // The first run compiles kernels and allocates buffers, so it is not measured.
    executor.run(STEPS, &input, None)?;
    let begin = Instant::now();
    let mut shortest = f64::INFINITY;
    while shortest.is_infinite() || begin.elapsed() < MEASURE_TIME {
        let begin = Instant::now();
        executor.run(STEPS, &input, None)?;
        shortest = shortest.min(begin.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
    }
    Ok(shortest)
}

/// Returns the name of the file with the measurements for this GPU, driver, number of threads and version of KVRM.
fn file_name(kernels: &BurstKernels) -> String {
    let all =
        format!("{} {} {}", kernels.device().info(), rayon::current_num_threads(), env!("CARGO_PKG_VERSION"));
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("spiking-{}.txt", all.chars().map(word).collect::<String>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn speeds(times: [(f64, f64); 4]) -> Speeds {
        let rows = SIZES.into_iter().zip(times).map(|(neurons, (cpu, gpu))| StepTimes { neurons, cpu, gpu });
        Speeds { rows: rows.collect() }
    }

    #[test]
    fn the_measured_network_of_the_nearest_size_decides() {
        let speeds = speeds([(5.0, 20.0), (30.0, 29.0), (300.0, 40.0), (2000.0, 60.0)]);
        let faster = [0, 1, 1 << 11, 1 << 12, 1 << 20].map(|neurons| speeds.gpu_is_faster(neurons));
        assert_eq!(faster, [false, false, false, true, true], "of the size that is nearest by ratio");
    }

    #[test]
    fn stored_speeds_are_read_back_and_damaged_ones_are_rejected() {
        let speeds = speeds([(5.5, 20.25), (30.0, 30.0), (300.0, 40.0), (2000.0, 60.0)]);
        let text = speeds.text();
        assert_eq!(Speeds::parse(&text), Some(speeds), "written and read");
        for damaged in ["", "1024 1.0", &text.replacen("1024", "1025", 1), &text.replacen("5.5", "nan", 1)] {
            assert_eq!(Speeds::parse(damaged), None, "{damaged:?}");
        }
    }
}
