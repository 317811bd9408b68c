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
    /// How often work was handed to a device in this run.
    pub dispatches: u64,
    /// Frames that all lanes own together at the end.
    pub frames: usize,
    /// Time the run took, in seconds.
    #[serde(rename = "wall_seconds", serialize_with = "seconds")]
    pub wall: Duration,
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
        let rows = [
            ("engine", Some(self.engine.to_owned())),
            ("device", self.device.clone()),
            ("lanes", Some(self.lanes.to_string())),
            ("stops", Some(stops.join(", "))),
            ("steps", Some(self.steps.to_string())),
            ("services", Some(self.services.to_string())),
            ("dispatches", Some(self.dispatches).filter(|&count| count > 0).map(|count| count.to_string())),
            ("frames", Some(self.frames.to_string())),
            ("time", Some(format!("{:.3} s", self.wall.as_secs_f64()))),
            ("speed", Some(format!("{:.1} MIPS", self.steps_per_second() / 1e6))),
        ];
        let rows = rows.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: Vec<String> = rows.map(|(name, value)| format!("{name:width$}  {value}")).collect();
        f.write_str(&lines.join("\n"))
    }
}
