//! Guests that mean harm: bad pointers, wild numbers, tricky paths.

use kvrm_machine::{Machine, Stop, linux::CALLS};
use proptest::prelude::*;

use crate::support::{Caller, DATA, DATA_BYTES, HERE, program};

const EFAULT: i64 = -14;

#[test]
fn bad_pointers_are_efault() {
    // Call, arguments with a hole for the pointer, and where that is.
    let calls: &[(u64, &[u64], usize)] = &[
        (17, &[0, 100], 0),
        (34, &[HERE, 0, 0], 1),
        (35, &[HERE, 0, 0], 1),
        (36, &[0, HERE, 0], 0),
        (37, &[HERE, 0, HERE, DATA], 1),
        (38, &[HERE, 0, HERE, DATA], 1),
        (43, &[0, DATA], 0),
        (45, &[0, 0], 0),
        (48, &[HERE, 0, 0], 1),
        (49, &[0], 0),
        (53, &[HERE, 0, 0], 1),
        (54, &[HERE, 0, 0, 0, 0], 1),
        (56, &[HERE, 0, 0], 1),
        (59, &[0, 0], 0),
        (63, &[3, 0, 10], 1),
        (64, &[1, 0, 10], 1),
        (65, &[3, 0, 1], 1),
        (66, &[1, 0, 1], 1),
        (67, &[3, 0, 10, 0], 1),
        (73, &[0, 1, DATA, 0, 8], 0),
        (78, &[HERE, 0, DATA, 10], 1),
        (79, &[HERE, 0, DATA, 0], 1),
        (80, &[1, 0], 1),
        (101, &[0, 0], 0),
        (113, &[0, 0], 1),
        (115, &[0, 0, 0, 0], 2),
        (160, &[0], 0),
        (165, &[0, 0], 1),
        (179, &[0], 0),
        (278, &[0, 100, 0], 0),
        (291, &[HERE, 0, 0, 0, DATA], 1),
    ];
    let mut caller = Caller::new();
    caller.write(DATA, b"/\0");
    assert_eq!(caller.open("/dev/zero", 0), 3, "something to read from");
    for (number, arguments, hole) in calls {
        for pointer in [8, 1 << 47, u64::MAX - 7, 0xffff_ffff_ffff_f000] {
            let mut arguments = arguments.to_vec();
            arguments[*hole] = pointer;
            assert_eq!(caller.call(*number, &arguments), EFAULT, "call {number} with {pointer:#x}");
        }
    }
}

#[test]
fn what_cannot_be_written_is_efault_and_nothing_is_lost() {
    let mut caller = Caller::of(Machine::builder(program()).input(|_| b"abcdef".to_vec()));
    // The code cannot be written, and the last page of data is followed by nothing.
    assert_eq!(caller.call(63, &[0, 0x1_0000, 3]), EFAULT, "into code");
    assert_eq!(caller.call(63, &[0, DATA + DATA_BYTES - 2, 6]), 2, "as much as there is room for");
    assert_eq!(caller.call(63, &[0, DATA, 6]), 4, "the rest comes later");
    assert_eq!(caller.read(DATA, 4), b"cdef", "and in order");
}

#[test]
fn paths_do_not_lead_out() {
    let mut caller = Caller::new();
    for path in
        ["/../../../etc/passwd", "../../etc/passwd", "/proc/self/root/etc/passwd", "/dev/../../etc/passwd"]
    {
        assert_eq!(caller.open(path, 0), -2, "{path} is not there");
    }
    // Links in a circle, and a link to itself in a longer path.
    for (target, name) in [("/tmp/b", "/tmp/a"), ("/tmp/a", "/tmp/b"), ("../../../..", "/tmp/up")] {
        caller.write(DATA, format!("{target}\0").as_bytes());
        let name = caller.path(name);
        assert_eq!(caller.call(36, &[DATA, HERE, name]), 0, "symlink");
    }
    assert_eq!(caller.open("/tmp/a", 0), -40, "a circle");
    assert_eq!(caller.open("/tmp/a/x", 0), -40, "a circle on the way");
    assert_eq!(caller.open("/tmp/up/tmp/up/dev/null", 0), 3, "up ends at the root");
}

#[test]
fn memory_has_limits() {
    let mut caller = Caller::new();
    let none = 0x22;
    let wild = [u64::MAX, u64::MAX - 4095, 1 << 63, 1 << 48, (1 << 48) - 4096, 1 << 40];
    for bytes in wild {
        assert!(caller.call(222, &[0, bytes, 3, none, 0, 0]) < 0, "mmap of {bytes:#x}");
        assert!(caller.call(222, &[bytes & !4095, 4096, 3, none | 0x10, 0, 0]) < 0, "mmap at {bytes:#x}");
        assert!(caller.call(216, &[DATA, 4096, bytes, 1]) < 0, "mremap to {bytes:#x}");
        assert!(caller.call(226, &[DATA, bytes, 1]) < 0, "mprotect of {bytes:#x}");
    }
    assert_eq!(caller.call(214, &[u64::MAX]), caller.call(214, &[0]), "brk stays where it is");
    // A thousand pages, every other of which is taken away: many regions, but not too many.
    let at = caller.call(222, &[0, 1 << 22, 3, none, 0, 0]) as u64;
    for page in (0..1024).step_by(2) {
        assert_eq!(caller.call(215, &[at + 4096 * page, 4096]), 0, "munmap");
    }
}

/// An argument as an attacker might choose it.
fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..8_u64,
        any::<u64>(),
        (0..DATA_BYTES + 0x1000).prop_map(|offset| DATA + offset),
        (0..64_u32).prop_map(|bit| 1 << bit),
        (0..64_u32).prop_map(|bit| (1_u64 << bit).wrapping_neg()),
        (0..0x20_u64).prop_map(|page| 0x2_0000 + page * 4096),
        Just(HERE),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_registers_at_every_call(
        data in prop::collection::vec(any::<u8>(), 512),
        picks in prop::collection::vec((0..CALLS.len(), prop::array::uniform6(argument())), 60),
    ) {
        let mut caller = Caller::of(Machine::builder(program()).frames_max(512));
        caller.write(DATA, &data);
        caller.write(DATA + 0x1000, b"/tmp/x\0../y\0/dev/zero\0");
        for (index, arguments) in picks {
            let number = CALLS[index].number;
            match caller.try_call(number, &arguments) {
                Ok(_) | Err(Stop::Exit { .. } | Stop::OutOfFrames) => {}
                // It may have unmapped its own code.
                Err(Stop::Fault(_)) => break,
                Err(stop) => prop_assert!(false, "call {number} with {arguments:x?}: {stop}"),
            }
            if caller.machine.stop(0).unwrap().is_some_and(|stop| matches!(stop, Stop::Exit { .. })) {
                caller = Caller::new();
            }
        }
    }
}
