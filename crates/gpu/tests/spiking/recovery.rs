//! Devices that are lost: networks continue on a new device with the same results.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm_gpu::spiking::{Bounds, BurstExecutor, BurstKernels, Kernel, Options, Speeds};
use kvrm_gpu::{Error, GpuEngine};
use kvrm_spiking::{Executor, Network, Reference};
use kvrm_testkit::burst_session::{BurstCall, BurstSession};
use kvrm_testkit::networks::{RECIPES, Recipe, network};
use proptest::prelude::*;

use crate::support::assert_same;

/// Keeps these tests from running at the same time, as they lose the device that the process shares.
fn lock_device() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns kernels on the device that the process has open.
fn open_kernels() -> BurstKernels {
    BurstKernels::new(GpuEngine::open(None).expect("the host has an adapter").device())
}

/// A script with each kind of call, in an order in which each has an effect on later ones.
const SCRIPT: [BurstCall; 14] = [
    BurstCall::Record(9),
    BurstCall::Run(1),
    BurstCall::Drive(3),
    BurstCall::Record(4),
    BurstCall::Sample,
    BurstCall::State,
    BurstCall::Record(3),
    BurstCall::SetState,
    BurstCall::Drive(-2),
    BurstCall::Run(5),
    BurstCall::Change,
    BurstCall::Record(6),
    BurstCall::SetState,
    BurstCall::Record(5),
];

/// Asserts that the state of the GPU and the results of all calls are those of the reference.
fn assert_same_session(
    found: (&mut BurstExecutor, &BurstSession),
    expected: (&mut Reference, &BurstSession),
    what: &str,
) {
    let states =
        [found.0.state().expect("the device works"), expected.0.state().expect("the reference works")];
    assert_same(&states[0], &states[1], what);
    assert_eq!(found.1.spikes(), expected.1.spikes(), "{what}: spikes");
    assert_eq!(found.1.sampled, expected.1.sampled, "{what}: samples");
    assert_same(&found.1.state, &expected.1.state, what);
}

/// Plays a script on a reference.
fn run_on_reference(network: &Arc<Network>, seed: u64, script: &[BurstCall]) -> (Reference, BurstSession) {
    let (mut executor, mut session) = (Reference::new(Arc::clone(network)), BurstSession::new(network, seed));
    script.iter().for_each(|call| session.call(&mut executor, *call).expect("the reference works"));
    (executor, session)
}

/// Returns a network that a kernel can run, with plasticity if the kernel supports it.
fn network_for(kernel: Option<Kernel>, seed: u64) -> Arc<Network> {
    match kernel {
        Some(Kernel::Fused) => network(Recipe::Lif, seed, [3, 3], false),
        // With batches of several steps.
        Some(Kernel::Single) => network(Recipe::Lif, seed, [4, 9], true),
        _ => network(Recipe::Mixed, seed, [1, 4], true),
    }
}

/// Returns each kernel, and then `None`, for the engine's own choice.
fn kernels() -> impl Iterator<Item = Option<Kernel>> {
    Kernel::ALL.into_iter().map(Some).chain([None])
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_loss_before_any_call_does_not_change_results() {
    let _lock = lock_device();
    for (seed, kernel) in (100..).zip(kernels()) {
        let network = network_for(kernel, seed);
        let options = Options { kernel, slice: Some(2), ..Options::default() };
        let (mut reference, seen) = run_on_reference(&network, seed, &SCRIPT);
        assert!(
            !seen.spikes().is_empty() && !seen.sampled.is_empty(),
            "{kernel:?}: the script has results to compare"
        );
        // The number of the call before which the device is lost. Call 0 builds the executor.
        for lost in 0..=SCRIPT.len() {
            let what = format!("{kernel:?}, lost before call {lost}");
            let kernels = open_kernels();
            if lost == 0 {
                kernels.device().raw().destroy();
            }
            let mut executor = BurstExecutor::new(&kernels, Arc::clone(&network), options.clone())
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut session = BurstSession::new(&network, seed);
            for (number, call) in (1..).zip(SCRIPT) {
                if number == lost {
                    executor.device().raw().destroy();
                }
                session.call(&mut executor, call).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            }
            assert_same_session((&mut executor, &session), (&mut reference, &seen), &what);
            assert_eq!(executor.recoveries(), u64::from(lost != 0), "{what}");
        }
    }
}

/// A script with so few calls of wgpu that a test can lose the device at each of them.
const SHORT_SCRIPT: [BurstCall; 6] = [
    BurstCall::Record(5),
    BurstCall::Drive(3),
    BurstCall::Sample,
    BurstCall::SetState,
    BurstCall::Change,
    BurstCall::Record(4),
];

/// Plays a script on a device that is lost at given calls of wgpu. The first number counts calls from the time the
/// executor is built, each other one from the call of the script that recovered from the previous loss. Returns whether
/// the first loss happened.
fn play_with_losses(
    network: &Arc<Network>,
    (options, bounds): (&Options, Bounds),
    seed: u64,
    (script, losses): (&[BurstCall], &[u32]),
    seen: &mut (Reference, BurstSession),
) -> bool {
    let what = format!("{options:?} and {bounds:?} of {seed}, lost at calls {losses:?} in {script:?}");
    let (first, others) = losses.split_first().expect("the list has a loss");
    let mut others = others.iter();
    let kernels = open_kernels();
    let device = kernels.device();
    device.lose_at(*first);
    let mut executor = BurstExecutor::new(&kernels, Arc::clone(network), options.clone())
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    executor.set_bounds(bounds);
    let (mut session, mut recoveries) = (BurstSession::new(network, seed), 0);
    for call in script {
        session.call(&mut executor, *call).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        if executor.recoveries() != recoveries
            && let Some(lost) = others.next()
        {
            recoveries = executor.recoveries();
            executor.device().lose_at(*lost);
        }
    }
    device.lose_at(0);
    executor.device().lose_at(0);
    assert_same_session((&mut executor, &session), (&mut seen.0, &seen.1), &what);
    matches!(device.check("nothing"), Err(Error::DeviceLost { .. }))
}

/// For each kernel, plays the short script once for every `stride`th call of wgpu and loses the device at that call.
fn lose_everywhere(stride: usize) {
    let _lock = lock_device();
    for (seed, kernel) in (120..).zip(kernels()) {
        let network = network_for(kernel, seed);
        let options = Options { kernel, slice: Some(2), ..Options::default() };
        let mut seen = run_on_reference(&network, seed, &SHORT_SCRIPT);
        let bounds = Bounds { part_steps: Some(3), ..Bounds::default() };
        // Each kernel begins at another call.
        let mut positions = (1 + seed as u32 % 5..).step_by(stride);
        let is_lost = |lost: &u32| {
            play_with_losses(&network, (&options, bounds), seed, (&SHORT_SCRIPT, &[*lost]), &mut seen)
        };
        let last = positions.by_ref().take_while(is_lost).last();
        assert!(last.is_some_and(|last| last > 100), "{kernel:?}: the script has more calls than {last:?}");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_loss_within_any_call_does_not_change_results() {
    lose_everywhere(17);
}

#[ignore = "takes minutes; `a_loss_within_any_call_does_not_change_results` tests a part of the positions"]
#[test]
fn a_loss_at_every_position_does_not_change_results() {
    lose_everywhere(1);
}

fn any_call() -> impl Strategy<Value = BurstCall> {
    prop_oneof![
        3 => (0_u64..9).prop_map(BurstCall::Run),
        4 => (0_u64..9).prop_map(BurstCall::Record),
        1 => Just(BurstCall::Sample),
        1 => Just(BurstCall::State),
        1 => Just(BurstCall::SetState),
        1 => (-20_i32..20).prop_map(BurstCall::Drive),
        1 => Just(BurstCall::Change),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    #[test]
    fn repeated_losses_in_any_script_do_not_change_results(
        seed in 0_u64..1 << 32,
        recipe in 0..RECIPES.len(),
        shortest in 1_u32..5,
        more in prop_oneof![Just(0_u32), 1_u32..8],
        learns: bool,
        kernel in prop::option::of(prop::sample::select(Kernel::ALL.to_vec())),
        script in prop::collection::vec(any_call(), 1..14),
        losses in prop::collection::vec(1_u32..150, 1..4),
        slice in prop::option::of(1_u32..5),
        part_steps in prop::option::of(1_u64..6),
        journal_bytes in prop::option::of(0_u64..1000),
    ) {
        let _lock = lock_device();
        let network = network(RECIPES[recipe], seed, [shortest, shortest + more], learns);
        let options = Options { kernel, slice, ..Options::default() };
        let bounds = Bounds { journal_bytes, part_steps, lost_again: None };
        let mut seen = run_on_reference(&network, seed, &script);
        play_with_losses(&network, (&options, bounds), seed, (&script, &losses), &mut seen);
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_second_loss_fails_the_call_and_changes_nothing() {
    let _lock = lock_device();
    let network = network_for(None, 130);
    let (mut reference, mut seen) = (Reference::new(Arc::clone(&network)), BurstSession::new(&network, 130));
    let options = Options { slice: Some(2), ..Options::default() };
    let mut executor =
        BurstExecutor::new(&open_kernels(), Arc::clone(&network), options).expect("the network fits");
    executor.set_bounds(Bounds { part_steps: Some(4), ..Bounds::default() });
    let mut session = BurstSession::new(&network, 130);
    let mut failures = 0;
    for call in [
        BurstCall::Record(4),
        BurstCall::Record(11),
        BurstCall::Drive(2),
        BurstCall::Change,
        BurstCall::Record(9),
    ] {
        seen.call(&mut reference, call).expect("the reference works");
        let before = session.spikes().len();
        // The device is lost before the call, and the one that is opened instead at its `lost_again`th call of wgpu.
        for lost_again in (1..).step_by(13) {
            executor.device().raw().destroy();
            executor.set_bounds(Bounds {
                lost_again: Some(lost_again),
                part_steps: Some(4),
                ..Bounds::default()
            });
            let Err(error) = session.call(&mut executor, call) else { break };
            let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
            let is_recoverable = matches!(cause, Some(Error::DeviceLost { is_recoverable: true, .. }));
            assert!(is_recoverable, "{call:?}, at {lost_again}: {error:?}");
            assert_eq!(session.spikes().len(), before, "{call:?}, at {lost_again}: nothing is recorded");
            failures += 1;
            executor.state().expect("the next call rebuilds the network");
        }
        // A call that succeeded may have left the injected losses pending.
        executor.set_bounds(Bounds::default());
        executor.device().lose_at(0);
        assert_same_session((&mut executor, &session), (&mut reference, &seen), &format!("after {call:?}"));
    }
    assert!(failures > 10, "{failures} calls fail");
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn checkpoints_keep_the_journal_short() {
    let _lock = lock_device();
    let network = network_for(None, 131);
    let lose_device = |journal_bytes| {
        let mut executor = BurstExecutor::new(&open_kernels(), Arc::clone(&network), Options::default())
            .expect("the network fits");
        executor.set_bounds(Bounds { journal_bytes, part_steps: Some(5), ..Bounds::default() });
        let mut session = BurstSession::new(&network, 131);
        for call in [BurstCall::Record(20), BurstCall::Drive(1), BurstCall::Record(10)] {
            session.call(&mut executor, call).expect("the engine works");
        }
        executor.device().raw().destroy();
        session.call(&mut executor, BurstCall::Record(5)).expect("the network is rebuilt");
        (executor, session)
    };
    // With a journal of 0 bytes, a checkpoint follows each of the seven parts; otherwise only time makes one due.
    for (journal_bytes, checkpoints) in [(Some(0), 7), (None, 0)] {
        let (mut executor, session) = lose_device(journal_bytes);
        assert!(executor.checkpoints() >= checkpoints, "{journal_bytes:?}: {}", executor.checkpoints());
        assert_eq!(executor.recoveries(), 1, "{journal_bytes:?}");
        let script =
            [BurstCall::Record(20), BurstCall::Drive(1), BurstCall::Record(10), BurstCall::Record(5)];
        let mut seen = run_on_reference(&network, 131, &script);
        assert_same_session((&mut executor, &session), (&mut seen.0, &seen.1), "at the end");
    }
}

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn speeds_are_measured_although_the_device_is_lost() {
    let _lock = lock_device();
    let kernels = open_kernels();
    kernels.device().lose_at(100);
    Speeds::measure(&kernels).expect("the device is opened again");
    assert!(kernels.device().check("nothing").is_err(), "the first one was lost");
    // Kernels of a lost device are replaced by those of the reopened one.
    BurstExecutor::new(&kernels, network_for(None, 140), Options::default())
        .expect("the device is opened again");
}
