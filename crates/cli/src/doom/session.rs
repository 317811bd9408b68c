//! The game as a program that takes steps of one tic or more, and draws a frame at the end of each.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use kvrm::environments::{Environments, Error as EnvironmentError};
use kvrm::{Engine, Program, Stop, Stream, ViewFormat};

use super::frame::Frame;
use super::game::Game;
use super::input::Input;
use crate::engine::OpenEngine;
use crate::output::note;

/// The number of pages of 4 KiB that the game may write: 64 MiB.
const FRAMES_MAX: usize = 16_384;

/// A running game.
pub(super) struct Session {
    environments: Environments,
    /// The addresses of the variables for keys and mouse.
    keys: u64,
    mouse: u64,
    frame: Frame,
    /// Why the game has stopped, if it has.
    stop: Option<Stop>,
}

/// What a step took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) instructions: u64,
    pub(super) time: Duration,
}

impl Session {
    /// Starts the game, up to its first frame.
    pub(super) fn start(game: &Game, program: Program, engine: &OpenEngine) -> Result<Self> {
        let errors = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&errors);
        // The start is hundreds of millions of steps in one lane, for which a GPU is of no use.
        let start = game.machine(program).engine(Engine::Jit).loops(engine.loops.clone()).console(
            move |_, stream, bytes| {
                if stream == Stream::Error {
                    collected.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                }
            },
        );
        let environments = Environments::builder(start.build()?)
            .engine(engine.clone())
            .frames_max(FRAMES_MAX)
            .components([""; 0])
            .format(ViewFormat::Rgb)
            .endless()
            .build();
        let mut environments = environments.map_err(|error| {
            let errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
            show_errors(&errors);
            match error {
                // The game has said what it misses.
                EnvironmentError::NoYield { stop: Some(stop), .. } if !errors.is_empty() => {
                    anyhow!("the game stopped when it started: {stop}")
                }
                error => error.into(),
            }
        })?;
        let address = |name: &str| {
            let symbol = environments.machine().program().symbol(name);
            let address = symbol.map(|symbol| symbol.address);
            address.ok_or_else(|| anyhow!("the program has no variable `{name}`: expected DOOM"))
        };
        let (keys, mouse) = (address("doom_keys")?, address("doom_mouse")?);
        let places = [address("prndindex")?, address("rndindex")?];
        let mut byte = |address| -> Result<u8> {
            let mut byte = [0];
            environments.machine_mut().read(0, address, &mut byte)?;
            Ok(byte[0])
        };
        // An environment begins with a seed, which sets these variables. What they are already is the way to
        // go on as if there were no seed, which demos need.
        let seed = u16::from_le_bytes([byte(places[0])?, byte(places[1])?]).into();
        let [height, width, _] = environments.shape();
        let batch = environments.reset_with(.., &[seed], &[0])?;
        let frame = Frame { width, height, rgb: batch.observations.to_vec() };
        let stop = batch.stops[0];
        Ok(Self { environments, keys, mouse, frame, stop })
    }

    /// Lets some tics pass with an input, and draws the frame after them. Does nothing if the game has
    /// stopped.
    pub(super) fn step(&mut self, input: &Input, tics: u32) -> Result<Cost> {
        let begin = Instant::now();
        if self.stop.is_some() {
            return Ok(Cost { instructions: 0, time: begin.elapsed() });
        }
        let Input { keys, mouse } = input;
        let machine = self.environments.machine_mut();
        machine.write(0, self.keys, &keys.to_bytes()).context("cannot write the keys")?;
        machine.write(0, self.mouse, &mouse.to_bytes()).context("cannot write the mouse")?;
        self.environments.set_ticks(tics);
        let batch = self.environments.step(&[])?;
        self.stop = batch.stops[0];
        self.frame.rgb.clear();
        self.frame.rgb.extend_from_slice(batch.observations);
        Ok(Cost { instructions: batch.instructions[0], time: begin.elapsed() })
    }

    /// Returns the last frame.
    pub(super) const fn frame(&self) -> &Frame {
        &self.frame
    }

    pub(super) const fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Prints why the game has stopped, and what it wrote to standard error, unless it has ended as it
    /// should.
    pub(super) fn explain(&mut self) -> Result<()> {
        let Some(stop) = self.stop.filter(|stop| *stop != (Stop::Exit { code: 0 })) else { return Ok(()) };
        let machine = self.environments.machine_mut();
        show_errors(machine.output(0, Stream::Error)?);
        let pc = machine.cpu(0)?.pc;
        let place = machine.program().function_at(pc).map_or_else(String::new, |symbol| {
            format!(" <{}+{:#x}>", symbol.name.escape_debug(), pc - symbol.address)
        });
        note(format_args!("the game stopped: {stop}; pc {pc:#x}{place}"));
        Ok(())
    }
}

/// Prints what the game wrote to standard error.
fn show_errors(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines().filter(|line| !line.trim().is_empty()) {
        note(line);
    }
}
