//! System calls that are served without the host: they are what the host would have made of them, call by call.

use kvrm_arm64::asm::{X0, X1, X2, X3, X8, X19, X20, X21, at};
use kvrm_machine::linux::CALLS;
use kvrm_machine::{Builder, LinuxProgram, Machine, Permissions, Program, Report, Stop};
use kvrm_testkit::random::Random;

use crate::support::{ALONE, Bounded, CODE, DATA, Gpu, PAGE, assemble, same_machines, segment};

/// Where the calls of a lane are listed: number and three arguments, and a number of zero at the end.
const TABLE: u64 = DATA;
/// Where their results go.
const RESULTS: u64 = DATA + 4 * PAGE;
/// Two pages for what they name.
const TEXT: u64 = DATA + 6 * PAGE;
/// Nothing is mapped from here on.
const END: u64 = DATA + 8 * PAGE;

const CLOSE: u64 = 57;
const DUP3: u64 = 24;
const WRITE: u64 = 64;
const EXIT_GROUP: u64 = 94;
const SET_ROBUST_LIST: u64 = 99;
const GET_ROBUST_LIST: u64 = 100;
const NANOSLEEP: u64 = 101;
const CLOCK_GETTIME: u64 = 113;
const PRCTL: u64 = 167;
const GETPID: u64 = 172;
const BRK: u64 = 214;
const MPROTECT: u64 = 226;
const PRLIMIT64: u64 = 261;
const GETRANDOM: u64 = 278;

/// A call and its first arguments.
type Call = (u64, [u64; 3]);

/// Makes the calls of its table, one after the other, and exits with what is behind the end of it.
fn caller() -> Builder<'static> {
    let code = assemble(|a| {
        let (again, end) = (a.label(), a.label());
        a.mov(X20, TABLE as i64).mov(X21, RESULTS as i64);
        a.bind(again);
        a.ldr(X8, at(X20, 0)).ldr(X0, at(X20, 8)).ldr(X1, at(X20, 16)).ldr(X2, at(X20, 24));
        a.add(X20, X20, 32).cbz(X8, end);
        // Where limits go; and a reservation, which calls lose.
        a.mov(X3, (TEXT + 0x200) as i64).add(X3, X3, X0);
        a.ldxr(X19, at(X21, 0)).svc(0).str(X0, at(X21, 0)).add(X21, X21, 8).b(again);
        a.bind(end);
        a.mov(X8, EXIT_GROUP as i64).svc(0);
    });
    let segments = vec![
        segment(CODE, PAGE, code, Permissions::RX),
        segment(DATA, END - DATA, Vec::new(), Permissions::RW),
    ];
    let linux = Some(LinuxProgram { headers: 0, count: 0 });
    Machine::builder(Program { name: "caller".to_owned(), entry: CODE, segments, symbols: Vec::new(), linux })
}

/// A machine on each of the engines that serve calls, and on the reference.
fn machines(lanes: usize) -> [Machine; 3] {
    let build = |builder: Builder<'_>| builder.lanes(lanes).build().expect("the program fits");
    [build(caller().engine(Gpu)), build(caller().engine(ALONE)), build(caller())]
}

/// Has each lane make its calls, in runs of `budget` steps; gives the last report.
fn make(machine: &mut Machine, calls: &[Vec<Call>], budget: u64) -> Report {
    for (lane, calls) in calls.iter().enumerate() {
        let text = b"what is written to the console, again and again; ".repeat(83);
        machine.write_memory(lane, TEXT, &text).expect("the engine works").expect("it is mapped");
        let end = (0, [lane as u64 + 0x300, 0, 0]);
        let words = calls.iter().chain([&end]).flat_map(|(number, x)| [*number, x[0], x[1], x[2]]);
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        assert!(bytes.len() as u64 <= RESULTS - TABLE, "there is room for the table");
        machine.write_memory(lane, TABLE, &bytes).expect("the engine works").expect("it is mapped");
    }
    loop {
        let report = machine.run(budget).expect("the engine works");
        if !report.stops.contains_key("budget") {
            return report;
        }
    }
}

/// Frequent calls with arguments near all borders there are, and others that change what they depend on.
fn random_call(random: &mut Random, heap: u64, heap_end: u64) -> Call {
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
        // Any call with any number, but for those that end the lane.
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

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_calls_are_served_as_on_the_host() {
    const LANES: usize = 32;
    for (seed, budget) in [(1, u64::MAX), (2, 301)] {
        let mut machines = machines(LANES);
        let heap = machines[0].layout().heap.clone();
        let mut random = Random::new(seed);
        let mut calls = || (0..90).map(|_| random_call(&mut random, heap.start, heap.end)).collect();
        let calls: Vec<Vec<Call>> = (0..LANES).map(|_| calls()).collect();
        let [gpu, alone, reference] = &mut machines;
        let expected = make(reference, &calls, budget);
        assert!(expected.stops["exit"] > LANES / 2, "most lanes come to their end: {:?}", expected.stops);
        for machine in [gpu, alone] {
            let report = make(machine, &calls, budget);
            assert_eq!(
                (&report.stops, report.frames, &report.unknown_calls),
                (&expected.stops, expected.frames, &expected.unknown_calls),
                "with seed {seed}"
            );
            if budget == u64::MAX {
                assert_eq!(report.services, expected.services, "services with seed {seed}");
            }
            same_machines(machine, reference, "after random calls");
            assert_eq!(machine.stop(3).expect("the engine works"), Some(Stop::Exit { code: 3 }), "of lane 3");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn frequent_calls_take_few_dispatches() {
    let [mut gpu, ..] = machines(3);
    let heap = gpu.layout().heap.start;
    let round = [
        (GETPID, [0; 3]),
        (BRK, [0; 3]),
        (CLOCK_GETTIME, [0, TEXT, 0]),
        (WRITE, [1, TEXT + 100, 40]),
        (SET_ROBUST_LIST, [TEXT, 24, 0]),
        (293, [0; 3]),
        (PRLIMIT64, [0, 3, 0]),
        (PRCTL, [16, TEXT + 8, 0]),
        (GETRANDOM, [TEXT, 8, 1]),
    ];
    let mut calls = round.repeat(40);
    calls.extend((1..20).map(|pages| (BRK, [heap + pages * PAGE, 0, 0])));
    let report = make(&mut gpu, &vec![calls.clone(); 3], u64::MAX);
    assert_eq!(report.services, 3 * (calls.len() as u64 + 1), "all calls are counted, and the exit");
    // Code to lower, and a buffer that is full: 380 calls of a lane do not stop it.
    assert!(report.dispatches < 20, "{} dispatches", report.dispatches);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn what_lanes_changed_by_themselves_is_reset() {
    let [mut gpu, _, mut reference] = machines(4);
    let heap = gpu.layout().heap.start;
    let calls = vec![(BRK, [heap + 3 * PAGE, 0, 0]), (SET_ROBUST_LIST, [DATA, 24, 0]), (WRITE, [1, TEXT, 5])];
    let more =
        vec![(BRK, [heap + PAGE, 0, 0]), (BRK, [heap + 9 * PAGE, 0, 0]), (GET_ROBUST_LIST, [0, TEXT, TEXT])];
    for machine in [&mut gpu, &mut reference] {
        machine.snapshot().expect("the engine works");
        make(machine, &vec![calls.clone(); 4], u64::MAX);
        let last = machine.write_memory(1, heap + 2 * PAGE, b"there").expect("the engine works");
        last.expect("the heap is mapped");
        machine.reset(&[1, 2]).expect("there is a snapshot");
        let last = machine.write_memory(1, heap, b"not there").expect("the engine works");
        last.expect_err("the heap is as it was");
        for lane in [0, 3] {
            // They go on from the beginning with what they have.
            let mut cpu = machine.cpu(lane).expect("the engine works");
            cpu.pc = CODE;
            machine.set_cpu(lane, &cpu).expect("the engine works");
            machine.resume(lane).expect("the engine works");
        }
        make(machine, &vec![more.clone(); 4], u64::MAX);
    }
    same_machines(&mut gpu, &mut reference, "after a reset of some lanes");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_console_of_few_bytes_is_emptied_by_the_host() {
    let bounds =
        kvrm_gpu::Bounds { console_bytes: Some(24), slice_steps: Some(50), ..kvrm_gpu::Bounds::NONE };
    let mut gpu = caller().lanes(2).engine(Bounded(bounds)).build().expect("the program fits");
    let mut reference = caller().lanes(2).build().expect("the program fits");
    let calls = (0..60).map(|length| (WRITE, [1 + length % 2, TEXT + length, length])).collect::<Vec<_>>();
    for machine in [&mut gpu, &mut reference] {
        make(machine, &[calls.clone(), calls[..30].to_vec()], u64::MAX);
    }
    same_machines(&mut gpu, &mut reference, "of little room");
}
