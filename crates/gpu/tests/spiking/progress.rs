//! Devices that do not run the submitted steps: the call is an error, never an endless wait.

use std::sync::Arc;

use kvrm_gpu::Error;
use kvrm_gpu::spiking::{BurstExecutor, Fault, Kernel, Options};
use kvrm_spiking::{Executor, Input, Recorder};
use kvrm_testkit::networks::{Recipe, injections, network};

use crate::support::{assert_same, kernels, reference};

const FAULTS: [Fault; 7] = [
    Fault::NoSteps,
    Fault::LongBatches,
    Fault::NoRounds,
    Fault::NoPieces,
    Fault::LargeTeams,
    Fault::NothingLeft,
    Fault::Ahead,
];

#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
#[test]
fn a_clock_that_does_not_advance_is_an_error_and_changes_nothing() {
    for kernel in Kernel::ALL {
        let network = network(Recipe::Lif, 90, [3, 3], false);
        let options = Options { kernel: Some(kernel), ..Options::default() };
        let mut executor = BurstExecutor::new(kernels(), Arc::clone(&network), options)
            .expect("the network fits on any device");
        if executor.kernels() != [kernel] {
            // The kernel is not used with drivers that end long loops.
            assert_eq!(kernel, Kernel::Single, "all other kernels can run the network");
            continue;
        }
        let mut reference = reference(&network);
        let (mut expected, mut recorder) = (Recorder::new(1 << 20), Recorder::new(1 << 20));
        let input = Input::new(injections(&network, 90, 50)).expect("amounts are small");
        for (round, fault) in (0..).zip(FAULTS) {
            reference.run(50, &input, Some(&mut expected)).expect("the reference works");
            executor.run(50, &input, Some(&mut recorder)).expect("the device works");
            // Only this kernel runs several batches in a dispatch.
            if fault == Fault::NoRounds && kernel != Kernel::Single {
                continue;
            }
            let what = format!("{fault:?} with {kernel:?}");
            executor.break_device(fault).expect("the device works");
            let with = (round % 2 == 0).then_some(&mut recorder);
            let error = executor.run(50, &input, with).expect_err("the clock is wrong");
            let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
            let is_right = |from: u64| from == 50 * (round + 1);
            assert!(
                matches!(cause, Some(Error::NoProgress { from, .. }) if is_right(*from)),
                "{what}: {error:?}"
            );
            // The failed run has changed neither state nor recorder.
            let states = [executor.state(), reference.state()].map(|state| state.expect("the engine works"));
            assert_same(&states[0], &states[1], &what);
            assert_eq!(recorder.spikes(), expected.spikes(), "{what}: spikes");
        }
    }
}
