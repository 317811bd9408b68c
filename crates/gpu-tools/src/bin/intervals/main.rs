//! Executes one long run of a program in intervals, many at the same time, and compares each with the JIT.
//!
//! A single lane is slow on a GPU. Here the JIT runs ahead, and its state after every so many steps is the state in which a
//! lane begins, which executes the steps up to the next state. If each lane then has the registers, the memory, the output
//! and the stop of that state, the engine gives the results of the JIT for the whole run. The output that is shown is that of
//! the lanes.
//!
//! The JIT alone executes the start of the program, up to some steps before its first output. After that, the program may not
//! map memory or open files: a lane gets the registers and the memory of a state and nothing else, so it would differ.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin intervals -- target/programs/doom -frames -playdemo demo1
//! ```

#![expect(clippy::print_stderr, reason = "it is a program")]

mod state;

use std::error::Error;
use std::io::{Write as _, stderr, stdout};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;
use kvrm_gpu::Engine;
use kvrm_machine::{Builder, Fork, Machine, Program, Register, Stop, Stream};

use self::state::State;

/// The number of steps before the first output that are compared, too.
const BEFORE_OUTPUT: u64 = 4_000_000;
/// The number of steps between two looks for the first output.
const LOOK: u64 = 1_000_000;
/// The largest size of the output.
const OUTPUT_MAX: usize = 1 << 30;

/// Executes one long run of a program in intervals, many at the same time, and compares each with the JIT.
#[derive(clap::Parser)]
struct Args {
    /// The program.
    program: PathBuf,
    /// The arguments of the program.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// The engine that executes the intervals.
    #[arg(long, default_value = "gpu", value_parser = ["gpu", "reference"])]
    engine: String,
    /// The number of intervals that are executed at the same time.
    #[arg(long, default_value = "64", value_parser = clap::value_parser!(u16).range(1..))]
    lanes: u16,
    /// The number of steps of an interval.
    #[arg(long, default_value = "5000000", value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// The directory of the host in which the program finds its files, as /data, where it starts.
    #[arg(long)]
    data: Option<PathBuf>,
}

impl Args {
    /// Returns the options of a machine with one lane on the JIT.
    fn machine(&self) -> Result<Builder<'static>, Box<dyn Error>> {
        let arguments = self.arguments.clone();
        let mut builder = Machine::builder(Program::open(&self.program)?)
            .engine(Engine::Jit)
            .output_max(OUTPUT_MAX)
            .arguments(move |_| arguments.clone());
        if let Some(data) = &self.data {
            builder = builder.mount(data.clone(), "/data").current_directory("/data");
        }
        Ok(builder)
    }

    /// Returns a machine whose lane is about to write its first output.
    fn start(&self) -> Result<Machine, Box<dyn Error>> {
        let mut scout = self.machine()?.build()?;
        let mut steps = 0;
        while is_silent(&scout)? && steps == scout.cpu(0)?.steps {
            scout.run(LOOK)?;
            steps += LOOK;
        }
        let mut start = self.machine()?.build()?;
        start.run(steps.saturating_sub(LOOK + BEFORE_OUTPUT))?;
        Ok(start)
    }
}

/// Returns whether the program has written nothing.
fn is_silent(machine: &Machine) -> Result<bool, kvrm_machine::Error> {
    Ok(machine.output(0, Stream::Output)?.is_empty() && machine.output(0, Stream::Error)?.is_empty())
}

fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let mut base = args.start()?;
    let engine = if args.engine == "gpu" { Engine::Gpu } else { Engine::Reference };
    let mut leader = base.fork(0, 1)?;
    let count = usize::from(args.lanes);
    let mut lanes = base.fork_with(0, Fork::new(count).engine(engine))?;
    lanes.snapshot()?;
    let mut last = State::of(&mut leader, 0)?;
    let (mut intervals, mut steps) = (0, 0);
    loop {
        let mut states = vec![last];
        while states.len() <= count && goes_on(states[states.len() - 1].stop) {
            leader.run(args.steps)?;
            states.push(State::of(&mut leader, 0)?);
        }
        lanes.reset(..)?;
        for (lane, state) in states[..states.len() - 1].iter().enumerate() {
            state.load(&mut lanes, lane)?;
        }
        // Lanes without an interval execute nothing.
        let mut limits = lanes.registers(Register::Steps)?;
        for (limit, state) in limits.iter_mut().zip(&states[1..]) {
            *limit = state.cpu.steps;
        }
        let report = lanes.run_to(&limits, |_| ControlFlow::Continue(()))?;
        steps += report.steps;
        for (lane, pair) in states.windows(2).enumerate() {
            if let Some(difference) = pair[1].difference(&pair[0], &mut lanes, lane, &mut base)? {
                let [begin, end] = [0, 1].map(|side| pair[side].cpu.steps);
                return Err(format!("steps {begin} to {end}: {difference}").into());
            }
            stdout().write_all(lanes.output(lane, Stream::Output)?)?;
            stderr().write_all(lanes.output(lane, Stream::Error)?)?;
            intervals += 1;
        }
        stdout().flush()?;
        last = states.pop().expect("there is the first one");
        if !goes_on(last.stop) {
            break;
        }
    }
    let device = lanes.run(0)?.device.unwrap_or_else(|| args.engine.clone());
    eprintln!("{intervals} intervals, {steps} steps: {device} has the results of the JIT");
    Ok(match last.stop {
        Some(Stop::Exit { code }) => ExitCode::from(code as u8),
        _ => ExitCode::FAILURE,
    })
}

/// Returns whether a lane with this stop can be run further.
const fn goes_on(stop: Option<Stop>) -> bool {
    matches!(stop, None | Some(Stop::Budget))
}

fn main() -> ExitCode {
    run(&Args::parse()).unwrap_or_else(|error| {
        eprint!("error: {error}");
        let mut source = error.source();
        while let Some(cause) = source {
            eprint!(": {cause}");
            source = cause.source();
        }
        eprintln!();
        ExitCode::FAILURE
    })
}
