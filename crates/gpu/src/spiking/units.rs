//! The units of weights, in which [`Kernel::Fused`](super::Kernel::Fused) counts the input of neurons with two ports.

use kvrm_shaders::interface::spiking::Settings;
use kvrm_spiking::{Network, Synapse};
use rayon::prelude::*;

/// The most units that 16 bits count.
const MOST: u32 = u16::MAX as u32;

/// The units of excitatory and inhibitory weights. All weights of a network are multiples of them, and the weights of all
/// synapses of a neuron and sign are together at most as many units as 16 bits count, so the input of a step is, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units([u32; 2]);

/// The weights of a sign that have been seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Their greatest common divisor, or 0 if all are zero.
    divisor: u32,
    /// The greatest magnitude.
    most: u32,
}

impl Seen {
    const fn add(&mut self, other: Self) {
        // Most networks have few different weights, so the divisor seldom changes.
        if self.divisor == 0 || !other.divisor.is_multiple_of(self.divisor) {
            self.divisor = greatest_common_divisor(self.divisor, other.divisor);
        }
        if other.most > self.most {
            self.most = other.most;
        }
    }

    /// Returns whether one synapse is few enough units.
    const fn fits(self) -> bool {
        self.most / if self.divisor == 0 { 1 } else { self.divisor } <= MOST
    }
}

const fn greatest_common_divisor(mut left: u32, mut right: u32) -> u32 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Returns the index of the sum for a weight.
const fn port_of(weight: i32) -> usize {
    if weight < 0 { 1 } else { 0 }
}

impl Units {
    /// Returns the units of a network with two ports, or `None` if its weights have too many units or it has one port.
    pub(super) fn of(network: &Network) -> Option<Self> {
        if network.parts().ports != 2 {
            return None;
        }
        let units = Self::divisors(network)?;
        units.do_sums_fit(network).then_some(units)
    }

    /// Returns the greatest units, or `None` if a single weight has too many.
    fn divisors(network: &Network) -> Option<Self> {
        let all = (0..network.neurons())
            .into_par_iter()
            .try_fold(<[Seen; 2]>::default, |mut seen, source| {
                for Synapse { weight, .. } in network.synapses().row(source) {
                    let magnitude = weight.unsigned_abs();
                    seen[port_of(weight)].add(Seen { divisor: magnitude, most: magnitude });
                }
                seen.iter().all(|seen| seen.fits()).then_some(seen)
            })
            .try_reduce(<[Seen; 2]>::default, |[mut left, mut right], others| {
                left.add(others[0]);
                right.add(others[1]);
                Some([left, right])
            })?;
        all.iter().all(|seen| seen.fits()).then(|| Self(all.map(|seen| seen.divisor.max(1))))
    }

    /// Returns whether the weights of all synapses of each neuron and sign are few enough units.
    fn do_sums_fit(self, network: &Network) -> bool {
        let neurons = network.neurons();
        // Each part has sums of its own for all neurons. They take less memory than the synapses if a part has as many synapses
        // as these sums have bytes.
        let sums_bytes = u64::from(neurons).max(1) * size_of::<[u32; 2]>() as u64;
        let threads = rayon::current_num_threads().max(1) as u64;
        let count = (network.synapses().count() / sums_bytes).clamp(1, threads);
        let part = neurons.div_ceil(count as u32).max(1);
        let parts: Vec<_> = (0..neurons).step_by(part as usize).collect();
        let sums = |first: u32| {
            let mut sums = vec![[0_u32; 2]; neurons as usize];
            for source in first..first.saturating_add(part).min(neurons) {
                for Synapse { target, weight, .. } in network.synapses().row(source) {
                    let port = port_of(weight);
                    let sum = &mut sums[target as usize][port];
                    *sum = sum.saturating_add(weight.unsigned_abs() / self.0[port]);
                }
            }
            sums
        };
        let all = parts.into_par_iter().map(sums).reduce(Vec::new, |mut left, right| {
            if left.is_empty() {
                return right;
            }
            for (left, right) in left.iter_mut().flatten().zip(right.iter().flatten()) {
                *left = left.saturating_add(*right);
            }
            left
        });
        all.iter().flatten().all(|&sum| sum <= MOST)
    }

    /// Returns a weight in units, which are negative for inhibition.
    pub(super) const fn count(self, weight: i32) -> i32 {
        // No weight has so many units that they do not fit in 17 bits.
        weight.signum() * (weight.unsigned_abs() / self.0[port_of(weight)]) as i32
    }

    /// Sets the units in the settings of a network.
    pub(super) const fn set(self, settings: &mut Settings) {
        [settings.excitatory_unit, settings.inhibitory_unit] = self.0;
    }
}

#[cfg(test)]
mod tests {
    use kvrm_spiking::{Builder, Lif, ListedSynapse, Model};

    use super::*;

    /// Returns the units of a network of two neurons with `ports` ports, in which the first one has synapses with these weights
    /// to the second one.
    fn units(ports: u32, weights: &[i32]) -> Option<Units> {
        let mut builder = Builder::new(0.1).fraction_bits(0);
        let model = Model::Lif(Lif { tau_in: if ports == 2 { 2.0 } else { 0.5 }, ..Lif::default() });
        let cells = builder.population("cells", 2, &model).expect("parameters are in range");
        let link = |&weight| ListedSynapse { source: 0, target: 1, weight: f64::from(weight), delay: 1 };
        let links: Vec<ListedSynapse> = weights.iter().map(link).collect();
        builder.connect_list(cells, cells, &links).expect("neurons are there");
        let network = builder.build().expect("sums are small");
        assert_eq!(network.parts().ports, ports, "as many as there are time constants");
        Units::of(&network)
    }

    #[test]
    fn sums_have_units_if_16_bits_count_them() {
        let limit = [1, 65_000, 534];
        for (weights, expected) in [
            (&[6, 9, -10, -20][..], Some([3, 10])),
            (&[6, 0, 9], Some([3, 1])),
            (&[-5 * 65_535], Some([1, 5 * 65_535])),
            (&limit, Some([1, 1])),
            (&[&limit[..], &limit.map(|weight| -weight)].concat(), Some([1, 1])),
            (&[&limit[..], &[1]].concat(), None),
            (&[-1, -65_535], None),
            (&[3, 2 * 65_536], None),
        ] {
            assert_eq!(units(2, weights), expected.map(Units), "{weights:?}");
        }
        assert_eq!(units(1, &[6, 9]), None, "with one port, nothing would be saved");
    }

    #[test]
    fn weights_are_counted_with_their_sign() {
        let units = Units([3, 10]);
        let counts = [6, 0, -20].map(|weight| units.count(weight));
        assert_eq!(counts, [2, 0, -2]);
    }
}
