//! Small programs, and all there is to see of a lane.

use kvrm_arm64::asm::Assembler;
use kvrm_machine::{
    Access, Cpu, Fault, FaultKind, Machine, PAGE_BYTES, Permissions, Program, Segment, Stop, Stream,
};

/// Where the programs of these tests lie.
pub(crate) const CODE: u64 = 0x1_0000;
/// Bytes of a page.
pub(crate) const PAGE: u64 = PAGE_BYTES as u64;
/// Where [`text_and_data`] has its data: a page that can be written.
pub(crate) const DATA: u64 = 0x2_0000;

/// The bytes of a program for [`CODE`].
pub(crate) fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the programs of the tests assemble");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A program with 64 KiB of memory that may be read, written and executed.
pub(crate) fn raw(write: impl FnOnce(&mut Assembler)) -> Program {
    Program::raw("raw", assemble(write), CODE, 0x1_0000).expect("the program fits")
}

/// A program as a linker lays it out: a page of code that cannot be written, and a page of data that can.
pub(crate) fn text_and_data(write: impl FnOnce(&mut Assembler)) -> Program {
    let bytes = PAGE_BYTES as u64;
    let text = Segment { address: CODE, bytes, data: assemble(write), permissions: Permissions::RX };
    let data = Segment { address: DATA, bytes, data: Vec::new(), permissions: Permissions::RW };
    Program {
        name: "built".to_owned(),
        entry: CODE,
        segments: vec![text, data],
        symbols: Vec::new(),
        linux: None,
    }
}

/// All there is to see of a lane.
#[derive(Debug, PartialEq)]
pub(crate) struct Lane {
    pub(crate) stop: Option<Stop>,
    pub(crate) cpu: Cpu,
    /// The pages written, in order of their first write.
    pub(crate) dirty: Vec<u64>,
    pub(crate) output: String,
    pub(crate) error_output: String,
    /// What those pages hold; last, as it is long.
    pub(crate) memory: Vec<Vec<u8>>,
}

pub(crate) fn lane(machine: &mut Machine, lane: usize) -> Lane {
    let text = |stream| String::from_utf8_lossy(machine.output(lane, stream).unwrap()).into_owned();
    let (output, error_output) = (text(Stream::Output), text(Stream::Error));
    let dirty = machine.dirty_pages(lane).unwrap();
    let page = |&address: &u64| {
        let mut bytes = vec![0; PAGE_BYTES];
        machine.read_memory(lane, address, &mut bytes).unwrap().expect("dirty pages are mapped");
        bytes
    };
    let memory = dirty.iter().map(page).collect();
    let (stop, cpu) = (machine.stop(lane).unwrap(), machine.cpu(lane).unwrap());
    Lane { stop, cpu, dirty, output, error_output, memory }
}

/// A doubleword of a lane's memory.
pub(crate) fn word(machine: &mut Machine, lane: usize, address: u64) -> u64 {
    let mut bytes = [0; 8];
    machine.read_memory(lane, address, &mut bytes).unwrap().expect("it is mapped");
    u64::from_le_bytes(bytes)
}

pub(crate) fn fault(kind: FaultKind, access: Access, address: u64) -> Stop {
    Stop::Fault(Fault { kind, access, address })
}

/// Runs a program with x1 as given; says how it ended.
pub(crate) fn run(program: Program, x1: u64) -> (Stop, Cpu, Machine) {
    let mut machine = Machine::builder(program).prepare(move |lane| lane.set_x(1, x1)).build().unwrap();
    let report = machine.run(1_000_000).unwrap();
    let (stop, cpu) = (machine.stop(0).unwrap().unwrap(), machine.cpu(0).unwrap());
    assert_eq!(report.stops.into_iter().collect::<Vec<_>>(), [(stop.name(), 1)], "the report says so too");
    assert_eq!(report.steps, cpu.steps, "and counts what has retired");
    // A second run does not get any further.
    if stop != Stop::Budget {
        assert_eq!(machine.run(1000).unwrap().steps, 0, "a stop is final");
        assert_eq!(
            (machine.stop(0).unwrap(), machine.cpu(0).unwrap()),
            (Some(stop), cpu.clone()),
            "and stays"
        );
    }
    (stop, cpu, machine)
}
