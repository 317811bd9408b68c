//! The comparison of the answers of host and device, and its report.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use kvrm::gpu::Device;
use kvrm::models::argmax;
use serde_json::{Value, json};

use super::networks::Network;

/// The greatest difference between host and device, relative to the greater of 1 and the value.
const TOLERANCE: f32 = 1e-5;
/// The number of evaluations on the device whose median time is reported.
const REPETITIONS: usize = 5;
/// The time for which the device evaluates the networks before it is measured. An evaluation that takes longer is measured
/// once.
const WARM_UP: Duration = Duration::from_secs(1);

/// What networks answer about an input.
pub(super) trait Answer {
    /// Returns the outputs, grouped by name.
    fn outputs(&self) -> Vec<(&'static str, &[f32])>;

    /// Returns the logits of which the greatest is an answer.
    fn choices(&self) -> Vec<(&'static str, &[f32])>;
}

/// The greatest difference of an output.
struct Difference {
    name: &'static str,
    /// The greatest difference.
    absolute: f32,
    /// The greatest difference relative to the greater of 1 and the value of the host.
    relative: f32,
}

/// The agreement of the greatest logits.
struct Agreement {
    name: &'static str,
    same: usize,
    /// The inputs with another answer, although the answer of the host is clear.
    wrong: usize,
}

/// The result of an evaluation on a device.
pub(super) struct OnDevice {
    name: String,
    /// The times of the compilation, of the first evaluation, and of a later one.
    times: [Duration; 3],
    differences: Vec<Difference>,
    agreements: Vec<Agreement>,
}

impl OnDevice {
    /// Evaluates networks on a device, and compares the answers with those of the host. `make` makes the networks, and
    /// `evaluate` evaluates them on all inputs. `answer` returns the answer in a result, if there is one.
    pub(super) fn measure<N, R, A: Answer>(
        device: &Device,
        expected: &[A],
        make: impl FnOnce() -> Result<N>,
        evaluate: impl Fn(&mut N) -> Result<Vec<R>>,
        answer: impl Fn(R) -> Option<A>,
    ) -> Result<Self> {
        let begin = Instant::now();
        let mut there = make()?;
        let compile_time = begin.elapsed();
        // The first evaluation makes the buffers, and some drivers compile kernels when they first run.
        let begin = Instant::now();
        let results = evaluate(&mut there)?;
        let first_time = begin.elapsed();
        let mut times = Vec::new();
        let repetitions = if first_time < WARM_UP { REPETITIONS } else { 1 };
        // A GPU that was idle has a low clock. One that runs lanes has not.
        while begin.elapsed() < WARM_UP {
            evaluate(&mut there)?;
        }
        for _ in 0..repetitions {
            let begin = Instant::now();
            evaluate(&mut there)?;
            times.push(begin.elapsed());
        }
        times.sort_unstable();
        let found: Option<Vec<A>> = results.into_iter().map(answer).collect();
        let found = found.context("the device has not answered for all inputs")?;
        let times = [compile_time, first_time, times[repetitions / 2]];
        Ok(Self::new(device.info().to_string(), times, expected, &found))
    }

    fn new<A: Answer>(name: String, times: [Duration; 3], expected: &[A], found: &[A]) -> Self {
        let pairs = || expected.iter().zip(found);
        let mut differences: Vec<Difference> = Vec::new();
        let mut agreements: Vec<Agreement> = Vec::new();
        for (expected, found) in pairs() {
            for (index, ((name, expected), (_, found))) in
                expected.outputs().into_iter().zip(found.outputs()).enumerate()
            {
                if differences.len() == index {
                    differences.push(Difference { name, absolute: 0.0, relative: 0.0 });
                }
                let worst = &mut differences[index];
                for (expected, found) in expected.iter().zip(found) {
                    // A NaN counts as the greatest difference.
                    let absolute = (found - expected).abs();
                    let absolute = if absolute.is_nan() { f32::INFINITY } else { absolute };
                    worst.absolute = worst.absolute.max(absolute);
                    worst.relative = worst.relative.max(absolute / expected.abs().max(1.0));
                }
            }
            for (index, ((name, expected), (_, found))) in
                expected.choices().into_iter().zip(found.choices()).enumerate()
            {
                if agreements.len() == index {
                    agreements.push(Agreement { name, same: 0, wrong: 0 });
                }
                let (wanted, got) = (argmax(expected), argmax(found));
                let is_clear = expected[wanted] - expected[got] > TOLERANCE * expected[wanted].abs().max(1.0);
                agreements[index].same += usize::from(wanted == got);
                agreements[index].wrong += usize::from(wanted != got && is_clear);
            }
        }
        Self { name, times, differences, agreements }
    }

    fn agrees(&self) -> bool {
        self.differences.iter().all(|difference| difference.relative <= TOLERANCE)
            && self.agreements.iter().all(|agreement| agreement.wrong == 0)
    }
}

/// What the inputs of networks are called.
pub(super) struct Units {
    /// The inputs: bodies or windows.
    pub(super) inputs: &'static str,
    /// The parts of an input: words or accesses.
    pub(super) tokens: &'static str,
    /// The number of inputs for which times are stated.
    pub(super) timed: u32,
}

/// The inputs on which networks are compared.
pub(super) struct Inputs {
    pub(super) units: Units,
    /// Where they come from.
    pub(super) source: String,
    pub(super) count: usize,
    /// The number of parts of all inputs.
    pub(super) tokens: usize,
}

/// The result of `kvrm verify loops` or `kvrm verify memory-oracle`.
pub(crate) struct Comparison {
    pub(super) networks: Vec<Network>,
    pub(super) inputs: Inputs,
    /// The time of the host, on one core.
    pub(super) host_time: Duration,
    pub(super) on_device: Option<OnDevice>,
}

impl Comparison {
    /// Returns whether host and device agree, or there is no device.
    pub(crate) fn holds(&self) -> bool {
        self.on_device.as_ref().is_none_or(OnDevice::agrees)
    }

    /// Returns the time for the stated number of inputs in milliseconds.
    fn milliseconds(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e3 * f64::from(self.inputs.units.timed) / self.inputs.count.max(1) as f64
    }

    pub(crate) fn to_json(&self) -> Value {
        let Inputs { units: Units { inputs, tokens, timed }, source, count, tokens: all_tokens } =
            &self.inputs;
        let time = format!("ms_per_{timed}_{inputs}");
        let network = |network: &Network| {
            json!({
                "network": network.architecture.name(),
                "parameters": network.architecture.parameters(),
                "weights": network.origin,
            })
        };
        let device = self.on_device.as_ref().map(|device| {
            let [compile, first, later] = device.times;
            let difference = |of: &Difference| {
                json!({ "output": of.name, "absolute": of.absolute, "relative": of.relative })
            };
            let agreement =
                |of: &Agreement| json!({ "choice": of.name, "same": of.same, "wrong": of.wrong });
            json!({
                "name": device.name,
                "compile_ms": compile.as_secs_f64() * 1e3,
                "first_ms": first.as_secs_f64() * 1e3,
                time.as_str(): self.milliseconds(later),
                "differences": device.differences.iter().map(difference).collect::<Vec<_>>(),
                "choices": device.agreements.iter().map(agreement).collect::<Vec<_>>(),
                "agrees": device.agrees(),
            })
        });
        json!({
            "networks": self.networks.iter().map(network).collect::<Vec<_>>(),
            "source": source,
            *inputs: count,
            *tokens: all_tokens,
            format!("host_{time}"): self.milliseconds(self.host_time),
            "tolerance": TOLERANCE,
            "device": device,
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for Network { architecture, origin } in &self.networks {
            writeln!(f, "{:<23} {} parameters; {origin}", architecture.name(), architecture.parameters())?;
        }
        let Inputs { units: Units { inputs, tokens, timed }, source, count, tokens: all_tokens } =
            &self.inputs;
        writeln!(f, "{inputs:<23} {count} of {all_tokens} {tokens}; {source}")?;
        let host = self.milliseconds(self.host_time);
        writeln!(f, "host                    {host:.1} ms for {timed} {inputs}, one core")?;
        let Some(device) = &self.on_device else {
            return writeln!(f, "device                  not evaluated; --device compares it with the host");
        };
        writeln!(f, "device                  {}", device.name)?;
        let [compile, first, _] = device.times.map(|time| time.as_secs_f64() * 1e3);
        writeln!(f, "compilation             {compile:.1} ms, and {first:.1} ms for the first evaluation")?;
        let later = self.milliseconds(device.times[2]);
        writeln!(f, "evaluation              {later:.1} ms for {timed} {inputs}")?;
        for Difference { name, absolute, relative } in &device.differences {
            writeln!(f, "difference              {name}: {absolute:.1e}, relative {relative:.1e}")?;
        }
        for Agreement { name, same, wrong } in &device.agreements {
            writeln!(f, "same answers            {name}: {same} of {count}, {wrong} wrong")?;
        }
        let verdict = if device.agrees() { "agrees with the host" } else { "differs from the host" };
        writeln!(f, "verdict on the device   {verdict}")
    }
}
