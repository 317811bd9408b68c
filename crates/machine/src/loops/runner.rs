//! Lanes that execute iterations of loops at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use kvrm_arm64::{Cpu, Stop};
use kvrm_loops::{INSTRUCTIONS_MAX, Proof, registers};

use super::commit::execute;
use super::habit::Habit;
use super::known::KnownLoop;
use super::listener::LoopListener;
use super::search::{Place, code_of};
use super::{Loops, general_registers};
use crate::address_space::AddressSpace;
use crate::runner::{Interpreter, Runner};
use crate::translation::CodeVersion;

/// The least number of steps between two attempts.
const SLICE_MIN: u64 = 1 << 10;
/// The largest number of steps from the end of an inner loop to the beginning of an iteration of the loop around it: the last two
/// iterations of the inner loop, and the rest of the other one.
const AROUND_MAX: u64 = 3 * INSTRUCTIONS_MAX as u64;
/// The largest number of addresses of which it is remembered in which loop they are.
const RECENT_MAX: usize = 64;

/// A runner that executes iterations of loops at once where that is proved to give the same results, and leaves all other
/// steps to another runner.
///
/// Where a lane is after some steps is likely to be in a loop, so this is where loops are looked for.
#[derive(Debug)]
pub struct LoopRunner<R> {
    inner: R,
    /// `None` if all steps are left to the other runner.
    loops: Option<Loops>,
    /// The least number of steps between two attempts.
    slice_min: u64,
    /// The number of steps before the next one.
    slice: u64,
    /// The loops around addresses at which the lane was found, for the code of `version`.
    recent: HashMap<u64, Option<Arc<KnownLoop>>>,
    /// The loops that have an inner loop, by the heads of the inner loops.
    enclosing: HashMap<u64, Option<Arc<KnownLoop>>>,
    version: CodeVersion,
    /// The habits of the lane, by the heads of loops.
    habits: HashMap<u64, Habit>,
    /// The slice whose steps are measured, if any is.
    measured: Option<Measured>,
    /// The listener who hears of the loops of this lane, if it is the one of whose loops an advisor hears.
    listener: Option<LoopListener>,
}

/// A slice that begins in a loop.
#[derive(Debug)]
struct Measured {
    head: u64,
    begin: Instant,
    steps: u64,
}

impl<R: Runner> LoopRunner<R> {
    /// Creates a runner from another one.
    #[must_use]
    pub fn new(inner: R, loops: Option<Loops>) -> Self {
        Self::with_slices(inner, loops, SLICE_MIN)
    }

    /// Creates a runner that looks for loops after so many steps.
    #[doc(hidden)]
    #[must_use]
    pub fn with_slices(inner: R, loops: Option<Loops>, steps: u64) -> Self {
        let (recent, enclosing, version) = (HashMap::new(), HashMap::new(), CodeVersion::default());
        let (habits, measured, listener) = (HashMap::new(), None, None);
        let (slice_min, slice) = (steps, steps);
        Self { inner, loops, slice_min, slice, recent, enclosing, version, habits, measured, listener }
    }

    /// Tells the advisor, if it wants that, of the loops of this lane.
    pub(crate) fn telling(self) -> Self {
        let listener = self.loops.as_ref().and_then(Loops::listen);
        Self { listener, ..self }
    }

    /// Returns the other runner.
    pub(crate) const fn inner(&self) -> &R {
        &self.inner
    }

    /// Runs a lane as [`Runner::run`] does.
    pub fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        let Some(loops) = self.loops.clone() else { return self.inner.run(cpu, memory, budget) };
        let end = cpu.steps.saturating_add(budget);
        while cpu.steps < end {
            let before = cpu.steps;
            if let Some(measured) = &mut self.measured {
                measured.begin = Instant::now();
            }
            match self.inner.run(cpu, memory, self.slice.min(end - cpu.steps)) {
                Stop::Budget => {}
                stop => return stop,
            }
            if cpu.steps < end {
                if let Some(measured) = &mut self.measured {
                    measured.steps = cpu.steps - before;
                }
                // Twice as many steps pass after each attempt that gains little.
                match self.attempt(&loops, cpu, memory, end) {
                    Ok(true) => self.slice = self.slice_min,
                    Ok(false) => self.slice = (2 * self.slice).min(R::LOOK_STEPS.max(self.slice_min)),
                    Err(stop) => return stop,
                }
            }
        }
        Stop::Budget
    }

    /// Executes iterations at once, if the lane is in a loop that allows it, up to `end` steps. Returns whether that paid.
    /// It may step the lane to the beginning of an iteration, and returns the stop if that stops the lane.
    fn attempt(
        &mut self,
        loops: &Loops,
        cpu: &mut Cpu,
        memory: &mut AddressSpace,
        end: u64,
    ) -> Result<bool, Stop> {
        let measured = self.measured.take();
        // An access at a hook has to stop the lane.
        if memory.has_hooks() {
            return Ok(false);
        }
        let version = memory.code_version();
        if self.version != version || self.recent.len() >= RECENT_MAX {
            self.recent.clear();
            self.enclosing.clear();
            self.habits.clear();
            self.version = version;
        }
        let known = self.recent.entry(cpu.pc).or_insert_with(|| {
            let features = memory.image().features();
            loops.known.find(Place::around(cpu.pc, features, code_of(memory))?)
        });
        let Some(known) = known.clone() else { return Ok(false) };
        known.visit(1, self.slice);
        let place = known.place();
        let habit = self.habits.entry(place.head).or_default();
        if let Some(measured) = measured.filter(|measured| measured.head == place.head) {
            habit.note_stepped(measured.begin, measured.steps);
        }
        if !habit.tries(R::IS_MEASURED) {
            let measured = || Measured { head: place.head, begin: Instant::now(), steps: 0 };
            self.measured = R::IS_MEASURED.then(measured);
            return Ok(false);
        }
        let Some(found) = proved(loops, &known, cpu, memory) else { return Ok(false) };
        // The version covers pages that the lane has executed, and the loop may have others.
        if !place.is_in(memory) {
            self.recent.clear();
            return Ok(false);
        }
        let begin = R::IS_MEASURED.then(Instant::now);
        let piece = if R::IS_MEASURED { habit.piece() } else { u64::MAX };
        let piece_end = end.min(cpu.steps.saturating_add(piece));
        let listener = self.listener.as_ref();
        let credited = execute_all((found, listener), &known, (cpu, memory), (self.slice_min, piece_end))?;
        habit.note_attempt(begin, credited, self.slice_min);
        let pays = habit.pays();
        if credited > 0 {
            self.attempt_around(loops, (&known, credited), (cpu, memory), end)?;
        }
        Ok(pays)
    }

    /// Executes iterations of the loop around another one at once, if it is proved. So many steps of that one were executed at once,
    /// so the lane is likely to leave it soon.
    fn attempt_around(
        &mut self,
        loops: &Loops,
        (inner, credited): (&KnownLoop, u64),
        (cpu, memory): (&mut Cpu, &mut AddressSpace),
        end: u64,
    ) -> Result<(), Stop> {
        let known = self.enclosing.entry(inner.place().head).or_insert_with(|| {
            let features = memory.image().features();
            loops.known.find(inner.place().enclosing(features, code_of(memory))?)
        });
        let Some(known) = known else { return Ok(()) };
        known.visit_within(credited);
        let habit = self.habits.entry(known.place().head).or_default();
        if !habit.tries(false) {
            return Ok(());
        }
        let Some(found) = proved(loops, known, cpu, memory) else { return Ok(()) };
        if !known.place().is_in(memory) {
            self.enclosing.clear();
            return Ok(());
        }
        step_to(found.head(), AROUND_MAX, cpu, memory, end)?;
        let listener = self.listener.as_ref();
        let credited = execute_all((found, listener), known, (cpu, memory), (self.slice_min, end))?;
        habit.note_attempt(None, credited, self.slice_min);
        Ok(())
    }
}

/// Returns what is proved about a loop in which a lane is. Asks for advice about it if that was not done yet.
fn proved<'a>(loops: &'a Loops, known: &'a KnownLoop, cpu: &Cpu, memory: &AddressSpace) -> Option<&'a Proof> {
    if known.is_candidate() {
        loops.known.ask(std::iter::once((known, general_registers(cpu))));
    }
    loops.known.proved(known, memory.image().features())
}

/// Steps a lane to an address, by at most so many steps, and to no more than `end` steps of the lane.
fn step_to(address: u64, most: u64, cpu: &mut Cpu, memory: &mut AddressSpace, end: u64) -> Result<(), Stop> {
    for _ in 0..most {
        if cpu.pc == address || cpu.steps == end {
            break;
        }
        Interpreter::step(cpu, memory)?;
    }
    Ok(())
}

/// Executes iterations at once as long as that gives many steps each time, up to `end` steps. Returns their number. A listener hears
/// of the loop before that.
fn execute_all(
    (found, listener): (&Proof, Option<&LoopListener>),
    known: &KnownLoop,
    (cpu, memory): (&mut Cpu, &mut AddressSpace),
    (many, end): (u64, u64),
) -> Result<u64, Stop> {
    let (head, length) = (found.head(), found.length());
    let place = known.place();
    let stores = found.longest().body().accesses.iter().any(|access| !access.stores.is_empty());
    let mut credited = 0;
    // The loop may go on behind the iterations that were executed at once.
    loop {
        step_to(head, length, cpu, memory, end)?;
        // The last iteration is stepped.
        let most = end - cpu.steps;
        if cpu.pc != head || most < 2 * length {
            return Ok(credited);
        }
        // The steps before may have stored to the code.
        if stores && !place.is_in(memory) {
            return Ok(credited);
        }
        if let Some(listener) = listener {
            listener.hear_of(known, found, &registers(cpu));
        }
        let result = execute(found, cpu, memory, most);
        known.note(result);
        let steps = result.unwrap_or(0);
        credited += steps;
        if steps < many {
            return Ok(credited);
        }
        // Leave the beginning of the iteration.
        Interpreter::step(cpu, memory)?;
    }
}
