//! Records of fixed-point numbers, from numbers in physical units.

use crate::{Error, Kind, Record, fixed};

/// The record of a model whose potentials are in mV, of fixed-point numbers given by word, name, value and fraction
/// bits.
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

/// A fixed-point number of a record.
pub(super) fn word(what: &str, value: f64, bits: u32) -> Result<u32, Error> {
    let limit = f64::from(1_u32 << (31 - bits));
    fixed::fixed(value, bits)
        .map(|fixed| fixed as u32)
        .ok_or_else(|| Error::parameter(what, value, format!("less than {limit} either way")))
}

/// A number of weight units.
pub(crate) fn weight_units(what: &str, value: f64, fraction_bits: u32) -> Result<i32, Error> {
    if fraction_bits > fixed::FRACTION_BITS_MAX {
        return Err(Error::parameter("fraction bits", fraction_bits, "0 to 20"));
    }
    word(what, value, fraction_bits).map(|word| word as i32)
}
