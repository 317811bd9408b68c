//! Tests of resource limits that QEMU does not keep: those on memory and processor time.

use kvrm_machine::Stop;

use crate::support::{Caller, DATA};

const MMAP: u64 = 222;
const PRLIMIT: u64 = 261;
const ENOMEM: i64 = -12;
const PAGE: u64 = 4096;
const UNLIMITED: u64 = u64::MAX;

const PROCESSOR_TIME: u64 = 0;
const DATA_BYTES: u64 = 2;
const MAPPED_BYTES: u64 = 9;

fn set(lane: &mut Caller, resource: u64, soft: u64, hard: u64) {
    lane.write(DATA, &[soft.to_le_bytes(), hard.to_le_bytes()].concat());
    assert_eq!(lane.call(PRLIMIT, &[0, resource, DATA, 0]), 0, "the lane may set its limits");
}

/// Returns soft and hard limit.
fn get(lane: &mut Caller, resource: u64) -> [u64; 2] {
    assert_eq!(lane.call(PRLIMIT, &[0, resource, 0, DATA]), 0, "the resource exists");
    let raw = lane.read(DATA, 16);
    [0, 8].map(|at| u64::from_le_bytes(raw[at..at + 8].try_into().unwrap()))
}

/// Maps private pages, or shared ones, where the kernel chooses.
fn map(lane: &mut Caller, pages: u64, protection: u64, is_shared: bool) -> i64 {
    let sharing = if is_shared { 1 } else { 2 };
    lane.call(MMAP, &[0, pages * PAGE, protection, 0x20 | sharing, u64::MAX, 0])
}

#[test]
fn private_writable_memory_is_limited() {
    const BRK: u64 = 214;
    const MPROTECT: u64 = 226;
    const MREMAP: u64 = 216;
    let mut lane = Caller::new();
    // The segment for data has four pages.
    set(&mut lane, DATA_BYTES, 6 * PAGE + 100, UNLIMITED);
    let readable = map(&mut lane, 50, 1, false);
    assert!(readable > 0, "pages that cannot be written do not count");
    assert_eq!(map(&mut lane, 3, 3, false), ENOMEM, "seven pages");
    let two = map(&mut lane, 2, 3, false);
    assert!(two > 0, "six pages");
    assert!(map(&mut lane, 50, 3, true) > 0, "shared pages do not count");
    let heap = lane.call(BRK, &[0]);
    assert_eq!(lane.call(BRK, &[heap as u64 + 1]), heap, "the heap does not grow");
    assert_eq!(lane.call(MPROTECT, &[readable as u64, PAGE, 3]), ENOMEM, "a page becomes writable");
    assert_eq!(lane.call(MREMAP, &[two as u64, 2 * PAGE, 3 * PAGE, 1]), ENOMEM, "a mapping grows");
    assert_eq!(lane.call(MPROTECT, &[two as u64, PAGE, 3]), 0, "it is writable already");
    let fixed = [two as u64, 2 * PAGE, 3, 0x32, u64::MAX, 0];
    assert_eq!(lane.call(MMAP, &fixed), two, "new pages in the place of as many old ones");
    assert_eq!(lane.call(215, &[two as u64, PAGE]), 0, "a page is unmapped");
    assert_eq!(lane.call(BRK, &[heap as u64 + 1]), heap + 1, "the heap grows by it");
    set(&mut lane, DATA_BYTES, UNLIMITED, UNLIMITED);
    assert!(map(&mut lane, 1000, 3, false) > 0, "without a limit");
}

#[test]
fn mapped_memory_is_limited() {
    let mut lane = Caller::new();
    // A page of code, one for returns from handlers, four of data, and what a stack counts as.
    set(&mut lane, MAPPED_BYTES, 43 * PAGE, 43 * PAGE);
    assert_eq!(map(&mut lane, 5, 1, false), ENOMEM, "44 pages");
    assert_eq!(map(&mut lane, 5, 1, true), ENOMEM, "shared ones count, too");
    assert!(map(&mut lane, 4, 1, true) > 0, "43 pages");
    assert_eq!(map(&mut lane, 1, 0, false), ENOMEM, "even those without permissions count");
}

#[test]
fn processor_time_is_limited() {
    const BLOCKED: u64 = 1 << 23;
    let mut lane = Caller::new();
    lane.write(DATA + 64, &BLOCKED.to_le_bytes());
    assert_eq!(lane.call(135, &[0, DATA + 64, 0, 8]), 0, "SIGXCPU is blocked");
    set(&mut lane, PROCESSOR_TIME, 0, 5);
    assert_eq!(get(&mut lane, PROCESSOR_TIME), [1, 5], "the signal comes again in the next second");
    assert_eq!(lane.call(136, &[DATA, 8]), 0, "rt_sigpending");
    assert_eq!(lane.read(DATA, 8), BLOCKED.to_le_bytes(), "SIGXCPU is pending");
    lane.write(DATA, &[0; 16]);
    let killed = lane.try_call(PRLIMIT, &[0, PROCESSOR_TIME, DATA, 0]);
    assert_eq!(killed, Err(Stop::Exit { code: 137 }), "SIGKILL at the hard limit");
}

#[test]
fn sleep_is_no_processor_time() {
    let mut lane = Caller::new();
    set(&mut lane, PROCESSOR_TIME, 1, 1);
    lane.write(DATA, &[3_u64.to_le_bytes(), 0_u64.to_le_bytes()].concat());
    assert_eq!(lane.call(101, &[DATA, 0]), 0, "it sleeps three seconds");
    assert_eq!(get(&mut lane, PROCESSOR_TIME), [1, 1], "and goes on");
}

#[test]
fn a_loop_without_calls_ends_at_its_processor_time() {
    use kvrm_machine::{LinuxProgram, Machine, Permissions, Program, Segment};
    // mov x0, #0; mov x1, #0; movz x2, #0x2_0000; mov x3, #0; mov x8, #261; svc #0; b .
    let code =
        [0xd280_0000_u32, 0xd280_0001, 0xd2a0_0042, 0xd280_0003, 0xd280_20a8, 0xd400_0001, 0x1400_0000];
    let segment = |address, data: Vec<u8>, permissions| Segment { address, bytes: 0x1000, data, permissions };
    let limits = [0_u64, 1].map(u64::to_le_bytes).concat();
    let segments = vec![
        segment(0x1_0000, code.map(u32::to_le_bytes).concat(), Permissions::RX),
        segment(0x2_0000, limits, Permissions::RW),
    ];
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    let program = Program::builder().entry(0x1_0000).segments(segments).linux(linux).build().unwrap();
    let mut machine = Machine::builder(program).build().unwrap();
    machine.run(1000).expect("the engine works");
    // The soft limit has passed, and SIGXCPU ends the process.
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Exit { code: 152 }), "128 and SIGXCPU");
}

#[test]
fn proc_shows_limits() {
    let mut lane = Caller::new();
    set(&mut lane, MAPPED_BYTES, 1 << 40, UNLIMITED);
    let file = lane.open("/proc/self/limits", 0);
    let text = String::from_utf8(lane.contents(file)).unwrap();
    let row = text.lines().find(|line| line.starts_with("Max address space")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words[3..], ["1099511627776", "unlimited", "bytes"], "{text}");
}
