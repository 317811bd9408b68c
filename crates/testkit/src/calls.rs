//! Random system calls, and a guest program that makes the calls listed in its memory.

use std::ops::Range;

use kvrm_arm64::asm::{X0, X1, X2, X3, X8, X19, X20, X21, at};
use kvrm_machine::linux::CALLS;
use kvrm_machine::{Error, LinuxProgram, Machine, Permissions, Program, Segment};

use crate::images::{CODE, PAGE, assemble, segment};
use crate::random::Random;

/// The first address of the writable memory of [`caller`], which extends to [`END`].
pub const DATA: u64 = 0x2_0000;
/// The address of a lane's table of calls. An entry is a call number and three arguments, 8 bytes each; an entry with
/// number zero ends the table.
pub const TABLE: u64 = DATA;
/// The address at which [`caller`] stores the results of the calls.
pub const RESULTS: u64 = DATA + 4 * PAGE;
/// The address of two pages for memory that calls read and write.
pub const TEXT: u64 = DATA + 6 * PAGE;
/// The end of the writable memory. The next page is not mapped.
pub const END: u64 = DATA + 8 * PAGE;

/// The number of `close`.
pub const CLOSE: u64 = 57;
/// The number of `dup3`.
pub const DUP3: u64 = 24;
/// The number of `write`.
pub const WRITE: u64 = 64;
/// The number of `exit_group`.
pub const EXIT_GROUP: u64 = 94;
/// The number of `set_robust_list`.
pub const SET_ROBUST_LIST: u64 = 99;
/// The number of `get_robust_list`.
pub const GET_ROBUST_LIST: u64 = 100;
/// The number of `nanosleep`.
pub const NANOSLEEP: u64 = 101;
/// The number of `clock_gettime`.
pub const CLOCK_GETTIME: u64 = 113;
/// The number of `prctl`.
pub const PRCTL: u64 = 167;
/// The number of `getpid`.
pub const GETPID: u64 = 172;
/// The number of `brk`.
pub const BRK: u64 = 214;
/// The number of `execve`.
pub const EXECVE: u64 = 221;
/// The number of `mprotect`.
pub const MPROTECT: u64 = 226;
/// The number of `prlimit64`.
pub const PRLIMIT64: u64 = 261;
/// The number of `getrandom`.
pub const GETRANDOM: u64 = 278;

/// The number of a system call and its first three arguments.
pub type Call = (u64, [u64; 3]);

/// Returns a program that makes the calls of its table in order, and exits with the first argument of the entry that
/// ends the table.
///
/// # Panics
/// Never: the program assembles.
#[must_use]
pub fn caller() -> Program {
    let code = assemble(|a| {
        let (again, end) = (a.label(), a.label());
        a.mov(X20, TABLE as i64).mov(X21, RESULTS as i64);
        a.bind(again);
        a.ldr(X8, at(X20, 0)).ldr(X0, at(X20, 8)).ldr(X1, at(X20, 16)).ldr(X2, at(X20, 24));
        a.add(X20, X20, 32).cbz(X8, end);
        // X3 is an address for limits. The load sets the exclusive monitor, which a call clears.
        a.mov(X3, (TEXT + 0x200) as i64).add(X3, X3, X0);
        a.ldxr(X19, at(X21, 0)).svc(0).str(X0, at(X21, 0)).add(X21, X21, 8).b(again);
        a.bind(end);
        a.mov(X8, EXIT_GROUP as i64).svc(0);
    });
    let segments = vec![segment(CODE, PAGE, code, Permissions::RX), memory()];
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    Program::builder()
        .name("caller")
        .entry(CODE)
        .segments(segments)
        .linux(linux)
        .build()
        .expect("the segments are valid")
}

/// Returns the memory from [`DATA`] to [`END`].
#[must_use]
pub fn memory() -> Segment {
    segment(DATA, END - DATA, Vec::new(), Permissions::RW)
}

/// Writes a lane's table of calls and text for `write` into its memory. The program exits with status `end`.
///
/// # Errors
/// If the engine fails.
///
/// # Panics
/// If the table is too long, or the machine has no [`memory`].
pub fn prepare(machine: &mut Machine, lane: usize, calls: &[Call], end: u64) -> Result<(), Error> {
    let text = b"what is written to the console, again and again; ".repeat(83);
    let end = (0, [end, 0, 0]);
    let words = calls.iter().chain([&end]).flat_map(|(number, x)| [*number, x[0], x[1], x[2]]);
    let table: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    assert!(table.len() as u64 <= RESULTS - TABLE, "there is room for the table");
    machine.write(lane, TEXT, &text)?;
    machine.write(lane, TABLE, &table)
}

/// Returns a random call: mostly a frequent call with arguments near boundaries, sometimes a call that changes state on
/// which frequent calls depend, or any call. `heap` is the range of the lane's heap.
pub fn random(random: &mut Random, heap: &Range<u64>) -> Call {
    let (heap, heap_end) = (heap.start, heap.end);
    let near = |random: &mut Random, places: &[u64]| {
        let offset = [0, 1, 8, 16, 100, 0xff0, 0xff8][random.below(7) as usize];
        let place = places[random.below(places.len() as u64) as usize];
        if random.below(4) == 0 { place.wrapping_sub(offset) } else { place.wrapping_add(offset) }
    };
    let place =
        |random: &mut Random| near(random, &[TEXT, TEXT + PAGE, END, RESULTS, CODE, heap, 0, 1 << 47]);
    let handle =
        |random: &mut Random| [1, 1, 1, 2, 5, 31, 32, 0x1_0000_0001, u64::MAX][random.below(9) as usize];
    match random.below(20) {
        0..4 => {
            let length = [0, 1, 7, 8, 9, 40, 1023, 1024, 1025, 5000, 1 << 40][random.below(11) as usize];
            (WRITE, [handle(random), place(random), length])
        }
        4..7 => {
            let ends = [heap, heap + PAGE, heap + 5 * PAGE, heap + 64 * PAGE, heap + 70 * PAGE, heap_end, 0];
            (BRK, [near(random, &ends), 0, 0])
        }
        7..10 => (CLOCK_GETTIME, [random.below(13) + ((random.below(9) / 8) << 32), place(random), 0]),
        10 => (SET_ROBUST_LIST, [random.below(1 << 20), if random.below(3) == 0 { 23 } else { 24 }, 0]),
        11 => (GET_ROBUST_LIST, [0, TEXT + 0x100, TEXT + 0x108]),
        12 => match random.below(6) {
            0 => (CLOSE, [handle(random), 0, 0]),
            1 => (NANOSLEEP, [TEXT + PAGE + 8 * random.below(4), 0, 0]),
            2 => (MPROTECT, [heap + PAGE * random.below(5), PAGE, random.below(8)]),
            _ => (DUP3, [1 + random.below(2), handle(random), 0]),
        },
        // Any call of the table, except those that end the lane.
        13 => {
            let number = CALLS[random.below(CALLS.len() as u64) as usize].number;
            let ends = matches!(number, 93 | 94 | 129..=131 | 133 | 137..=139 | 240);
            (if ends { GETPID } else { number }, [place(random), place(random), random.below(100)])
        }
        16 => {
            let limit = [random.below(3), random.below(18), if random.below(5) == 0 { TEXT } else { 0 }];
            (PRLIMIT64, limit)
        }
        17 => (PRCTL, [14 + random.below(4), place(random), 0]),
        18 | 19 => {
            let bytes = if random.below(4) == 0 { random.below(20) } else { 8 };
            (GETRANDOM, [place(random), bytes, random.below(9)])
        }
        14 => ([447, 448, 449, 1 << 31, u64::MAX][random.below(5) as usize], [0; 3]),
        _ => (GETPID, [0; 3]),
    }
}
