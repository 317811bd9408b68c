//! Plasticity rules, compared with weights computed by hand.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Executor, Feagi, Injection, Input, ListedSynapse, Model, Network, Parallel, PlasticityRule,
    Reference,
};

/// Returns the weight after each step of a synapse from neuron 0 to neuron 1, which begins at 100. The neurons fire in
/// the steps `sources` and `targets`.
fn weights(rule: &PlasticityRule, steps: u64, sources: &[u64], targets: &[u64]) -> Vec<i32> {
    let network = Arc::new(pair(rule));
    let injection = |neuron| move |&step: &u64| Injection { step, neuron, amount: 1000 };
    let injections = sources.iter().map(injection(0)).chain(targets.iter().map(injection(1)));
    let all: Vec<Injection> = injections.collect();
    let mut weights = Vec::new();
    let mut engines: [Box<dyn Executor>; 2] =
        [Box::new(Reference::new(Arc::clone(&network))), Box::new(Parallel::new(Arc::clone(&network)))];
    for step in 0..steps {
        let now = all.iter().filter(|injection| injection.step == step);
        let input = Input::new(now.map(|injection| Injection { step: 0, ..*injection }).collect());
        let input = input.expect("small amounts");
        let states = engines.each_mut().map(|engine| {
            engine.run(1, &input, None).expect("an input in range");
            engine.state().expect("engines on CPUs have states")
        });
        assert_eq!(states[0], states[1], "step {step}");
        weights.push(network.synapses().packing.weight(states[0].weights[0].into()));
    }
    weights
}

fn pair(rule: &PlasticityRule) -> Network {
    let mut builder = Builder::new(1.0);
    // The synapse alone does not make the target fire.
    let model = Model::Feagi(Feagi { threshold: 900.0, leak: 1.0, ..Feagi::default() });
    let [source, target] = ["source", "target"]
        .map(|name| builder.population(name, 1, &model).expect("parameters are in range"));
    builder
        .connect_list(source, target, &[ListedSynapse { source: 0, target: 0, weight: 100.0, delay: 1 }])
        .expect("in range");
    builder.learn(source, target, [0.0, 120.0], rule.clone()).expect("limits in range");
    builder.build().expect("sums are small")
}

#[test]
fn a_window_rewards_neurons_that_fire_in_all_its_steps() {
    let rule = PlasticityRule::Window { steps: 2, ltp: 7, ltd: 3 };
    let seen = weights(&rule, 8, &[1, 2], &[1, 2]);
    // The pair fires in one of two steps, in all, in one, and in none.
    assert_eq!(seen, [100, 97, 104, 101, 101, 101, 101, 101], "spikes in steps 1 and 2");
    let seen = weights(&rule, 5, &[1, 2, 3], &[]);
    assert_eq!(seen, [100, 97, 94, 91, 88], "only the source fires");
}

#[test]
fn weights_stop_at_their_limits() {
    let rule = PlasticityRule::Window { steps: 1, ltp: 15, ltd: 70 };
    assert_eq!(
        weights(&rule, 3, &[0, 1], &[0, 1]),
        [115, 120, 120],
        "at most 120, and unchanged without spikes"
    );
    assert_eq!(weights(&rule, 3, &[0, 1], &[]), [30, 0, 0], "at least 0");
}

/// Returns a rule that adds 10 - k if the target fires k steps after the source, and subtracts 20 - k if it fires k
/// steps before.
fn pair_rule() -> PlasticityRule {
    let table =
        |most: i32| (0..64).map(|steps: i32| if steps == 0 { 0 } else { (most - steps).max(0) }).collect();
    PlasticityRule::Pair { potentiation: table(10), depression: table(20) }
}

#[test]
fn pairs_count_once_when_the_row_of_the_source_is_visited() {
    let seen = weights(&pair_rule(), 80, &[2], &[5]);
    assert!(seen[..65].iter().all(|&weight| weight == 100), "3 steps late, but the row is not visited yet");
    assert!(seen[65..].iter().all(|&weight| weight == 107), "visited 63 steps after the source's spike");
    let seen = weights(&pair_rule(), 12, &[2, 10], &[5]);
    // The target was 3 steps late for the first and 5 steps early for the second.
    assert_eq!(seen[9..], [100, 100 + 7 - 15, 92], "when the source fires again");
}

#[test]
fn only_nearest_spikes_are_pairs() {
    let seen = weights(&pair_rule(), 80, &[2, 4], &[6, 7]);
    // 6 and 7 pair with 4, not with 2.
    assert_eq!(seen[79], 100 + 8 + 7, "2 and 3 steps late");
    let seen = weights(&pair_rule(), 80, &[9], &[3, 5]);
    assert_eq!(seen[79], 100 - 16, "5 is 4 steps early, and 3 is not the nearest");
}

#[test]
fn spikes_of_the_same_step_are_no_pair() {
    assert_eq!(weights(&pair_rule(), 80, &[5], &[5])[79], 100, "both fire in the same step");
    // The target's spike in step 5 pairs with the source's in step 2. The source's in step 5 has no earlier partner.
    assert_eq!(weights(&pair_rule(), 80, &[2, 5], &[5])[79], 107, "3 steps late");
}

#[test]
fn pairs_reach_63_steps() {
    let flat = PlasticityRule::Pair { potentiation: vec![1; 64], depression: vec![2; 64] };
    assert_eq!(weights(&flat, 140, &[1], &[64])[139], 101, "63 steps late");
    assert_eq!(weights(&flat, 140, &[1], &[65])[139], 100, "64 steps late");
    assert_eq!(weights(&flat, 140, &[64], &[1])[139], 98, "63 steps early");
    assert_eq!(weights(&flat, 140, &[65], &[1])[139], 100, "64 steps early");
    assert_eq!(
        weights(&flat, 140, &[1, 64], &[64])[139],
        101,
        "a visit at 63 steps because the source fires: once"
    );
}

#[test]
fn exponential_tables_are_rounded() {
    let PlasticityRule::Pair { potentiation, depression } =
        PlasticityRule::exponential([100.0, 50.0], [10.0, 20.0])
    else {
        panic!("expected a pair rule");
    };
    assert_eq!([potentiation[1], potentiation[10], potentiation[63]], [90, 37, 0], "100 exp(-k / 10)");
    assert_eq!([depression[1], depression[20], depression.len() as i32], [48, 18, 64], "50 exp(-k / 20)");
}
