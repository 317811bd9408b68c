//! Scripts of networks: the burst engine beside its reference.

use std::sync::Arc;

use kvrm_gpu::spiking::{Bounds, BurstExecutor, BurstKernels, Kernel, Options};
use kvrm_spiking::{Executor as _, Reference};
use kvrm_testkit::networks::{RECIPES, network};
use kvrm_testkit::plays::{Call, Play};
use kvrm_testkit::random::Random;

use crate::compare::{Told, told, told_by_network};
use crate::faults::{Fault, open};
use crate::report::{Kind, Tally};
use crate::scripts::End;

/// How many calls a script has.
const CALLS: u64 = 16;
/// How often a call is made that faults make fail.
const ATTEMPTS: u32 = 4;
const KERNELS: [Option<Kernel>; 5] =
    [Some(Kernel::Events), Some(Kernel::Single), Some(Kernel::Partitions), Some(Kernel::Pull), None];

fn call(random: &mut Random) -> Call {
    match random.below(12) {
        0..3 => Call::Run(random.below(9)),
        3..7 => Call::Record(random.below(9)),
        7 => Call::Sample,
        8 => Call::State,
        9 => Call::SetState,
        10 => Call::Drive(random.below(40) as i32 - 20),
        _ => Call::Change,
    }
}

/// Plays a script.
pub(crate) fn play(random: &mut Random, tally: &mut Tally) -> Result<End, String> {
    let shortest = 1 + random.below(4) as u32;
    let delays = [shortest, shortest + random.below(8) as u32];
    let seed = random.bits();
    let network = network(*random.pick(&RECIPES), seed, delays, random.below(2) == 0);
    let slice = *random.pick(&[Some(1), Some(3), None]);
    let options = Options { kernel: *random.pick(&KERNELS), slice, ..Options::default() };
    let part_steps = *random.pick(&[Some(1), Some(1), Some(4), None]);
    let bounds =
        Bounds { part_steps, journal_bytes: *random.pick(&[None, Some(0), Some(500)]), ..Bounds::default() };

    let fault = Fault::random(random);
    let what = format!("a network with {options:?}, {bounds:?}");
    let mut gpu = build(fault, tally, || {
        BurstExecutor::new(&BurstKernels::new(&open()?), Arc::clone(&network), options.clone())
            .map_err(|error| told(&error).map_or_else(|why| why, |told| told.name().to_owned()))
    })
    .map_err(|why| format!("{what} is not built: {why}"))?;
    gpu.set_bounds(bounds);
    let mut reference = Reference::new(Arc::clone(&network));
    let (mut found, mut expected) = (Play::new(&network, seed), Play::new(&network, seed));
    let mut history = Vec::new();
    for _ in 0..CALLS {
        let (call, fault) = (call(random), Fault::random(random));
        history.push((call, fault));
        let what = |why| format!("{what}, after {history:?}: {why}");
        make(&mut gpu, &mut found, call, fault, tally).map_err(what)?;
        expected.call(&mut reference, call).map_err(|error| what(error.to_string()))?;
        if part_steps == Some(1) && matches!(call, Call::Run(2..) | Call::Record(2..)) {
            tally.fault(Kind::OneStep);
        }
        if random.below(4) == 0 {
            same((&mut gpu, &found), (&mut reference, &expected), tally).map_err(what)?;
        }
    }
    same((&mut gpu, &found), (&mut reference, &expected), tally)
        .map_err(|why| format!("{what}, at the end of {history:?}: {why}"))?;
    Ok(End::Played)
}

/// Makes an executor, a second time if a fault has struck.
fn build(
    fault: Fault,
    tally: &mut Tally,
    make: impl Fn() -> Result<BurstExecutor, String>,
) -> Result<BurstExecutor, String> {
    let armed = fault.arm(&open()?);
    let made = make();
    armed.disarm(tally);
    match made {
        Err(_) if fault != Fault::None => {
            tally.outcome("networks that were not built, and could be then");
            make()
        }
        made => made,
    }
}

/// Makes a call. If it fails, which it may only for lack of memory or for several losses, it has changed nothing, and is
/// made again.
fn make(
    gpu: &mut BurstExecutor,
    play: &mut Play,
    call: Call,
    fault: Fault,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut fault = fault;
    for _ in 0..ATTEMPTS {
        let armed = fault.arm(gpu.on());
        let called = play.call(gpu, call);
        armed.disarm(tally);
        match called {
            Ok(()) => {
                tally.outcome("calls that succeeded");
                return Ok(());
            }
            Err(error) => match told_by_network(&error)? {
                told @ (Told::Lost | Told::NoMemory) => tally.outcome(told.name()),
                told => return Err(format!("{call:?} fails with {told:?}: {error:?}")),
            },
        }
        fault = Fault::None;
    }
    Err(format!("{call:?} fails {ATTEMPTS} times"))
}

/// The GPU's state and all that was seen are those of the reference.
fn same(
    found: (&mut BurstExecutor, &Play),
    expected: (&mut Reference, &Play),
    tally: &mut Tally,
) -> Result<(), String> {
    // A loss may be noticed only now; the engine then makes the network again by itself.
    let states = [found.0.state(), expected.0.state()];
    let [gpu, reference] = states.map(|state| state.map_err(|error| format!("no state: {error:?}")));
    let (gpu, reference) = (gpu?, reference?);
    if gpu != reference {
        let columns = gpu.columns.iter().zip(&reference.columns).position(|(a, b)| a != b);
        return Err(format!(
            "states differ after steps {} and {}; columns first at {columns:?}",
            gpu.step, reference.step
        ));
    }
    let (found, expected) = (found.1, expected.1);
    if found.spikes() != expected.spikes() || found.firings != expected.firings {
        return Err("other spikes".to_owned());
    }
    if found.state != expected.state {
        return Err("the state that was asked for before differs".to_owned());
    }
    tally.outcome("comparisons of all state, without a difference");
    Ok(())
}
