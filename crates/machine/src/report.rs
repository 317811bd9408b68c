//! What a run did.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What a run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The engine that ran it.
    pub engine: &'static str,
    /// The device the engine ran it on, if it named one.
    pub device: Option<String>,
    /// How many lanes the machine has.
    pub lanes: usize,
    /// Steps retired in this run by all lanes together.
    pub steps: u64,
    /// How many lanes are stopped for each kind of stop, by [`kvrm_arm64::Stop::name`].
    pub stops: BTreeMap<&'static str, usize>,
    /// Service calls served in this run.
    pub services: u64,
    /// How often Linux programs made calls that are not served, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_calls: BTreeMap<u64, u64>,
    /// How often work was handed to a device in this run.
    pub dispatches: u64,
    /// What a network decided, if one chooses the classes of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<Decisions>,
    /// Frames that all lanes own together at the end.
    pub frames: usize,
    /// Time the run took, in seconds.
    #[serde(rename = "wall_seconds", serialize_with = "seconds")]
    pub wall: Duration,
}

/// What a network that chooses the classes of instructions decided.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decisions {
    /// When the network is asked: `memo-domain`, `memo-word`, `network` or `hybrid`.
    pub mode: &'static str,
    /// Which network, and the beginning of the SHA-256 of its weights.
    pub network: String,
    /// How many inputs the network can have.
    pub tuples: u32,
    /// For how many of them the device says the network is right.
    pub tuples_right: u32,
    /// By the class that is right, what was decided since the last report: for steps that retired on the device, which
    /// calls that the host serves do not, and those that a wrong class stopped; in the memo modes for words that were
    /// lowered. What was not reported when a device was lost is lost with it.
    pub classes: Vec<ClassDecisions>,
}

/// What a network decided where one class is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassDecisions {
    /// The class.
    pub class: &'static str,
    /// How often the network was asked.
    pub asked: u64,
    /// How often it said another class.
    pub mispredicted: u64,
    /// How often the table decided instead, as no row was found.
    pub fell_back: u64,
}

impl Decisions {
    /// How often the network was asked.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.classes.iter().map(|class| class.asked).sum()
    }

    /// How often it said a class that is not the right one.
    #[must_use]
    pub fn mispredicted(&self) -> u64 {
        self.classes.iter().map(|class| class.mispredicted).sum()
    }

    /// How often the table decided instead.
    #[must_use]
    pub fn fell_back(&self) -> u64 {
        self.classes.iter().map(|class| class.fell_back).sum()
    }

    /// The part of all decisions that is right, from 0 to 1; 1 if there were none.
    #[must_use]
    pub fn agreement(&self) -> f64 {
        match self.asked() {
            0 => 1.0,
            asked => (asked - self.mispredicted()) as f64 / asked as f64,
        }
    }
}

fn seconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

impl Report {
    /// Steps a second.
    #[must_use]
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.wall.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stops: Vec<String> = self.stops.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let unknown: Vec<String> =
            self.unknown_calls.iter().map(|(number, count)| format!("{count} of number {number}")).collect();
        let rows = [
            ("engine", Some(self.engine.to_owned())),
            ("device", self.device.clone()),
            ("lanes", Some(self.lanes.to_string())),
            ("stops", Some(stops.join(", "))),
            ("steps", Some(self.steps.to_string())),
            ("services", Some(self.services.to_string())),
            ("unknown calls", Some(unknown.join(", ")).filter(|text| !text.is_empty())),
            ("dispatches", Some(self.dispatches).filter(|&count| count > 0).map(|count| count.to_string())),
            ("decisions", self.decisions.as_ref().map(ToString::to_string)),
            ("frames", Some(self.frames.to_string())),
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
    /// What the network is, and a table with a row for each class there was.
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

    #[test]
    fn decisions_are_a_table_of_the_classes_there_were() {
        let class = |class, asked, mispredicted| ClassDecisions { class, asked, mispredicted, fell_back: 0 };
        let decisions = Decisions {
            mode: "hybrid",
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
}
