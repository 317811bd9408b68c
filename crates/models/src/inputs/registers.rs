//! The values of registers.

use super::{flag, magnitude};

/// The number of registers that networks see: x0 to x30, then the stack pointer.
pub const REGISTERS: usize = 32;

/// log10(2) / 10.
const SCALE: f32 = std::f32::consts::LOG10_2 / 10.0;

/// Returns the encoding of the values of x0 to x30 and the stack pointer.
///
/// A value r is read as a signed number. The first 32 numbers are sign(r) log10(|r| + 1) / 10, between -1.9 and 1.9, with
/// an error below 2e-7. The others are 1 where r is not zero, and 0 where it is.
///
/// ```
/// let mut registers = [0; 32];
/// (registers[3], registers[5]) = (999, u64::MAX); // 999 and -1
/// let encoding = kvrm_models::inputs::register_values(&registers);
/// assert!((encoding[3] - 0.3).abs() < 1e-7 && (encoding[5] + 0.030_103).abs() < 1e-7);
/// assert_eq!((encoding[32 + 3], encoding[32 + 4]), (1.0, 0.0));
/// ```
#[must_use]
pub fn register_values(registers: &[u64; REGISTERS]) -> [f32; 2 * REGISTERS] {
    std::array::from_fn(|index| {
        let value = registers[index % REGISTERS] as i64;
        if index < REGISTERS { value.signum() as f32 * magnitude(value) * SCALE } else { flag(value != 0) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_logarithms_with_a_sign() {
        for value in [0, 1, 2, 9, 1_000_000, i64::MAX, -1, -5, i64::MIN] {
            let encoding = register_values(&[value as u64; REGISTERS]);
            let right = value.signum() as f64 * (value.unsigned_abs() as f64 + 1.0).log10() / 10.0;
            for register in 0..REGISTERS {
                assert!(
                    (f64::from(encoding[register]) - right).abs() < 2e-7,
                    "{value}: {}",
                    encoding[register]
                );
                assert_eq!(
                    encoding[REGISTERS + register],
                    f32::from(u8::from(value != 0)),
                    "flag of {value}"
                );
            }
        }
    }
}
