//! Devices that are lost: networks go on elsewhere as if nothing had been.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm_gpu::spiking::{Bounds, BurstExecutor, BurstKernels, Kernel, Options, Speeds};
use kvrm_gpu::{Error, GpuEngine};
use kvrm_spiking::{Executor, Network, Reference};
use kvrm_testkit::networks::{RECIPES, Recipe, network};
use kvrm_testkit::plays::{Call, Play};
use proptest::prelude::*;

use crate::support::assert_same;

/// These tests lose the device that the process has open; one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kernels on the device that the process has open now.
fn open() -> BurstKernels {
    BurstKernels::new(GpuEngine::open(None).expect("there is a device").device())
}

/// Each kind of call, and all that has an effect on others.
const SCRIPT: [Call; 14] = [
    Call::Record(9),
    Call::Run(1),
    Call::Drive(3),
    Call::Record(4),
    Call::Sample,
    Call::State,
    Call::Record(3),
    Call::SetState,
    Call::Drive(-2),
    Call::Run(5),
    Call::Change,
    Call::Record(6),
    Call::SetState,
    Call::Record(5),
];

/// The GPU's state and all that was seen are those of the reference.
fn same(found: (&mut BurstExecutor, &Play), expected: (&mut Reference, &Play), what: &str) {
    let states = [found.0.state().expect("it can be read"), expected.0.state().expect("it is there")];
    assert_same(&states[0], &states[1], what);
    assert_eq!(found.1.spikes(), expected.1.spikes(), "{what}: spikes");
    assert_eq!(found.1.firings, expected.1.firings, "{what}: samples");
    assert_same(&found.1.state, &expected.1.state, what);
}

/// Plays a script on a reference.
fn expected(network: &Arc<Network>, seed: u64, script: &[Call]) -> (Reference, Play) {
    let (mut executor, mut play) = (Reference::new(Arc::clone(network)), Play::new(network, seed));
    script.iter().for_each(|call| play.call(&mut executor, *call).expect("the reference works"));
    (executor, play)
}

/// A network that a kernel can run, and that learns if it may.
fn network_for(kernel: Option<Kernel>, seed: u64) -> Arc<Network> {
    match kernel {
        Some(Kernel::Partitions | Kernel::Pull) => network(Recipe::Lif, seed, [3, 3], false),
        Some(Kernel::Single) => network(Recipe::Mixed, seed, [2, 6], true),
        _ => network(Recipe::Mixed, seed, [1, 4], true),
    }
}

const KERNELS: [Option<Kernel>; 5] =
    [Some(Kernel::Events), Some(Kernel::Single), Some(Kernel::Partitions), Some(Kernel::Pull), None];

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_loss_before_any_call_is_not_seen() {
    let _alone = alone();
    for (seed, kernel) in (100..).zip(KERNELS) {
        let network = network_for(kernel, seed);
        let options = Options { kernel, slice: Some(2), ..Options::default() };
        let (mut reference, seen) = expected(&network, seed, &SCRIPT);
        assert!(
            !seen.spikes().is_empty() && !seen.firings.is_empty(),
            "{kernel:?}: there is something to see"
        );
        // The device is lost before a call of this number, and the first one is that which makes the executor.
        for lost in 0..=SCRIPT.len() {
            let what = format!("{kernel:?}, lost before call {lost}");
            let kernels = open();
            if lost == 0 {
                kernels.device().raw().destroy();
            }
            let mut executor = BurstExecutor::new(&kernels, Arc::clone(&network), options.clone())
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut play = Play::new(&network, seed);
            for (number, call) in (1..).zip(SCRIPT) {
                if number == lost {
                    executor.on().raw().destroy();
                }
                play.call(&mut executor, call).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            }
            same((&mut executor, &play), (&mut reference, &seen), &what);
            assert_eq!(executor.recoveries(), u64::from(lost != 0), "{what}");
        }
    }
}

/// A short script, all of whose calls of wgpu can lose the device in turn.
const SHORT: [Call; 6] =
    [Call::Record(5), Call::Drive(3), Call::Sample, Call::SetState, Call::Change, Call::Record(4)];

/// Plays a script on a device that is lost at the calls of wgpu with these numbers: the first counts from when the
/// executor is made, each of the others from the call of the script that recovered from the one before. Says whether the
/// first of them came.
fn play_losing(
    network: &Arc<Network>,
    (options, bounds): (&Options, Bounds),
    seed: u64,
    (script, losses): (&[Call], &[u32]),
    seen: &mut (Reference, Play),
) -> bool {
    let what = format!("{options:?} and {bounds:?} of {seed}, lost at calls {losses:?} in {script:?}");
    let (first, others) = losses.split_first().expect("there is a loss");
    let mut others = others.iter();
    let kernels = open();
    let device = kernels.device();
    device.lose_at(*first);
    let mut executor = BurstExecutor::new(&kernels, Arc::clone(network), options.clone())
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    executor.set_bounds(bounds);
    let (mut play, mut recoveries) = (Play::new(network, seed), 0);
    for call in script {
        play.call(&mut executor, *call).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        if executor.recoveries() != recoveries
            && let Some(lost) = others.next()
        {
            recoveries = executor.recoveries();
            executor.on().lose_at(*lost);
        }
    }
    device.lose_at(0);
    executor.on().lose_at(0);
    same((&mut executor, &play), (&mut seen.0, &seen.1), &what);
    matches!(device.check("nothing"), Err(Error::DeviceLost { .. }))
}

/// Loses the device at calls of wgpu that are so far apart, until there are no more; once for each kernel.
fn lose_everywhere(stride: usize) {
    let _alone = alone();
    for (seed, kernel) in (120..).zip(KERNELS) {
        let network = network_for(kernel, seed);
        let options = Options { kernel, slice: Some(2), ..Options::default() };
        let mut seen = expected(&network, seed, &SHORT);
        let bounds = Bounds { chunk_steps: Some(3), ..Bounds::default() };
        // Each kernel takes other positions.
        let mut positions = (1 + seed as u32 % 5..).step_by(stride);
        let is_lost =
            |lost: &u32| play_losing(&network, (&options, bounds), seed, (&SHORT, &[*lost]), &mut seen);
        let last = positions.by_ref().take_while(is_lost).last();
        assert!(last.is_some_and(|last| last > 100), "{kernel:?}: the script has more calls than {last:?}");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_loss_within_any_call_is_not_seen() {
    lose_everywhere(17);
}

#[ignore = "takes minutes; the test before this one is a part of it"]
#[test]
fn a_loss_at_every_position_is_not_seen() {
    lose_everywhere(1);
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => (0_u64..9).prop_map(Call::Run),
        4 => (0_u64..9).prop_map(Call::Record),
        1 => Just(Call::Sample),
        1 => Just(Call::State),
        1 => Just(Call::SetState),
        1 => (-20_i32..20).prop_map(Call::Drive),
        1 => Just(Call::Change),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    #[test]
    fn any_losses_in_any_script_are_not_seen(
        seed in 0_u64..1 << 32,
        recipe in 0..RECIPES.len(),
        shortest in 1_u32..5,
        more in prop_oneof![Just(0_u32), 1_u32..8],
        learns: bool,
        kernel in prop::option::of(prop::sample::select(vec![
            Kernel::Events, Kernel::Single, Kernel::Partitions, Kernel::Pull,
        ])),
        script in prop::collection::vec(call(), 1..14),
        losses in prop::collection::vec(1_u32..150, 1..4),
        slice in prop::option::of(1_u32..5),
        chunk_steps in prop::option::of(1_u64..6),
        journal_bytes in prop::option::of(0_u64..1000),
    ) {
        let _alone = alone();
        let network = network(RECIPES[recipe], seed, [shortest, shortest + more], learns);
        let options = Options { kernel, slice, ..Options::default() };
        let bounds = Bounds { journal_bytes, chunk_steps, lost_again: None };
        let mut seen = expected(&network, seed, &script);
        play_losing(&network, (&options, bounds), seed, (&script, &losses), &mut seen);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_device_that_is_lost_again_and_again_fails_the_call_and_changes_nothing() {
    let _alone = alone();
    let network = network_for(None, 130);
    let (mut reference, mut seen) = (Reference::new(Arc::clone(&network)), Play::new(&network, 130));
    let options = Options { slice: Some(2), ..Options::default() };
    let mut executor = BurstExecutor::new(&open(), Arc::clone(&network), options).expect("it fits");
    executor.set_bounds(Bounds { chunk_steps: Some(4), ..Bounds::default() });
    let mut play = Play::new(&network, 130);
    let mut failures = 0;
    for call in [Call::Record(4), Call::Record(11), Call::Drive(2), Call::Change, Call::Record(9)] {
        seen.call(&mut reference, call).expect("the reference works");
        let before = play.spikes().len();
        // The device is lost when the call begins, and the one that is opened then at one of its calls of wgpu.
        for lost_again in (1..).step_by(13) {
            executor.on().raw().destroy();
            executor.set_bounds(Bounds {
                lost_again: Some(lost_again),
                chunk_steps: Some(4),
                ..Bounds::default()
            });
            let Err(error) = play.call(&mut executor, call) else { break };
            let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
            let is_kept = matches!(cause, Some(Error::DeviceLost { kept: true, .. }));
            assert!(is_kept, "{call:?}, at {lost_again}: {error:?}");
            assert_eq!(play.spikes().len(), before, "{call:?}, at {lost_again}: nothing is recorded");
            failures += 1;
            executor.state().expect("the next call makes the network again");
        }
        // What only sets something may not notice a loss.
        executor.set_bounds(Bounds::default());
        executor.on().lose_at(0);
        same((&mut executor, &play), (&mut reference, &seen), &format!("after {call:?}"));
    }
    assert!(failures > 10, "{failures} calls fail");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn checkpoints_keep_the_journal_short() {
    let _alone = alone();
    let network = network_for(None, 131);
    let engine = |journal_bytes| {
        let mut executor =
            BurstExecutor::new(&open(), Arc::clone(&network), Options::default()).expect("it fits");
        executor.set_bounds(Bounds { journal_bytes, chunk_steps: Some(5), ..Bounds::default() });
        let mut play = Play::new(&network, 131);
        for call in [Call::Record(20), Call::Drive(1), Call::Record(10)] {
            play.call(&mut executor, call).expect("it runs");
        }
        executor.on().raw().destroy();
        play.call(&mut executor, Call::Record(5)).expect("it is made again");
        (executor, play)
    };
    // One after each of seven chunks, or when time has come.
    for (journal_bytes, checkpoints) in [(Some(0), 7), (None, 0)] {
        let (mut executor, play) = engine(journal_bytes);
        assert!(executor.checkpoints() >= checkpoints, "{journal_bytes:?}: {}", executor.checkpoints());
        assert_eq!(executor.recoveries(), 1, "{journal_bytes:?}");
        let script = [Call::Record(20), Call::Drive(1), Call::Record(10), Call::Record(5)];
        let mut seen = expected(&network, 131, &script);
        same((&mut executor, &play), (&mut seen.0, &seen.1), "at the end");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn engines_are_compared_although_the_device_is_lost() {
    let _alone = alone();
    let kernels = open();
    kernels.device().lose_at(100);
    Speeds::measure(&kernels).expect("it is measured on a device that is opened again");
    assert!(kernels.device().check("nothing").is_err(), "the first one was lost");
    // Kernels of a lost device lead to those that took their place.
    BurstExecutor::new(&kernels, network_for(None, 140), Options::default()).expect("it is opened again");
}
