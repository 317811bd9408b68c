//! Estimates of how far a loop is from its exit: inputs of the iteration predictor.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{Handler, MicroOp, SINK};
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Class, Features, Word, decode};
use kvrm_loops::{Distance, Loop, branch_target, micro_op_registers};
use kvrm_models::inputs::REGISTERS;

use super::symbolic::FAR;

/// ADD of an immediate to a register, 64 bits wide.
const ADD: u32 = 0x9100_0000;
/// SUB of an immediate from a register, 64 bits wide.
const SUB: u32 = 0xd100_0000;
const NOP: u32 = 0xd503_201f;

/// Returns the distance of a loop from the exit that is reached first, of those that values decide which move in steps.
///
/// Nothing is proved: other exits may be reached earlier. Inner branches are taken for exits, and instructions that the
/// checker does not know for instructions that do nothing but change their base register.
///
/// ```
/// use kvrm_loops::Distance;
/// use kvrm_train::loops::estimate;
///
/// let body = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]; // str x2, [x0], #8; cmp x0, x1; b.lo to the first
/// let mut registers = [0; 32];
/// (registers[0], registers[1]) = (0x1000, 0x2000);
/// assert_eq!(estimate(&body, &registers), Distance { distance: 0xff8, step: 8 });
/// ```
#[must_use]
pub fn estimate(words: &[u32], registers: &[u64; REGISTERS]) -> Distance {
    relaxed(words)
        .map_or_else(Distance::default, |found| Distance::new(&found, &micro_op_registers(registers)))
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
    let target = branch_target(op, 4 * place as u64);
    if target.is_some() && op.dst() != SINK {
        return None;
    }
    if let Some(target) = target.filter(|_| place < last) {
        if op.handler() == Handler::BRANCH as u32 && op.cond() >= 14 {
            return Some(lower(NOP, Features::ARMV8_0));
        }
        if target <= 4 * last as u64 {
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
