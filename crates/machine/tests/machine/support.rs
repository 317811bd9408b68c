//! Small programs, and the complete visible state of a lane.

use kvrm_arm64::asm::Assembler;
use kvrm_machine::{
    Access, Cpu, Fault, FaultKind, Hooks, Machine, PAGE_BYTES, Permissions, Program, Segment, Stop, Stream,
};
use kvrm_testkit::guests::{features, guest};
use kvrm_testkit::linux_programs;
use kvrm_testkit::random::Random;

/// The address of the programs of these tests.
pub(crate) const CODE: u64 = 0x1_0000;
/// The size of a page, in bytes.
pub(crate) const PAGE: u64 = PAGE_BYTES as u64;
/// The address of the writable page of [`text_and_data`].
pub(crate) const DATA: u64 = 0x2_0000;

/// Assembles a program for [`CODE`].
pub(crate) fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the programs of the tests assemble");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Assembles a program with 64 KiB of readable, writable and executable memory.
pub(crate) fn raw(write: impl FnOnce(&mut Assembler)) -> Program {
    Program::raw("raw", assemble(write), CODE, 0x1_0000).expect("the program fits")
}

/// Assembles a program with a read-only page of code and a writable page of data, as a linker lays it out.
pub(crate) fn text_and_data(write: impl FnOnce(&mut Assembler)) -> Program {
    let bytes = PAGE_BYTES as u64;
    let text = Segment { address: CODE, bytes, data: assemble(write), permissions: Permissions::RX };
    let data = Segment { address: DATA, bytes, data: Vec::new(), permissions: Permissions::RW };
    Program::builder()
        .name("built")
        .entry(CODE)
        .segments([text, data])
        .build()
        .expect("the segments are valid")
}

/// The complete visible state of a lane.
#[derive(Debug, PartialEq)]
pub(crate) struct Lane {
    pub(crate) stop: Option<Stop>,
    pub(crate) cpu: Cpu,
    /// The addresses of the written pages, in the order of their first write.
    pub(crate) private_pages: Vec<u64>,
    pub(crate) output: String,
    pub(crate) error_output: String,
    /// The contents of those pages. The last field, because its debug output is long.
    pub(crate) memory: Vec<Vec<u8>>,
}

pub(crate) fn lane(machine: &mut Machine, lane: usize) -> Lane {
    let text = |stream| String::from_utf8_lossy(machine.output(lane, stream).unwrap()).into_owned();
    let (output, error_output) = (text(Stream::Output), text(Stream::Error));
    let private_pages = machine.private_pages(lane).unwrap();
    let page = |&address: &u64| {
        let mut bytes = vec![0; PAGE_BYTES];
        machine.read(lane, address, &mut bytes).expect("private pages are mapped");
        bytes
    };
    let memory = private_pages.iter().map(page).collect();
    let (stop, cpu) = (machine.stop(lane).unwrap(), machine.cpu(lane).unwrap());
    Lane { stop, cpu, private_pages, output, error_output, memory }
}

/// Reads a doubleword of a lane's memory.
pub(crate) fn word(machine: &mut Machine, lane: usize, address: u64) -> u64 {
    let mut bytes = [0; 8];
    machine.read(lane, address, &mut bytes).expect("the doubleword is mapped");
    u64::from_le_bytes(bytes)
}

pub(crate) fn fault(kind: FaultKind, access: Access, address: u64) -> Stop {
    Stop::Fault(Fault { kind, access, address })
}

/// Runs a program with this value in X1, checks that its stop is final, and returns stop, registers and machine.
pub(crate) fn run(program: Program, x1: u64) -> (Stop, Cpu, Machine) {
    let mut machine = Machine::builder(program).prepare(move |lane| lane.set_x(1, x1)).build().unwrap();
    let report = machine.run(1_000_000).unwrap();
    let (stop, cpu) = (machine.stop(0).unwrap().unwrap(), machine.cpu(0).unwrap());
    assert_eq!(
        report.stops.into_iter().collect::<Vec<_>>(),
        [(stop.name(), 1)],
        "the report counts the stop"
    );
    assert_eq!(report.steps, cpu.steps, "the report counts the steps");
    // A second run does not continue.
    if stop != Stop::Budget {
        assert_eq!(machine.run(1000).unwrap().steps, 0, "a stop is final");
        assert_eq!(
            (machine.stop(0).unwrap(), machine.cpu(0).unwrap()),
            (Some(stop), cpu.clone()),
            "the stop and the registers stay"
        );
    }
    (stop, cpu, machine)
}

/// Returns a machine with a random Linux program in two lanes, in half of the cases with hooks.
pub(crate) fn random_linux_program(seed: u64, random: &mut Random) -> Machine {
    let case = linux_programs::random(seed);
    let mut hooks = Hooks::new();
    if random.below(2) == 0 {
        hooks = hooks.all_system_calls().breakpoint(case.program.entry + 4 * random.below(40));
    }
    let builder = Machine::builder(case.program.clone()).features(case.features).hooks(hooks);
    let mut machine = builder.lanes(2).seed(seed).build().expect("the program fits");
    case.start(&mut machine, seed).expect("the engine works");
    machine
}

/// Returns a machine with a guest of this size in two lanes, each with a seed of its own.
pub(crate) fn two_lanes(name: &str, size: &str) -> Machine {
    let arguments = |lane: usize| vec![size.to_owned(), (lane + 1).to_string()];
    let builder = Machine::builder(guest(name)).features(features(name)).arguments(arguments);
    builder.lanes(2).build().expect("the guest fits")
}
