//! External input: injections into neurons during a run.

use std::sync::Arc;

use crate::{Error, Network};

/// An amount of input to one neuron in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Injection {
    /// The step, counted from the beginning of the run.
    pub step: u64,
    /// The neuron.
    pub neuron: u32,
    /// The amount, in weight units. For a FEAGI neuron even 0 is an input, which differs from no input.
    pub amount: i32,
}

/// The injections of a run, sorted by step and neuron, at most one for each. Clones share them.
///
/// ```
/// use kvrm_spiking::{Injection, Input};
///
/// let injection = |step, neuron, amount| Injection { step, neuron, amount };
/// let input = Input::new(vec![injection(3, 0, 5), injection(0, 2, 1), injection(3, 0, -2)])?;
/// assert_eq!(input.at(3), [injection(3, 0, 3)], "injections into the same neuron are added");
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    injections: Arc<Vec<Injection>>,
    greatest: Greatest,
}

/// The greatest values among the injections of an input, so that a check need not look at all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Greatest {
    step: u64,
    neuron: u32,
    magnitude: u32,
}

impl Greatest {
    /// Returns the greatest values of an injection and of others.
    fn with(self, injection: &Injection) -> Self {
        Self {
            step: self.step.max(injection.step),
            neuron: self.neuron.max(injection.neuron),
            magnitude: self.magnitude.max(injection.amount.unsigned_abs()),
        }
    }
}

impl Input {
    /// Returns an input of these injections. Several injections into the same neuron in the same step are added.
    ///
    /// # Errors
    /// [`Error::Injection`] if such a sum exceeds 32 bits.
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
        let injections: Vec<Injection> = merged.collect::<Result<_, Error>>()?;
        let greatest = injections.iter().fold(Greatest::default(), Greatest::with);
        Ok(Self { injections: Arc::new(injections), greatest })
    }

    /// Returns all injections, in order.
    #[must_use]
    pub fn injections(&self) -> &[Injection] {
        &self.injections
    }

    /// Returns the injections of a step, in the order of neurons.
    #[must_use]
    pub fn at(&self, step: u64) -> &[Injection] {
        let start = self.injections.partition_point(|injection| injection.step < step);
        let length = self.injections[start..].partition_point(|injection| injection.step == step);
        &self.injections[start..start + length]
    }

    /// Checks the input for a run of `steps` steps of a network. Engines call it before they run.
    ///
    /// # Errors
    /// A neuron or step is out of range, or an amount exceeds the network's injection limit.
    pub fn check(&self, network: &Network, steps: u64) -> Result<(), Error> {
        let (neurons, limit) = (network.neurons(), network.parts().injection_limit);
        let error_of = |&Injection { step, neuron, amount }: &Injection| {
            if neuron >= neurons {
                Some(Error::NoSuchNeuron { neuron: neuron.into(), neurons: neurons.into() })
            } else if step >= steps {
                Some(Error::InjectionStep { step, steps })
            } else if amount.unsigned_abs() > limit.unsigned_abs() {
                Some(Error::Injection { neuron, step, amount: amount.into(), limit })
            } else {
                None
            }
        };
        let Greatest { step, neuron, magnitude } = self.greatest;
        if neuron < neurons && step < steps && magnitude <= limit.unsigned_abs() {
            return Ok(());
        }
        self.injections().iter().find_map(error_of).map_or(Ok(()), Err)
    }
}
