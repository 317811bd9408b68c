//! Short trainings: they learn, and they are deterministic.

use kvrm_arm64::class_of;
use kvrm_models::{Architecture, SmallDispatchNetwork, Tuple, Weights};
use kvrm_train::{Progress, Random, Recipe, train_small_dispatch, train_tuples, tune_dispatch};

/// Returns the reports of a short training of the dispatch network with a number of threads.
fn reports(threads: usize, seed: u64) -> Vec<Progress> {
    let labels: Vec<u8> = Tuple::all().map(|tuple| class_of(tuple.first_word()) as u8).collect();
    let recipe = Recipe { steps: 300, ..Recipe::DISPATCH };
    let mut reports = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let trained = pool.install(|| {
        let mut observer = |progress: &Progress| reports.push(*progress);
        train_tuples::<16, 7>(&recipe, &labels, seed, &mut observer)
    });
    assert!(trained.is_err(), "300 steps are too few for an exact network");
    reports
}

#[test]
fn training_learns_and_depends_on_nothing_but_the_seed() {
    let one = reports(1, 7);
    assert_eq!(one.len(), 4, "at 0, 100, 200 and 300 steps");
    assert!(one[3].loss < one[1].loss / 2.0, "the loss falls: {one:?}");
    assert!(one[3].errors < one[0].errors / 10, "the errors fall: {one:?}");
    // Loss and margin depend on all weights, so they agree to the last bit only if the weights do.
    assert_eq!(reports(2, 7), one, "with two threads");
    assert_ne!(reports(2, 8), one, "with another seed");
}

#[test]
fn the_small_network_is_as_good_as_any_function_of_the_top_byte() {
    let trained = train_small_dispatch(1, &mut |_| ()).expect("training with seed 1 succeeds");
    let network = SmallDispatchNetwork::from_flat(&trained.weights).expect("weights are finite");
    let agreement = network.agreement();
    assert_eq!(agreement.right, agreement.ceiling, "{agreement:?}");
    assert!(agreement.lead >= 1.0, "{agreement:?}");
    assert_eq!(train_small_dispatch(1, &mut |_| ()), Ok(trained), "again");
}

#[test]
fn damaged_weights_are_tuned_until_they_are_exact_again() {
    let builtin = Weights::builtin(Architecture::Dispatch).expect("the weights are there");
    let (weights, _) = builtin.expect("KVRM has them");
    let mut random = Random::new(3);
    let damaged: Vec<f32> = weights.values().iter().map(|weight| weight + 0.02 * random.normal()).collect();
    let mut reports = Vec::new();
    let tuned = tune_dispatch(&damaged, 1, &mut |progress| reports.push(*progress));
    let tuned = tuned.expect("the network becomes exact");
    assert!(reports[0].errors > 0, "the damage makes tuples wrong: {reports:?}");
    assert_eq!(tuned.progress.errors, 0, "none is wrong at the end: {reports:?}");
    assert!(tuned.progress.step < 2_000, "a tenth of a training is enough: {reports:?}");
}
