//! Executes instructions: the table's last column, called.

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
use crate::semantics::simd::structure::POST_REGISTER;
use crate::semantics::{
    add_sub, atomic, bitfield, bits, branch, conditional, crc, divide, exclusive, load_store, logical,
    move_wide, multiply, ordered, pair, pc_rel, shift, simd, system,
};
use crate::{Cpu, Instruction, Memory, Op, Stop, Word};

/// Calls semantics of one kind; see [`crate::isa`]. All but branches end by moving to the next word.
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
    /// All semantics as one `match`, to be compiled into the loop of [`run`].
    #[inline(always)]
    fn dispatch(cpu: &mut Cpu, memory: &mut impl Memory, op: Op, w: Word) -> Result<(), Stop> {
        match op {
            $(Op::$op => call!($kind, $semantics, cpu, memory, w),)*
        }
    }
} }
for_each_encoding!(define_execute);

/// Fetches and executes one instruction and counts it.
#[inline(always)]
fn fetch_and_execute(cpu: &mut Cpu, memory: &mut impl Memory) -> Result<(), Stop> {
    let Instruction { word, op } = memory.fetch(cpu.pc)?;
    let Some(op) = op else { return Err(Stop::Undefined { word }) };
    dispatch(cpu, memory, op, Word(word))?;
    cpu.steps += 1;
    Ok(())
}

/// Runs until something stops the lane or `budget` steps have retired.
///
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
/// The stop it ends in.
pub fn step(cpu: &mut Cpu, memory: &mut impl Memory) -> Result<(), Stop> {
    match run(cpu, memory, 1) {
        Stop::Budget => Ok(()),
        stop => Err(stop),
    }
}

/// Executes one decoded instruction, all but fetching it and counting the step.
///
/// # Errors
/// The stop it ends in; except for SVC the state is then as before.
pub fn execute(cpu: &mut Cpu, memory: &mut impl Memory, op: Op, w: Word) -> Result<(), Stop> {
    dispatch(cpu, memory, op, w)
}
