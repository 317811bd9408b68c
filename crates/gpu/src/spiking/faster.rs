//! Which engine is the faster one for a network: measured once on a machine, and remembered.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kvrm_spiking::networks::{feagi, feagi_input};
use kvrm_spiking::{Executor, Parallel};

use super::{BurstExecutor, BurstKernels, Options};

/// The environment variable with the folder where measurements are kept.
pub const CACHE_VARIABLE: &str = "KVRM_CACHE";

/// Neurons of the networks that are measured: between them the CPU's time grows with the size, the GPU's hardly.
const SIZES: [u32; 4] = [1 << 10, 1 << 13, 1 << 16, 1 << 18];
/// Synapses of each of their neurons.
const SYNAPSES: u32 = 64;
/// How many of the neurons fire in a step.
const PART: f64 = 0.01;
/// Steps of a run; there are as many runs as go into [`ENOUGH`].
const STEPS: u64 = 50;
/// How long one engine is measured on one network.
const ENOUGH: Duration = Duration::from_millis(40);

/// What a step of networks of several sizes takes on all cores of the CPU, and on a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Speeds {
    /// By size.
    rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    neurons: u32,
    /// Microseconds a step, on the CPU and on the GPU.
    cpu: f64,
    gpu: f64,
}

impl Speeds {
    /// Those of this machine with a GPU: as they were measured before, or measured now, which takes a second.
    ///
    /// They are kept in the folder that [`CACHE_VARIABLE`] names, else in that of the user for caches, by the GPU, its
    /// driver and the number of threads. A file that cannot be read is measured again, and one that cannot be written is
    /// done without.
    ///
    /// # Errors
    /// The GPU fails.
    pub fn of(kernels: &BurstKernels) -> Result<Self, kvrm_spiking::Error> {
        let file = folder().map(|folder| folder.join(file_name(kernels)));
        let known = file.as_ref().and_then(|file| Self::parse(&fs::read_to_string(file).ok()?));
        if let Some(known) = known {
            return Ok(known);
        }
        let measured = Self::measure(kernels)?;
        if let Some(file) = file {
            // Without it the next process measures again.
            let _ = file.parent().map(fs::create_dir_all);
            let _ = fs::write(&file, measured.text());
        }
        Ok(measured)
    }

    /// Measures now.
    ///
    /// # Errors
    /// The GPU fails.
    pub fn measure(kernels: &BurstKernels) -> Result<Self, kvrm_spiking::Error> {
        let row = |neurons| {
            let network = Arc::new(feagi(neurons, SYNAPSES, 1)?);
            let gpu = BurstExecutor::new(kernels, Arc::clone(&network), Options::default());
            let mut gpu = gpu.map_err(|error| kvrm_spiking::Error::Engine(error.into()))?;
            let cpu = step_time(&mut Parallel::new(network), neurons)?;
            Ok(Row { neurons, cpu, gpu: step_time(&mut gpu, neurons)? })
        };
        Ok(Self { rows: SIZES.into_iter().map(row).collect::<Result<_, kvrm_spiking::Error>>()? })
    }

    /// Whether the GPU is the faster one for a network of so many neurons: whether it is for the measured one whose size
    /// is nearest.
    #[must_use]
    pub fn gpu_is_faster(&self, neurons: u32) -> bool {
        let distance = |row: &&Row| (f64::from(row.neurons) / f64::from(neurons.max(1))).ln().abs();
        let nearest = self.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.is_some_and(|row| row.gpu < row.cpu)
    }

    /// A line a size: neurons, and microseconds a step on the CPU and on the GPU.
    fn text(&self) -> String {
        self.rows.iter().map(|Row { neurons, cpu, gpu }| format!("{neurons} {cpu:.3} {gpu:.3}\n")).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let row = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let neurons = words.next()?.parse().ok()?;
            let mut time = || words.next()?.parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0);
            Some(Row { neurons, cpu: time()?, gpu: time()? })
        };
        let rows: Vec<Row> = text.lines().map(row).collect::<Option<_>>()?;
        rows.iter().map(|row| row.neurons).eq(SIZES).then_some(Self { rows })
    }
}

/// The shortest time of a step, in microseconds.
fn step_time(executor: &mut dyn Executor, neurons: u32) -> Result<f64, kvrm_spiking::Error> {
    let input = feagi_input(neurons, PART, STEPS, 1)?;
    // The first run compiles, or makes room.
    executor.run(STEPS, &input, None)?;
    let begin = Instant::now();
    let mut shortest = f64::INFINITY;
    while shortest.is_infinite() || begin.elapsed() < ENOUGH {
        let begin = Instant::now();
        executor.run(STEPS, &input, None)?;
        shortest = shortest.min(begin.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
    }
    Ok(shortest)
}

/// Where measurements are kept.
fn folder() -> Option<PathBuf> {
    let set = |variable| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(CACHE_VARIABLE)
        .or_else(|| Some(set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA"))?.join("kvrm")))
        .or_else(|| Some(set("HOME")?.join(".cache/kvrm")))
}

/// What the measurements of a GPU, its driver and so many threads are called.
fn file_name(kernels: &BurstKernels) -> String {
    let all =
        format!("{} {} {}", kernels.device().info(), rayon::current_num_threads(), env!("CARGO_PKG_VERSION"));
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("spiking-{}.txt", all.chars().map(word).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeds(times: [(f64, f64); 4]) -> Speeds {
        let rows = SIZES.into_iter().zip(times).map(|(neurons, (cpu, gpu))| Row { neurons, cpu, gpu });
        Speeds { rows: rows.collect() }
    }

    #[test]
    fn the_measured_network_of_the_nearest_size_decides() {
        let speeds = speeds([(5.0, 20.0), (30.0, 29.0), (300.0, 40.0), (2000.0, 60.0)]);
        let faster = [0, 1, 1 << 11, 1 << 12, 1 << 20].map(|neurons| speeds.gpu_is_faster(neurons));
        assert_eq!(faster, [false, false, false, true, true], "the nearest by ratio");
    }

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else_is() {
        let speeds = speeds([(5.5, 20.25), (30.0, 30.0), (300.0, 40.0), (2000.0, 60.0)]);
        let text = speeds.text();
        assert_eq!(Speeds::parse(&text), Some(speeds), "there and back");
        for damaged in ["", "1024 1.0", &text.replacen("1024", "1025", 1), &text.replacen("5.5", "nan", 1)] {
            assert_eq!(Speeds::parse(damaged), None, "{damaged:?}");
        }
    }
}
