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
    /// How many lanes the machine has.
    pub lanes: usize,
    /// Steps retired in this run by all lanes together.
    pub steps: u64,
    /// How many lanes are stopped for each kind of stop, by [`kvrm_arm64::Stop::name`].
    pub stops: BTreeMap<&'static str, usize>,
    /// Service calls served in this run.
    pub services: u64,
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
        writeln!(f, "engine    {}", self.engine)?;
        writeln!(f, "lanes     {}", self.lanes)?;
        writeln!(f, "stops     {}", stops.join(", "))?;
        writeln!(f, "steps     {}", self.steps)?;
        writeln!(f, "services  {}", self.services)?;
        writeln!(f, "frames    {}", self.frames)?;
        writeln!(f, "time      {:.3} s", self.wall.as_secs_f64())?;
        write!(f, "speed     {:.1} MIPS", self.steps_per_second() / 1e6)
    }
}
