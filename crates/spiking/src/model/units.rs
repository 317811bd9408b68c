//! Conversion of parameters in physical units to records of fixed-point numbers.

use crate::{Error, Kind, Record, fixed};

/// Returns the record of a model with potentials in mV. Each parameter is a place in the record, a name for messages, a
/// value and its number of fraction bits.
pub(super) fn record(
    kind: Kind,
    drive: f64,
    fraction_bits: u32,
    numbers: &[(usize, &str, f64, u32)],
) -> Result<Record, Error> {
    let mut words = [0; 15];
    words[Record::DRIVE] = weight_units("drive", drive, fraction_bits)? as u32;
    words[Record::SHIFT] = fixed::MILLIVOLT_BITS - fraction_bits;
    for &(place, what, value, bits) in numbers {
        words[place] = word(what, value, bits)?;
    }
    Ok(Record { kind: kind as u32, words })
}

/// Converts a parameter to a fixed-point number; `what` names it in messages.
pub(super) fn word(what: &str, value: f64, bits: u32) -> Result<u32, Error> {
    let limit = f64::from(1_u32 << (31 - bits));
    fixed::fixed(value, bits)
        .map(|fixed| fixed as u32)
        .ok_or_else(|| Error::parameter(what, value, format!("less than {limit} in magnitude")))
}

/// Converts an amount to weight units.
pub(crate) fn weight_units(what: &str, value: f64, fraction_bits: u32) -> Result<i32, Error> {
    if fraction_bits > fixed::FRACTION_BITS_MAX {
        return Err(Error::parameter("fraction bits", fraction_bits, "0 to 20"));
    }
    word(what, value, fraction_bits).map(|word| word as i32)
}
