//! Values of SIMD&FP registers for test vectors. The vectors of an encoding share a few values, which keeps vector
//! files small.

use std::collections::BTreeMap;

use kvrm_arm64::operand::Operand;
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE};
use kvrm_arm64::view::{Element, View};
use kvrm_arm64::{Encoding, Word};

use crate::numbers::{EDGES, float, floats};
use crate::random::Random;

/// The number of values of each kind in a [`Pool`].
const VALUES: usize = 9;

/// The register values for the vectors of an encoding, by the type of their elements.
pub(crate) struct Pool {
    halves: Vec<u128>,
    singles: Vec<u128>,
    doubles: Vec<u128>,
    integers: Vec<u128>,
}

impl Pool {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self {
            halves: values(|random| lanes(random, 16, &mut of_format(HALF)), random),
            singles: values(|random| lanes(random, 32, &mut of_format(SINGLE)), random),
            doubles: values(|random| lanes(random, 64, &mut of_format(DOUBLE)), random),
            integers: values(integers, random),
        }
    }

    /// Returns any of the values.
    pub(crate) fn any(&self, random: &mut Random) -> u128 {
        let values = *random.pick(&[&self.halves, &self.singles, &self.doubles, &self.integers]);
        *random.pick(values)
    }

    /// Returns values for the registers that a word reads or writes, by register number.
    pub(crate) fn registers(&self, encoding: &Encoding, w: Word, random: &mut Random) -> BTreeMap<u32, u128> {
        let mut registers = BTreeMap::new();
        for &operand in encoding.operands {
            let (first, count) = match operand {
                Operand::VnTable(count) => (w.rn(), count),
                Operand::VtList(count, _) | Operand::VtLane(count, _) => (w.rt(), count),
                Operand::VdLane | Operand::VdHigh => (w.rd(), 1),
                Operand::VnLane | Operand::VnLane4 | Operand::VnHigh => (w.rn(), 1),
                Operand::VmLane(_) => (if w.size() == 1 { w.bits(16, 4) } else { w.rm() }, 1),
                _ => match operand.simd() {
                    Some((low, _)) => (w.bits(low, 5), 1),
                    None => continue,
                },
            };
            for register in first..first + count {
                registers.insert(register & 31, self.value(encoding, operand, w, random));
            }
        }
        // Most table indices are within the table.
        if encoding.group() == "asimdtbl" && random.below(4) > 0 {
            registers.entry(w.rm()).and_modify(|value| *value &= 0x3f3f_3f3f_3f3f_3f3f_3f3f_3f3f_3f3f_3f3f);
        }
        // Many shift amounts in registers are near the size of an element.
        if encoding.mnemonic.ends_with("shl") && encoding.group().ends_with("same") && random.below(2) == 0 {
            let amount = random.below(2 * (8 << w.size()) + 3) as i64 - (8 << w.size()) - 1;
            registers.insert(w.rm(), u128::from(amount as u64) * (1 << 64 | 1));
        }
        registers
    }

    /// Returns bytes for memory.
    pub(crate) fn bytes(&self, count: usize, random: &mut Random) -> Vec<u8> {
        let pick = |_| random.pick(&self.integers).to_le_bytes();
        let mut bytes = (0..count.div_ceil(16)).map(pick).collect::<Vec<_>>().concat();
        bytes.truncate(count);
        bytes
    }

    fn value(&self, encoding: &Encoding, operand: Operand, w: Word, random: &mut Random) -> u128 {
        let values = match numbers(encoding, operand, w) {
            Some(1) => &self.halves,
            Some(2) => &self.singles,
            Some(_) => &self.doubles,
            None => &self.integers,
        };
        let value = *random.pick(values);
        // Sometimes a neighbour of the value, or the value with the other sign.
        match random.below(16) {
            0 => value ^ 1,
            1 => value ^ 1 << 63 ^ 1 << 31,
            _ => value,
        }
    }
}

/// Returns the binary logarithm of an element's size in bytes if an operand has floating-point elements.
fn numbers(encoding: &Encoding, operand: Operand, w: Word) -> Option<u32> {
    let semantics = encoding.semantics();
    let is_number =
        ["simd::float", "simd::compare", "simd::convert"].iter().any(|part| semantics.starts_with(part));
    let is_integer = semantics.contains("::from_") || encoding.mnemonic.starts_with("ur");
    if !is_number || is_integer {
        return None;
    }
    let view = match operand {
        Operand::VmLane(element) => View { element, ..kvrm_arm64::view::SZ },
        _ => operand.simd()?.1,
    };
    // No floating-point format has one byte; all other fixed sizes that occur are sizes of a format.
    let size = view.size(w);
    (view.element != Element::Fixed(0)).then_some(size)
}

fn values(mut value: impl FnMut(&mut Random) -> u128, random: &mut Random) -> Vec<u128> {
    (0..VALUES).map(|_| value(random)).collect()
}

/// Returns a vector whose elements have `esize` bits.
fn lanes(random: &mut Random, esize: u32, element: &mut dyn FnMut(&mut Random) -> u64) -> u128 {
    (0..128).step_by(esize as usize).fold(0, |vector, at| vector | u128::from(element(random)) << at)
}

fn of_format(format: Format) -> impl FnMut(&mut Random) -> u64 {
    let edges = floats(format);
    move |random| float(format, &edges, random)
}

/// Returns a vector of integers of a random size, often edge values.
fn integers(random: &mut Random) -> u128 {
    let esize = 8 << random.below(4);
    let mask = u64::MAX >> (64 - esize);
    lanes(random, esize, &mut |random| match random.below(3) {
        0 => random.pick(&EDGES) & mask,
        // The edge values of this size.
        1 => [1 << (esize - 1), (1 << (esize - 1)) - 1, mask, 0][random.below(4) as usize],
        _ => random.bits() & mask,
    })
}
