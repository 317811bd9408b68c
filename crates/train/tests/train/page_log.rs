//! Recorded page accesses of small programs.

use kvrm_arm64::assemble;
use kvrm_machine::{Machine, Permissions, Program, ReferenceEngine};
use kvrm_prefetch::RecordedAccess;
use kvrm_train::oracle::{PageLog, RecordEngine};

const CODE: u64 = 0x1000;
/// The first of 64 pages of data.
const DATA: u64 = 0x1_0000;
const PAGE: u64 = DATA >> 12;

/// Runs a program, in two pieces, and returns its accesses. The data begins with pointers to the given addresses.
fn record(code: &str, pointers: &[u64], accesses_max: usize) -> Vec<RecordedAccess> {
    let words =
        assemble(CODE, &format!("movz x1, #1, lsl #16\n{code}\nhlt #0")).expect("the instructions exist");
    let mut data: Vec<u8> = pointers.iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
    data.resize(64 << 12, 0);
    let program = Program::builder().code(CODE, &words).data(DATA, data, Permissions::RW);
    let program = program.build().expect("the program is right");
    let log = PageLog::new(accesses_max);
    let engine = RecordEngine(log.clone());
    let mut machine = Machine::builder(program.clone()).engine(engine).build().expect("a machine");
    machine.run(3).expect("the first piece");
    machine.run(100_000).expect("the rest");
    let mut other = Machine::builder(program).engine(ReferenceEngine).build().expect("a machine");
    other.run(100_003).expect("the run");
    let states = [&mut machine, &mut other].map(|machine| {
        let mut memory = vec![0; 64 << 12];
        machine.read(0, DATA, &mut memory).expect("the memory of lane 0");
        (machine.cpu(0).expect("lane 0"), machine.stop(0).expect("lane 0"), memory)
    });
    assert_eq!(states[0], states[1], "recording changes nothing");
    log.finish()
}

/// Returns page (from that of the data on), size, load, pc (from that of the code on) and step of each access.
fn summary(accesses: &[RecordedAccess]) -> Vec<(u64, u8, bool, u64, u64)> {
    let one = |recorded: &RecordedAccess| {
        let access = recorded.access;
        (access.page - PAGE, access.size, access.load, access.pc - CODE, access.step)
    };
    accesses.iter().map(one).collect()
}

#[test]
fn accesses_have_their_page_size_instruction_and_step() {
    let code = "
        mov x2, #5
    again:
        str w0, [x1]
        add x1, x1, #2048
        subs x2, x2, #1
        b.ne again
        add x1, x1, #4080
        ldp x3, x4, [x1]
        ldrb w3, [x1, #16]
    ";
    let accesses = record(code, &[], 1000);
    // The loop has four instructions and writes pages 0, 0, 1, 1 and 2. The pair is 14,320 bytes behind, in page 3.
    let expected = [(0, 4, false, 8, 2), (1, 4, false, 8, 10), (2, 4, false, 8, 18), (3, 16, true, 28, 23)];
    assert_eq!(summary(&accesses), expected, "one for each page; the last load is within a known one");
    let written: Vec<bool> = accesses.iter().map(|recorded| recorded.is_written).collect();
    assert_eq!(written, [true, true, true, false], "stores");
}

#[test]
fn an_access_to_two_pages_is_one_to_each() {
    let accesses = record("ldr x2, [x1, #4088]\nadd x1, x1, #4092\nstr x2, [x1]", &[], 1000);
    let expected = [(0, 8, true, 4, 1), (1, 8, false, 12, 3)];
    assert_eq!(summary(&accesses), expected, "the store reaches the next page");
    assert!(accesses[0].is_written, "and writes the first one");
}

#[test]
fn loads_through_pointers_are_marked() {
    let code = "
        ldr x2, [x1]
        ldr x3, [x2, #8]
        ldp x4, x5, [x1, #8]
        ldrb w6, [x5]
        add x7, x1, #9, lsl #12
        ldr w6, [x7]
    ";
    let pointers = [DATA + 0x3000, DATA + 0x8000, DATA + 0x5ff0];
    let accesses = record(code, &pointers, 1000);
    let found: Vec<_> =
        accesses.iter().map(|recorded| (recorded.access.page - PAGE, recorded.is_pointed_to)).collect();
    assert_eq!(
        found,
        [(0, false), (3, true), (5, true), (9, false)],
        "by either register of a pair, and computed"
    );
}

#[test]
fn a_full_log_ends_the_recording_and_not_the_run() {
    let code = "
        mov x2, #60
    again:
        ldr x3, [x1]
        add x1, x1, #1, lsl #12
        sub x2, x2, #1
        cbnz x2, again
    ";
    let accesses = record(code, &[], 7);
    assert_eq!(summary(&accesses).last(), Some(&(6, 8, true, 8, 26)), "the seventh");
    assert_eq!((accesses.len(), record(code, &[], 1000).len()), (7, 60), "with and without a limit");
}

#[test]
fn an_instruction_that_faults_accesses_nothing() {
    // The second access of the pair is behind the data.
    let accesses = record("add x1, x1, #63, lsl #12\nadd x1, x1, #4088\nldp x2, x3, [x1]", &[], 1000);
    assert_eq!(summary(&accesses), [], "it has not retired");
}

#[test]
fn recordings_are_the_same_however_long_the_runs_are() {
    // 64 pages again and again, for more steps than are taken between two looks at the stream.
    let code = "
        mov x2, #10000
    again:
        and x4, x2, #63
        add x4, x1, x4, lsl #12
        ldr x3, [x4]
        str x3, [x4, #8]
        sub x2, x2, #1
        cbnz x2, again
    ";
    let words =
        assemble(CODE, &format!("movz x1, #1, lsl #16\n{code}\nhlt #0")).expect("the instructions exist");
    let record = |steps: u64| {
        let program = Program::builder().code(CODE, &words).data(DATA, vec![0; 64 << 12], Permissions::RW);
        let log = PageLog::new(100_000);
        let builder = Machine::builder(program.build().expect("the program is right"));
        let mut machine = builder.engine(RecordEngine(log.clone())).build().expect("a machine");
        for _ in 0..60_000 / steps {
            machine.run(steps).expect("a piece");
        }
        log.finish()
    };
    let whole = record(60_000);
    assert!(
        whole.len() > 5000 && whole.iter().all(|recorded| recorded.is_written),
        "{} accesses",
        whole.len()
    );
    for steps in [40, 5000, 60_000] {
        assert!(record(steps) == whole, "runs of {steps} steps");
    }
}
