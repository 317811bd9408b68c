//! Tests of single system calls whose results a guest that also runs under QEMU could not compare exactly.

use kvrm_arm64::FaultKind;
use kvrm_machine::{Machine, Program, Stop, linux::CALLS};

use crate::support::{AT_FDCWD, CODE, Caller, DATA, folder, program};

const EBADF: i64 = -9;
const EINVAL: i64 = -22;
const EMFILE: i64 = -24;
const EFBIG: i64 = -27;
const ERANGE: i64 = -34;
const ENAMETOOLONG: i64 = -36;
const ENOSYS: i64 = -38;

#[test]
fn an_unknown_call_is_refused_and_counted() {
    let mut caller = Caller::new();
    assert_eq!(caller.call(1000, &[]), ENOSYS, "no such call");
    let mut cpu = caller.machine.cpu(0).unwrap();
    cpu.set_x(8, 1001 | 1 << 40);
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    let report = caller.machine.run(3).unwrap();
    assert_eq!(report.unknown_calls.get(&1001), Some(&1), "only 32 bits of the number count: {report}");
    assert!(report.to_string().contains("1 of number 1001"), "the report lists unknown calls: {report}");
}

#[test]
fn refused_calls_are_counted_and_absent_ones_are_not() {
    const RSEQ: u64 = 293;
    const SOCKET: u64 = 198;
    let mut caller = Caller::new();
    assert_eq!(caller.call(RSEQ, &[]), ENOSYS, "as on an old kernel");
    let mut cpu = caller.machine.cpu(0).unwrap();
    cpu.set_x(8, SOCKET);
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    let report = caller.machine.run(3).unwrap();
    assert_eq!(report.refused_calls, [(SOCKET, 1)].into(), "{report}");
    assert!(report.unknown_calls.is_empty(), "{report}");
    assert!(report.to_string().contains("refused calls"), "{report}");
    assert_eq!(caller.machine.run(0).unwrap().refused_calls, [].into(), "counts are those of a run");
}

#[test]
fn an_exit_status_has_eight_bits() {
    for (number, code, status) in [(93, 7, 7), (94, 0x1_02ff, 0xff), (93, u64::MAX, 0xff)] {
        assert_eq!(
            Caller::new().try_call(number, &[code]),
            Err(Stop::Exit { code: status }),
            "call {number}"
        );
    }
}

#[test]
fn unhandled_signals_have_their_default_action() {
    let (kill, action, mask) = (129, 134, 135);
    for (signal, code) in [(6, 134), (9, 137), (15, 143), (64, 192)] {
        assert_eq!(Caller::new().try_call(kill, &[0, signal]), Err(Stop::Exit { code }), "signal {signal}");
    }
    let mut caller = Caller::new();
    for harmless in [0, 17, 18, 23, 28] {
        assert_eq!(caller.call(kill, &[2, harmless]), 0, "signal {harmless}");
    }
    assert_eq!(caller.call(kill, &[3, 9]), -3, "there is no other process");
    for stopping in [19, 20, 21, 22] {
        let stopped = Caller::new().try_call(kill, &[2, stopping]);
        assert_eq!(stopped, Err(Stop::Deadlock), "signal {stopping}: nothing could continue it");
    }
    assert_eq!(caller.call(action, &[9, DATA, 0, 8]), EINVAL, "SIGKILL cannot be handled");
    caller.write(DATA, &(1_u64 << 14).to_le_bytes());
    assert_eq!(caller.call(mask, &[0, DATA, 0, 8]), 0, "SIGTERM is blocked");
    assert_eq!(caller.call(kill, &[2, 15]), 0, "the signal is pending");
    assert_eq!(
        caller.try_call(mask, &[1, DATA, 0, 8]),
        Err(Stop::Exit { code: 143 }),
        "until it is unblocked"
    );
}

#[test]
fn descriptors_are_limited() {
    let mut caller = Caller::new();
    for expected in 3..1024 {
        assert_eq!(caller.open("/dev/null", 2), expected, "the lowest free number");
    }
    assert_eq!(caller.open("/dev/null", 2), EMFILE, "no descriptor is free");
    assert_eq!(caller.open("/tmp/new", 0o101), EMFILE, "the file is not created, either");
    let path = caller.path("/tmp/new");
    assert_eq!(caller.call(48, &[AT_FDCWD, path, 0]), -2, "the file does not exist");
    assert_eq!(caller.call(57, &[500]), 0, "close");
    assert_eq!(caller.call(23, &[0]), 500, "dup returns the free descriptor");
    assert_eq!(caller.call(57, &[u64::from(u32::MAX)]), EBADF, "descriptor -1");
}

#[test]
fn devices_read_and_write_as_on_linux() {
    let mut caller = Caller::new();
    let (null, zero, full) =
        (caller.open("/dev/null", 2), caller.open("/dev/zero", 2), caller.open("/dev/full", 2));
    caller.write(DATA, &[1; 100]);
    assert_eq!(caller.call(63, &[null as u64, DATA, 100]), 0, "/dev/null is empty");
    assert_eq!(caller.call(63, &[zero as u64, DATA, 50]), 50, "zeros");
    assert_eq!(caller.read(DATA, 100), [[0; 50], [1; 50]].concat(), "exactly 50 bytes were written");
    assert_eq!(caller.call(64, &[null as u64, DATA, 100]), 100, "/dev/null accepts everything");
    assert_eq!(caller.call(64, &[full as u64, DATA, 100]), -28, "/dev/full is full");
    let random = caller.open("/dev/urandom", 0);
    assert_ne!(caller.contents(random), vec![0; 0x1000], "noise");
}

#[test]
fn calls_that_would_wait_for_ever_stop_the_lane_before_them() {
    let mut caller = Caller::new();
    assert_eq!(caller.call(59, &[DATA, 0]), 0, "a pipe");
    for (number, arguments, why) in [
        (63, &[3, DATA, 1][..], "no other thread could write"),
        (98, &[DATA, 0, 3, 0], "no other thread could wake it"),
        (73, &[DATA, 0, 0, 0, 8], "nothing could become ready"),
    ] {
        let steps = caller.machine.cpu(0).unwrap().steps;
        assert_eq!(caller.try_call(number, arguments), Err(Stop::Deadlock), "{why}");
        let cpu = caller.machine.cpu(0).unwrap();
        assert_eq!((cpu.pc, cpu.steps), (CODE, steps), "{why}: the call has not retired");
        caller.machine.resume(0).unwrap();
        caller.machine.run(1).unwrap();
        assert_eq!(caller.machine.stop(0).unwrap(), Some(Stop::Deadlock), "{why}: nothing has changed");
    }
    assert_eq!(caller.call(64, &[4, DATA, 5]), 5, "the lane goes on with another call");
    assert_eq!(caller.call(63, &[3, DATA, 9]), 5, "the read that would have waited");
}

#[test]
fn a_timer_whose_signal_is_blocked_does_not_keep_a_waiting_lane_busy() {
    let mut caller = Caller::new();
    caller.write(DATA, &(1_u64 << 13).to_le_bytes());
    assert_eq!(caller.call(135, &[0, DATA, 0, 8]), 0, "SIGALRM is blocked");
    caller.write(DATA, &[0_u64, 5, 0, 5].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(103, &[0, DATA, 0]), 0, "a timer that expires again and again");
    assert_eq!(caller.try_call(73, &[0, 0, 0, 0, 8]), Err(Stop::Deadlock), "nothing ends the wait");
    assert_eq!(caller.call(136, &[DATA, 8]), 0, "the pending signals");
    assert_eq!(caller.read(DATA, 8), (1_u64 << 13).to_le_bytes(), "it has expired");
}

#[test]
fn files_grow_up_to_the_capacity() {
    let mut caller = Caller::new();
    let file = caller.open("/tmp/large", 0o102) as u64;
    assert_eq!(caller.call(46, &[file, 200 << 20]), 0, "200 MiB of zeros");
    assert_eq!(caller.call(46, &[file, 300 << 20]), EFBIG, "300 MiB exceed the capacity");
    assert_eq!(caller.call(68, &[file, DATA, 1, 1 << 40]), EFBIG, "a position beyond the capacity");
    let other = caller.open("/tmp/other", 0o102) as u64;
    assert_eq!(caller.call(46, &[other, 100 << 20]), -28, "both files exceed the capacity together");
    let path = caller.path("/tmp/large");
    assert_eq!(caller.call(35, &[AT_FDCWD, path, 0]), 0, "unlink");
    assert_eq!(caller.call(46, &[other, 100 << 20]), -28, "the removed file is still open");
    assert_eq!(caller.call(57, &[file]), 0, "close");
    assert_eq!(caller.call(46, &[other, 100 << 20]), 0, "closing the file frees its space");
}

#[test]
fn paths_have_limits() {
    let mut caller = Caller::new();
    assert_eq!(caller.open(&"a".repeat(256), 0), ENAMETOOLONG, "a name of 256 bytes");
    assert_eq!(caller.open(&"./".repeat(2047), 0), 3, "a long path");
    caller.write(DATA, &[b'/'; 0x1001]);
    assert_eq!(caller.call(56, &[AT_FDCWD, DATA, 0]), ENAMETOOLONG, "a path without NUL");
    assert_eq!(caller.open("", 0), -2, "an empty path");
    assert_eq!(caller.call(17, &[DATA, 1]), ERANGE, "no room for the current directory");
}

#[test]
fn clocks_count_steps_and_sleep() {
    let mut caller = Caller::new();
    caller.write(DATA, &[5_u64, 7].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(101, &[DATA, 0]), 0, "nanosleep");
    assert_eq!(caller.call(113, &[1, DATA]), 0, "clock_gettime");
    let steps = caller.machine.cpu(0).unwrap().steps;
    let time = caller.read(DATA, 16);
    assert_eq!(time, [5, 7 + steps].map(u64::to_le_bytes).concat(), "five seconds and the steps");
    caller.write(DATA, &[1_u64, 1_000_000_000].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(101, &[DATA, 0]), EINVAL, "a fraction of a whole second");
    caller.write(DATA, &[i64::MAX as u64, 0].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(101, &[DATA, 0]), 0, "the longest sleep ends");
    assert_eq!(caller.call(113, &[0, DATA]), 0, "the time of day");
    let seconds = u64::from_le_bytes(caller.read(DATA, 8).try_into().expect("8 bytes"));
    assert_eq!(seconds, i64::MAX as u64 / 1_000_000_000, "the last second that a clock can show");
}

#[test]
fn names_in_the_table_are_unique() {
    let mut names: Vec<_> = CALLS.iter().map(|call| call.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CALLS.len(), "names in the table");
}

/// Returns whether a lane can execute an instruction at an address, which is mapped.
fn can_execute(caller: &mut Caller, address: u64) -> bool {
    caller.write(address, &0x1400_0000_u32.to_le_bytes()); // A branch to itself.
    let mut cpu = caller.machine.cpu(0).unwrap();
    cpu.pc = address;
    caller.machine.set_cpu(0, &cpu).unwrap();
    caller.machine.resume(0).unwrap();
    caller.machine.run(1).expect("the engine works");
    match caller.machine.stop(0).unwrap() {
        Some(Stop::Budget) => true,
        Some(Stop::Fault(fault)) if fault.kind == FaultKind::Permission => false,
        stop => panic!("the lane has the stop {stop:?}"),
    }
}

#[test]
fn a_stack_can_be_executed_if_the_program_says_so() {
    let file = std::fs::read(folder().join("tls.elf")).expect("the guest exists");
    let first = u64::from_le_bytes(file[32..40].try_into().unwrap()) as usize;
    let headers = u16::from_le_bytes([file[56], file[57]]).into();
    let is_stack = |at: &usize| file[*at..at + 4] == 0x6474_e551_u32.to_le_bytes();
    let header = (0..headers).map(|index| first + 56 * index).find(is_stack).expect("gcc adds PT_GNU_STACK");
    for flags in [6, 7] {
        let mut file = file.clone();
        file[header + 4] = flags;
        let program = Program::from_elf("stack", &file).expect("the file is a program");
        let mut caller = Caller::of(Machine::builder(program));
        let stack = caller.machine.layout().stack.end - 4096;
        assert_eq!(can_execute(&mut caller, stack), flags == 7, "flags {flags}");
    }
}

#[test]
fn a_stack_becomes_executable_where_it_begins() {
    let mut caller = Caller::new();
    let stack = caller.machine.layout().stack.clone();
    let grows_down = 0x0100_0000;
    assert_eq!(caller.call(226, &[DATA, 4096, 7 | grows_down]), -22, "data does not grow down");
    assert_eq!(caller.call(226, &[stack.end - 4096, 4096, 7 | grows_down]), 0, "mprotect");
    for address in [stack.start, stack.end - 4096] {
        assert!(can_execute(&mut caller, address), "at {address:#x}");
    }
}

#[test]
fn a_personality_makes_readable_memory_executable() {
    let mut caller = Caller::new();
    for (personality, expected) in [(0, false), (0x40_0000, true)] {
        caller.call(92, &[personality]);
        let page = caller.call(222, &[0, 4096, 1, 0x22, u64::MAX, 0]) as u64;
        assert_eq!(can_execute(&mut caller, page), expected, "mmap");
        assert_eq!(caller.call(226, &[page, 4096, 3]), 0, "mprotect");
        assert_eq!(can_execute(&mut caller, page), expected, "mprotect");
        assert_eq!(caller.call(226, &[page, 4096, 0]), 0, "mprotect");
        assert!(!can_execute(&mut caller, page), "memory that cannot be read");
    }
}

#[test]
fn arenas_grow_to_what_a_program_asks_for() {
    let mut caller = Caller::of(Machine::builder(program()).arena_bytes(1 << 20));
    let reserve =
        |caller: &mut Caller, bytes: u64| caller.call(222, &[0, bytes, 3, 0x22, u64::MAX, 0]) as u64;
    let near = reserve(&mut caller, 1 << 16);
    for bytes in [1 << 20, 1 << 30, 1 << 32, 1 << 40] {
        let at = reserve(&mut caller, bytes);
        assert!(at > near && at < 1 << 48, "{bytes} bytes at {at:#x}");
        caller.write(at + bytes - 8, b"the end.");
    }
    assert!(reserve(&mut caller, 4096) < 1 << 32, "the arena has room for small requests");
}

#[test]
fn huge_mappings_cost_what_was_written_when_they_are_shared_discarded_or_moved() {
    let (bytes, far) = (1 << 42, 1 << 41);
    for sharing in [1, 2] {
        let mut caller = Caller::new();
        let at = caller.call(222, &[0, bytes, 3, 0x20 | sharing, u64::MAX, 0]) as u64;
        caller.write(at + far, b"written");
        let at = caller.call(216, &[at, bytes, bytes, 3, 1 << 44]) as u64;
        assert_eq!((at, caller.read(at + far, 7)), (1 << 44, b"written".to_vec()), "moved");
        assert_eq!(caller.call(233, &[at, bytes, 4]), 0, "MADV_DONTNEED");
        let kept = if sharing == 1 { b"written".to_vec() } else { vec![0; 7] };
        assert_eq!(caller.read(at + far, 7), kept, "only shared memory is kept");
        assert_eq!(caller.call(215, &[at, bytes]), 0, "munmap");
    }
}

#[test]
fn a_fork_stores_what_the_forked_lane_has_written_to_a_shared_file() {
    let mut caller = Caller::new();
    let file = caller.open("/tmp/shared", 0o102) as u64;
    assert_eq!(caller.call(46, &[file, 4096]), 0, "ftruncate");
    let at = caller.call(222, &[0, 4096, 3, 1, file, 0]) as u64;
    caller.write(at, b"before the fork");
    let mut fork = Caller { machine: caller.machine.fork(0, 1).expect("the engine works") };
    fork.write(at + 100, b"behind");
    assert_eq!(fork.call(67, &[file, DATA, 200, 0]), 200, "pread");
    assert_eq!(fork.read(DATA, 15), b"before the fork", "in the file");
    assert_eq!(fork.read(DATA + 100, 6), b"behind", "in the file");
}
