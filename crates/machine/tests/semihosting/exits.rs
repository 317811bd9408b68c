//! Tests of exits.

use kvrm_machine::Stop;

use crate::support::*;

/// Makes an exit call and returns the status with which the lane stops.
fn exit(operation: u64, fields: &[u64]) -> i32 {
    let mut guest = Guest::new();
    assert_eq!(guest.call_with(operation, fields), operation, "X0 does not change");
    status(&mut guest)
}

fn status(guest: &mut Guest) -> i32 {
    match guest.machine.stop(0).unwrap() {
        Some(Stop::Exit { code }) => code,
        other => panic!("an exit stops with {other:?}"),
    }
}

#[test]
fn a_normal_exit_has_its_status() {
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
    // Some of these are branch through zero, undefined instruction, run time error, internal error.
    for reason in [0, 1, 0x2_0000, 0x2_0001, 0x2_0023, 0x2_0024, 0x2_0025, 0x2_0027, 0x1_0002_0026, u64::MAX]
    {
        for operation in [EXIT, EXIT_EXTENDED] {
            assert_eq!(exit(operation, &[reason, 0]), 1, "operation {operation:#x}, reason {reason:#x}");
        }
    }
}

#[test]
fn an_exit_with_an_unreadable_parameter_block_has_status_1() {
    for operation in [EXIT, EXIT_EXTENDED] {
        for block in [0, WRITE_ONLY, DATA_END, u64::MAX] {
            let mut guest = Guest::new();
            guest.call(operation, block);
            assert_eq!(status(&mut guest), 1, "operation {operation:#x} at {block:#x}");
        }
        // The reason is readable and that of a normal exit; the status is not readable.
        let mut guest = Guest::new();
        guest.put(DATA_END - 8, &0x2_0026_u64.to_le_bytes());
        guest.call(operation, DATA_END - 8);
        assert_eq!(status(&mut guest), 1, "operation {operation:#x} at the end of memory");
    }
}

#[test]
fn output_before_an_exit_is_kept() {
    let mut guest = Guest::new();
    guest.put(BUFFER, b"last words\0");
    guest.call(WRITE0, BUFFER);
    guest.call_with(EXIT, &[0x2_0026, 3]);
    assert_eq!(status(&mut guest), 3, "the status");
    assert_eq!(guest.output(kvrm_machine::Stream::Output), b"last words", "the output");
    assert_eq!(guest.machine.run(100).unwrap().steps, 0, "the lane does not run any more");
}
