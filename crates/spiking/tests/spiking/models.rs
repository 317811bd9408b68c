//! Neuron models in fixed point, compared with floating point.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Executor, Input, Izhikevich, Lif, Model, Network, Parallel, Poisson, Recorder, Reference, fixed,
};

fn single_neuron(dt: f64, model: Model) -> Arc<Network> {
    let mut builder = Builder::new(dt).seed(7).fraction_bits(20);
    builder.population("one", 1, &model).expect("parameters are in range");
    Arc::new(builder.build().expect("there are no synapses"))
}

/// NEST's `iaf_psc_exp` in floating point: V, J and remaining refractory steps.
struct Exact {
    v: f64,
    j: [f64; 2],
    refractory: u32,
}

impl Exact {
    fn step(&mut self, lif: &Lif, dt: f64) -> bool {
        let response = |tau: f64| {
            let factor = tau / (lif.tau_m - tau);
            factor * ((-dt / lif.tau_m).exp() - (-dt / tau).exp())
        };
        if self.refractory == 0 {
            let decay = (-dt / lif.tau_m).exp();
            let synaptic = response(lif.tau_ex) * self.j[0] + response(lif.tau_in) * self.j[1];
            self.v = decay * self.v + (1.0 - decay) * lif.bias + synaptic;
        } else {
            self.refractory -= 1;
        }
        self.j[0] *= (-dt / lif.tau_ex).exp();
        self.j[1] *= (-dt / lif.tau_in).exp();
        let fires = self.v >= lif.v_th - lif.v_rest;
        if fires {
            self.v = lif.v_reset - lif.v_rest;
            self.refractory = (lif.t_ref / dt).round() as u32;
        }
        fires
    }
}

#[test]
fn lif_differs_by_less_than_a_ten_thousandth_of_a_millivolt() {
    let dt = 0.1;
    let lif = Lif { tau_ex: 1.7, tau_in: 4.3, bias: 14.0, ..Lif::default() };
    let mut engine = Reference::new(single_neuron(dt, Model::Lif(lif.clone())));
    let mut exact = Exact { v: 0.0, j: [0.0; 2], refractory: 0 };
    let mut spikes = 0;
    for step in 0..20_000_u32 {
        // Irregular input of both signs, from -2 to 6 mV of current.
        let hash = kvrm_spiking::random::pcg(step);
        let amount = if hash.is_multiple_of(3) { (hash >> 9) as i32 - (1 << 21) } else { 0 };
        let input = kvrm_spiking::Injection { step: 0, neuron: 0, amount };
        let input = Input::new(vec![input]).expect("one injection");
        engine.run(1, &input, None).expect("an input in range");
        let fires = exact.step(&lif, dt);
        exact.j[usize::from(amount < 0)] += fixed::float(amount, 20);
        let state = engine.state().expect("the reference has a state");
        assert_eq!(state.fired().count() == 1, fires, "step {step}, at {} mV", exact.v);
        let v = fixed::float(state.columns[0] as i32, 20);
        assert!((v - exact.v).abs() < 1e-4, "{v} and {} mV in step {step}", exact.v);
        spikes += u32::from(fires);
    }
    assert!(spikes > 20, "{spikes} spikes");
}

#[test]
fn equal_time_constants_give_the_limit_of_the_response() {
    let network =
        single_neuron(0.1, Model::Lif(Lif { tau_m: 2.0, tau_ex: 2.0, tau_in: 2.0, ..Lif::default() }));
    let share = fixed::float(network.record(0).words[3] as i32, 30);
    assert!((share - 0.05 * (-0.05_f64).exp()).abs() < 1e-9, "dt / tau exp(-dt / tau), {share}");
}

#[test]
fn the_membrane_time_constant_can_be_shorter_than_a_step() {
    // exp(dt / tau_m) overflows floating point. The potential follows the remaining current.
    let network =
        single_neuron(1.0, Model::Lif(Lif { tau_m: 1e-3, tau_ex: 5.0, tau_in: 5.0, ..Lif::default() }));
    let share = fixed::float(network.record(0).words[3] as i32, 30);
    let expected = (-0.2_f64).exp() / (1.0 - 1e-3 / 5.0);
    assert!((share - expected).abs() < 1e-9, "{share}, {expected} expected");
}

#[test]
fn izhikevich_stays_close_to_floating_point() {
    for (dt, substeps) in [(1.0, 2), (0.1, 1)] {
        let izhikevich = Izhikevich { bias: 10.0, ..Izhikevich::default() };
        let mut engine = Reference::new(single_neuron(dt, Model::Izhikevich(izhikevich)));
        let (mut v, mut u) = (-65.0_f64, -13.0_f64);
        let mut spikes = [Vec::new(), Vec::new()];
        // Long steps overshoot the peak by amounts that amplify any error, so later spikes drift apart.
        for step in 0..(250.0 / dt) as u32 {
            engine.run(1, &Input::default(), None).expect("nothing is injected");
            for _ in 0..substeps {
                v += dt / f64::from(substeps) * (0.04 * v * v + 5.0 * v + 140.0 - u + 10.0);
            }
            u += 0.02 * dt * (0.2 * v - u);
            if v >= 30.0 {
                (v, u) = (-65.0, u + 8.0);
                spikes[0].push(step);
            }
            let state = engine.state().expect("the reference has a state");
            spikes[1].extend(state.fired().map(|_| step));
            if spikes[0].is_empty() {
                let error = (fixed::float(state.columns[0] as i32, 20) - v).abs();
                assert!(error < 1e-3, "{error} mV in step {step} of {dt} ms");
            }
        }
        assert!(spikes[0].len() >= 5, "{spikes:?}");
        assert_eq!(spikes[0].len(), spikes[1].len(), "{spikes:?}");
        // The upstroke amplifies errors, so a spike may be one step off.
        assert!(spikes[0].iter().zip(&spikes[1]).all(|(a, b)| a.abs_diff(*b) <= 1), "{spikes:?}");
    }
}

#[test]
fn poisson_sources_have_their_rate_and_are_irregular() {
    let mut builder = Builder::new(0.1).seed(3);
    let model = Model::Poisson(Poisson { rate: 100.0 });
    builder.population("sources", 1000, &model).expect("parameters are in range");
    let mut engine = Parallel::new(Arc::new(builder.build().expect("there are no synapses")));
    let mut recorder = Recorder::new(1 << 20);
    engine.run(10_000, &Input::default(), Some(&mut recorder)).expect("room for all spikes");
    // 1000 * 10^4 trials of 1 - exp(-0.01).
    let expected = 1e7 * -(-0.01_f64).exp_m1();
    let count = recorder.spikes().len() as f64;
    assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count} and {expected} spikes");
    let mut counts = vec![0_u32; 1000];
    recorder.spikes().iter().for_each(|spike| counts[spike.neuron as usize] += 1);
    let mean = count / 1000.0;
    let variance = counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>() / 999.0;
    assert!(
        (variance / mean - 0.99).abs() < 0.2,
        "variance by mean of the counts of neurons is {}",
        variance / mean
    );
    let steps: Vec<f64> = (0..10_000_u64)
        .map(|step| {
            let end = recorder.spikes().partition_point(|spike| spike.step <= step);
            (end - recorder.spikes().partition_point(|spike| spike.step < step)) as f64
        })
        .collect();
    let mean = steps.iter().sum::<f64>() / 1e4;
    let variance = steps.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 9999.0;
    assert!(
        (variance / mean - 0.99).abs() < 0.1,
        "variance by mean of the counts of steps is {}",
        variance / mean
    );
}

#[test]
fn poisson_inputs_have_their_mean_and_variance() {
    // The current decays completely within a step, so J is weight times count.
    let rate = 20_000.0;
    let lif = Lif { tau_ex: 0.001, tau_in: 0.001, poisson_rate: rate, poisson_weight: 1.0, ..Lif::default() };
    let mut builder = Builder::new(0.1).seed(11);
    builder.population("many", 2000, &Model::Lif(lif)).expect("parameters are in range");
    let mut engine = Parallel::new(Arc::new(builder.build().expect("there are no synapses")));
    let mut counts = Vec::new();
    for _ in 0..50 {
        engine.run(1, &Input::default(), None).expect("nothing is injected");
        let state = engine.state().expect("engines on CPUs have states");
        counts.extend(state.columns[2000..4000].iter().map(|&j| fixed::float(j as i32, 20)));
    }
    let mean = counts.iter().sum::<f64>() / 1e5;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1e5;
    assert!((mean - 2.0).abs() < 4.0 * (2.0_f64 / 1e5).sqrt(), "a mean of {mean}, 2 expected");
    assert!((variance - 2.0).abs() < 0.06, "a variance of {variance}, 2 expected");
}
