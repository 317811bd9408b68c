//! Execution: stops, budgets, faults, and CONSTRAINED UNPREDICTABLE cases. The results of single instructions are in
//! the tests of the semantics.

mod alignment;
mod budgets;
mod choices;
mod exclusives;
mod faults;
mod features;
mod hints;
mod rows;
mod stops;
mod system_instructions;
mod system_registers;

use kvrm_arm64::{Cpu, Stop};
use kvrm_testkit::random::Random;

use kvrm_testkit::flat::{BASE, Flat, step};

/// Writes `word` to the first word of memory, where the pc must be, and executes it.
fn step_word(cpu: &mut Cpu, memory: &mut Flat, word: u32) -> Result<(), Stop> {
    assert_eq!(cpu.pc, BASE, "the word must be at the pc");
    memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
    step(cpu, memory)
}

/// Returns a processor whose pc is at the first word of memory and whose other registers are random.
fn random_cpu(random: &mut Random) -> Cpu {
    let mut cpu = Cpu::new(BASE, random.bits());
    for n in 0..31 {
        cpu.set_x(n, random.bits());
    }
    cpu.nzcv = random.below(16) as u32;
    cpu.tpidr_el0 = random.bits();
    cpu.tpidrro_el0 = random.bits();
    cpu.steps = random.below(1 << 40);
    cpu
}

/// Writes a general register, or the stack pointer for number 31.
fn set_base(cpu: &mut Cpu, number: u32, value: u64) {
    if number == 31 { cpu.sp = value } else { cpu.set_x(number, value) }
}
