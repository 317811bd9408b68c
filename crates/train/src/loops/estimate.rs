//! Estimates of how far a loop is from its exit: inputs of the iteration predictor.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{Handler, MicroOp, SINK};
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Class, Features, Word, decode};
use kvrm_loops::{Condition, Flags, Loop};
use kvrm_models::inputs::REGISTERS;

use super::symbolic::{compared, micro_op_registers};

/// Where an exit leads that stands for an inner branch.
const FAR: u64 = 1 << 40;
/// ADD of an immediate to a register, 64 bits wide.
const ADD: u32 = 0x9100_0000;
/// SUB of an immediate from a register, 64 bits wide.
const SUB: u32 = 0xd100_0000;
const NOP: u32 = 0xd503_201f;

/// The distance of a loop from its exit, and by how much an iteration shortens it. Both are zero if neither is known.
///
/// They take the places of counter and limit in
/// [`iteration_input`](kvrm_models::inputs::iteration_input): the number of iterations is about their quotient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The difference of the two sides of the comparison of the exit.
    pub distance: u64,
    /// The change of the difference in an iteration.
    pub step: u64,
}

/// Returns the estimate for the exit that is reached first, of those that values decide which move in steps.
///
/// Nothing is proved: other exits may be reached earlier. Inner branches are taken for exits, and instructions that the
/// checker does not know for instructions that do nothing but change their base register.
///
/// ```
/// use kvrm_train::loops::{Estimate, estimate};
///
/// let body = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]; // str x2, [x0], #8; cmp x0, x1; b.lo to the first
/// let mut registers = [0; 32];
/// (registers[0], registers[1]) = (0x1000, 0x2000);
/// assert_eq!(estimate(&body, &registers), Estimate { distance: 0xff8, step: 8 });
/// ```
#[must_use]
pub fn estimate(words: &[u32], registers: &[u64; REGISTERS]) -> Estimate {
    let Some(found) = relaxed(words) else { return Estimate::default() };
    let registers = micro_op_registers(registers);
    let exits = found.body().exits.iter();
    let estimates = exits.filter_map(|exit| of_exit(&found, &exit.condition, &registers));
    estimates.min_by_key(|estimate| estimate.distance / estimate.step.max(1)).unwrap_or_default()
}

fn of_exit(found: &Loop, condition: &Condition, registers: &[u64]) -> Option<Estimate> {
    let (terms, wide) = compared(condition);
    let values = terms.into_iter().map(|term| found.progression(term, registers, wide));
    let values = values.collect::<Option<Vec<_>>>()?;
    let (start, step) = match values[..] {
        [value] => (value.start, value.step),
        [x, y] => (x.start.wrapping_sub(y.start), x.step.wrapping_sub(y.step)),
        _ => return None,
    };
    // Sums of words are right modulo 2^32 only, also where their result is compared with zero.
    let is_wide = match condition {
        Condition::Flags { flags: Flags::Sum { wide, .. } | Flags::Logic { wide, .. }, .. } => *wide,
        _ => wide,
    };
    let number = |value: u64| if is_wide { value as i64 } else { i64::from(value as i32) };
    let step = number(step);
    let distance = if step < 0 { number(start) } else { number(start.wrapping_neg()) };
    (step != 0).then_some(Estimate { distance: distance.unsigned_abs(), step: step.unsigned_abs() })
}

/// Finds the loop of a body, of which only the branch back and the instructions that change registers in steps matter.
fn relaxed(words: &[u32]) -> Option<Loop> {
    let last = words.len().checked_sub(1)?;
    let ops: Option<Vec<MicroOp>> =
        words.iter().enumerate().map(|(place, word)| relaxed_op(*word, place, last)).collect();
    let ops = ops?;
    // An instruction that is not known does nothing then.
    let mut is_known = vec![true; ops.len()];
    loop {
        let fetch = |pc: u64| {
            let place = pc as usize / 4;
            let op = *ops.get(place)?;
            Some(if is_known[place] { op } else { lower(NOP, Features::ARMV8_0) })
        };
        match Loop::find(4 * last as u64, fetch) {
            Ok(found) => return (found.body().head == 0).then_some(found),
            Err(kvrm_loops::Refusal::Instruction(pc))
                if is_known[pc as usize / 4] && (pc as usize / 4) < last =>
            {
                is_known[pc as usize / 4] = false;
            }
            Err(_) => return None,
        }
    }
}

/// Returns the micro-op of a word: an inner branch leads out of the loop, and a vector instruction only changes its base
/// register. Returns `None` for calls.
fn relaxed_op(word: u32, place: usize, last: usize) -> Option<MicroOp> {
    let mut op = lower(word, Features::ARMV8_0);
    let row = decode(word).map(|op| op.encoding());
    let is_branch = op.handler() == Handler::BRANCH as u32 || op.handler() == Handler::TEST_BRANCH as u32;
    if is_branch && op.dst() != SINK {
        return None;
    }
    if is_branch && place < last {
        if op.handler() == Handler::BRANCH as u32 && op.cond() >= 14 {
            return Some(lower(NOP, Features::ARMV8_0));
        }
        if (4 * place as u64).wrapping_add(op.imm) <= 4 * last as u64 {
            op.imm = FAR;
        }
        return Some(op);
    }
    let is_general = op.handler() == Handler::LOAD as u32 || op.handler() == Handler::STORE as u32;
    if let Some(row) = row.filter(|row| row.class == Class::LoadStore && !is_general) {
        let w = Word(word);
        let change = row.operands.iter().find_map(|operand| match operand {
            Operand::PreIndex | Operand::PostIndex => Some(w.imm9()),
            Operand::PairPreIndex(shift) | Operand::PairPostIndex(shift) => Some(w.imm7() << shift),
            _ => None,
        });
        let base = w.rn() << 5 | w.rn();
        let changed = change.map_or(NOP, |by| {
            (if by < 0 { SUB } else { ADD }) | (by.unsigned_abs() as u32 & 0xfff) << 10 | base
        });
        return Some(lower(changed, Features::ARMV8_0));
    }
    Some(op)
}
