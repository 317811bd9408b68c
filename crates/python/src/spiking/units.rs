//! Amounts in the unit of weights and delays in ms, as numbers of networks.

use kvrm::spiking::{Error, Network, fixed};

/// The unit of weights and the length of a step of a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    /// The length of a step, in ms.
    pub(super) dt: f64,
    pub(super) fraction_bits: u32,
}

impl Units {
    /// Returns the units of a network.
    pub(super) const fn of(network: &Network) -> Self {
        let parts = network.parts();
        Self { dt: parts.dt, fraction_bits: parts.fraction_bits }
    }

    /// Returns an amount in weight units. `what` names it in messages.
    ///
    /// # Errors
    /// It has more than 32 bits.
    pub(super) fn amount(self, what: &str, amount: f64) -> Result<i32, Error> {
        let bits = self.fraction_bits.min(fixed::FRACTION_BITS_MAX);
        let limit = f64::from(1_u32 << (31 - bits));
        fixed::fixed(amount, bits)
            .ok_or_else(|| parameter(what, amount, format!("less than {limit} in magnitude")))
    }

    /// Returns an amount of weight units in the unit of weights.
    pub(super) fn weight(self, units: i32) -> f64 {
        fixed::float(units, self.fraction_bits)
    }

    /// Returns a delay in steps. It is rounded; the network refuses what is out of range.
    pub(super) fn steps(self, delay: f64) -> u32 {
        (delay / self.dt).round() as u32
    }

    /// Returns a delay in ms, without the noise of the multiplication: 1.5 for 15 steps of 0.1 ms.
    pub(super) fn milliseconds(self, steps: u32) -> f64 {
        (f64::from(steps) * self.dt * 1e9).round() / 1e9
    }
}

/// Returns the error of a parameter that is out of range.
pub(super) fn parameter(what: &str, value: f64, expected: String) -> Error {
    Error::Parameter { what: what.to_owned(), value: value.to_string(), expected }
}
