//! Whole programs in each mode of the acceleration of loops.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use kvrm::{Builder, Cpu, Features, LoopMode, LoopReport, Machine, PAGE_BYTES, Program, Stop};

use crate::bench::programs::workload::{self, Workload};
use crate::engine::OpenEngine;

/// The guests, with an argument for a run of 30 to 500 million steps.
const GUESTS: [(&str, &str); 17] = [
    ("bubble_sort", "8000"),
    ("decimal", "10000"),
    ("fft", "1500"),
    ("life", "800"),
    ("lz", "800000"),
    ("mandelbrot", "800"),
    ("matmul", "200"),
    ("mix", "3000000"),
    ("nbody", "60000"),
    ("quicksort", "500000"),
    ("relocs", "3000000"),
    ("render", "1500"),
    ("sha256", "2000000"),
    ("sieve", "15000000"),
    ("strings", "10000"),
    ("vectors", "1000"),
    ("vm", "20000"),
];
/// The arguments of DOOM for a demo, each frame of which is drawn.
const DEMO: &[&str] = &["-frames", "-playdemo", "demo1"];
/// The modes to compare. The first one is without acceleration.
pub(super) const MODES: [LoopMode; 3] = [LoopMode::Off, LoopMode::Checker, LoopMode::Networks];
/// The largest number of 4 KiB pages that a lane may write.
const FRAMES_MAX: usize = (1 << 30) / PAGE_BYTES;

/// A program to measure.
pub(super) struct Whole {
    pub(super) name: &'static str,
    origin: Origin,
}

enum Origin {
    Guest(Program, &'static str),
    Demo(Program),
    Workload(Box<Workload>),
}

/// Returns the guests, and the workloads of `kvrm bench programs` whose programs are in a folder, with a demo of DOOM.
pub(super) fn all(folder: &Path, only: &[String]) -> Result<Vec<Whole>> {
    let mut all = Vec::new();
    for (name, size) in GUESTS {
        let file = kvrm_guests::elf(name).with_context(|| format!("the crate kvrm-guests has no {name}"))?;
        all.push(Whole { name, origin: Origin::Guest(Program::from_elf(name, file)?, size) });
    }
    let workloads = workload::open_existing(folder)?;
    all.extend(
        workloads
            .into_iter()
            .map(|workload| Whole { name: workload.name, origin: Origin::Workload(Box::new(workload)) }),
    );
    let doom = folder.join("doom");
    if doom.exists() {
        all.push(Whole { name: "doom-demo1", origin: Origin::Demo(Program::open(&doom)?) });
    }
    for name in only {
        if !all.iter().any(|of| of.name == name) {
            let known: Vec<_> = all.iter().map(|of| of.name).collect();
            bail!("--loop '{name}': expected one of {}", known.join(", "));
        }
    }
    all.retain(|of| only.is_empty() || only.iter().any(|name| name == of.name));
    Ok(all)
}

/// The measurements of a program in a mode.
pub(super) struct Measured {
    pub(super) mode: LoopMode,
    /// The times in seconds, in rising order.
    pub(super) seconds: Vec<f64>,
    pub(super) steps: u64,
    /// The report of the last repetition; zeros without acceleration.
    pub(super) report: LoopReport,
    /// The share of the steps in loops, and in those that are proved: estimates from samples.
    pub(super) in_loops: f64,
    pub(super) in_proved: f64,
}

impl Measured {
    pub(super) fn median(&self) -> f64 {
        self.seconds[self.seconds.len() / 2]
    }

    /// Returns the share of the steps that were executed at once.
    pub(super) fn credited(&self) -> f64 {
        self.report.credited_steps as f64 / self.steps.max(1) as f64
    }
}

/// The results of a run, which must not depend on the mode.
#[derive(Clone, PartialEq)]
struct Outcome {
    stops: Vec<Option<Stop>>,
    cpus: Vec<Cpu>,
}

impl Whole {
    /// Measures the program in all modes, which take turns, so that other work on the host slows all.
    pub(super) fn measure(
        &self,
        engine: &OpenEngine,
        lanes: usize,
        steps: u64,
        repetitions: usize,
    ) -> Result<Vec<Measured>> {
        let mut all: Vec<Measured> = MODES
            .map(|mode| Measured {
                mode,
                seconds: Vec::new(),
                steps: 0,
                report: LoopReport::default(),
                in_loops: 0.0,
                in_proved: 0.0,
            })
            .into();
        let mut expected: Option<Outcome> = None;
        // The first run is a warm-up.
        for repetition in 0..=repetitions {
            for measured in &mut all {
                let (seconds, outcome) = self.run(engine, lanes, steps, measured)?;
                if *expected.get_or_insert_with(|| outcome.clone()) != outcome {
                    bail!("{} ends otherwise with --loops {}", self.name, measured.mode);
                }
                if repetition > 0 {
                    measured.seconds.push(seconds);
                }
            }
        }
        for measured in &mut all {
            measured.seconds.sort_by(f64::total_cmp);
        }
        Ok(all)
    }

    /// Runs the program once, with nothing known about its loops at first. Returns the time in seconds.
    fn run(
        &self,
        engine: &OpenEngine,
        lanes: usize,
        steps: u64,
        measured: &mut Measured,
    ) -> Result<(f64, Outcome)> {
        let loops = engine.loops_in(measured.mode)?;
        let mut machine = self.builder(lanes).engine(engine.clone()).loops(loops.clone()).build()?;
        let begin = Instant::now();
        let report = machine.run(steps)?;
        let seconds = begin.elapsed().as_secs_f64();
        let cpus: Result<Vec<_>, _> = (0..lanes).map(|lane| machine.cpu(lane)).collect();
        let outcome = Outcome { stops: machine.stops()?, cpus: cpus? };
        measured.steps = report.steps;
        if let Some(loops) = loops {
            measured.report = loops.report();
            let (mut in_loops, mut in_proved) = (0, 0);
            for of in loops.hot() {
                in_loops += of.steps;
                in_proved += if of.is_proved { of.steps } else { 0 };
            }
            let share = |part: u64| (part as f64 / report.steps.max(1) as f64).min(1.0);
            (measured.in_loops, measured.in_proved) = (share(in_loops), share(in_proved));
        }
        Ok((seconds, outcome))
    }

    fn builder(&self, lanes: usize) -> Builder<'static> {
        match &self.origin {
            Origin::Workload(workload) => workload.builder(lanes, 0),
            &Origin::Guest(ref program, size) => Machine::builder(program.clone())
                .lanes(lanes)
                .features(Features { fp: true, ..Features::ARMV8_0 })
                .frames_max(FRAMES_MAX)
                .output_max(0)
                .arguments(move |_| vec![size.to_owned()]),
            Origin::Demo(program) => Machine::builder(program.clone())
                .lanes(lanes)
                .frames_max(FRAMES_MAX)
                .output_max(0)
                .arguments(|_| DEMO.iter().map(|&argument| argument.to_owned()).collect()),
        }
    }
}
