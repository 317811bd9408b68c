//! Executes instructions by calling the functions in the table's last column.

use crate::semantics::add_sub::{ADD, KEEP_FLAGS, SET_FLAGS, SUB};
use crate::semantics::atomic::{
    MEM_ADD, MEM_BIC, MEM_EOR, MEM_ORR, MEM_SMAX, MEM_SMIN, MEM_SWP, MEM_UMAX, MEM_UMIN,
};
use crate::semantics::float::arithmetic::{FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM};
use crate::semantics::float::control::{
    ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO,
};
use crate::semantics::load_store::{
    OFFSET, POST_INDEX, PRE_INDEX, REGISTER_OFFSET, SCALED_OFFSET, SIGNED32, SIGNED64, UNSIGNED,
};
use crate::semantics::logical::{AND, ANDS, EOR, INVERT, ORR, PLAIN};
use crate::semantics::operand::{ASR, LSL, LSR, ROR};
use crate::semantics::pauth::{
    KEY_DA, KEY_DB, KEY_IA, KEY_IB, POINTER_AUTHENTICATE, POINTER_SIGN, POINTER_STRIP,
};
use crate::semantics::simd::dot::{SIGNED_BYTES, UNSIGNED_BYTES};
use crate::semantics::simd::structure::POST_REGISTER;
use crate::semantics::{
    add_sub, atomic, bitfield, bits, branch, conditional, crc, divide, exclusive, flags, load_store, logical,
    move_wide, multiply, ordered, pair, pauth, pc_rel, shift, simd, system,
};
use crate::{Cpu, Instruction, Memory, Op, Stop, Word};

/// Calls a function with the parameters of its kind (see [`crate::isa`]). All kinds except branches then advance the
/// pc to the next word.
macro_rules! call {
    (compute, $f:expr, $cpu:ident, $memory:ident, $w:ident) => {{
        $f($cpu, $w);
        $cpu.pc = $cpu.pc.wrapping_add(4);
        Ok(())
    }};
    (memory, $f:expr, $cpu:ident, $memory:ident, $w:ident) => {{
        $f($cpu, $memory, $w)?;
        $cpu.pc = $cpu.pc.wrapping_add(4);
        Ok(())
    }};
    (branch, $f:expr, $cpu:ident, $memory:ident, $w:ident) => {{
        $f($cpu, $w);
        Ok(())
    }};
    (system, $f:expr, $cpu:ident, $memory:ident, $w:ident) => {{
        $f($cpu, $w)?;
        $cpu.pc = $cpu.pc.wrapping_add(4);
        Ok(())
    }};
}

macro_rules! define_execute { ($(
    $op:ident $mnemonic:literal $bits:literal $class:ident $feature:ident
    [$($operand:ident $(($($parameter:expr),+))?),*] [$($hole:ident),*] $kind:ident($semantics:expr)
)*) => {
    /// Executes an instruction. This is a `match` over all encodings, to be compiled into the loop of [`run`].
    #[inline(always)]
    fn execute_op(cpu: &mut Cpu, memory: &mut impl Memory, op: Op, w: Word) -> Result<(), Stop> {
        match op {
            $(Op::$op => call!($kind, $semantics, cpu, memory, w),)*
        }
    }
} }
for_each_encoding!(define_execute);

/// Fetches and executes one instruction, and counts it as a step.
#[inline(always)]
fn fetch_and_execute(cpu: &mut Cpu, memory: &mut impl Memory) -> Result<(), Stop> {
    let Instruction { word, op } = memory.fetch(cpu.pc)?;
    let Some(op) = op else { return Err(Stop::Undefined { word }) };
    execute_op(cpu, memory, op, Word(word))?;
    cpu.steps += 1;
    Ok(())
}

/// Runs a lane until it stops or has retired `budget` steps. Returns the reason: [`Stop::Budget`] in the latter case.
pub fn run(cpu: &mut Cpu, memory: &mut impl Memory, budget: u64) -> Stop {
    let end = cpu.steps.saturating_add(budget);
    while cpu.steps < end {
        if let Err(stop) = fetch_and_execute(cpu, memory) {
            return stop;
        }
    }
    Stop::Budget
}

/// Runs a single step.
///
/// # Errors
/// The stop, if the instruction stops the lane.
pub fn step(cpu: &mut Cpu, memory: &mut impl Memory) -> Result<(), Stop> {
    match run(cpu, memory, 1) {
        Stop::Budget => Ok(()),
        stop => Err(stop),
    }
}

/// Executes one decoded instruction. It does not fetch the instruction, and the caller counts the step.
///
/// # Errors
/// The stop, if the instruction stops the lane. The state is then unchanged, except that SVC retires: it advances the
/// pc and counts its step itself.
pub fn execute(cpu: &mut Cpu, memory: &mut impl Memory, op: Op, w: Word) -> Result<(), Stop> {
    execute_op(cpu, memory, op, w)
}
