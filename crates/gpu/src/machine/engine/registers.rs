//! Conversion between registers and process state of a lane and the words of its columns.

use kvrm_arm64::{Cpu, Monitor};
use kvrm_machine::{PIPE_WINDOWS, PipeWindow, ProcessState, Register};
use kvrm_shaders::layout::{
    COLUMN_CLEAR_TID, COLUMN_FPCR, COLUMN_HEAP_END, COLUMN_KEYS, COLUMN_MONITOR, COLUMN_NAME, COLUMN_NZCV,
    COLUMN_PARENT, COLUMN_PC, COLUMN_PIPE_ENDS, COLUMN_PIPES, COLUMN_PROCESS, COLUMN_PSTATE, COLUMN_RANDOM,
    COLUMN_ROBUST_LIST, COLUMN_SLEPT, COLUMN_SP, COLUMN_STEPS, COLUMN_TPIDR, COLUMN_TPIDRRO, COLUMN_WAITERS,
    HEAP_LIMIT, LIMITS_CHANGED,
};

use super::words::{PAGE, halves, word};

/// The number of columns with registers and [`ProcessState`]. They are the first columns.
pub(crate) const REGISTER_COLUMNS: usize = COLUMN_PIPES as usize + PIPE_WINDOWS;

/// The words of a lane in these columns.
pub(crate) type Words = [u64; REGISTER_COLUMNS];

/// The columns with registers: bit n stands for column n. The others have [`ProcessState`].
pub(crate) const CPU_COLUMNS: u64 = (1 << (COLUMN_KEYS + 1)) - 1;
/// The bits of all columns with registers or [`ProcessState`].
pub(crate) const ALL_COLUMNS: u64 = (1 << REGISTER_COLUMNS) - 1;

/// The part of a column's word that has a register.
#[derive(Clone, Copy, Debug)]
pub(super) enum WordPart {
    Whole,
    Low,
    High,
}

impl WordPart {
    /// Returns the register in a word.
    pub(super) const fn of(self, whole: u64) -> u64 {
        let (low, high) = halves(whole);
        match self {
            Self::Whole => whole,
            Self::Low => low as u64,
            Self::High => high as u64,
        }
    }

    /// Returns a word with another value of the register.
    pub(super) const fn replaced(self, whole: u64, value: u64) -> u64 {
        let (low, high) = halves(whole);
        match self {
            Self::Whole => value,
            Self::Low => word(value as u32, high),
            Self::High => word(low, value as u32),
        }
    }
}

/// Returns the column of a register, and the part of its words; `None` for a register that is always zero.
pub(super) const fn column(register: Register) -> Option<(u32, WordPart)> {
    Some(match register {
        Register::X(31..) => return None,
        Register::X(n) => (n, WordPart::Whole),
        Register::Sp => (COLUMN_SP, WordPart::Whole),
        Register::Pc => (COLUMN_PC, WordPart::Whole),
        Register::Nzcv => (COLUMN_NZCV, WordPart::Low),
        Register::Fpcr => (COLUMN_FPCR, WordPart::Low),
        Register::Fpsr => (COLUMN_FPCR, WordPart::High),
        Register::TpidrEl0 => (COLUMN_TPIDR, WordPart::Whole),
        Register::Steps => (COLUMN_STEPS, WordPart::Whole),
    })
}

/// Returns the columns in which two states of a lane differ: bit n stands for column n.
pub(crate) fn differences(before: &Words, now: &Words) -> u64 {
    let both = before.iter().zip(now).enumerate();
    both.filter(|(_, (before, now))| before != now).fold(0, |bits, (column, _)| bits | 1 << column)
}

/// Returns the numbers of the columns whose bits are set.
pub(crate) fn columns(bits: u64) -> impl Iterator<Item = u32> {
    (0..REGISTER_COLUMNS as u32).filter(move |column| bits >> column & 1 == 1)
}

/// Returns the process state of a lane.
pub(crate) fn process_state(words: &Words) -> ProcessState {
    let get = |column: u32| words[column as usize];
    let name = [get(COLUMN_NAME), get(COLUMN_NAME + 1)];
    let (process, thread) = halves(get(COLUMN_PROCESS));
    let (parent, more_threads) = halves(get(COLUMN_PARENT));
    let waiters = get(COLUMN_WAITERS);
    ProcessState {
        heap_end: get(COLUMN_HEAP_END),
        heap_limit: (waiters >> HEAP_LIMIT) * PAGE,
        slept: get(COLUMN_SLEPT),
        robust_list: get(COLUMN_ROBUST_LIST),
        random: get(COLUMN_RANDOM),
        name: bytemuck::cast(name.map(u64::to_le)),
        clear_tid: get(COLUMN_CLEAR_TID),
        process,
        thread,
        parent,
        more_threads,
        futex_waiters: waiters as u32 & ((1 << LIMITS_CHANGED) - 1),
        limits_changed: (waiters >> LIMITS_CHANGED) as u32 & 1,
        pipes: std::array::from_fn(|window| {
            let ends = get(COLUMN_PIPE_ENDS) >> (32 * window);
            let place = get(COLUMN_PIPES + window as u32);
            PipeWindow {
                readers: ends as u16,
                writers: (ends >> 16) as u16,
                start: place as u16,
                bytes: (place >> 16) as u32 & 0x1_ffff,
                read: (place >> 33) as u32,
            }
        }),
    }
}

/// Replaces the process state of a lane.
pub(crate) fn set_process_state(words: &mut Words, state: &ProcessState) {
    words[COLUMN_HEAP_END as usize] = state.heap_end;
    words[COLUMN_SLEPT as usize] = state.slept;
    words[COLUMN_ROBUST_LIST as usize] = state.robust_list;
    words[COLUMN_RANDOM as usize] = state.random;
    words[COLUMN_CLEAR_TID as usize] = state.clear_tid;
    words[COLUMN_PROCESS as usize] = word(state.process, state.thread);
    words[COLUMN_PARENT as usize] = word(state.parent, state.more_threads);
    words[COLUMN_WAITERS as usize] = (state.heap_limit / PAGE) << HEAP_LIMIT
        | u64::from(state.limits_changed) << LIMITS_CHANGED
        | u64::from(state.futex_waiters);
    words[COLUMN_PIPE_ENDS as usize] = 0;
    for (window, pipe) in state.pipes.iter().enumerate() {
        let PipeWindow { readers, writers, start, bytes, read } = *pipe;
        words[COLUMN_PIPE_ENDS as usize] |= (u64::from(writers) << 16 | u64::from(readers)) << (32 * window);
        words[COLUMN_PIPES as usize + window] =
            u64::from(read) << 33 | u64::from(bytes) << 16 | u64::from(start);
    }
    let name: [u64; 2] = bytemuck::cast(state.name);
    words[COLUMN_NAME as usize..][..2].copy_from_slice(&name.map(u64::from_le));
}

/// Replaces the registers of a lane, except the SIMD registers, which have columns of their own.
pub(crate) fn set_cpu(words: &mut Words, cpu: &Cpu) {
    for (n, x) in (0..31).zip(&mut *words) {
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
        (COLUMN_PSTATE, cpu.pstate.into()),
        (COLUMN_KEYS, cpu.keys),
    ] {
        words[column as usize] = value;
    }
}

/// Returns the registers of a lane, except the SIMD registers.
pub(crate) fn cpu(words: &Words) -> Cpu {
    let get = |column: u32| words[column as usize];
    let mut cpu = Cpu::new(get(COLUMN_PC), get(COLUMN_SP));
    for n in 0..31 {
        cpu.set_x(n, get(n));
    }
    let (nzcv, bytes) = halves(get(COLUMN_NZCV));
    (cpu.fpcr, cpu.fpsr) = halves(get(COLUMN_FPCR));
    cpu.nzcv = nzcv;
    cpu.pstate = get(COLUMN_PSTATE) as u32;
    cpu.monitor = (bytes != 0).then_some(Monitor { address: get(COLUMN_MONITOR), bytes });
    cpu.tpidr_el0 = get(COLUMN_TPIDR);
    cpu.tpidrro_el0 = get(COLUMN_TPIDRRO);
    cpu.steps = get(COLUMN_STEPS);
    cpu.keys = get(COLUMN_KEYS);
    cpu
}

const _: () = {
    use kvrm_machine::{PIPE_ADDRESS, PIPE_BYTES, PIPE_CALL_BYTES, PIPE_HANDLES};
    use kvrm_shaders::layout;
    assert!(PIPE_WINDOWS == layout::PIPE_WINDOWS as usize, "host and device have the same windows");
    assert!(PIPE_BYTES == layout::PIPE_BYTES as usize, "windows have the same size");
    assert!(PIPE_CALL_BYTES == layout::PIPE_CALL_BYTES as usize, "calls have the same limit");
    assert!(PIPE_HANDLES == layout::PIPE_HANDLES as u64, "the same descriptors fit");
    assert!(PIPE_ADDRESS >> 32 == layout::PIPE_ADDRESS_HIGH as u64, "windows have the same address");
};
