//! Tests of requests by the host that are refused with an error.

use std::error::Error as _;

use kvrm_machine::{Error, Machine, Permissions, Program, Segment, Stop, Stream};

use crate::support::{CODE, assemble, raw};

fn nop() -> Program {
    raw(|a| {
        a.nop();
    })
}

/// Returns a raw program that begins at `address`.
fn program_at(address: u64, bytes: u64) -> Program {
    let data = assemble(|a| {
        a.nop();
    });
    Program::raw("raw", data, address, bytes).unwrap()
}

#[test]
fn a_machine_without_lanes_is_refused() {
    let error = Machine::builder(nop()).lanes(0).build().unwrap_err();
    assert!(matches!(error, Error::NoLanes), "{error:?}");
    assert_eq!(
        error.to_string(),
        "a machine needs at least 1 lane, and 0 were asked for",
        "the error message"
    );
}

#[test]
fn more_lanes_than_fit_in_memory_are_refused() {
    for lanes in [usize::MAX, usize::MAX / 2, 1 << 46] {
        let error = Machine::builder(nop()).lanes(lanes).build().unwrap_err();
        assert!(matches!(error, Error::TooManyLanes { lanes: asked, .. } if asked == lanes), "{error:?}");
        assert!(error.to_string().starts_with(&format!("{lanes} lanes ")), "{error}");
    }
}

#[test]
fn every_method_refuses_a_lane_that_does_not_exist() {
    let mut machine = Machine::builder(nop()).lanes(3).build().unwrap();
    machine.snapshot().unwrap();
    for lane in [3, 4, usize::MAX] {
        let cpu = machine.cpu(0).unwrap();
        let errors = [
            machine.stop(lane).err(),
            machine.resume(lane).err(),
            machine.cpu(lane).err(),
            machine.set_cpu(lane, &cpu).err(),
            machine.read(lane, CODE, &mut [0]).err(),
            machine.map(lane, 0x1000..0x2000, Permissions::RW).err(),
            machine.write(lane, CODE, &[0]).err(),
            machine.private_pages(lane).err(),
            machine.output(lane, Stream::Output).err(),
            machine.output_truncated(lane).err(),
            machine.set_input(lane, &[]).err(),
            machine.set_arguments(lane, &[]).err(),
            machine.reset(&[lane]).err(),
        ];
        for error in errors {
            let error = error.expect("an error");
            assert!(
                matches!(error, Error::NoSuchLane { lane: asked, lanes: 3 } if asked == lane),
                "{error:?}"
            );
            let message = format!("there is no lane {lane}: the machine has 3, numbered from 0");
            assert_eq!(error.to_string(), message, "the error message");
        }
    }
}

#[test]
fn a_reset_with_an_invalid_lane_resets_no_lane() {
    let mut machine = Machine::builder(nop()).lanes(2).build().unwrap();
    machine.snapshot().unwrap();
    machine.run(1).unwrap();
    assert!(machine.reset(&[0, 1, 2]).is_err(), "there is no lane 2");
    assert_eq!(machine.cpu(0).unwrap().steps, 1, "lane 0 has not changed");
}

#[test]
fn a_reset_before_any_snapshot_is_refused() {
    let mut machine = Machine::builder(nop()).build().unwrap();
    let error = machine.reset(&[0]).unwrap_err();
    assert!(matches!(error, Error::NoSnapshot), "{error:?}");
    assert_eq!(error.to_string(), "there is no snapshot to reset to", "the error message");
}

#[test]
fn stack_and_heap_must_fit_after_the_program() {
    const END: u64 = 1 << 48;
    const PAGE: u64 = 0x1000;
    // The program ends `room` bytes before the end of the address space. Stack and heap need a guard page before each.
    let cases = [
        (PAGE, PAGE, 4 * PAGE, None),
        (PAGE, PAGE + 1, 4 * PAGE, Some(("heap", PAGE + 1))),
        (PAGE, PAGE, 3 * PAGE, Some(("heap", PAGE))),
        (PAGE, 0, 3 * PAGE, None),
        (2 * PAGE, 0, 2 * PAGE, Some(("stack", 2 * PAGE))),
        (1, 0, PAGE, Some(("stack", 1))),
        (0, 0, 0, Some(("stack", 0))),
        (u64::MAX, 0, 4 * PAGE, Some(("stack", u64::MAX))),
        (u64::MAX - PAGE, 0, 4 * PAGE, Some(("stack", u64::MAX - PAGE))),
        (0, u64::MAX, 4 * PAGE, Some(("heap", u64::MAX))),
        (END, 0, END - PAGE, Some(("stack", END))),
    ];
    for (stack, heap, room, expected) in cases {
        let program = program_at(0, END - room);
        let built = Machine::builder(program).stack_bytes(stack).heap_bytes(heap).build();
        match (built, expected) {
            (Ok(machine), None) => {
                let layout = machine.layout();
                assert_eq!(layout.stack.start, END - room + PAGE, "a guard page, then the stack");
                assert_eq!(layout.heap.start, layout.stack.end + PAGE, "a guard page, then the heap");
                assert!(layout.heap.end <= END, "the heap ends in the address space");
            }
            (Err(Error::NoRoom { what, bytes, limit }), Some(expected)) => {
                assert_eq!(((what, bytes), limit), (expected, END), "the part that does not fit");
            }
            (built, expected) => {
                panic!("{built:?} for stack {stack:#x}, heap {heap:#x}, expected {expected:?}")
            }
        }
    }
    let error = Machine::builder(nop()).stack_bytes(1 << 48).build().unwrap_err();
    let message = "a stack of 0x1000000000000 bytes does not fit between the program and 0x1000000000000; make it smaller";
    assert_eq!(error.to_string(), message, "the error message");
}

#[test]
fn a_raw_program_has_to_lie_in_the_address_space() {
    let refused = |data: &[u8], address, bytes| {
        let error = Program::raw("raw", data.to_vec(), address, bytes).unwrap_err();
        assert!(matches!(error, Error::RawRange { address: at, .. } if at == address), "{error:?}");
        assert!(error.to_string().contains(&format!("{address:#x}")), "{error}");
    };
    refused(&[], 0, 0);
    refused(&[], CODE, 0);
    refused(&[1], 1 << 48, 0);
    refused(&[1, 2], (1 << 48) - 1, 0);
    refused(&[1], 1, 1 << 48);
    refused(&[1], u64::MAX, 0);
    refused(&[1], 0x1000, u64::MAX);
    for (data, address, bytes, end) in
        [(vec![1], (1 << 48) - 1, 0, 1 << 48), (vec![], 0, 1 << 48, 1 << 48), (vec![1, 2], 5, 1, 7)]
    {
        let program = Program::raw("raw", data, address, bytes).unwrap();
        assert_eq!((program.entry, program.end()), (address, end), "the program begins and ends there");
    }
}

#[test]
fn a_program_with_an_impossible_segment_is_refused() {
    let cases =
        [(u64::MAX, 2, 0), (u64::MAX - 1, u64::MAX, 0), (1 << 48, 1, 0), ((1 << 48) - 1, 2, 0), (CODE, 1, 2)];
    for (address, bytes, data) in cases {
        let segment = Segment { address, bytes, data: vec![0; data], permissions: Permissions::RW };
        let mut program = nop();
        program.segments.push(segment);
        let error = Machine::builder(program).build().unwrap_err();
        assert!(error.to_string().contains(&format!("{bytes:#x} bytes at {address:#x}")), "{error}");
    }
}

#[test]
fn preparing_unmapped_memory_is_refused_with_the_first_address() {
    let builder = Machine::builder(nop()).lanes(3).prepare(|lane| {
        if lane.number() == 1 {
            lane.write(CODE - 1, &[0]);
            lane.write(0, &[0]);
        }
    });
    let error = builder.build().unwrap_err();
    assert!(matches!(error, Error::Prepare { lane: 1, stop: Stop::Fault(_) }), "{error:?}");
    let message = "lane 1 cannot be prepared: write to unmapped memory at 0xffff";
    assert_eq!(error.to_string(), message, "the first of two errors");
}

#[test]
fn a_guest_directory_that_cannot_be_opened_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for path in [folder.path().join("missing"), file] {
        let error = Machine::builder(nop()).directory(&path).build().unwrap_err();
        assert!(matches!(&error, Error::Directory { path: named, .. } if *named == path), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert!(error.source().is_some(), "the error has a source");
    }
}

#[test]
fn a_program_that_cannot_be_read_or_loaded_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.elf");
    let error = Program::open(&missing).unwrap_err();
    assert!(matches!(&error, Error::Read { path, .. } if *path == missing), "{error:?}");
    assert!(error.source().is_some(), "the error has a source");
    let text = folder.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    let error = Program::open(&text).unwrap_err();
    assert!(matches!(&error, Error::Elf { name, .. } if *name == text.display().to_string()), "{error:?}");
    assert!(error.source().is_some(), "the error has a source");
}

#[test]
fn host_accesses_to_unmapped_memory_name_the_address() {
    let mut machine = Machine::builder(nop()).build().unwrap();
    for address in [0, CODE - 1, CODE + 0x1_0000, u64::MAX] {
        let read = machine.read(0, address, &mut [0; 2]).unwrap_err().to_string();
        let write = machine.write(0, address, &[0; 2]).unwrap_err().to_string();
        let prefix = "cannot access the memory of lane 0:";
        assert_eq!(read, format!("{prefix} read from unmapped memory at {address:#x}"), "reading");
        assert_eq!(write, format!("{prefix} write to unmapped memory at {address:#x}"), "writing");
    }
    assert!(machine.private_pages(0).unwrap().is_empty(), "nothing was written");
}
