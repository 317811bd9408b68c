//! The comparison of the answers of host and device, and its report.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use kvrm::gpu::loop_networks::LoopAnswer;
use kvrm::models::{Architecture, LoopProposal, PatternMatch, argmax};
use serde_json::{Value, json};

/// The greatest difference between host and device, relative to the greater of 1 and the value.
const TOLERANCE: f32 = 1e-5;
/// The number of bodies for which times are stated.
const TIMED_BODIES: f64 = 256.0;

/// A network and the origin of its weights.
pub(super) struct Network {
    pub(super) architecture: Architecture,
    pub(super) origin: String,
}

/// The answers of all networks for a body.
pub(super) struct Answer {
    pub(super) proposal: LoopProposal,
    pub(super) matched: PatternMatch,
    pub(super) log10_iterations: f32,
}

impl Answer {
    /// Returns the answers of a device, if all networks have answered.
    pub(super) fn of(answer: LoopAnswer) -> Option<Self> {
        let (proposal, matched) = (answer.proposal?, answer.matched?);
        Some(Self { proposal, matched, log10_iterations: answer.log10_iterations? })
    }

    /// Returns the outputs, grouped by name.
    fn outputs(&self) -> [(&'static str, &[f32]); 8] {
        use std::slice::from_ref;
        [
            ("kind logits", &self.proposal.kind_logits),
            ("counter logits", &self.proposal.counter_logits),
            ("counter", &self.proposal.counter),
            ("iterations, log10", from_ref(&self.proposal.log10_iterations)),
            ("pattern logits", &self.matched.logits),
            ("cosines", &self.matched.cosines),
            ("embedding", &self.matched.embedding),
            ("predicted, log10", from_ref(&self.log10_iterations)),
        ]
    }

    /// Returns the logits of which the greatest is an answer.
    fn choices(&self) -> [(&'static str, &[f32]); 3] {
        [
            ("kind", &self.proposal.kind_logits),
            ("counter", &self.proposal.counter_logits),
            ("pattern", &self.matched.logits),
        ]
    }
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
    /// The bodies with another answer, although the answer of the host is clear.
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
    pub(super) fn new(name: String, times: [Duration; 3], expected: &[Answer], found: &[Answer]) -> Self {
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

/// The result of `kvrm verify loops`.
pub(crate) struct Comparison {
    pub(super) networks: Vec<Network>,
    /// The source of the bodies.
    pub(super) source: String,
    pub(super) bodies: usize,
    pub(super) words: usize,
    /// The time of the host, on one core.
    pub(super) host_time: Duration,
    pub(super) on_device: Option<OnDevice>,
}

impl Comparison {
    /// Returns whether host and device agree, or there is no device.
    pub(crate) fn holds(&self) -> bool {
        self.on_device.as_ref().is_none_or(OnDevice::agrees)
    }

    /// Returns the time for 256 bodies in milliseconds.
    fn milliseconds(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e3 * TIMED_BODIES / self.bodies.max(1) as f64
    }

    pub(crate) fn to_json(&self) -> Value {
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
                "ms_per_256_bodies": self.milliseconds(later),
                "differences": device.differences.iter().map(difference).collect::<Vec<_>>(),
                "choices": device.agreements.iter().map(agreement).collect::<Vec<_>>(),
                "agrees": device.agrees(),
            })
        });
        json!({
            "networks": self.networks.iter().map(network).collect::<Vec<_>>(),
            "source": self.source,
            "bodies": self.bodies,
            "words": self.words,
            "host_ms_per_256_bodies": self.milliseconds(self.host_time),
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
        writeln!(f, "bodies                  {} of {} words; {}", self.bodies, self.words, self.source)?;
        writeln!(
            f,
            "host                    {:.1} ms for 256 bodies, one core",
            self.milliseconds(self.host_time)
        )?;
        let Some(device) = &self.on_device else {
            return writeln!(f, "device                  not evaluated; --device compares it with the host");
        };
        writeln!(f, "device                  {}", device.name)?;
        let [compile, first, _] = device.times.map(|time| time.as_secs_f64() * 1e3);
        writeln!(f, "compilation             {compile:.1} ms, and {first:.1} ms for the first evaluation")?;
        writeln!(f, "evaluation              {:.1} ms for 256 bodies", self.milliseconds(device.times[2]))?;
        for Difference { name, absolute, relative } in &device.differences {
            writeln!(f, "difference              {name}: {absolute:.1e}, relative {relative:.1e}")?;
        }
        for Agreement { name, same, wrong } in &device.agreements {
            writeln!(f, "same answers            {name}: {same} of {}, {wrong} wrong", self.bodies)?;
        }
        let verdict = if device.agrees() { "agrees with the host" } else { "differs from the host" };
        writeln!(f, "verdict on the device   {verdict}")
    }
}
