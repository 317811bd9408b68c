//! How a guest ends itself.

use kvrm_machine::Stop;

use crate::support::*;

/// Calls an exit; says with which status the lane has stopped.
fn exit(operation: u64, fields: &[u64]) -> i32 {
    let mut guest = Guest::new();
    assert_eq!(guest.call_with(operation, fields), operation, "x0 stays");
    status(&mut guest)
}

fn status(guest: &mut Guest) -> i32 {
    match guest.machine.stop(0).unwrap() {
        Some(Stop::Exit { code }) => code,
        other => panic!("an exit stops with {other:?}"),
    }
}

#[test]
fn an_orderly_exit_has_the_status_it_names() {
    let cases = [
        (0, 0),
        (1, 1),
        (2, 2),
        (255, 255),
        (256, 256),
        (0x7fff_ffff, i32::MAX),
        (0x8000_0000, i32::MIN),
        (u64::MAX, -1),
        (1 << 32 | 5, 5),
    ];
    for (subcode, code) in cases {
        for operation in [EXIT, EXIT_EXTENDED] {
            assert_eq!(exit(operation, &[0x2_0026, subcode]), code, "operation {operation:#x}, {subcode:#x}");
        }
    }
}

#[test]
fn any_other_reason_is_status_1() {
    // Among them branch through zero, undefined instruction, run time error, internal error.
    for reason in [0, 1, 0x2_0000, 0x2_0001, 0x2_0023, 0x2_0024, 0x2_0025, 0x2_0027, 0x1_0002_0026, u64::MAX]
    {
        for operation in [EXIT, EXIT_EXTENDED] {
            assert_eq!(exit(operation, &[reason, 0]), 1, "operation {operation:#x}, reason {reason:#x}");
        }
    }
}

#[test]
fn an_exit_whose_block_cannot_be_read_is_status_1() {
    for operation in [EXIT, EXIT_EXTENDED] {
        for block in [0, WRITE_ONLY, DATA_END, u64::MAX] {
            let mut guest = Guest::new();
            guest.call(operation, block);
            assert_eq!(status(&mut guest), 1, "operation {operation:#x} at {block:#x}");
        }
        // The reason is there and orderly, the status is not there.
        let mut guest = Guest::new();
        guest.put(DATA_END - 8, &0x2_0026_u64.to_le_bytes());
        guest.call(operation, DATA_END - 8);
        assert_eq!(status(&mut guest), 1, "operation {operation:#x} at the end of memory");
    }
}

#[test]
fn what_was_printed_before_an_exit_is_there() {
    let mut guest = Guest::new();
    guest.put(BUFFER, b"last words\0");
    guest.call(WRITE0, BUFFER);
    guest.call_with(EXIT, &[0x2_0026, 3]);
    assert_eq!(status(&mut guest), 3, "the status");
    assert_eq!(guest.output(kvrm_machine::Stream::Output), b"last words", "the output");
    assert_eq!(guest.machine.run(100).unwrap().steps, 0, "and nothing runs any more");
}
