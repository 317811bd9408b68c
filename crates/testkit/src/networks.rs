//! Random spiking networks of all models, derived from a seed.

use std::sync::Arc;

use kvrm_spiking::{
    Builder, Feagi, Injection, Izhikevich, Kind, Lif, ListedSynapse, Model, Network, PlasticityRule, Poisson,
    PopulationId,
};

use crate::random::Random;

/// The neuron models of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Two populations of FEAGI neurons.
    Feagi,
    /// LIF neurons, some with different time constants for excitatory and inhibitory currents, and a Poisson source.
    Lif,
    /// Izhikevich neurons and a Poisson source.
    Izhikevich,
    /// One population of each model.
    Mixed,
}

/// All recipes.
pub const RECIPES: [Recipe; 4] = [Recipe::Feagi, Recipe::Lif, Recipe::Izhikevich, Recipe::Mixed];

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * f64::from(random.bits() as u32) / f64::from(u32::MAX)
}

fn model(random: &mut Random, kind: Kind, two_ports: bool, drive: f64) -> Model {
    match kind {
        Kind::Feagi => Model::Feagi(Feagi {
            threshold: between(random, 1.0, 20.0),
            threshold_limit: random.bits().is_multiple_of(4).then(|| between(random, 20.0, 60.0)),
            leak: [0.0, 0.1, 1.0, 0.37][random.bits() as usize % 4],
            refractory: (random.bits() % 3) as u16,
            excitability: [1.0, 0.7, 0.0][random.bits() as usize % 3],
            consecutive_limit: [0, 1, 2][random.bits() as usize % 3],
            snooze: (random.bits() % 4) as u16,
            charge_accumulation: !random.bits().is_multiple_of(3),
            psp: (random.bits() % 4) as u8,
            mp_driven_psp: random.bits().is_multiple_of(3),
            psp_uniform: random.bits().is_multiple_of(2),
            tick_always: random.bits().is_multiple_of(3),
            drive,
        }),
        Kind::Lif => Model::Lif(Lif {
            tau_in: if two_ports { 2.0 } else { 0.5 },
            t_ref: between(random, 0.0, 1.0),
            bias: between(random, 0.0, 18.0),
            poisson_rate: [0.0, 8000.0][random.bits() as usize % 2],
            poisson_weight: between(random, -20.0, 40.0),
            drive,
            ..Lif::default()
        }),
        Kind::Izhikevich => Model::Izhikevich(Izhikevich {
            bias: between(random, 0.0, 12.0),
            poisson_rate: [0.0, 8000.0][random.bits() as usize % 2],
            poisson_weight: between(random, -2.0, 4.0),
            ..Izhikevich::default()
        }),
        Kind::Poisson => Model::Poisson(Poisson { rate: between(random, 0.0, 2000.0) }),
    }
}

/// Returns a small network for a seed, with random parameters and synapses. `delays` are the least and the greatest
/// delay in steps; `learns` enables plasticity on some projections.
///
/// # Panics
/// Never: all parameters are in range.
#[must_use]
pub fn network(recipe: Recipe, seed: u64, delays: [u32; 2], learns: bool) -> Arc<Network> {
    let mut random = Random::new(seed);
    let kinds: &[Kind] = match recipe {
        Recipe::Feagi => &[Kind::Feagi, Kind::Feagi],
        Recipe::Lif => &[Kind::Lif, Kind::Lif, Kind::Poisson],
        Recipe::Izhikevich => &[Kind::Izhikevich, Kind::Poisson],
        Recipe::Mixed => &[Kind::Feagi, Kind::Lif, Kind::Izhikevich, Kind::Poisson],
    };
    let fraction_bits = (random.bits() % 13) as u32;
    let mut builder = Builder::new(0.1).seed(random.bits()).fraction_bits(fraction_bits);
    let two_ports = random.bits().is_multiple_of(2);
    let populations: Vec<(PopulationId, u32)> = kinds
        .iter()
        .enumerate()
        .map(|(index, &kind)| {
            let neurons = 1 + (random.bits() % 150) as u32;
            let drive = [0.0, 0.0, 1.5, -1.0][random.bits() as usize % 4];
            let models: Vec<Model> = (0..3).map(|_| model(&mut random, kind, two_ports, drive)).collect();
            let own = |neuron: u32| (models[neuron as usize % 3].clone(), None);
            let id = builder.populate(&format!("population {index}"), [neurons, 1, 1], kind, own);
            (id.expect("parameters are in range"), neurons)
        })
        .collect();
    for &(source, sources) in &populations {
        for &(target, targets) in &populations {
            let count = random.bits() % u64::from(8 * sources);
            let links: Vec<ListedSynapse> = (0..count)
                .map(|_| ListedSynapse {
                    source: (random.bits() % u64::from(sources)) as u32,
                    target: (random.bits() % u64::from(targets)) as u32,
                    weight: between(&mut random, -6.0, 8.0),
                    delay: delays[0] + (random.bits() % u64::from(delays[1] - delays[0] + 1)) as u32,
                })
                .collect();
            builder.connect_list(source, target, &links).expect("neurons are there");
            if learns && random.bits().is_multiple_of(2) {
                let rule = match random.bits() % 2 {
                    0 => PlasticityRule::Window {
                        steps: [1, 2, 3, 5, 17, 32][random.bits() as usize % 6],
                        ltp: 2,
                        ltd: 1,
                    },
                    // With the longer time constants, pairs of any distance change weights.
                    _ => {
                        let factor = [1.0, 10.0][random.bits() as usize % 2];
                        PlasticityRule::exponential([3.0, 4.0], [20.0 * factor, 15.0 * factor])
                    }
                };
                builder.learn(source, target, [-7.0, 9.0], rule).expect("limits are in range");
            }
        }
    }
    Arc::new(builder.build().expect("sums are small"))
}

/// Returns injections into a network, spread over `steps` steps.
#[must_use]
pub fn injections(network: &Network, seed: u64, steps: u64) -> Vec<Injection> {
    let mut random = Random::new(!seed);
    let neurons = u64::from(network.neurons());
    let unit = 1 << network.parts().fraction_bits;
    (0..steps * neurons / 20)
        .map(|_| Injection {
            step: random.bits() % steps,
            neuron: (random.bits() % neurons) as u32,
            amount: (random.bits() % 41) as i32 * unit - 10 * unit,
        })
        .collect()
}
