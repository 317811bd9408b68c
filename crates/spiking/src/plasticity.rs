//! Learning: weights that change with the spikes of both ends of a synapse.
//!
//! A rule is for all synapses between two populations. It sees spikes through histories, 64 bits a neuron, of which
//! bit k is a spike k steps ago. Weights change after the update of a step and before its spikes are delivered.

use std::ops::Range;

use crate::{Error, Packing, fixed, synapses};

/// Steps that a history goes back, this one included.
pub const HISTORY_STEPS: usize = 64;

/// How the synapses between two populations learn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plasticity {
    /// The number of the population of sources.
    pub source: u32,
    /// The number of the population of targets.
    pub target: u32,
    /// Between these weights, in weight units, a change stops.
    pub weights: [i32; 2],
    /// What changes them.
    pub rule: Rule,
}

/// What changes weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// FEAGI's: in every step, a synapse gains `ltp` if both ends have fired in each of the last `steps` steps, loses
    /// `ltd` if either has fired in any of them, and else stays.
    Window {
        /// 1 to 32.
        steps: u32,
        /// What is added, in weight units.
        ltp: i32,
        /// What is taken away, in weight units.
        ltd: i32,
    },
    /// Pairs of spikes, each with its nearest earlier partner, up to 63 steps apart.
    ///
    /// A target's spike k steps after its source's last one adds `potentiation[k]`; a source's spike k steps after
    /// its target's last one takes away `depression[k]`; spikes of the same step are no pair. Delays do not enter.
    /// Weights are brought up to date when they are needed: a source's row is visited when it fires, and once more 63
    /// steps after its last spike. A visit adds all potentiation since the spike before, then takes away the
    /// depression, and stays between the limits after each of the two.
    Pair {
        /// By steps, 64 entries of which the first is unused, in weight units, none negative.
        potentiation: Vec<i32>,
        /// By steps, 64 entries of which the first is unused, in weight units, none negative.
        depression: Vec<i32>,
    },
}

impl Rule {
    /// Pair learning whose amounts, in weight units, decay exponentially with time constants in steps.
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

    /// Whether the row of a source with this history is visited in this step.
    #[must_use]
    pub const fn visits(&self, source: u64) -> bool {
        match self {
            Self::Window { .. } => true,
            Self::Pair { .. } => source & 1 != 0 || source == 1 << (HISTORY_STEPS - 1),
        }
    }

    /// The weight after a visit.
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
                // Steps since the spike of the source before this one, 64 if there is none.
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
                        return Err(Error::parameter("amounts of pair learning", table.len(), "64 of them"));
                    } else if let Some(amount) = table.iter().find(|&&amount| amount < 0) {
                        return Err(Error::parameter("amount of pair learning", amount, "0 or more"));
                    }
                }
                Ok(())
            }
        }
    }
}

/// The synapses of a source.
#[derive(Debug)]
pub(crate) struct PackedRow<'a> {
    pub(crate) packing: &'a Packing,
    pub(crate) words: &'a mut [u32],
}

impl Plasticity {
    /// Checks the rule by itself.
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
                    "limit of a weight",
                    weight,
                    format!("a number of {bits} bits"),
                ));
            }
        }
        self.rule.check()
    }

    /// Applies the rule to the row of a source. `targets` are the neurons of the target population, and rows are
    /// sorted, so its synapses lie together.
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
