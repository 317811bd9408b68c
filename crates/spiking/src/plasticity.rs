//! Plasticity: weights that change with the spikes of the pre- and postsynaptic neuron.
//!
//! A rule applies to all synapses between two populations. Its input are spike histories: 64 bits per neuron, of which
//! bit k is a spike k steps ago. Weights change after the update of neurons in a step and before its spikes are
//! delivered.

use std::ops::Range;

use crate::{Error, Packing, fixed, synapses};

/// The number of steps in a spike history, the current one included.
pub const HISTORY_STEPS: usize = 64;

/// A plasticity rule, with the populations and the limits of weights that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plasticity {
    /// The number of the presynaptic population.
    pub source: u32,
    /// The number of the postsynaptic population.
    pub target: u32,
    /// The lower and upper limit of weights, in weight units. A change stops there.
    pub weights: [i32; 2],
    /// The rule.
    pub rule: PlasticityRule,
}

/// A plasticity rule: how spikes change the weight of a synapse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlasticityRule {
    /// FEAGI's rule. In every step, a synapse gains `ltp` if both neurons have fired in each of the last `steps` steps.
    /// It loses `ltd` if either neuron has fired in any of these steps, and otherwise keeps its weight.
    Window {
        /// The number of steps, 1 to 32.
        steps: u32,
        /// The amount of potentiation, in weight units.
        ltp: i32,
        /// The amount of depression, in weight units.
        ltd: i32,
    },
    /// Spike-timing-dependent plasticity (STDP) with nearest-neighbour pairing: each spike is paired with the nearest
    /// earlier spike of the other neuron, up to 63 steps apart.
    ///
    /// A postsynaptic spike k steps after the last presynaptic one adds `potentiation[k]`. A presynaptic spike k steps
    /// after the last postsynaptic one subtracts `depression[k]`. Spikes of the same step are no pair. Delays are not
    /// taken into account. Weights are updated lazily: a row is visited when its source fires, and once more 63 steps
    /// after its last spike. A visit adds all potentiation since the previous presynaptic spike and then subtracts the
    /// depression; the weight is clamped to the limits after each of the two.
    Pair {
        /// The potentiation by distance in steps: 64 entries in weight units, none negative, of which the first is
        /// unused.
        potentiation: Vec<i32>,
        /// The depression by distance in steps: 64 entries in weight units, none negative, of which the first is
        /// unused.
        depression: Vec<i32>,
    },
}

impl PlasticityRule {
    /// Returns an STDP rule with exponential decay. `amounts` are those of potentiation and depression, in weight
    /// units, and `tau_steps` their time constants, in steps.
    ///
    /// ```
    /// use kvrm_spiking::{HISTORY_STEPS, PlasticityRule};
    ///
    /// let rule = PlasticityRule::exponential([100.0, 120.0], [20.0, 20.0]);
    /// let PlasticityRule::Pair { potentiation, .. } = rule else { unreachable!() };
    /// assert_eq!(potentiation.len(), HISTORY_STEPS);
    /// assert_eq!(potentiation[20], 37, "100 / e");
    /// ```
    #[must_use]
    pub fn exponential(amounts: [f64; 2], tau_steps: [f64; 2]) -> Self {
        let table = |which: usize| {
            let amount = |steps: usize| amounts[which] * libm::exp(-(steps as f64) / tau_steps[which]);
            (0..HISTORY_STEPS)
                .map(|steps| if steps == 0 { 0 } else { libm::round(amount(steps)) as i32 })
                .collect()
        };
        Self::Pair { potentiation: table(0), depression: table(1) }
    }

    /// Returns whether the row of a source with this spike history is visited in this step.
    #[must_use]
    pub const fn visits(&self, source: u64) -> bool {
        match self {
            Self::Window { .. } => true,
            Self::Pair { .. } => source & 1 != 0 || source == 1 << (HISTORY_STEPS - 1),
        }
    }

    /// Returns the weight after a visit. `source` and `target` are the spike histories of both neurons.
    #[must_use]
    pub fn learned(&self, weight: i32, limits: [i32; 2], source: u64, target: u64) -> i32 {
        let within = |weight: i64| weight.clamp(limits[0].into(), limits[1].into());
        let weight = i64::from(weight);
        let learned = match self {
            Self::Window { steps, ltp, ltd } => {
                let mask = u64::MAX >> (64 - steps);
                let both = [source & mask, target & mask];
                match both {
                    [0, 0] => weight,
                    _ if both == [mask; 2] => within(weight + i64::from(*ltp)),
                    _ => within(weight - i64::from(*ltd)),
                }
            }
            Self::Pair { potentiation, depression } => {
                let mut weight = weight;
                // The steps since the previous spike of the source, 64 if there is none.
                let since = (source & !1).trailing_zeros();
                if since < 64 {
                    let mut spikes = target & ((1 << since) - 1);
                    let mut gain = 0;
                    while spikes != 0 {
                        let ago = spikes.trailing_zeros();
                        gain += i64::from(potentiation[(since - ago) as usize]);
                        spikes &= spikes - 1;
                    }
                    if gain != 0 {
                        weight = within(weight + gain);
                    }
                }
                let last = (target & !1).trailing_zeros();
                if source & 1 != 0 && last < 64 {
                    weight = within(weight - i64::from(depression[last as usize]));
                }
                weight
            }
        };
        fixed::saturate(learned)
    }

    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Window { steps: 1..=32, .. } => Ok(()),
            Self::Window { steps, .. } => Err(Error::parameter("window", steps, "1 to 32 steps")),
            Self::Pair { potentiation, depression } => {
                for table in [potentiation, depression] {
                    if table.len() != HISTORY_STEPS {
                        return Err(Error::parameter("number of amounts of a pair rule", table.len(), "64"));
                    } else if let Some(amount) = table.iter().find(|&&amount| amount < 0) {
                        return Err(Error::parameter("amount of a pair rule", amount, "0 or more"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The packed synapses of a source.
#[derive(Debug)]
pub(crate) struct PackedRow<'a> {
    pub(crate) packing: &'a Packing,
    pub(crate) words: &'a mut [u32],
}

impl Plasticity {
    /// Checks the rule without regard to other rules.
    pub(crate) fn check(&self, packing: &Packing) -> Result<(), Error> {
        let [low, high] = self.weights;
        if low > high {
            return Err(Error::parameter("lowest weight", low, format!("at most the highest, {high}")));
        }
        for weight in self.weights {
            let synapse = synapses::Synapse { target: 0, delay: packing.min_delay, weight };
            if !packing.fits(&synapse) {
                let bits = packing.weight_bits;
                return Err(Error::parameter(
                    "limit of weights",
                    weight,
                    format!("a signed number of {bits} bits"),
                ));
            }
        }
        self.rule.check()
    }

    /// Applies the rule to the row of a source with this spike history. `targets` are the neurons of the postsynaptic
    /// population. Rows are sorted, so the synapses to these are adjacent.
    pub(crate) fn learn(&self, row: PackedRow<'_>, targets: &Range<u32>, source: u64, histories: &[u64]) {
        let PackedRow { packing, words: row } = row;
        let length = row.len() / packing.words as usize;
        for index in packing.find(row, length, targets.start)..length {
            let packed = packing.read(row, index);
            let synapse = packing.unpack(packed);
            if synapse.target >= targets.end {
                break;
            }
            let history = histories[synapse.target as usize];
            let weight = self.rule.learned(synapse.weight, self.weights, source, history);
            if weight != synapse.weight {
                packing.write(row, index, packing.with_weight(packed, weight));
            }
        }
    }
}
