//! Tests of forks: all lanes of a fork do what the forked lane does.

use std::sync::{Arc, Mutex};

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X3, X8, at};
use kvrm_machine::{
    Error, Fork, LinuxProgram, Machine, PAGE_BYTES, Permissions, Program, ReferenceEngine, Register, Stop,
    Stream,
};
use kvrm_testkit::forks;
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::random::Random;

use crate::support::{DATA, PAGE, random_linux_program, text_and_data, two_lanes};

/// The engine of the forked machine.
const SAME: Option<ReferenceEngine> = None;

#[test]
fn forks_of_random_linux_programs_do_what_the_lane_does() {
    for seed in 0..300 {
        let random = &mut Random::new(seed);
        let mut machine = random_linux_program(seed, random);
        forks::check(&mut machine, random.below(2) as usize, [200, 3000], SAME, random);
    }
}

#[test]
fn forks_of_guests_do_what_the_lane_does() {
    for (index, (name, size)) in GUESTS.into_iter().chain(FP_GUESTS).enumerate() {
        for seed in 0..2 {
            let random = &mut Random::new(seed << 32 | index as u64);
            let mut machine = two_lanes(name, size);
            forks::check(&mut machine, 1, [20_000, u64::MAX], Some(ReferenceEngine), random);
            assert_eq!(machine.stop(1).unwrap(), Some(Stop::Exit { code: 0 }), "{name} ends");
        }
    }
}

#[test]
fn forks_of_linux_guests_do_what_the_lane_does() {
    for (index, (name, arguments)) in LINUX_GUESTS.iter().enumerate() {
        for seed in 0..8 {
            let random = &mut Random::new(seed << 32 | index as u64);
            let arguments = |_| arguments.iter().map(|&word| word.to_owned()).collect();
            let builder = Machine::builder(linux_guest(name)).arguments(arguments).seed(seed);
            let mut machine = builder.lanes(3).input(|lane| vec![lane as u8; 9]).build().unwrap();
            forks::check(&mut machine, random.below(3) as usize, [3000, u64::MAX], SAME, random);
        }
    }
}

#[test]
fn lanes_of_a_fork_go_their_own_ways() {
    // Adds the byte at DATA + 8 to the word at DATA, again and again, and stores the sum.
    let mut machine = Machine::builder(text_and_data(|a| {
        let again = a.label();
        a.mov(X1, DATA as i64).bind(again);
        a.ldr(X0, at(X1, 0)).ldr(X2, at(X1, 8)).add(X0, X0, X2).str(X0, at(X1, 0)).b(again);
    }))
    .build()
    .unwrap();
    machine.write(0, DATA, &5_u64.to_le_bytes()).unwrap();
    machine.run(1).unwrap();
    let mut fork = machine.fork(0, 4).unwrap();
    let rows: Vec<u8> = [1_u64, 10, 100, 1000].iter().flat_map(|row| row.to_le_bytes()).collect();
    fork.write_rows(.., DATA + 8, &rows).unwrap();
    fork.run(15).unwrap();
    let sums: Vec<u64> = fork
        .read_all(DATA, 8)
        .unwrap()
        .chunks(8)
        .map(|sum| u64::from_le_bytes(sum.try_into().unwrap()))
        .collect();
    assert_eq!(sums, [8, 35, 305, 3005], "three rounds of each lane");
    assert_eq!(fork.private_pages(3).unwrap(), [DATA], "the page is copied when a lane writes it");
    let mut first = [0; 8];
    machine.read(0, DATA, &mut first).unwrap();
    assert_eq!(u64::from_le_bytes(first), 5, "the forked machine is as it was");
}

#[test]
fn pages_written_before_a_fork_do_not_count_as_frames_of_its_lanes() {
    // Stores to a page after the other.
    let program = text_and_data(|a| {
        let again = a.label();
        a.mov(X1, DATA as i64).bind(again);
        a.str(X1, at(X1, 0)).add(X1, X1, PAGE as i64).b(again);
    });
    let builder = Machine::builder(program).stack_bytes(0).heap_bytes(0).reserve(DATA..DATA + 64 * PAGE);
    let mut machine = builder.frames_max(20).build().unwrap();
    machine.map(0, DATA..DATA + 64 * PAGE, Permissions::RW).unwrap();
    machine.run(u64::MAX).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::OutOfFrames), "after 20 pages");
    let mut fork = machine.fork(0, 2).unwrap();
    fork.run(u64::MAX).unwrap();
    assert_eq!(fork.stop(1).unwrap(), Some(Stop::OutOfFrames), "after 20 more pages");
    assert_eq!(fork.cpu(1).unwrap().x(1), DATA + 40 * PAGE, "after 20 more pages");
    let mut other = machine.fork_with(0, Fork::new(1).frames_max(5)).unwrap();
    let report = other.run(u64::MAX).unwrap();
    assert_eq!((report.frames, other.cpu(0).unwrap().x(1)), (5, DATA + 25 * PAGE), "5 more pages");
}

#[test]
fn advice_about_pages_means_the_same_in_a_fork() {
    // Stores to a page of a new anonymous mapping. After the fork: madvise(page, 4096, MADV_DONTNEED), which zeroes it.
    let mut machine = Machine::builder(linux_program(|a| {
        a.mov(X0, 0).mov(X1, 0x8000).mov(X2, 3).mov(X3, 0x22).mov(X8, 222).svc(0);
        a.str(X8, at(X0, 0)).str(X8, at(X0, 0x2000)).mov(X1, 4096).mov(X2, 4).add(X3, X0, 0).brk(0);
        a.mov(X8, 233).svc(0).ldr(X1, at(X3, 0)).ldr(X2, at(X3, 0x2000)).brk(1);
    }))
    .build()
    .unwrap();
    machine.run(100).unwrap();
    let mut fork = machine.fork(0, 2).unwrap();
    for machine in [&mut machine, &mut fork] {
        for lane in 0..machine.lanes() {
            let mut cpu = machine.cpu(lane).unwrap();
            cpu.pc += 4;
            machine.set_cpu(lane, &cpu).unwrap();
        }
        machine.resume(..).unwrap();
        machine.run(100).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 1 }), "the end");
        let cpu = machine.cpu(0).unwrap();
        assert_eq!((cpu.x(0), cpu.x(1), cpu.x(2)), (0, 0, 222), "the page is zero, the other is not");
    }
}

/// Assembles a Linux program.
fn linux_program(write: impl FnOnce(&mut Assembler)) -> Program {
    let mut program = text_and_data(write);
    program.linux = Some(LinuxProgram { headers: 0, count: 0, has_executable_stack: false });
    program
}

#[test]
fn output_before_a_fork_stays_with_the_forked_machine() {
    let build = || Machine::builder(guest("sieve")).arguments(|_| vec!["1000".to_owned()]).build().unwrap();
    let mut whole = build();
    whole.run(u64::MAX).unwrap();
    let mut machine = build();
    machine.run(u64::MAX).unwrap();
    let fork = machine.fork(0, 2).unwrap();
    assert_eq!(fork.output(1, Stream::Output).unwrap(), b"", "nothing is written twice");
    let text = |machine: &Machine| machine.output(0, Stream::Output).unwrap().to_vec();
    assert_eq!(text(&machine), text(&whole), "it is still there");
    assert!(!text(&whole).is_empty(), "the guest prints a line");
}

#[test]
fn a_fork_can_have_a_console_of_its_own() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let there = Arc::clone(&shown);
    let mut machine = Machine::builder(linux_guest("tls")).build().unwrap();
    machine.run(100).unwrap();
    let console = move |lane, stream, bytes: &[u8]| {
        there.lock().unwrap().push((stream == Stream::Error, lane, bytes.to_vec()));
    };
    let mut fork = machine.fork_with(0, Fork::new(3).console(console)).unwrap();
    fork.run(u64::MAX).unwrap();
    machine.run(u64::MAX).unwrap();
    for (is_error, stream) in [(false, Stream::Output), (true, Stream::Error)] {
        let expected = machine.output(0, stream).unwrap();
        for lane in 0..3 {
            let shown = shown.lock().unwrap();
            let of_lane = shown.iter().filter(|(error, from, _)| (*error, *from) == (is_error, lane));
            let seen: Vec<u8> = of_lane.flat_map(|(.., bytes)| bytes.clone()).collect();
            assert_eq!(seen, expected, "{stream:?} of lane {lane}");
            assert_eq!(fork.output(lane, stream).unwrap(), b"", "the console gets everything");
        }
    }
    assert!(!shown.lock().unwrap().is_empty(), "the guest prints something");
}

#[test]
fn lanes_of_a_fork_that_has_not_begun_can_get_arguments() {
    let arguments = |lane: usize| vec![format!("word{lane}"), "abort".to_owned()];
    let linux = || Machine::builder(linux_guest("process")).environment(|_| vec!["NAME=value".to_owned()]);
    let sizes = |lane: usize| vec![(1000 * (lane + 1)).to_string()];
    let bare = || Machine::builder(guest("sieve"));
    let outputs = |mut machine: Machine| -> Vec<Vec<u8>> {
        machine.run(u64::MAX).unwrap();
        (0..3).map(|lane| machine.output(lane, Stream::Output).unwrap().to_vec()).collect()
    };
    // Random numbers of Linux programs differ by lane, so only lane 0 is like that of a fork.
    let expected = outputs(linux().lanes(3).arguments(arguments).build().unwrap());
    let mut fork = linux().build().unwrap().fork(0, 3).unwrap();
    (0..3).for_each(|lane| fork.set_arguments(lane, &arguments(lane)).unwrap());
    let seen = outputs(fork);
    assert_eq!(seen[0], expected[0], "a Linux program");
    assert!(seen[0] != seen[1], "the guest prints its arguments");
    let expected = outputs(bare().lanes(3).arguments(sizes).build().unwrap());
    let mut fork = bare().build().unwrap().fork(0, 3).unwrap();
    (0..3).for_each(|lane| fork.set_arguments(lane, &sizes(lane)).unwrap());
    assert_eq!(outputs(fork), expected, "a program with a command line");

    let mut machine = linux().build().unwrap();
    machine.run(10).unwrap();
    let mut fork = machine.fork(0, 2).unwrap();
    let error = fork.set_arguments(1, &arguments(1)).unwrap_err();
    assert!(matches!(error, Error::Started { lane: 1, steps: 10 }), "{error}");
}

#[test]
fn wrong_forks_are_refused() {
    let mut machine = Machine::builder(guest("sieve")).lanes(2).build().unwrap();
    assert!(matches!(machine.fork(2, 1), Err(Error::NoSuchLane { lane: 2, lanes: 2 })), "no such lane");
    assert!(matches!(machine.fork(0, 0), Err(Error::NoLanes)), "no lanes");
    assert!(matches!(machine.fork(1, usize::MAX / 4), Err(Error::TooManyLanes { .. })), "too many lanes");
    let fork = machine.fork(1, 1).unwrap();
    assert_eq!((fork.lanes(), fork.engine()), (1, "reference"), "the machine still works");
}

#[test]
fn the_frames_of_forks_of_forks_do_not_add_up() {
    // Stores the counter X2 to one page after the other, around a ring of 8 pages.
    let program = text_and_data(|a| {
        let again = a.label();
        a.mov(X1, DATA as i64).mov(X3, 0x7000).bind(again);
        a.and(X0, X2, X3).add(X0, X0, X1).str(X2, at(X0, 0)).add(X2, X2, 0x1000).b(again);
    });
    let builder = Machine::builder(program).reserve(DATA..DATA + 8 * PAGE);
    let mut machine = builder.build().unwrap();
    machine.map(0, DATA..DATA + 8 * PAGE, Permissions::RW).unwrap();
    machine.run(2 + 5 * 8).unwrap();
    let bytes = |machine: &mut Machine| {
        let mut bytes = vec![0; 8 * PAGE_BYTES];
        machine.read(0, DATA, &mut bytes).unwrap();
        bytes
    };
    for _ in 0..20 {
        let mut fork = machine.fork(0, 1).unwrap();
        assert_eq!(bytes(&mut fork), bytes(&mut machine), "the memory of generations");
        fork.run(5 * 3).unwrap();
        machine = fork;
    }
    assert_eq!(machine.registers(Register::X(2)).unwrap(), [0x1000 * (8 + 60)], "all generations have run");
    assert_eq!(machine.private_pages(0).unwrap().len(), 3, "the last generation has written three pages");
}
