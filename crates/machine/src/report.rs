//! The report of a run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kvrm_arm64::{Class, Stop};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::frame_moves::FrameMoves;
use crate::hot_code::TranslationReport;
use crate::loops::LoopReport;

/// A name from a fixed list. As an alias, it does not make `Deserialize` borrow from the input.
type Name = &'static str;

/// The report of a run of a [`Machine`](crate::Machine).
///
/// ```
/// use kvrm_machine::{Machine, Program, Report};
///
/// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
/// let report = Machine::builder(program).lanes(8).build()?.run(1000)?;
/// assert_eq!((report.lanes, report.steps, report.stops["halt"]), (8, 8, 8));
/// println!("{report}"); // a line for each figure
///
/// let json = serde_json::to_string(&report)?;
/// assert_eq!(serde_json::from_str::<Report>(&json)?, report);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the engine, such as `reference`.
    pub engine: Cow<'static, str>,
    /// The device on which the engine ran; `None` for the CPU.
    pub device: Option<String>,
    /// The number of lanes of the machine.
    pub lanes: usize,
    /// The number of steps that all lanes together have retired in this run.
    pub steps: u64,
    /// The number of lanes with each kind of stop, by [`Stop::name`].
    #[serde(deserialize_with = "stops")]
    pub stops: BTreeMap<Name, usize>,
    /// The number of calls served in this run, by the host or by the device.
    pub services: u64,
    /// The number of calls of Linux programs that KVRM does not know, by the number of the system call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_calls: BTreeMap<u64, u64>,
    /// The number of calls of Linux programs that KVRM refuses ([`Refused`](crate::linux::Status::Refused)), by the number
    /// of the system call.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused_calls: BTreeMap<u64, u64>,
    /// The number of dispatches in this run; 0 on the CPU.
    pub dispatches: u64,
    /// The decisions of the network that names the classes of instructions; `None` if there is no network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Decisions>,
    /// The translation of hot code; `None` if the engine does not translate, or does not measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<TranslationReport>,
    /// The acceleration of loops since the machine was built; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loops: Option<LoopReport>,
    /// The number of frames of 4096 bytes that all lanes own together after the run.
    pub frames: usize,
    /// The frames that moved between device and host in this run; `None` if frames do not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_moves: Option<FrameMoves>,
    /// The failures of the host that the lanes have survived, such as that of a write to the file of frames, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The time from the call of the run to its return. In JSON it is `wall_seconds`, in seconds.
    #[serde(rename = "wall_seconds", serialize_with = "write_seconds", deserialize_with = "read_seconds")]
    pub wall: Duration,
}

/// The decisions of a network that names the classes of instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decisions {
    /// The mode, which says when the network is asked: `memo-domain`, `memo-word`, `network` or `hybrid`.
    pub mode: Cow<'static, str>,
    /// The name of the network, and the beginning of the SHA-256 of its weights.
    pub network: String,
    /// The number of tuples, the possible inputs of the network.
    pub tuples: u32,
    /// The number of tuples for which the network, evaluated by the device, names the right class.
    pub tuples_right: u32,
    /// The decisions since the last report, separately for each right class.
    ///
    /// In the modes `network` and `hybrid` these are the steps that retired on the device, and the steps at which a
    /// wrong class stopped a lane. A call that the host serves is no such step. In the memo modes they are the words
    /// that were lowered. If the device was lost, the decisions since the last report are lost, too.
    pub classes: Vec<ClassDecisions>,
}

/// The decisions of a network for words of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassDecisions {
    /// The name of the right class.
    #[serde(deserialize_with = "class")]
    pub class: Name,
    /// The number of times that the network was asked.
    pub asked: u64,
    /// The number of times that it named another class.
    pub mispredicted: u64,
    /// The number of times that the table decided instead, because the named class had no row for the word.
    pub fell_back: u64,
}

impl ClassDecisions {
    /// Returns the decisions for words of `class`: the number of times that the network was asked, that it named another
    /// class, and that the table decided instead.
    #[must_use]
    pub const fn new(class: Class, asked: u64, mispredicted: u64, fell_back: u64) -> Self {
        Self { class: class.name(), asked, mispredicted, fell_back }
    }
}

impl Decisions {
    /// Returns the decisions of `network`, which names the right class for `tuples_right` of its `tuples` inputs.
    #[must_use]
    pub const fn new(
        mode: &'static str,
        network: String,
        tuples: u32,
        tuples_right: u32,
        classes: Vec<ClassDecisions>,
    ) -> Self {
        Self { mode: Cow::Borrowed(mode), network, tuples, tuples_right, classes }
    }

    /// Returns the number of times that the network was asked.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.classes.iter().map(|class| class.asked).sum()
    }

    /// Returns the number of times that the network named a wrong class.
    #[must_use]
    pub fn mispredicted(&self) -> u64 {
        self.classes.iter().map(|class| class.mispredicted).sum()
    }

    /// Returns the number of times that the table decided instead.
    #[must_use]
    pub fn fell_back(&self) -> u64 {
        self.classes.iter().map(|class| class.fell_back).sum()
    }

    /// Returns the fraction of right decisions, from 0 to 1; 1 if there were no decisions.
    #[must_use]
    pub fn agreement(&self) -> f64 {
        match self.asked() {
            0 => 1.0,
            asked => (asked - self.mispredicted()) as f64 / asked as f64,
        }
    }
}

fn write_seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

fn read_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn stops<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Name, usize>, D::Error> {
    let counts = BTreeMap::<String, usize>::deserialize(deserializer)?;
    let known =
        |name: &str| named::<D::Error>(name, "the name of a kind of stop", Stop::NAMES.iter().copied());
    counts.into_iter().map(|(name, count)| Ok((known(&name)?, count))).collect()
}

fn class<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = String::deserialize(deserializer)?;
    named(&name, "the name of a class", Class::ALL.iter().map(|class| class.name()))
}

/// Returns the name in `names` that is equal to `name`.
fn named<E: serde::de::Error>(
    name: &str,
    what: &str,
    mut names: impl Iterator<Item = Name>,
) -> Result<Name, E> {
    names.find(|known| *known == name).ok_or_else(|| E::custom(format_args!("{name:?} is not {what}")))
}

impl Report {
    /// Returns the number of steps of all lanes together, divided by the time of the run in seconds.
    #[must_use]
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.wall.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops: Vec<String> = self.stops.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let calls = |counts: &BTreeMap<u64, u64>| {
            let counts: Vec<String> =
                counts.iter().map(|(number, count)| format!("{count} of number {number}")).collect();
            Some(counts.join(", ")).filter(|text| !text.is_empty())
        };
        let rows = [
            ("engine", Some(self.engine.clone().into_owned())),
            ("device", self.device.clone()),
            ("lanes", Some(self.lanes.to_string())),
            ("stops", Some(stops.join(", "))),
            ("steps", Some(self.steps.to_string())),
            ("services", Some(self.services.to_string())),
            ("unknown calls", calls(&self.unknown_calls)),
            ("refused calls", calls(&self.refused_calls)),
            ("dispatches", Some(self.dispatches).filter(|&count| count > 0).map(|count| count.to_string())),
            ("decisions", self.decisions.as_ref().map(ToString::to_string)),
            ("translation", self.translation.as_ref().map(ToString::to_string)),
            ("loops", self.loops.as_ref().map(ToString::to_string)),
            ("frames", Some(self.frames.to_string())),
            ("moved frames", self.frame_moves.as_ref().map(ToString::to_string)),
            ("warnings", Some(self.warnings.join("\n")).filter(|text| !text.is_empty())),
            ("time", Some(format!("{:.3} s", self.wall.as_secs_f64()))),
            ("speed", Some(format!("{:.1} MIPS", self.steps_per_second() / 1e6))),
        ];
        let rows = rows.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
        let indent = format!("\n{:width$}  ", "");
        let lines: Vec<String> =
            rows.map(|(name, value)| format!("{name:width$}  {}", value.replace('\n', &indent))).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for Decisions {
    /// Writes a line about the network, and a table with a row for each class that has decisions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, network, tuples, tuples_right, classes } = self;
        writeln!(f, "{mode}, {network}, right for {tuples_right} of {tuples} tuples")?;
        write!(f, "{:<12} {:>14} {:>14} {:>14}", "", "decisions", "mispredicted", "fell back")?;
        let total = ClassDecisions {
            class: "all",
            asked: self.asked(),
            mispredicted: self.mispredicted(),
            fell_back: self.fell_back(),
        };
        for row in classes.iter().filter(|class| class.asked > 0).chain([&total]) {
            let ClassDecisions { class, asked, mispredicted, fell_back } = row;
            write!(f, "\n{class:<12} {asked:>14} {mispredicted:>14} {fell_back:>14}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot_code::TranslationTrial;

    #[test]
    fn decisions_are_a_table_of_the_classes_there_were() {
        let class = |class, asked, mispredicted| ClassDecisions { class, asked, mispredicted, fell_back: 0 };
        let decisions = Decisions {
            mode: "hybrid".into(),
            network: "dispatch 0123456789ab".to_owned(),
            tuples: 100,
            tuples_right: 99,
            classes: vec![class("ARITHMETIC", 30, 1), class("LOGICAL", 0, 0), class("BRANCH", 10, 3)],
        };
        let text = decisions.to_string();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            rows[0].join(" "),
            "hybrid, dispatch 0123456789ab, right for 99 of 100 tuples",
            "its head"
        );
        let expected =
            [&["ARITHMETIC", "30", "1", "0"], &["BRANCH", "10", "3", "0"], &["all", "40", "4", "0"]];
        assert_eq!(rows[2..], expected, "LOGICAL was never asked for");
        assert!((decisions.agreement() - 0.9).abs() < 1e-12, "36 of 40");
        let none = Decisions { classes: Vec::new(), ..decisions };
        assert!((none.agreement() - 1.0).abs() < 1e-12, "nothing was wrong");
    }

    /// A report in which every field has a value.
    fn report() -> Report {
        let classes = vec![ClassDecisions::new(Class::Branch, 10, 3, 2)];
        Report {
            engine: "gpu".into(),
            device: Some("a GPU".to_owned()),
            lanes: 5,
            steps: 12345,
            stops: [("exit", 2), ("out-of-frames", 3)].into(),
            services: 7,
            unknown_calls: [(1000, 4)].into(),
            refused_calls: [(220, 5)].into(),
            dispatches: 9,
            decisions: Some(Decisions::new("hybrid", "dispatch 0123".to_owned(), 100, 99, classes)),
            translation: Some(TranslationReport::new(
                "chosen",
                vec![TranslationTrial::new(1, 2, 6, Some(3.5), true)],
                4,
            )),
            loops: Some(LoopReport {
                proposed: 3,
                refused: [("register".into(), 2)].into(),
                ..LoopReport::default()
            }),
            frames: 11,
            frame_moves: Some(FrameMoves::new(6, 5, 4)),
            warnings: vec!["a disk is full".to_owned()],
            wall: Duration::new(3, 141_592_653),
        }
    }

    #[test]
    fn a_report_that_was_written_is_read_unchanged() {
        let full = report();
        let plain = Report {
            device: None,
            unknown_calls: BTreeMap::new(),
            refused_calls: BTreeMap::new(),
            decisions: None,
            translation: None,
            loops: None,
            frame_moves: None,
            warnings: Vec::new(),
            ..full.clone()
        };
        for report in [full, plain] {
            let text = serde_json::to_string(&report).expect("a report is JSON");
            let read: Report = serde_json::from_str(&text).expect("the JSON is a report");
            assert_eq!(read, report, "from {text}");
        }
    }

    #[test]
    fn names_that_no_report_has_are_refused() {
        let text = serde_json::to_string(&report()).expect("a report is JSON");
        for (name, message) in [
            ("out-of-frames", "\"other\" is not the name of a kind of stop"),
            ("BRANCH", "\"other\" is not the name of a class"),
        ] {
            let changed = text.replace(name, "other");
            let error =
                serde_json::from_str::<Report>(&changed).expect_err("the name is unknown").to_string();
            assert!(error.starts_with(message), "{changed}: {error}");
        }
        let negative = text.replace("3.141592653", "-1.0");
        assert!(serde_json::from_str::<Report>(&negative).is_err(), "no run takes a negative time");
    }
}
