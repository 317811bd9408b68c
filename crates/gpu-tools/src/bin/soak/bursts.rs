//! Scripts for spiking networks, which compare the burst engine with its reference.

use std::sync::Arc;

use kvrm_gpu::spiking::{Bounds, BurstExecutor, BurstKernels, Kernel, Options};
use kvrm_spiking::{Executor as _, Reference};
use kvrm_testkit::burst_session::{BurstCall, BurstSession};
use kvrm_testkit::networks::{RECIPES, network};
use kvrm_testkit::random::Random;

use crate::compare::{ErrorKind, classify, classify_network_error};
use crate::faults::{Fault, open};
use crate::report::{FaultKind, ScriptEnd, Tally};

/// The number of calls in a script.
const CALLS: u64 = 16;
/// The maximum number of attempts at a call that faults make fail.
const ATTEMPTS: u32 = 4;

fn random_call(random: &mut Random) -> BurstCall {
    match random.below(12) {
        0..3 => BurstCall::Run(random.below(9)),
        3..7 => BurstCall::Record(random.below(9)),
        7 => BurstCall::Sample,
        8 => BurstCall::State,
        9 => BurstCall::SetState,
        10 => BurstCall::Drive(random.below(40) as i32 - 20),
        _ => BurstCall::Change,
    }
}

/// Plays a script.
pub(crate) fn play(random: &mut Random, tally: &mut Tally) -> Result<ScriptEnd, String> {
    let shortest = 1 + random.below(4) as u32;
    let delays = [shortest, shortest + random.below(8) as u32];
    let seed = random.bits();
    let network = network(*random.pick(&RECIPES), seed, delays, random.below(2) == 0);
    let slice = *random.pick(&[Some(1), Some(3), None]);
    // `None` is the engine's own choice.
    let kernels: Vec<Option<Kernel>> = Kernel::ALL.into_iter().map(Some).chain([None]).collect();
    let options = Options { kernel: *random.pick(&kernels), slice, ..Options::default() };
    let part_steps = *random.pick(&[Some(1), Some(1), Some(4), None]);
    let bounds =
        Bounds { part_steps, journal_bytes: *random.pick(&[None, Some(0), Some(500)]), ..Bounds::default() };

    let fault = Fault::random(random);
    let what = format!("a network with {options:?}, {bounds:?}");
    let mut gpu = build_executor(fault, tally, || {
        BurstExecutor::new(&BurstKernels::new(&open()?), Arc::clone(&network), options.clone())
            .map_err(|error| classify(&error).map_or_else(|why| why, |kind| kind.name().to_owned()))
    })
    .map_err(|why| format!("{what} is not built: {why}"))?;
    gpu.set_bounds(bounds);
    let mut reference = Reference::new(Arc::clone(&network));
    let (mut found, mut expected) = (BurstSession::new(&network, seed), BurstSession::new(&network, seed));
    let mut history = Vec::new();
    for _ in 0..CALLS {
        let (call, fault) = (random_call(random), Fault::random(random));
        history.push((call, fault));
        let what = |why| format!("{what}, after {history:?}: {why}");
        make_call(&mut gpu, &mut found, call, fault, tally).map_err(what)?;
        expected.call(&mut reference, call).map_err(|error| what(error.to_string()))?;
        if part_steps == Some(1) && matches!(call, BurstCall::Run(2..) | BurstCall::Record(2..)) {
            tally.fault(FaultKind::OneStep);
        }
        if random.below(4) == 0 {
            compare((&mut gpu, &found), (&mut reference, &expected), tally).map_err(what)?;
        }
    }
    compare((&mut gpu, &found), (&mut reference, &expected), tally)
        .map_err(|why| format!("{what}, at the end of {history:?}: {why}"))?;
    Ok(ScriptEnd::Played)
}

/// Builds an executor. If a fault was injected and the build fails, builds it a second time.
fn build_executor(
    fault: Fault,
    tally: &mut Tally,
    make: impl Fn() -> Result<BurstExecutor, String>,
) -> Result<BurstExecutor, String> {
    let armed = fault.arm(&open()?);
    let made = make();
    armed.disarm(tally);
    match made {
        Err(_) if fault != Fault::None => {
            tally.outcome("networks that were built at the second attempt");
            make()
        }
        made => made,
    }
}

/// Makes a call, and repeats it if it fails. It may only fail because memory is full or the device was lost several
/// times, and it must not have changed anything then.
fn make_call(
    gpu: &mut BurstExecutor,
    session: &mut BurstSession,
    call: BurstCall,
    fault: Fault,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut fault = fault;
    for _ in 0..ATTEMPTS {
        let armed = fault.arm(gpu.device());
        let called = session.call(gpu, call);
        armed.disarm(tally);
        match called {
            Ok(()) => {
                tally.outcome("calls that succeeded");
                return Ok(());
            }
            Err(error) => match classify_network_error(&error)? {
                kind @ (ErrorKind::Lost | ErrorKind::NoMemory) => tally.outcome(kind.name()),
                kind => return Err(format!("{call:?} fails with {kind:?}: {error:?}")),
            },
        }
        fault = Fault::None;
    }
    Err(format!("{call:?} fails {ATTEMPTS} times"))
}

/// Compares the state and all earlier results with those of the reference.
fn compare(
    found: (&mut BurstExecutor, &BurstSession),
    expected: (&mut Reference, &BurstSession),
    tally: &mut Tally,
) -> Result<(), String> {
    // This call may be the first that notices a loss. The engine then rebuilds the network by itself.
    let states = [found.0.state(), expected.0.state()];
    let [gpu, reference] = states.map(|state| state.map_err(|error| format!("no state: {error:?}")));
    let (gpu, reference) = (gpu?, reference?);
    if gpu != reference {
        let columns = gpu.columns.iter().zip(&reference.columns).position(|(a, b)| a != b);
        return Err(format!(
            "states differ after steps {} and {}; the first different column word is {columns:?}",
            gpu.step, reference.step
        ));
    }
    let (found, expected) = (found.1, expected.1);
    if found.spikes() != expected.spikes() || found.sampled != expected.sampled {
        return Err("recorded spikes or samples differ".to_owned());
    }
    if found.state != expected.state {
        return Err("the state that an earlier call returned differs".to_owned());
    }
    tally.outcome("comparisons of all state without a difference");
    Ok(())
}
