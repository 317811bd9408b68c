//! Registers of a lane as the words of its columns.

use kvrm_arm64::{Cpu, Monitor};
use kvrm_shaders::layout::{
    COLUMN_FPCR, COLUMN_MONITOR, COLUMN_NZCV, COLUMN_PC, COLUMN_SP, COLUMN_STEPS, COLUMN_TPIDR,
    COLUMN_TPIDRRO,
};

use super::{halves, word};

/// How many columns hold registers: the first ones.
pub(crate) const REGISTER_COLUMNS: usize = COLUMN_FPCR as usize + 1;

/// A word for each of the columns with registers.
pub(crate) type Words = [u64; REGISTER_COLUMNS];

/// The columns of a lane's registers. SIMD registers are in columns of their own.
pub(crate) fn to_words(cpu: &Cpu) -> Words {
    let mut words = [0; REGISTER_COLUMNS];
    for (n, x) in (0..31).zip(&mut words) {
        *x = cpu.x(n);
    }
    let monitor = cpu.monitor.unwrap_or(Monitor { address: 0, bytes: 0 });
    for (column, value) in [
        (COLUMN_SP, cpu.sp),
        (COLUMN_PC, cpu.pc),
        (COLUMN_STEPS, cpu.steps),
        (COLUMN_NZCV, word(cpu.nzcv, monitor.bytes)),
        (COLUMN_MONITOR, monitor.address),
        (COLUMN_TPIDR, cpu.tpidr_el0),
        (COLUMN_TPIDRRO, cpu.tpidrro_el0),
        (COLUMN_FPCR, word(cpu.fpcr, cpu.fpsr)),
    ] {
        words[column as usize] = value;
    }
    words
}

/// The registers in the columns of a lane.
pub(crate) fn from_words(words: &Words) -> Cpu {
    let get = |column: u32| words[column as usize];
    let mut cpu = Cpu::new(get(COLUMN_PC), get(COLUMN_SP));
    for n in 0..31 {
        cpu.set_x(n, get(n));
    }
    let (nzcv, bytes) = halves(get(COLUMN_NZCV));
    (cpu.fpcr, cpu.fpsr) = halves(get(COLUMN_FPCR));
    cpu.nzcv = nzcv;
    cpu.monitor = (bytes != 0).then_some(Monitor { address: get(COLUMN_MONITOR), bytes });
    cpu.tpidr_el0 = get(COLUMN_TPIDR);
    cpu.tpidrro_el0 = get(COLUMN_TPIDRRO);
    cpu.steps = get(COLUMN_STEPS);
    cpu
}
