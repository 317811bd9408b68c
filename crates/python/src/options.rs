//! The options of machines and of hooks.

use std::path::PathBuf;

use kvrm::arm64::{Feature, Features, Processor};
use kvrm::{Builder, Fork, Hooks, Machine};
use pyo3::prelude::*;

use crate::error::refused;
use crate::program::Program;

/// What each lane gets: one list of texts for all lanes, or one for each lane.
type Texts = Vec<Vec<String>>;

/// The options of a machine.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct MachineOptions {
    pub(crate) lanes: usize,
    arguments: Texts,
    environment: Texts,
    stdin: Vec<Vec<u8>>,
    seed: u64,
    first_lane: u64,
    features: Option<Vec<String>>,
    frames: Option<usize>,
    stack_bytes: Option<u64>,
    heap_bytes: Option<u64>,
    arena_bytes: Option<u64>,
    disk_bytes: Option<u64>,
    output_max: Option<usize>,
    real_time: bool,
    terminal: bool,
    mounts: Vec<(PathBuf, String)>,
    copies: Vec<(PathBuf, String)>,
    current_directory: Option<String>,
    directory: Option<PathBuf>,
    reserve: Vec<(u64, u64)>,
}

impl MachineOptions {
    /// Returns a builder with these options, without engine and hooks.
    pub(crate) fn builder(self, program: &Program) -> PyResult<Builder<'static>> {
        let Self { lanes, arguments, environment, stdin, .. } = self;
        for (name, rows) in
            [("arguments", arguments.len()), ("environment", environment.len()), ("stdin", stdin.len())]
        {
            if ![0, 1, lanes].contains(&rows) {
                return Err(refused(format!("{name}: {rows} rows for {lanes} lanes: expected one for each")));
            }
        }
        let mut builder = Machine::builder(program.program.clone())
            .lanes(lanes)
            .seed(self.seed)
            .first_lane(self.first_lane)
            .real_time(self.real_time)
            .terminal(self.terminal)
            .arguments(move |lane| row(&arguments, lane))
            .environment(move |lane| row(&environment, lane))
            .input(move |lane| row(&stdin, lane));
        if let Some(names) = &self.features {
            builder = builder.features(features(names)?);
        }
        if let Some(frames) = self.frames {
            builder = builder.frames_max(frames);
        }
        if let Some(bytes) = self.stack_bytes {
            builder = builder.stack_bytes(bytes);
        }
        if let Some(bytes) = self.heap_bytes {
            builder = builder.heap_bytes(bytes);
        }
        if let Some(bytes) = self.arena_bytes {
            builder = builder.arena_bytes(bytes);
        }
        if let Some(bytes) = self.disk_bytes {
            builder = builder.disk_bytes(bytes);
        }
        if let Some(bytes) = self.output_max {
            builder = builder.output_max(bytes);
        }
        for (host, guest) in self.mounts {
            builder = builder.mount(host, guest);
        }
        for (host, guest) in self.copies {
            builder = builder.copy(host, guest);
        }
        if let Some(path) = self.current_directory {
            builder = builder.current_directory(path);
        }
        if let Some(directory) = self.directory {
            builder = builder.directory(directory);
        }
        for (start, end) in self.reserve {
            builder = builder.reserve(start..end);
        }
        Ok(builder)
    }
}

/// Returns what a lane gets.
fn row<T: Clone>(rows: &[Vec<T>], lane: usize) -> Vec<T> {
    match rows {
        [] => Vec::new(),
        [shared] => shared.clone(),
        own => own[lane].clone(),
    }
}

/// Returns the features with these names. The name of a processor stands for all its features.
fn features(names: &[String]) -> PyResult<Features> {
    let mut features = Features::BASE;
    for name in names {
        features = match (Feature::from_name(name), Processor::from_name(name)) {
            (Some(feature), _) => features.with(feature),
            (None, Some(processor)) => features.union(processor.features()),
            (None, None) => {
                let known = Feature::ALL.iter().map(|feature| feature.name());
                let known: Vec<&str> = known.chain(Processor::ALL.map(Processor::name)).collect();
                return Err(refused(format!("feature {name:?}: expected one of {}", known.join(", "))));
            }
        };
    }
    Ok(features)
}

/// The hooks of a machine.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct HookOptions {
    breakpoints: Vec<u64>,
    reads: Vec<(u64, u64)>,
    writes: Vec<(u64, u64)>,
    calls: Vec<u32>,
    all_calls: bool,
}

impl HookOptions {
    pub(crate) fn hooks(self) -> Hooks {
        let mut hooks = Hooks::new();
        for address in self.breakpoints {
            hooks = hooks.breakpoint(address);
        }
        for (start, end) in self.reads {
            hooks = hooks.watch_reads(start..end);
        }
        for (start, end) in self.writes {
            hooks = hooks.watch_writes(start..end);
        }
        for number in self.calls {
            hooks = hooks.system_call(number);
        }
        if self.all_calls { hooks.all_system_calls() } else { hooks }
    }
}

/// The options of a fork.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ForkOptions {
    lanes: usize,
    frames: Option<usize>,
}

impl ForkOptions {
    /// Returns a fork with these options.
    pub(crate) fn fork<'a>(self) -> Fork<'a> {
        let fork = Fork::new(self.lanes);
        match self.frames {
            Some(frames) => fork.frames_max(frames),
            None => fork,
        }
    }
}
