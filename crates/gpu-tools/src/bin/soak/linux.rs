//! Scripts for Linux programs: lanes make random system calls, which the device and the host serve.

use std::ops::ControlFlow;

use kvrm_gpu::{Bounds, ClassSelection, RecoveringExecutor};
use kvrm_machine::{Executor, Factory, Machine, Plan, Report};
use kvrm_testkit::calls::{self, Call};
use kvrm_testkit::images::CODE;
use kvrm_testkit::lanes::of_machine;
use kvrm_testkit::random::Random;

use crate::compare::{ErrorKind, check_audit, classify_machine_error, compare_lane};
use crate::faults::{Fault, open};
use crate::report::{FaultKind, ScriptEnd, Tally};

/// The maximum number of attempts at a call that faults make fail.
const ATTEMPTS: u32 = 8;
/// The number of attempts at a run that have faults; the later ones have none.
const FAULTY_ATTEMPTS: u32 = 3;
/// The exit status of all lanes.
const EXIT: u64 = 7;

/// An engine whose executors have bounds below the limits of their device.
#[derive(Clone, Debug)]
struct BoundedEngine(Bounds);

impl Factory for BoundedEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        let device = kvrm_gpu::GpuEngine::open(None)?.device().clone();
        Ok(Box::new(RecoveringExecutor::new(&device, plan, &ClassSelection::TABLE, self.0.clone())?))
    }
}

/// Plays a script.
pub(crate) fn play(random: &mut Random, tally: &mut Tally) -> Result<ScriptEnd, String> {
    let lanes = 1 + random.below(5) as usize;
    let is_one_step = random.below(3) == 0;
    let bounds = Bounds {
        slice_steps: Some(if is_one_step { 1 } else { 64 }),
        workgroup: Some(*random.pick(&[1, 64])),
        console_bytes: *random.pick(&[None, Some(64)]),
        journal_bytes: *random.pick(&[None, None, Some(1), Some(2000)]),
        ..Bounds::NONE
    };
    let calls = if is_one_step { 4 } else { 20 };
    let mut script =
        Script { pair: Pair::build(lanes, bounds.clone(), random, tally)?, is_one_step, random, tally };
    let mut seen = Vec::new();
    for phase in 0..4 {
        let end = script
            .phase(calls, &mut seen)
            .map_err(|why| format!("Linux programs with {bounds:?}, phase {phase}, after {seen:?}: {why}"))?;
        if end == ScriptEnd::StateLost {
            return Ok(end);
        }
    }
    Ok(ScriptEnd::Played)
}

/// A machine on a device with faults, and the same machine on the reference.
struct Pair {
    gpu: Machine,
    reference: Machine,
}

impl Pair {
    fn build(lanes: usize, bounds: Bounds, random: &mut Random, tally: &mut Tally) -> Result<Self, String> {
        let builder = || Machine::builder(calls::caller()).lanes(lanes).frames_max(64);
        let reference = builder().build().map_err(|error| error.to_string())?;
        let mut fault = Fault::random(random);
        loop {
            let armed = fault.arm(&open()?);
            let built = builder().engine(BoundedEngine(bounds.clone())).build();
            armed.disarm(tally);
            match built {
                Ok(gpu) => return Ok(Self { gpu, reference }),
                // The builder does not recover if the device is lost after it has made the lanes.
                Err(error)
                    if fault != Fault::None
                        && matches!(
                            classify_machine_error(&error)?,
                            ErrorKind::NoMemory | ErrorKind::Lost
                        ) =>
                {
                    tally.outcome("machines that were built at the second attempt");
                }
                Err(error) => return Err(format!("a machine cannot be built: {error:?}")),
            }
            fault = Fault::None;
        }
    }
}

/// A script that is being played.
struct Script<'a> {
    pair: Pair,
    is_one_step: bool,
    random: &'a mut Random,
    tally: &'a mut Tally,
}

impl Script<'_> {
    /// Gives each lane system calls and runs all lanes. Then makes a snapshot, resets some lanes, or does neither.
    fn phase(&mut self, count: u64, seen: &mut Vec<Fault>) -> Result<ScriptEnd, String> {
        let heap = self.pair.reference.layout().heap.clone();
        for lane in 0..self.pair.reference.lanes() {
            let calls: Vec<Call> =
                (0..1 + self.random.below(count)).map(|_| calls::random(self.random, &heap)).collect();
            let start = |machine: &mut Machine| {
                calls::prepare(machine, lane, &calls, EXIT)?;
                let mut cpu = machine.cpu(lane)?;
                cpu.pc = CODE;
                machine.set_cpu(lane, &cpu)?;
                machine.resume(lane)
            };
            if self.call_both(seen, &start)? == ScriptEnd::StateLost {
                return Ok(ScriptEnd::StateLost);
            }
        }
        if self.run(seen)? == ScriptEnd::StateLost || self.compare()? == ScriptEnd::StateLost {
            return Ok(ScriptEnd::StateLost);
        }
        let lanes: Vec<usize> =
            (0..self.pair.reference.lanes()).filter(|_| self.random.below(2) == 0).collect();
        match self.random.below(3) {
            0 => self.call_both(seen, &|machine| machine.snapshot()),
            1 => self.call_both(seen, &|machine| match machine.reset(&lanes) {
                // The script may not have made a snapshot yet.
                Err(kvrm_machine::Error::NoSnapshot) => Ok(()),
                result => result,
            }),
            _ => Ok(ScriptEnd::Played),
        }
    }

    /// Runs until all lanes have stopped for good.
    fn run(&mut self, seen: &mut Vec<Fault>) -> Result<ScriptEnd, String> {
        for attempt in 0..ATTEMPTS {
            let fault = if attempt < FAULTY_ATTEMPTS { Fault::random(self.random) } else { Fault::None };
            seen.push(fault);
            let armed = fault.arm(&open()?);
            let mut slices = 0;
            let ran = self.pair.gpu.run_with(u64::MAX, |_| {
                slices += 1;
                if fault == Fault::LostAfterSlices(slices) {
                    armed.device().raw().destroy();
                }
                ControlFlow::Continue(())
            });
            let was_refused = armed.disarm(self.tally);
            if self.is_one_step && slices > 1 {
                self.tally.fault(FaultKind::OneStep);
            }
            let lacks = |report: &Report| report.stops.contains_key("out-of-frames");
            match ran {
                Ok(report) if lacks(&report) && was_refused => self.tally.fault(FaultKind::OutOfFrames),
                Ok(_) => {
                    self.tally.outcome("runs that succeeded");
                    let ran = self.pair.reference.run(u64::MAX);
                    return ran.map(|_| ScriptEnd::Played).map_err(|error| error.to_string());
                }
                Err(error) => {
                    if self.handle_failure(&error)? == ScriptEnd::StateLost {
                        return Ok(ScriptEnd::StateLost);
                    }
                }
            }
        }
        Err(format!("the lanes do not end in {ATTEMPTS} runs"))
    }

    /// Makes a call on both machines. If it fails on the GPU, it is repeated.
    fn call_both(
        &mut self,
        seen: &mut Vec<Fault>,
        act: &dyn Fn(&mut Machine) -> Result<(), kvrm_machine::Error>,
    ) -> Result<ScriptEnd, String> {
        let mut fault = Fault::random(self.random);
        for _ in 0..ATTEMPTS {
            seen.push(fault);
            let armed = fault.arm(&open()?);
            let acted = act(&mut self.pair.gpu);
            armed.disarm(self.tally);
            match acted {
                Ok(()) => {
                    self.tally.outcome("calls that succeeded");
                    return act(&mut self.pair.reference)
                        .map(|()| ScriptEnd::Played)
                        .map_err(|error| error.to_string());
                }
                Err(error) => {
                    if self.handle_failure(&error)? == ScriptEnd::StateLost {
                        return Ok(ScriptEnd::StateLost);
                    }
                }
            }
            fault = Fault::None;
        }
        Err(format!("a call fails {ATTEMPTS} times"))
    }

    /// Counts the error of a call that failed. Fails if no fault explains the error.
    fn handle_failure(&mut self, error: &kvrm_machine::Error) -> Result<ScriptEnd, String> {
        let kind = classify_machine_error(error)?;
        self.tally.outcome(kind.name());
        Ok(if kind == ErrorKind::StateLost { ScriptEnd::StateLost } else { ScriptEnd::Played })
    }

    /// Compares the visible state of both machines.
    fn compare(&mut self) -> Result<ScriptEnd, String> {
        for _ in 0..ATTEMPTS {
            let gpu = &mut self.pair.gpu;
            let found = match gpu.audit().and_then(|violations| Ok((violations, of_machine(gpu)?))) {
                Ok((violations, found)) => {
                    check_audit(&violations)?;
                    found
                }
                // This call may be the first that notices a loss.
                Err(error) if self.handle_failure(&error)? == ScriptEnd::StateLost => {
                    return Ok(ScriptEnd::StateLost);
                }
                Err(_) => continue,
            };
            let expected = of_machine(&mut self.pair.reference).map_err(|error| error.to_string())?;
            for (lane, (found, expected)) in found.iter().zip(&expected).enumerate() {
                compare_lane(lane, &found.0, &expected.0)?;
                if found.1 != expected.1 {
                    let [found, expected] =
                        [found, expected].map(|seen| seen.1.each_ref().map(|bytes| bytes.len()));
                    return Err(format!(
                        "lane {lane} has written {found:?} bytes on the GPU, {expected:?} on the reference"
                    ));
                }
            }
            self.tally.outcome("comparisons of all state without a difference");
            return Ok(ScriptEnd::Played);
        }
        Err(format!("a query fails {ATTEMPTS} times"))
    }
}
