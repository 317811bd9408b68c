//! FEAGI's neuron, one rule per test, compared with bursts computed by hand.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Executor, Feagi, Injection, Input, ListedSynapse, Model, Recorder, Reference, State, join,
    random,
};

/// A network of a single neuron.
struct SingleNeuron {
    engine: Reference,
}

impl SingleNeuron {
    fn new(feagi: Feagi) -> Self {
        let mut builder = Builder::new(1.0);
        builder.population("area", 1, &Model::Feagi(feagi)).expect("parameters are in range");
        Self { engine: Reference::new(Arc::new(builder.build().expect("there are no synapses"))) }
    }

    /// Runs a burst with this input, where `None` is no input. Returns whether the neuron fires.
    fn burst(&mut self, input: Option<i32>) -> bool {
        let injections = input.map(|amount| Injection { step: 0, neuron: 0, amount });
        let input = Input::new(injections.into_iter().collect()).expect("one injection");
        self.engine.run(1, &input, None).expect("an input in range");
        self.state().fired().count() == 1
    }

    fn bursts(&mut self, inputs: &[i32]) -> Vec<bool> {
        inputs.iter().map(|&input| self.burst(Some(input))).collect()
    }

    fn state(&mut self) -> State {
        self.engine.state().expect("the reference has a state")
    }

    fn potential(&mut self) -> f64 {
        let columns = self.state().columns;
        join(columns[0], columns[1]) as f64 / 4_294_967_296.0
    }

    fn countdown(&mut self) -> u32 {
        self.state().columns[2] & 0xffff
    }
}

#[test]
fn potential_is_added_then_tested_then_leaks() {
    let mut neuron = SingleNeuron::new(Feagi { threshold: 10.0, leak: 0.5, ..Feagi::default() });
    assert!(!neuron.burst(Some(6)), "6 is less than 10");
    assert_eq!(neuron.potential(), 3.0, "half of 6 leaks");
    assert!(!neuron.burst(None), "there is no input");
    assert_eq!(neuron.potential(), 3.0, "without input nothing leaks");
    assert!(neuron.burst(Some(7)), "3 + 7 is tested before it leaks");
    assert_eq!(neuron.potential(), 0.0, "a spike resets to 0");
}

#[test]
fn a_sum_of_zero_is_input() {
    let mut neuron = SingleNeuron::new(Feagi { threshold: 10.0, leak: 0.5, ..Feagi::default() });
    neuron.burst(Some(8));
    neuron.burst(Some(0));
    assert_eq!(neuron.potential(), 2.0, "the potential leaks again");
}

#[test]
fn spikes_that_cancel_are_input() {
    let mut builder = Builder::new(1.0);
    let sources = Model::Feagi(Feagi::default());
    let sources = builder.population("sources", 2, &sources).expect("parameters are in range");
    let target = Model::Feagi(Feagi { threshold: 100.0, leak: 0.5, ..Feagi::default() });
    let target = builder.population("target", 1, &target).expect("parameters are in range");
    let link = |source, weight| ListedSynapse { source, target: 0, weight, delay: 1 };
    builder.connect_list(sources, target, &[link(0, 7.0), link(1, -7.0)]).expect("links are in range");
    let mut engine = Reference::new(Arc::new(builder.build().expect("sums are small")));
    let injection = |neuron, amount| Injection { step: 0, neuron, amount };
    let input =
        Input::new(vec![injection(0, 1), injection(1, 1), injection(2, 8)]).expect("amounts are small");
    engine.run(1, &input, None).expect("an input in range");
    let state = engine.state().expect("the reference has a state");
    assert_eq!((state.ring[2], state.marks[0]), (0, 0b100), "the pending sum of 7 and -7 is marked");
    engine.run(1, &Input::default(), None).expect("nothing is injected");
    let state = engine.state().expect("the reference has a state");
    assert_eq!(join(state.columns[2], state.columns[5]), 2 << 32, "8 has leaked twice");
    assert_eq!(state.marks[0], 0, "the mark is used up");
}

#[test]
fn the_firing_range_includes_both_ends() {
    let mut neuron = SingleNeuron::new(Feagi {
        threshold: 10.0,
        threshold_limit: Some(20.0),
        leak: 1.0,
        ..Feagi::default()
    });
    assert_eq!(neuron.bursts(&[9, 10, 20, 21]), [false, true, true, false], "10 to 20, both included");
}

#[test]
fn negative_input_is_kept() {
    let mut neuron = SingleNeuron::new(Feagi { threshold: 1.0, leak: 0.25, ..Feagi::default() });
    neuron.burst(Some(-8));
    assert_eq!(neuron.potential(), -6.0, "leaks toward 0");
}

#[test]
fn refractory_neurons_discard_input_and_count_only_bursts_with_input() {
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 1.0, refractory: 2, leak: 0.0, ..Feagi::default() });
    assert!(neuron.burst(Some(1)), "the first spike");
    assert!(!neuron.burst(None) && neuron.countdown() == 2, "no input, no tick");
    assert!(!neuron.burst(Some(5)) && neuron.countdown() == 1, "the first tick");
    assert!(!neuron.burst(Some(5)) && neuron.countdown() == 0, "the last tick still discards");
    assert_eq!(neuron.potential(), 0.0, "none of the input remains");
    assert!(neuron.burst(Some(1)), "it fires again");
}

#[test]
fn the_countdown_can_tick_always() {
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 1.0, refractory: 2, tick_always: true, ..Feagi::default() });
    assert!(neuron.burst(Some(1)), "the first spike");
    assert!(!neuron.burst(None) && neuron.countdown() == 1, "a tick without input");
    assert!(!neuron.burst(None) && neuron.countdown() == 0, "another tick");
    assert!(neuron.burst(Some(1)), "it fires again");
}

#[test]
fn a_neuron_pauses_at_the_limit_of_consecutive_spikes() {
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 1.0, consecutive_limit: 2, leak: 0.0, ..Feagi::default() });
    assert_eq!(
        neuron.bursts(&[1; 7]),
        [true, true, false, true, true, false, true],
        "every third burst has no spike"
    );
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 1.0, consecutive_limit: 2, leak: 0.5, ..Feagi::default() });
    assert_eq!(neuron.bursts(&[1, 1, 1]), [true, true, false], "the third is blocked");
    assert_eq!(neuron.potential(), 1.0, "the potential does not leak");
}

#[test]
fn a_burst_without_a_spike_resets_the_consecutive_count() {
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 2.0, consecutive_limit: 2, leak: 1.0, ..Feagi::default() });
    assert_eq!(
        neuron.bursts(&[2, 1, 2, 2, 2]),
        [true, false, true, true, false],
        "an input of 1 is below the threshold"
    );
}

#[test]
fn limits_of_0_and_65535_are_unlimited() {
    for consecutive_limit in [0, u16::MAX] {
        let mut neuron = SingleNeuron::new(Feagi { threshold: 1.0, consecutive_limit, ..Feagi::default() });
        assert_eq!(neuron.bursts(&[1; 100]), [true; 100], "a limit of {consecutive_limit}");
    }
}

#[test]
fn snooze_is_added_to_the_last_countdown() {
    let feagi = Feagi { threshold: 1.0, refractory: 1, consecutive_limit: 2, snooze: 2, ..Feagi::default() };
    let mut neuron = SingleNeuron::new(feagi);
    let fired = neuron.bursts(&[1; 8]);
    assert_eq!(
        fired,
        [true, false, true, false, false, false, true, false],
        "a pause of 1, then of 1 + 2, after which the count is 0"
    );
}

#[test]
fn excitability_is_the_hash_of_neuron_and_burst() {
    let threshold = 1_u32 << 31;
    let mut neuron =
        SingleNeuron::new(Feagi { threshold: 1.0, leak: 1.0, excitability: 0.5, ..Feagi::default() });
    let fired = neuron.bursts(&[1; 200]);
    let expected: Vec<bool> = (1..=200).map(|burst| random::excitability(0, burst) < threshold).collect();
    assert_eq!(fired, expected, "bursts count from 1");
    let count = fired.iter().filter(|&&fired| fired).count();
    assert!((75..125).contains(&count), "about half, {count}");
    let bursts = |excitability| {
        let mut neuron = SingleNeuron::new(Feagi { threshold: 1.0, excitability, ..Feagi::default() });
        neuron.bursts(&[1; 50]).into_iter().filter(|&fired| fired).count()
    };
    assert_eq!([bursts(0.0), bursts(0.999)], [0, 50], "never and always");
}

#[test]
fn the_hash_is_feagis() {
    // The seed is 1 * 2654435761 + 1 * 1597334677 = 4251770438, hashed step by step as in the paper on PCG.
    let state = 4_251_770_438_u32.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    assert_eq!(random::excitability(1, 1), (word >> 22) ^ word, "neuron 1, burst 1");
}

#[test]
fn without_charge_accumulation_every_burst_begins_at_zero() {
    let mut neuron = SingleNeuron::new(Feagi {
        threshold: 10.0,
        charge_accumulation: false,
        leak: 0.5,
        ..Feagi::default()
    });
    neuron.burst(Some(8));
    assert_eq!(neuron.potential(), 4.0, "half of 8");
    neuron.burst(None);
    assert_eq!(neuron.potential(), 0.0, "even without input");
    assert_eq!(neuron.bursts(&[8, 8, 10]), [false, false, true], "inputs do not accumulate");
}

#[test]
fn a_driven_area_gets_input_in_every_burst() {
    let mut neuron = SingleNeuron::new(Feagi { threshold: 3.0, leak: 0.0, drive: 1.0, ..Feagi::default() });
    let fired: Vec<bool> = (0..6).map(|_| neuron.burst(None)).collect();
    assert_eq!(fired, [false, false, true, false, false, true], "1 a burst");
    neuron.engine.set_drive(0, 3).expect("a drive in range");
    assert!(neuron.burst(None) && neuron.burst(None), "a larger drive, as for FEAGI's area of fatigue");
    neuron.engine.set_drive(0, 0).expect("a drive in range");
    assert!(!neuron.burst(None), "no drive");
    assert!(neuron.engine.set_drive(1, 0).is_err(), "there is one population");
    assert!(neuron.engine.set_drive(0, i32::MAX).is_err(), "above the injection limit");
}

/// Returns the pending inputs of the targets one burst after neuron 0, of the model `feagi`, fires, over links of these
/// weights.
fn pending_inputs(feagi: Feagi, fraction_bits: u32, input: i32, weights: &[f64]) -> Vec<i32> {
    let mut builder = Builder::new(1.0).fraction_bits(fraction_bits);
    let source = builder.population("source", 1, &Model::Feagi(feagi)).expect("parameters are in range");
    let targets = Model::Feagi(Feagi::default());
    let targets =
        builder.population("targets", weights.len() as u32, &targets).expect("parameters are in range");
    let link = |(target, &weight): (usize, &f64)| ListedSynapse {
        source: 0,
        target: target as u32,
        weight,
        delay: 1,
    };
    let links: Vec<ListedSynapse> = weights.iter().enumerate().map(link).collect();
    builder.connect_list(source, targets, &links).expect("links are in range");
    let mut engine = Reference::new(Arc::new(builder.build().expect("sums are small")));
    let mut recorder = Recorder::new(1);
    let input = Input::new(vec![Injection { step: 0, neuron: 0, amount: input }]).expect("one injection");
    engine.run(1, &input, Some(&mut recorder)).expect("one spike");
    assert_eq!(recorder.spikes().len(), 1, "the source fires");
    engine.state().expect("the reference has a state").ring[1..].to_vec()
}

#[test]
fn a_contribution_is_weight_times_psp() {
    let feagi = Feagi { psp: 255, ..Feagi::default() };
    assert_eq!(
        pending_inputs(feagi, 0, 1, &[255.0, -255.0, 0.0]),
        [65_025, -65_025, 0],
        "the extremes of FEAGI"
    );
}

#[test]
fn a_contribution_can_be_divided() {
    let feagi = Feagi { psp: 10, psp_uniform: false, ..Feagi::default() };
    assert_eq!(
        pending_inputs(feagi.clone(), 0, 1, &[4.0, 5.0, -5.0]),
        [13, 17, -17],
        "40/3, 50/3 and -50/3, rounded"
    );
    // 10/3 is 218453 / 2^16.
    assert_eq!(pending_inputs(feagi, 4, 16, &[4.0, 5.0, -5.0]), [213, 267, -267], "in sixteenths");
}

#[test]
fn psp_can_be_the_potential_at_firing() {
    let feagi = Feagi { psp: 1, mp_driven_psp: true, ..Feagi::default() };
    assert_eq!(pending_inputs(feagi.clone(), 0, 7, &[3.0]), [21], "7 * 3");
    assert_eq!(pending_inputs(feagi.clone(), 0, 1000, &[3.0]), [765], "at most 255");
    assert_eq!(pending_inputs(feagi.clone(), 1, 5, &[3.0]), [18], "2.5 is rounded to 3, and 9 is 18 halves");
    let negative = Feagi { threshold: -10.0, ..feagi };
    assert_eq!(pending_inputs(negative, 0, -5, &[3.0]), [0], "at least 0");
}
