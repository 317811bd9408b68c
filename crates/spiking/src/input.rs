//! What is given to neurons from outside.

use std::sync::Arc;

use crate::{Error, Network};

/// An amount given to a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Injection {
    /// When, in steps from the beginning of the run.
    pub step: u64,
    /// To which neuron.
    pub neuron: u32,
    /// How much, in weight units. For a FEAGI neuron also 0 is an input.
    pub amount: i32,
}

/// The injections of a run, sorted by step and neuron, at most one for each. Clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    injections: Arc<Vec<Injection>>,
}

impl Input {
    /// An input of these injections; several of the same neuron and step are added.
    ///
    /// # Errors
    /// [`Error::Injection`], if a sum exceeds 32 bits.
    pub fn new(mut injections: Vec<Injection>) -> Result<Self, Error> {
        injections.sort_unstable();
        let groups =
            injections.chunk_by(|left, right| (left.step, left.neuron) == (right.step, right.neuron));
        let merged = groups.map(|group| {
            let Injection { step, neuron, .. } = group[0];
            let amount: i64 = group.iter().map(|injection| i64::from(injection.amount)).sum();
            match amount.try_into() {
                Ok(amount) => Ok(Injection { step, neuron, amount }),
                Err(_) => Err(Error::Injection { neuron, step, amount, limit: i32::MAX }),
            }
        });
        Ok(Self { injections: Arc::new(merged.collect::<Result<_, Error>>()?) })
    }

    /// All injections.
    #[must_use]
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// The injections of a step.
    #[must_use]
    pub fn at(&self, step: u64) -> &[Injection] {
        let start = self.injections.partition_point(|injection| injection.step < step);
        let length = self.injections[start..].partition_point(|injection| injection.step == step);
        &self.injections[start..start + length]
    }

    /// Checks that a run of so many steps can take this input; engines call it first.
    ///
    /// # Errors
    /// A neuron or step is out of range, or an amount exceeds the network's injection limit.
    pub fn check(&self, network: &Network, steps: u64) -> Result<(), Error> {
        let (neurons, limit) = (network.neurons(), network.parts().injection_limit);
        for &Injection { step, neuron, amount } in self.injections() {
            if neuron >= neurons {
                return Err(Error::NoSuchNeuron { neuron: neuron.into(), neurons: neurons.into() });
            } else if step >= steps {
                return Err(Error::InjectionStep { step, steps });
            } else if amount.unsigned_abs() > limit.unsigned_abs() {
                return Err(Error::Injection { neuron, step, amount: amount.into(), limit });
            }
        }
        Ok(())
    }
}
