//! The addresses that the iterations of a tape may access.

use alloc::vec;
use alloc::vec::Vec;

use kvrm_arm64::micro_op::{Handler, MicroOp};

use crate::result::is_unsigned_extraction;
use crate::tape::{Operation, Slot, Tape};

/// The least and the greatest of some values.
type Interval = (i128, i128);

/// All values of 64 bits.
const ANY: Interval = (0, u64::MAX as i128);

impl Tape {
    /// Returns ranges of addresses, from the first one to the one behind the last, that contain all bytes that some iterations load.
    ///
    /// If the lane may load from all of them and store to where the iterations store, all iterations are valid. Returns `None` if
    /// that is not certain: an iteration may leave the loop, an address is not bounded, or is among those of `stores`, the ranges to
    /// which iterations store.
    #[must_use]
    pub fn loads_within(&self, iterations: u64, stores: &[(i128, i128)]) -> Option<Vec<(u64, u64)>> {
        let mut slots = vec![ANY; self.slots as usize];
        let mut ranges = Vec::new();
        for operation in &self.operations {
            let of = |slot: &Slot| slots[*slot as usize];
            let (to, interval) = match operation {
                Operation::Progression { to, start, step } => {
                    let first = i128::from(*start);
                    let all = i128::from(*step as i64).saturating_mul(i128::from(iterations.max(1) - 1));
                    let last = first.saturating_add(all);
                    (to, (first.min(last), first.max(last)))
                }
                Operation::Sum { to, constant, parts } => {
                    // Modulo 2^64, a constant may as well be negative.
                    let sums = [i128::from(*constant), i128::from(*constant as i64)].map(|constant| {
                        parts.iter().fold((constant, constant), |(least, greatest), (slot, factor)| {
                            let (low, high) = of(slot);
                            let [one, other] =
                                [low, high].map(|value| value.saturating_mul(i128::from(*factor as i64)));
                            (least.saturating_add(one.min(other)), greatest.saturating_add(one.max(other)))
                        })
                    });
                    (to, sums.into_iter().find(|sum| is_within(*sum, ANY)).unwrap_or(ANY))
                }
                Operation::Word { to, of: value, is_signed } => {
                    let most = if *is_signed { i32::MAX as i128 } else { u32::MAX.into() };
                    let inside = Some(of(value)).filter(|value| is_within(*value, (0, most)));
                    (to, inside.unwrap_or(if *is_signed { ANY } else { (0, most) }))
                }
                Operation::Load { to: [to, second], address, size, extend, is_pair, may_meet_stores } => {
                    let (first, last) = of(address);
                    let end = last + i128::from(*size) * if *is_pair { 2 } else { 1 };
                    let meets = |(begin, behind): &(i128, i128)| first < *behind && *begin < end;
                    if end > ANY.1 || first < 0 || (*may_meet_stores && stores.iter().any(meets)) {
                        return None;
                    }
                    ranges.push((first as u64, end as u64));
                    let loaded = if *extend == 0 { (0, ANY.1 >> (64 - 8 * size)) } else { ANY };
                    slots[*second as usize] = loaded;
                    (to, loaded)
                }
                Operation::Select { to, values: [yes, no], .. } => {
                    let (yes, no) = (of(yes), of(no));
                    (to, (yes.0.min(no.0), yes.1.max(no.1)))
                }
                Operation::Compute { to, op, operands } => {
                    (to, computed(*op, operands.map(|slot| of(&slot))))
                }
                Operation::Compare { to, .. } | Operation::Logic { to, .. } => (to, (0, 15)),
                Operation::LeaveIf { .. } | Operation::LeaveIfZero { .. } => return None,
                Operation::Store { .. } | Operation::Fold { .. } => continue,
            };
            slots[*to as usize] = if is_within(interval, ANY) { interval } else { ANY };
        }
        Some(ranges)
    }
}

/// Returns whether an interval is within another one.
const fn is_within((least, greatest): Interval, (low, high): Interval) -> bool {
    low <= least && greatest <= high
}

/// Returns an interval with all results of a micro-op of [`Operation::Compute`].
fn computed(op: MicroOp, [a, b, _]: [Interval; 3]) -> Interval {
    if op.handler() == 0 {
        // Extractions of words may have a high word, too.
        return if is_unsigned_extraction(op) { (0, ANY.1 >> op.right()) } else { ANY };
    }
    let word = if op.wide() == 1 { ANY } else { (0, u32::MAX.into()) };
    match Handler::of(op) {
        Handler::AND => (0, a.1.min(b.1).min(word.1)),
        _ => word,
    }
}
