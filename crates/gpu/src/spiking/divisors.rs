//! Common divisors of weights, by which [`Kernel::Fused`](super::Kernel::Fused) counts the input of neurons with two ports.

use kvrm_shaders::interface::spiking::Settings;
use kvrm_spiking::{Network, Synapse};
use rayon::prelude::*;

/// The greatest number that 16 bits count to.
const MULTIPLE_MAX: u64 = u16::MAX as u64;

/// A common divisor of the excitatory weights of a network and one of the inhibitory ones; 0 if there are none but zeroes.
/// The weights of all synapses of a neuron together are at most 65,535 times the smaller one, so in a step, spikes add at
/// most as many multiples of each as 16 bits count to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Divisors([u32; 2]);

/// Returns the number of sums of a neuron of a block in a step.
pub(super) fn sums_of_neuron(network: &Network, divisors: Option<Divisors>) -> u32 {
    if divisors.is_some() { 1 } else { network.parts().ports }
}

/// Returns the index of the divisor of a weight.
const fn port_of(weight: i32) -> usize {
    if weight < 0 { 1 } else { 0 }
}

/// Returns the greatest common divisor of a divisor and a number, which is one of them if the other is 0. It is fast if the
/// divisor divides the number.
const fn common_divisor(divisor: u32, number: u32) -> u32 {
    let (mut number, mut divisor) = (number, divisor);
    while divisor != 0 {
        (number, divisor) = (divisor, number % divisor);
    }
    number
}

impl Divisors {
    /// Returns the greatest divisors of a network whose weights are constant, or `None` if it has one port or the divisors are
    /// too small.
    pub(super) fn of(network: &Network) -> Option<Self> {
        let sources = (0..network.neurons()).into_par_iter();
        if network.parts().ports == 2 { Self([0; 2]).with(network, sources) } else { None }
    }

    /// Returns divisors after a change of the synapses of some sources, or `None` if they are too small. They may not be the
    /// greatest ones.
    pub(super) fn after(self, network: &Network, sources: &[u32]) -> Option<Self> {
        self.with(network, sources.par_iter().copied())
    }

    /// Returns the greatest divisors of these and of the weights of some sources, or `None` if they are too small.
    fn with(self, network: &Network, sources: impl ParallelIterator<Item = u32>) -> Option<Self> {
        let least = network.bounds().iter().max().map_or(0, |most| most.div_ceil(MULTIPLE_MAX));
        let checked = |Self(divisors): Self| {
            let fits = divisors.iter().all(|&divisor| divisor == 0 || u64::from(divisor) >= least);
            fits.then_some(Self(divisors))
        };
        let include = |Self(mut divisors): Self, source| {
            for Synapse { weight, .. } in network.synapses().row(source) {
                let divisor = &mut divisors[port_of(weight)];
                *divisor = common_divisor(*divisor, weight.unsigned_abs());
            }
            // If weights have many values, a few rows show it.
            checked(Self(divisors))
        };
        let join = |Self(left): Self, Self(right): Self| {
            checked(Self([common_divisor(left[0], right[0]), common_divisor(left[1], right[1])]))
        };
        sources.try_fold(|| self, include).try_reduce(|| self, join)
    }

    /// Returns a weight divided by its divisor.
    pub(super) fn multiple(self, weight: i32) -> i32 {
        // A divisor of 0 has only weights of 0. There are at most 65,535 multiples, so 17 bits are enough, with the sign.
        let magnitude = weight.unsigned_abs() / self.0[port_of(weight)].max(1);
        weight.signum() * magnitude as i32
    }

    /// Sets the divisors in the settings of a slice.
    pub(super) const fn set(self, settings: &mut Settings) {
        [settings.excitatory_divisor, settings.inhibitory_divisor] = self.0;
    }
}

#[cfg(test)]
mod tests {
    use kvrm_spiking::{Builder, Change, Lif, ListedSynapse, Model};

    use super::*;

    /// Returns a network of three neurons with `ports` ports, in which the first two have synapses with these weights to the
    /// third.
    fn network(ports: u32, weights: [&[i32]; 2]) -> Network {
        let mut builder = Builder::new(0.1).fraction_bits(0);
        let model = Model::Lif(Lif { tau_in: if ports == 2 { 2.0 } else { 0.5 }, ..Lif::default() });
        let cells = builder.population("cells", 3, &model).expect("parameters are in range");
        let mut links = Vec::new();
        for (source, weights) in (0..).zip(weights) {
            let link = |&weight| ListedSynapse { source, target: 2, weight: f64::from(weight), delay: 1 };
            links.extend(weights.iter().map(link));
        }
        builder.connect_list(cells, cells, &links).expect("neurons are there");
        let network = builder.build().expect("sums are small");
        assert_eq!(network.parts().ports, ports, "as many as there are time constants");
        network
    }

    #[test]
    fn a_network_has_divisors_if_16_bits_count_its_sums() {
        for (weights, expected) in [
            ([&[6, 9, -10, -20][..], &[][..]], Some([3, 10])),
            ([&[6, 0], &[9]], Some([3, 0])),
            ([&[0], &[-5 * 65_535]], Some([0, 5 * 65_535])),
            ([&[1, 65_000], &[-2, -532]], Some([1, 2])),
            ([&[1, 65_000], &[-2, -534]], None),
            ([&[-65_535], &[1]], None),
            ([&[3], &[2 * 65_536]], None),
        ] {
            assert_eq!(Divisors::of(&network(2, weights)), expected.map(Divisors), "{weights:?}");
        }
        assert_eq!(Divisors::of(&network(1, [&[6], &[9]])), None, "with one port, nothing would be saved");
    }

    #[test]
    fn weights_are_divided_and_keep_their_signs() {
        let multiples =
            |divisors, weights: [i32; 3]| weights.map(|weight| Divisors(divisors).multiple(weight));
        assert_eq!(multiples([3, 10], [6, 0, -20]), [2, 0, -2]);
        assert_eq!(
            multiples([0, 10], [0, -10, -655_350]),
            [0, -1, -65_535],
            "no excitatory weights but zeroes"
        );
    }

    #[test]
    fn divisors_after_a_change_divide_the_new_weights() {
        let mut network = network(2, [&[60, -20], &[90]]);
        let divisors = Divisors::of(&network).expect("the weights are small");
        assert_eq!(divisors, Divisors([30, 20]));
        for (weight, expected) in [(45, Some([15, 20])), (7, Some([1, 20])), (65_500, None)] {
            let synapse = Synapse { target: 2, delay: 1, weight };
            let changed =
                network.change(&[Change::AddSynapse { source: 1, synapse }]).expect("the change is valid");
            let after = divisors.after(&network, &changed.rows);
            assert_eq!(after, expected.map(Divisors), "with a weight of {weight}");
        }
    }
}
