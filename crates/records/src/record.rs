//! The fields of a record.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{Commit, Host};

/// The schema version. Reading a record of another version is an error, so the version changes whenever a field does.
pub const SCHEMA: u32 = 1;

/// One measured row: its parameters, its figures, and their origin.
///
/// ```
/// let line = r#"{"schema": 1, "kind": "lanes", "date": "2026-11-22", "machine": {"cpu": "a CPU", "cores": 2,
///     "memory_bytes": null, "os": null}, "adapter": null, "commit": null, "command": "kvrm bench",
///     "parameters": {"lanes": 1}, "figures": {}}"#.replace('\n', "");
/// let records = kvrm_records::parse("records.jsonl".as_ref(), &line)?;
/// assert_eq!(records[0].command, "kvrm bench");
/// # Ok::<(), kvrm_records::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The schema version, [`SCHEMA`].
    pub schema: u32,
    /// The benchmark.
    pub kind: Kind,
    /// The time at which the command began, such as `2026-11-22T09:30:00Z`. Transcribed records have only the day.
    pub date: String,
    /// The host on which the benchmark ran.
    #[serde(rename = "machine")]
    pub host: Host,
    /// The GPU adapter, if one was measured.
    pub adapter: Option<Adapter>,
    /// The measured commit, if known.
    pub commit: Option<Commit>,
    /// The command line of the benchmark.
    pub command: String,
    /// Whether the figures were copied from a document instead of written by the benchmark. `commit` is then the commit
    /// that added them to the document.
    #[serde(default, skip_serializing_if = "is_false")]
    pub transcribed: bool,
    /// A remark about the figures for readers, such as which repetition a document reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The parameters that identify this row among the rows of its kind: guest, lanes, engine and so on.
    pub parameters: BTreeMap<String, Value>,
    /// The measured figures, by name.
    pub figures: BTreeMap<String, Figure>,
}

/// The benchmarks that write records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// `kvrm bench`: steps per second by the number of lanes.
    Lanes,
    /// `kvrm bench class-selection`: steps per second by the mode of class selection.
    ClassSelection,
    /// `kvrm bench class-selection`: the certificate of the dispatch network.
    Certificate,
    /// `kvrm bench processes`: complete runs of a program per second.
    Processes,
    /// `kvrm bench programs`: Linux programs in many lanes with different inputs.
    ProgramLanes,
    /// `kvrm bench loops`: loops, stepped and executed at once.
    Loops,
    /// `kvrm bench prefetch`: prefetchers, with less memory on the GPU than programs need.
    Prefetch,
    /// `kvrm bench doom`: steps of DOOM as an environment.
    Environments,
    /// `cargo xtask compare doom`: steps of DOOM in KVRM and in ViZDoom.
    Games,
    /// `kvrm spike bench`: steps of spiking networks.
    Spiking,
    /// `cargo xtask compare`: spiking networks in KVRM and in other simulators.
    Simulators,
    /// `cargo xtask oracle programs`: Linux programs, run once each.
    Programs,
    /// `cargo xtask records bench`: a Criterion benchmark.
    Criterion,
    /// `cargo xtask records time`: the duration of a command.
    Timed,
    /// `bursts` of `kvrm-gpu-tools`: steps of spiking networks by delivery kernel.
    Bursts,
    /// `memory` of `kvrm-gpu-tools`: resets of lanes that have written memory.
    Memory,
    /// `lowering_sweep` of `kvrm-gpu-tools`: all code words lowered on the GPU and on the host.
    Lowering,
}

/// Prints the name used in files.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A GPU adapter and its driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// The name given by the driver.
    pub name: String,
    /// The kind of adapter, such as `discrete GPU` or `software`.
    pub kind: String,
    /// The graphics API: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
}

impl Adapter {
    /// Returns an adapter with these fields.
    #[must_use]
    pub fn new(name: &str, kind: impl fmt::Display, backend: &str, driver: &str) -> Self {
        let (backend, driver) = (backend.to_owned(), driver.to_owned());
        Self { name: name.to_owned(), kind: kind.to_string(), backend, driver }
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number. Whole numbers are written without a fraction.
    Number(#[serde(serialize_with = "number")] f64),
    /// Text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number as f64)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

/// A measured quantity, with its minimum, median and maximum over all repetitions.
///
/// ```
/// use kvrm_records::Figure;
///
/// let speed = Figure::of("MIPS", &[101.0, 99.5, 100.0]);
/// assert_eq!((speed.min, speed.median, speed.max), (Some(99.5), 100.0, Some(101.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The unit, such as `MIPS`.
    pub unit: String,
    /// The minimum, if known.
    #[serde(serialize_with = "optional_number")]
    pub min: Option<f64>,
    /// The median. If the number of repetitions is even, it is the greater of the two middle values.
    #[serde(serialize_with = "number")]
    pub median: f64,
    /// The maximum, if known.
    #[serde(serialize_with = "optional_number")]
    pub max: Option<f64>,
    /// The number of repetitions, if known.
    pub repetitions: Option<u32>,
}

impl Figure {
    /// Returns the figure of these repetitions, which may be in any order.
    ///
    /// # Panics
    ///
    /// If there are no repetitions.
    #[must_use]
    pub fn of(unit: &str, repetitions: &[f64]) -> Self {
        let mut sorted = repetitions.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (min, max) = (sorted.first().copied(), sorted.last().copied());
        let median = *sorted.get(sorted.len() / 2).expect("a benchmark measures at least once");
        Self { unit: unit.to_owned(), min, median, max, repetitions: u32::try_from(sorted.len()).ok() }
    }

    /// Returns a figure with a single value: one that never varies, such as a count, or that was measured once.
    #[must_use]
    pub fn once(unit: &str, value: f64) -> Self {
        Self::of(unit, &[value])
    }
}

/// The number up to which `f64` represents every whole number: 2^53.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

fn optional_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}

const fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_depend_on_the_order_of_repetitions() {
        let figure = Figure::of("MIPS", &[3.0, 1.0, 2.0]);
        assert_eq!((figure.min, figure.median, figure.max), (Some(1.0), 2.0, Some(3.0)), "of three");
        assert_eq!(figure.repetitions, Some(3), "all count");
    }

    #[test]
    fn whole_numbers_are_written_without_a_fraction() {
        let values: Vec<Value> = vec![1024_u64.into(), 0.1.into(), 5e18.into(), "x".into()];
        let text = serde_json::to_string(&values).expect("values are JSON");
        assert_eq!(text, r#"[1024,0.1,5e+18,"x"]"#, "in their usual notation");
        let back: Vec<Value> = serde_json::from_str(&text).expect("it was just written");
        assert_eq!(back, values, "nothing is lost");
    }

    #[test]
    fn a_whole_number_equals_itself_with_a_fraction() {
        let values: [Value; 2] = serde_json::from_str("[1, 1.0]").expect("both are numbers");
        assert_eq!(values[0], values[1], "a table may ask for either");
    }

    #[test]
    fn kinds_are_shown_as_in_the_files() {
        assert_eq!(Kind::Criterion.to_string(), "criterion", "in lower case");
    }
}
