//! Random spiking networks for property tests: all models and rules mixed, with delays, plasticity and injections.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, ConnectionRule, Delay, Error, Feagi, Injection, Input, Izhikevich, Lif, ListedSynapse, Model,
    Network, PlasticityRule, Poisson, Projection, Weight,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The number of steps for which a case has input.
pub const STEPS: u64 = 40;

/// The largest magnitude of an injection or a drive, in weight units.
pub const AMOUNT_MAX: i32 = 1 << 16;

/// A network with its input.
#[derive(Clone, Debug)]
pub struct Case {
    /// The network.
    pub network: Arc<Network>,
    /// Injections for [`STEPS`] steps.
    pub input: Input,
    /// Changes of drives: the step of the change, the population, and the amount per step from then on.
    pub drives: Vec<(u64, u32, i32)>,
}

/// Generates cases whose populations have up to `neurons` neurons in a row, or up to 48 in a grid.
///
/// # Panics
/// If a builder refuses parameters that are in range.
pub fn cases(neurons: u32) -> impl Strategy<Value = Case> {
    let settings = (any::<u64>(), 0..=6_u32, prop_oneof![Just(0.1), Just(1.0)], any::<bool>());
    let populations = vec(population(neurons), 0..6);
    let projections = vec(projection(neurons), 0..8);
    let injections = vec((0..STEPS, any::<Index>(), -AMOUNT_MAX..=AMOUNT_MAX), 0..40);
    let drives = vec((0..STEPS, any::<Index>(), -AMOUNT_MAX..=AMOUNT_MAX), 0..4);
    // A few large networks exceed the bound of sums and are filtered out.
    (settings, populations, projections, vec(plasticity(), 0..4), injections, drives).prop_filter_map(
        "sums are within the bound",
        |((seed, fraction_bits, dt, learns), populations, projections, rules, injections, drives)| {
            // Without FEAGI's large products, weights may be so large that synapses take 8 bytes.
            let has_feagi = populations.iter().any(|(_, models)| matches!(models[0], Model::Feagi(_)));
            let fraction_bits = if has_feagi { fraction_bits } else { (3 * fraction_bits).min(14) };
            let builder = Builder::new(dt).seed(seed).fraction_bits(fraction_bits).injection_limit(1 << 20);
            let rules = if learns { rules } else { Vec::new() };
            let network = network(builder, &populations, &projections, rules)?;
            let (neurons, count) = (network.neurons(), network.populations().len());
            let injection = |(step, neuron, amount): (u64, Index, i32)| {
                (neurons != 0).then(|| Injection {
                    step,
                    neuron: neuron.index(neurons as usize) as u32,
                    amount,
                })
            };
            let injections = injections.into_iter().filter_map(injection).collect();
            let drive = |(step, population, amount): (u64, Index, i32)| {
                (count != 0).then(|| (step, population.index(count) as u32, amount))
            };
            Some(Case {
                input: Input::new(injections).expect("amounts are small"),
                drives: drives.into_iter().filter_map(drive).collect(),
                network: Arc::new(network),
            })
        },
    )
}

/// The dimensions of a population's grid, and models that its neurons use in turn.
type PopulationPlan = ([u32; 3], Vec<Model>);

/// Indices of source and target population, the rule, and additional synapses: source and target neuron, weight, delay.
type ProjectionPlan = (Index, Index, Projection, Vec<(Index, Index, f64, u32)>);

fn network(
    mut builder: Builder,
    populations: &[PopulationPlan],
    projections: &[ProjectionPlan],
    rules: Vec<(Index, Index, PlasticityRule)>,
) -> Option<Network> {
    let mut ids = Vec::new();
    for (number, (dimensions, models)) in populations.iter().enumerate() {
        let neuron = |index: u32| (models[index as usize % models.len()].clone(), None);
        let id = builder.populate(&format!("p{number}"), *dimensions, models[0].kind(), neuron);
        ids.push((id.expect("parameters are in range"), dimensions.iter().product::<u32>()));
    }
    if ids.is_empty() {
        return Some(builder.build().expect("there is nothing to fail"));
    }
    for (source, target, projection, links) in projections {
        let [(source, sources), (target, targets)] =
            [source, target].map(|index| ids[index.index(ids.len())]);
        // Some rules require population sizes that these populations may not have.
        let _ = builder.connect(source, target, projection);
        if sources != 0 && targets != 0 {
            let link = |(from, to, weight, delay): &(Index, Index, f64, u32)| ListedSynapse {
                source: from.index(sources as usize) as u32,
                target: to.index(targets as usize) as u32,
                weight: *weight,
                delay: *delay,
            };
            let links: Vec<ListedSynapse> = links.iter().map(link).collect();
            builder.connect_list(source, target, &links).expect("links are in range");
        }
    }
    let mut learning = std::collections::HashSet::new();
    for (source, target, rule) in rules {
        let [source, target] = [source, target].map(|index| ids[index.index(ids.len())].0);
        if learning.insert((source, target)) {
            builder.learn(source, target, [-50.0, 60.0], rule).expect("limits are in range");
        }
    }
    match builder.build() {
        Err(Error::AccumulatorBound { .. }) => None,
        built => Some(built.expect("everything else is in range")),
    }
}

fn population(neurons: u32) -> impl Strategy<Value = PopulationPlan> {
    let models = prop_oneof![
        4 => vec(feagi().prop_map(Model::Feagi), 1..4),
        3 => vec(lif().prop_map(Model::Lif), 1..3),
        2 => vec(izhikevich().prop_map(Model::Izhikevich), 1..3),
        1 => vec((0.0..500.0).prop_map(|rate| Model::Poisson(Poisson { rate })), 1..2),
    ];
    // All neurons of a population have the same drive.
    let models = (models, 0..3_i32).prop_map(|(mut models, drive)| {
        for model in &mut models {
            match model {
                Model::Feagi(feagi) => feagi.drive = drive.into(),
                Model::Lif(lif) => lif.drive = drive.into(),
                Model::Izhikevich(izhikevich) => izhikevich.drive = drive.into(),
                _ => {}
            }
        }
        models
    });
    let dimensions = prop_oneof![
        (0..=neurons).prop_map(|width| [width, 1, 1]),
        (1..=4_u32, 1..=4_u32, 1..=3_u32).prop_map(|(x, y, z)| [x, y, z]),
    ];
    (dimensions, models)
}

fn feagi() -> impl Strategy<Value = Feagi> {
    let potentials =
        (-5.0..40.0, proptest::option::of(0.0..500.0), 0.0..=1.0, prop_oneof![Just(1.0), 0.0..1.0]);
    let counts = (0..4_u16, prop_oneof![Just(0), Just(u16::MAX), 1..4_u16], 0..4_u16, 0..20_u8);
    (potentials, counts, any::<[bool; 4]>()).prop_map(
        |((threshold, threshold_limit, leak, excitability), counts, flags)| Feagi {
            threshold,
            threshold_limit,
            leak,
            excitability,
            refractory: counts.0,
            consecutive_limit: counts.1,
            snooze: counts.2,
            psp: counts.3,
            charge_accumulation: flags[0],
            mp_driven_psp: flags[1],
            psp_uniform: flags[2],
            tick_always: flags[3],
            drive: 0.0,
        },
    )
}

fn lif() -> impl Strategy<Value = Lif> {
    let taus = (2.0..20.0, prop_oneof![Just(2.0), 0.5..5.0], prop_oneof![Just(2.0), 0.5..5.0]);
    (taus, 0.0..5.0, -2.0..20.0, 0.0..2000.0, -10.0..30.0).prop_map(
        |((tau_m, tau_ex, tau_in), t_ref, bias, poisson_rate, poisson_weight)| Lif {
            tau_m,
            tau_ex,
            tau_in,
            t_ref,
            bias,
            poisson_rate,
            poisson_weight,
            ..Lif::default()
        },
    )
}

fn izhikevich() -> impl Strategy<Value = Izhikevich> {
    (0.01..0.1, 0.15..0.3, -70.0..-45.0, 0.0..10.0, -5.0..15.0, 0.0..500.0).prop_map(
        |(a, b, c, d, bias, poisson_rate)| Izhikevich {
            a,
            b,
            c,
            d,
            bias,
            poisson_rate,
            poisson_weight: 2.0,
            ..Izhikevich::default()
        },
    )
}

fn projection(neurons: u32) -> impl Strategy<Value = ProjectionPlan> {
    // Large populations are not connected densely.
    let (dense, probability) = if neurons > 100 {
        (ConnectionRule::OutDegree(30), 60.0 / f64::from(neurons))
    } else {
        (ConnectionRule::AllToAll, 1.0)
    };
    let connect = prop_oneof![
        Just(ConnectionRule::OneToOne),
        Just(dense),
        (0.0..=probability).prop_map(ConnectionRule::Probability),
        (0..8_u32).prop_map(ConnectionRule::InDegree),
        (0..8_u32).prop_map(ConnectionRule::OutDegree),
        (0..200_u64).prop_map(ConnectionRule::Total),
        vec([-2..3, -2..3, -2..3_i32], 0..6).prop_map(ConnectionRule::Offsets),
    ];
    let weight = prop_oneof![
        (-100.0..100.0).prop_map(Weight::Constant),
        (-50.0..50.0, 0.0..8.0).prop_map(|(mean, std)| Weight::Normal { mean, std }),
        (-40.0..20.0).prop_map(|low| Weight::Uniform { low, high: low + 50.0 }),
    ];
    let delay = prop_oneof![
        (1..20_u32).prop_map(Delay::Steps),
        (1.0..2.0).prop_map(|mean| Delay::Normal { mean, std: 0.75, max: 4.0 }),
        (1.0..2.0).prop_map(|low| Delay::Uniform { low, high: low + 2.0 }),
    ];
    let flags = any::<[bool; 2]>();
    let rule = (connect, weight, delay, flags).prop_map(|(connect, weight, delay, [autapses, multapses])| {
        Projection::new(connect, 0.0, 1).weight(weight).delay(delay).autapses(autapses).multapses(multapses)
    });
    // The list may contain the same synapse several times.
    let link = (any::<Index>(), any::<Index>(), -60.0..100.0, 1..8_u32);
    (any::<Index>(), any::<Index>(), rule, vec(link, 0..12))
}

fn plasticity() -> impl Strategy<Value = (Index, Index, PlasticityRule)> {
    let window = (1..=32_u32, -20..100, -20..100).prop_map(|(steps, ltp, ltd)| PlasticityRule::Window {
        steps,
        ltp,
        ltd,
    });
    let pair = (0.0..200.0, 0.0..200.0, 1.0..30.0, 1.0..30.0)
        .prop_map(|(gain, loss, before, after)| PlasticityRule::exponential([gain, loss], [before, after]));
    (any::<Index>(), any::<Index>(), prop_oneof![window, pair])
}
