//! Tests of properties that all calls share.

use kvrm_arm64::asm::{Assembler, X0, X1, at};
use kvrm_machine::{Machine, Program, Stop, Stream};
use proptest::prelude::*;

use crate::support::*;

#[test]
fn an_unknown_operation_fails() {
    let mut guest = Guest::new();
    let unknown = (0..0x400).chain([0xffff_ffff, 0x8000_0001]).filter(|number| !OPERATIONS.contains(number));
    for operation in unknown {
        assert_eq!(guest.call(operation, BLOCK), FAILED, "operation {operation:#x}");
        assert_eq!(guest.errno(), ENOSYS, "operation {operation:#x}");
    }
}

#[test]
fn the_operation_is_a_32_bit_number() {
    let mut guest = Guest::new();
    assert_eq!(guest.call(TICKFREQ | 0xdead_beef << 32, 0), 1_000_000_000, "the high half is ignored");
}

#[test]
fn halts_with_other_immediates_are_not_calls() {
    for imm in [0, 0xefff, 0xf001, 0xf00_u16] {
        let mut assembler = Assembler::new(CODE);
        assembler.mov(X0, TICKFREQ as i64).hlt(i64::from(imm));
        let code = assembler.finish().unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
        let mut machine = Machine::builder(Program::raw("raw", code, CODE, 0).unwrap()).build().unwrap();
        let report = machine.run(100).unwrap();
        assert_eq!(
            (machine.stop(0).unwrap(), report.services),
            (Some(Stop::Halt { imm }), 0),
            "hlt #{imm:#x}"
        );
        assert_eq!((machine.cpu(0).unwrap().x(0), report.steps), (TICKFREQ, 1), "nothing was served");
    }
}

#[test]
fn a_call_ends_an_exclusive_sequence_as_an_exception_would() {
    let mut assembler = Assembler::new(CODE);
    let word = CODE + 0x100;
    assembler.mov(X1, word as i64).ldxr(X0, at(X1, 0)).mov(X0, TICKFREQ as i64).hlt(0xf000);
    assembler.stxr(kvrm_arm64::asm::W0, X1, at(X1, 0)).hlt(0);
    let code = assembler.finish().unwrap().into_iter().flat_map(u32::to_le_bytes).collect();
    let mut machine = Machine::builder(Program::raw("raw", code, CODE, 0x1000).unwrap()).build().unwrap();
    machine.run(100).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Halt { imm: 0 }), "the end");
    assert_eq!(machine.cpu(0).unwrap().x(0), 1, "the store fails");
    assert_eq!(machine.private_pages(0).unwrap().len(), 0, "the store writes nothing");
}

#[test]
fn errno_belongs_to_the_last_failed_call() {
    let mut guest = Guest::new();
    assert_eq!(guest.errno(), 0, "before any failure");
    assert_eq!(guest.call(0x77, 0), FAILED, "an unknown operation");
    assert_eq!(guest.call(CLOSE, 0), FAILED, "a bad pointer");
    assert_eq!(guest.errno(), EFAULT, "the errno of the second failure");
    assert_eq!(guest.call(CLOCK, 0), 0, "a call that succeeds");
    assert_eq!(guest.errno(), EFAULT, "success does not change the errno");
}

/// The operations with a parameter block, and the number of its fields.
const BLOCKS: [(u64, u64); 14] = [
    (OPEN, 3),
    (CLOSE, 1),
    (WRITE, 3),
    (READ, 3),
    (ISERROR, 1),
    (ISTTY, 1),
    (SEEK, 2),
    (FLEN, 1),
    (TMPNAM, 3),
    (REMOVE, 2),
    (RENAME, 4),
    (GET_CMDLINE, 2),
    (HEAPINFO, 1),
    (ELAPSED, 1),
];

#[test]
fn a_parameter_block_that_cannot_be_read_fails_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for (operation, fields) in BLOCKS {
        // The last byte is not mapped; the first byte is not mapped; nothing is mapped.
        let mut addresses = vec![
            DATA_END - 8 * fields + 1,
            DATA - 8 * fields + 7,
            0,
            (1 << 48) - 8 * fields + 1,
            1 << 48,
            u64::MAX,
            u64::MAX - 7,
            u64::MAX - 8 * fields + 1,
        ];
        if operation != ELAPSED {
            addresses.push(WRITE_ONLY);
        }
        for address in addresses {
            assert_eq!(guest.call(operation, address), FAILED, "operation {operation:#x} at {address:#x}");
            assert_eq!(guest.errno(), EFAULT, "operation {operation:#x} at {address:#x}");
        }
    }
    for operation in [WRITEC, WRITE0] {
        for address in [0, DATA - 1, WRITE_ONLY, u64::MAX] {
            assert_eq!(guest.call(operation, address), FAILED, "operation {operation:#x} of {address:#x}");
            assert_eq!(guest.errno(), EFAULT, "operation {operation:#x} of {address:#x}");
        }
    }
    // A failed transfer returns the count, even if only the count is readable.
    guest.put(DATA, &5_u64.to_le_bytes());
    for operation in [READ, WRITE] {
        assert_eq!(guest.call(operation, DATA - 16), 5, "operation {operation:#x}");
        assert_eq!(guest.errno(), EFAULT, "operation {operation:#x}");
    }
    assert_eq!(guest.call(ELAPSED, READ_ONLY), FAILED, "read-only memory");
    assert_eq!(guest.errno(), EFAULT, "read-only memory");
    assert_eq!(guest.output(Stream::Output), b"", "nothing is printed");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is created");
}

#[test]
fn calls_without_a_parameter_ignore_it() {
    let mut guest = Guest::with_input(b"ab");
    for parameter in [0, u64::MAX, WRITE_ONLY] {
        assert_eq!(guest.call(ERRNO, parameter), 0, "errno");
        assert_eq!(guest.call(CLOCK, parameter), 0, "clock");
        assert_eq!(guest.call(TIME, parameter), 0, "time");
        assert_eq!(guest.call(TICKFREQ, parameter), 1_000_000_000, "ticks a second");
    }
    assert_eq!(guest.call(READC, u64::MAX), u64::from(b'a'), "a character");
}

/// Values for any field: pointers, handles, lengths, modes.
fn field() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => prop::sample::select(vec![
            0, 1, 2, 3, 4, 8, 12, 255, BLOCK, NAME, BUFFER, DATA_END - 1, READ_ONLY, WRITE_ONLY, CODE,
            1 << 20, 1 << 48, u64::MAX, u64::MAX - 7, 0x2_0026,
        ]),
        1 => any::<u64>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_calls_do_not_affect_the_host_outside_of_the_folder(
        calls in prop::collection::vec(
            (prop::sample::select(&OPERATIONS[..]), prop::array::uniform4(field()), field()), 1..20,
        ),
        input in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        // Names that lead out of the folder, the console, and a file.
        let names = ["../outside", ":tt", "inside", "/", "..", "inside/..", "."];
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("guest");
        std::fs::create_dir(&folder).unwrap();
        let mut guest = Guest::of(builder().directory(&folder).input(move |_| input.clone()));
        for (index, (operation, fields, parameter)) in calls.into_iter().enumerate() {
            guest.put(NAME, names[index % names.len()].as_bytes());
            let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
            guest.put(BLOCK, &bytes);
            guest.call(operation, if parameter % 2 == 0 { BLOCK } else { parameter });
        }
        let around: Vec<_> = std::fs::read_dir(outer.path()).unwrap().collect();
        prop_assert_eq!(around.len(), 1, "nothing was created beside the folder: {:?}", around);
    }
}
