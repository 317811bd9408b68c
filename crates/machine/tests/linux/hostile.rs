//! Tests with hostile guests: bad pointers, arbitrary arguments, paths that try to escape.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kvrm_machine::{Machine, Stop, linux::CALLS};
use proptest::prelude::*;

use crate::support::{AT_FDCWD, Caller, DATA, DATA_BYTES, program};

const ENOENT: i64 = -2;
const EFAULT: i64 = -14;

/// System calls: number, valid arguments, and the indices of arguments that are pointers. The test replaces one pointer
/// at a time by a bad one. Calls with different kinds of pointers have several rows.
#[rustfmt::skip] // One line each.
const POINTERS: &[(u64, &[u64], &[usize])] = &[
    (5, &[DATA, NAME, DATA, 1, 0], &[0, 1, 2]),
    (6, &[DATA, NAME, DATA, 1, 0], &[0, 1, 2]),
    (7, &[FILE, NAME, DATA, 1, 0], &[1, 2]),
    (8, &[DATA, NAME, DATA, 1], &[0, 1]),
    (9, &[DATA, NAME, DATA, 1], &[0, 1]),
    (10, &[FILE, NAME, DATA, 1], &[1]),
    (11, &[DATA, DATA, 0], &[0]),
    (12, &[DATA, DATA, 0], &[0]),
    (14, &[DATA, NAME], &[0, 1]),
    (15, &[DATA, NAME], &[0, 1]),
    (16, &[FILE, NAME], &[1]),
    (17, &[DATA, 100], &[0]),
    (21, &[EPOLL, 1, 1, DATA], &[3]),
    (22, &[EPOLL, DATA, 1, 0, DATA, 8], &[4]),
    (25, &[FILE, 5, DATA], &[2]),
    (25, &[FILE, 6, DATA], &[2]),
    (25, &[FILE, 37, DATA], &[2]),
    (27, &[NOTICES, DATA, 2], &[1]),
    (29, &[0, 0x541b, DATA], &[2]),
    (29, &[0, 0x5421, DATA], &[2]),
    (33, &[AT_FDCWD, DATA, 0o10_600], &[1]),
    (34, &[AT_FDCWD, DATA, 0], &[1]),
    (35, &[AT_FDCWD, DATA, 0], &[1]),
    (36, &[DATA, AT_FDCWD, DATA], &[0, 2]),
    (37, &[AT_FDCWD, DATA, AT_FDCWD, DATA], &[1, 3]),
    (38, &[AT_FDCWD, DATA, AT_FDCWD, DATA], &[1, 3]),
    (43, &[DATA, DATA], &[0, 1]),
    (44, &[FILE, DATA], &[1]),
    (45, &[DATA, 0], &[0]),
    (48, &[AT_FDCWD, DATA, 0], &[1]),
    (49, &[DATA], &[0]),
    (51, &[DATA], &[0]),
    (53, &[AT_FDCWD, DATA, 0], &[1]),
    (54, &[AT_FDCWD, DATA, 0, 0, 0], &[1]),
    (56, &[AT_FDCWD, DATA, 0], &[1]),
    (59, &[DATA, 0], &[0]),
    (61, &[FOLDER, DATA, 1000], &[1]),
    (63, &[FILE, DATA, 10], &[1]),
    (64, &[1, DATA, 10], &[1]),
    (65, &[FILE, DATA, 1], &[1]),
    (66, &[1, DATA, 1], &[1]),
    (67, &[FILE, DATA, 10, 0], &[1]),
    (68, &[FILE, DATA, 10, 0], &[1]),
    (69, &[FILE, DATA, 1, 0], &[1]),
    (70, &[FILE, DATA, 1, 0], &[1]),
    (71, &[1, FILE, DATA, 10], &[2]),
    (72, &[10, DATA, DATA, DATA, DATA], &[1, 2, 3, 4]),
    (73, &[DATA, 1, DATA, 0, 8], &[0, 2]),
    (74, &[u64::MAX, DATA, 8, 0], &[1]),
    (75, &[PIPE, DATA, 1, 0], &[1]),
    (78, &[AT_FDCWD, LINK, DATA, 10], &[1, 2]),
    (79, &[AT_FDCWD, DATA, DATA, 0], &[1, 2]),
    (80, &[1, DATA], &[1]),
    (86, &[TIMER, 0, DATA, DATA], &[2, 3]),
    (87, &[TIMER, DATA], &[1]),
    (88, &[AT_FDCWD, DATA, DATA, 0], &[1, 2]),
    (90, &[DATA, 0], &[0]),
    (91, &[DATA, DATA], &[0]),
    (98, &[DATA, 0, 0, DATA], &[0, 3]),
    (100, &[0, DATA, DATA], &[1, 2]),
    (101, &[DATA, 0], &[0]),
    (102, &[0, DATA], &[1]),
    (103, &[0, DATA, DATA], &[1, 2]),
    (107, &[1, 0, DATA], &[1, 2]),
    (113, &[0, DATA], &[1]),
    (114, &[0, DATA], &[1]),
    (115, &[0, 0, DATA, 0], &[2]),
    (118, &[0, DATA], &[1]),
    (119, &[0, 0, DATA], &[2]),
    (121, &[0, DATA], &[1]),
    (122, &[0, 8, DATA], &[2]),
    (123, &[0, 8, DATA], &[2]),
    (127, &[0, DATA], &[1]),
    (132, &[DATA, DATA], &[0, 1]),
    (133, &[DATA, 8], &[0]),
    (134, &[10, DATA, DATA, 8], &[1, 2]),
    (135, &[0, DATA, DATA, 8], &[1, 2]),
    (136, &[DATA, 8], &[0]),
    (137, &[DATA, DATA, DATA, 8], &[0, 2]),
    (138, &[2, 10, DATA], &[2]),
    (148, &[DATA, DATA, DATA], &[0, 1, 2]),
    (150, &[DATA, DATA, DATA], &[0, 1, 2]),
    (153, &[DATA], &[0]),
    (160, &[DATA], &[0]),
    (161, &[DATA, 4], &[0]),
    (163, &[7, DATA], &[1]),
    (164, &[4, DATA], &[1]),
    (165, &[0, DATA], &[1]),
    (167, &[15, DATA], &[1]),
    (167, &[16, DATA], &[1]),
    (168, &[DATA, DATA], &[0, 1]),
    (169, &[DATA, DATA], &[0, 1]),
    (179, &[DATA], &[0]),
    (180, &[NAME, 0o102, 0o600, DATA], &[0, 3]),
    (181, &[NAME], &[0]),
    (182, &[QUEUE, DATA, 1, 0, DATA], &[1, 4]),
    (183, &[QUEUE, DATA, 8192, DATA, DATA], &[4]),
    (184, &[QUEUE, DATA], &[1]),
    (185, &[QUEUE, DATA, DATA], &[1, 2]),
    (187, &[0, 2, DATA], &[2]),
    (187, &[0, 1, DATA], &[2]),
    (189, &[0, DATA, 8], &[1]),
    (191, &[0, 0, 2, DATA], &[3]),
    (191, &[0, 0, 13, DATA], &[3]),
    (191, &[0, 0, 17, DATA], &[3]),
    (192, &[0, DATA, 1, DATA], &[1, 3]),
    (193, &[0, DATA, 1], &[1]),
    (195, &[0, 2, DATA], &[2]),
    (195, &[0, 1, DATA], &[2]),
    (199, &[1, 1, 0, DATA], &[3]),
    (200, &[SOCKET, DATA, 16], &[1]),
    (203, &[SOCKET, DATA, 16], &[1]),
    (204, &[SOCKET, DATA, SIZE], &[1, 2]),
    (205, &[PAIR, DATA, SIZE], &[1, 2]),
    (206, &[PAIR, DATA, 5, 0, DATA, 0], &[1]),
    (207, &[PAIR, DATA, 5, 0, 0, 0], &[1]),
    (207, &[PAIR, DATA, 5, 0, DATA, SIZE], &[5]),
    (208, &[SOCKET, 1, 2, DATA, 4], &[3]),
    (209, &[SOCKET, 1, 2, DATA, SIZE], &[3, 4]),
    (211, &[PAIR, DATA, 0], &[1]),
    (212, &[PAIR, DATA, 0], &[1]),
    (243, &[PAIR, DATA, 1, 0, 0], &[1]),
    (269, &[PAIR, DATA, 1, 0], &[1]),
    (221, &[DATA, 0, 0], &[0]),
    (232, &[DATA, 4096, DATA], &[2]),
    (240, &[2, 2, 10, DATA], &[3]),
    (261, &[0, 7, DATA, DATA], &[2, 3]),
    (276, &[AT_FDCWD, DATA, AT_FDCWD, DATA, 0], &[1, 3]),
    (278, &[DATA, 100, 0], &[0]),
    (279, &[DATA, 0], &[0]),
    (281, &[AT_FDCWD, DATA, 0, 0, 0], &[1]),
    (285, &[FILE, DATA, FILE, DATA, 1, 0], &[1, 3]),
    (286, &[FILE, DATA, 1, 0], &[1]),
    (287, &[FILE, DATA, 1, 0], &[1]),
    (291, &[AT_FDCWD, DATA, 0, 0, DATA], &[1, 4]),
    (435, &[DATA, 64], &[0]),
    (439, &[AT_FDCWD, DATA, 0], &[1]),
    (441, &[EPOLL, DATA, 1, DATA, 0, 0], &[3]),
];

/// The system calls that access no memory through pointers.
const WITHOUT_POINTERS: &[u64] = &[
    13, 19, 20, 23, 24, 26, 28, 32, 46, 47, 50, 52, 55, 57, 62, 76, 77, 81, 82, 83, 84, 85, 92, 93, 94, 95,
    96, 99, 108, 109, 110, 111, 120, 124, 125, 126, 129, 130, 131, 139, 140, 141, 143, 144, 145, 146, 147,
    149, 154, 155, 156, 157, 158, 159, 166, 172, 173, 174, 175, 176, 177, 178, 186, 188, 190, 194, 196, 197,
    198, 201, 202, 210, 213, 214, 215, 216, 220, 222, 223, 226, 227, 228, 229, 230, 231, 233, 242, 260, 267,
    283, 284, 293, 436,
];

/// The descriptors of a file and of a directory, and the address of the path of a symbolic link.
const FILE: u64 = 3;
const FOLDER: u64 = 4;
/// The descriptors of an epoll file and of a timer.
const EPOLL: u64 = 5;
const TIMER: u64 = 6;
const LINK: u64 = DATA + 0x2000;
/// The descriptors of an inotify file, of a socket, of one of a pair with five bytes to receive, of a message queue, and of the
/// write end of a pipe.
const NOTICES: u64 = 7;
const SOCKET: u64 = 8;
const PAIR: u64 = 9;
const QUEUE: u64 = 11;
const PIPE: u64 = 13;
/// The address of a name, and of the size of a buffer.
const NAME: u64 = DATA + 0x2100;
const SIZE: u64 = DATA + 0x2200;

#[test]
fn bad_pointers_are_efault_in_every_call() {
    let known: BTreeSet<u64> =
        POINTERS.iter().map(|(number, ..)| *number).chain(WITHOUT_POINTERS.iter().copied()).collect();
    assert_eq!(known, CALLS.iter().map(|call| call.number).collect(), "the two lists contain every call");
    for (number, arguments, holes) in POINTERS {
        for hole in *holes {
            for pointer in [8, 1 << 47, u64::MAX - 7, 0xffff_ffff_ffff_f000] {
                let mut caller = Caller::new();
                assert_eq!(caller.open("/tmp/file", 0o102), FILE as i64, "a file");
                caller.write(DATA, b"some bytes");
                assert_eq!(caller.call(64, &[FILE, DATA, 10]), 10, "write some bytes to it");
                assert_eq!(caller.call(62, &[FILE, 0, 0]), 0, "seek to its start");
                assert_eq!(caller.open("/", 0), FOLDER as i64, "a folder");
                assert_eq!(caller.call(20, &[0]), EPOLL as i64, "an epoll file");
                assert_eq!(caller.call(85, &[1, 0]), TIMER as i64, "a timer");
                assert_eq!(caller.call(26, &[0]), NOTICES as i64, "an inotify file");
                assert_eq!(caller.call(198, &[2, 1, 0]), SOCKET as i64, "a socket");
                assert_eq!(caller.call(199, &[1, 1, 0, DATA]), 0, "a pair of sockets, 9 and 10");
                assert_eq!(caller.call(64, &[PAIR + 1, DATA, 5]), 5, "bytes to receive");
                caller.write(NAME, b"user.name\0");
                assert_eq!(caller.call(180, &[NAME + 5, 0o102, 0o600, 0]), QUEUE as i64, "a message queue");
                assert_eq!(caller.call(59, &[DATA, 0]), 0, "a pipe, 12 and 13");
                assert_eq!(caller.call(186, &[0, 0]), 0, "a message queue of System V");
                assert_eq!(caller.call(190, &[0, 1, 0]), 0, "a set of semaphores");
                assert_eq!(caller.call(194, &[0, 1, 0]), 0, "a segment of memory");
                caller.write(SIZE, &[16, 0, 0, 0]);
                caller.write(LINK, b"/proc/self/exe\0");
                // Zeros are valid data for every call: an empty path, a mask, a time, counts of bytes.
                caller.write(DATA, &[0; 64]);
                if matches!(number, 5 | 6 | 8 | 9 | 11 | 12 | 14 | 15 | 43 | 79 | 291) {
                    caller.write(DATA, b"/\0");
                }
                if *number == 189 {
                    caller.write(DATA, &[1]);
                }
                let mut arguments = arguments.to_vec();
                arguments[*hole] = pointer;
                let answer = caller.call(*number, &arguments);
                // An empty path may be refused before the bad pointer is used.
                let is_empty_path = answer == ENOENT && holes.len() > 1;
                assert!(
                    answer == EFAULT || is_empty_path,
                    "call {number} with {pointer:#x} as argument {hole}: {answer}"
                );
            }
        }
    }
}

#[test]
fn failed_reads_lose_no_input() {
    let mut caller = Caller::of(Machine::builder(program()).input(|_| b"abcdef".to_vec()));
    // The code is not writable, and the memory after the data is not mapped.
    assert_eq!(caller.call(63, &[0, 0x1_0000, 3]), EFAULT, "reading into code");
    assert_eq!(caller.call(63, &[0, DATA + DATA_BYTES - 2, 6]), 2, "reading as much as is writable");
    assert_eq!(caller.call(63, &[0, DATA, 6]), 4, "reading the rest");
    assert_eq!(caller.read(DATA, 4), b"cdef", "the rest of the input");
}

#[test]
fn paths_do_not_leave_the_root() {
    let mut caller = Caller::new();
    // A file that certainly exists on the host.
    let file = tempfile::NamedTempFile::new().unwrap();
    let host = file.path().to_str().expect("the path of a temporary file is text");
    let starts = [
        "",
        "/../../..",
        "../..",
        "/proc/self/root",
        "/proc/2/root",
        "/proc/self/cwd",
        "/dev/../..",
        "/proc/self/cwd/..",
        "/proc/self/fd/../../..",
        "/proc/../..",
        "/proc/thread-self/root/..",
    ];
    for path in starts.map(|start| format!("{start}{host}")) {
        assert_eq!(caller.open(&path, 0), ENOENT, "{path} does not exist");
    }
    // Two links that form a loop, and a link that leads above the root.
    for (target, name) in [("/tmp/b", "/tmp/a"), ("/tmp/a", "/tmp/b"), ("../../../..", "/tmp/up")] {
        caller.write(DATA, format!("{target}\0").as_bytes());
        let name = caller.path(name);
        assert_eq!(caller.call(36, &[DATA, AT_FDCWD, name]), 0, "symlink");
    }
    assert_eq!(caller.open("/tmp/a", 0), -40, "a loop");
    assert_eq!(caller.open("/tmp/a/x", 0), -40, "a loop within a path");
    assert_eq!(caller.open("/tmp/up/tmp/up/dev/null", 0), 3, "the parent of the root is the root");
}

#[test]
fn memory_has_limits() {
    let mut caller = Caller::new();
    let none = 0x22;
    let wild = [u64::MAX, u64::MAX - 4095, 1 << 63, 1 << 48, (1 << 48) - 4096];
    for bytes in wild {
        assert!(caller.call(222, &[0, bytes, 3, none, 0, 0]) < 0, "mmap of {bytes:#x}");
        assert!(caller.call(216, &[DATA, 4096, bytes, 1]) < 0, "mremap to {bytes:#x}");
        assert!(caller.call(226, &[DATA, bytes, 1]) < 0, "mprotect of {bytes:#x}");
    }
    for address in [0, 0xf000, 1 << 48, 1 << 63, u64::MAX - 4095] {
        assert!(caller.call(222, &[address, 4096, 3, none | 0x10, 0, 0]) < 0, "mmap at {address:#x}");
        let moved = caller.call(216, &[DATA, 4096, 4096, 3, address]);
        assert!(moved < 0, "mremap to {address:#x}");
    }
    assert_eq!(caller.call(214, &[u64::MAX]), caller.call(214, &[0]), "brk stays where it is");
    // Unmap every other of a thousand pages: many regions, but fewer than the limit.
    let at = caller.call(222, &[0, 1 << 22, 3, none, 0, 0]) as u64;
    for page in (0..1024).step_by(2) {
        assert_eq!(caller.call(215, &[at + 4096 * page, 4096]), 0, "munmap");
    }
}

/// The limit on the time of a call, with a margin for slow hosts.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Arguments that an attacker might choose.
fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..8_u64,
        any::<u64>(),
        (0..DATA_BYTES + 0x1000).prop_map(|offset| DATA + offset),
        (0..64_u32).prop_map(|bit| 1 << bit),
        (0..64_u32).prop_map(|bit| (1_u64 << bit).wrapping_neg()),
        (0..0x20_u64).prop_map(|page| 0x2_0000 + page * 4096),
        Just(AT_FDCWD),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_registers_at_every_call(
        data in prop::collection::vec(any::<u8>(), 512),
        picks in prop::collection::vec((0..CALLS.len(), prop::array::uniform7(argument())), 60),
    ) {
        let builder = Machine::builder(program()).frames_max(512).disk_bytes(1 << 22).terminal(data[0] % 2 == 0);
        let mut caller = Caller::of(builder.trace(|_| data[1] % 2 == 0, |_, _| ()));
        caller.write(DATA, &data);
        caller.write(DATA + 0x1000, b"/tmp/x\0../y\0/dev/zero\0");
        for (index, arguments) in picks {
            let number = CALLS[index].number;
            // Signal frames are pushed to wherever the stack pointer is.
            let [arguments @ .., sp] = arguments;
            let mut cpu = caller.machine.cpu(0).unwrap();
            cpu.sp = sp;
            caller.machine.set_cpu(0, &cpu).unwrap();
            let begin = Instant::now();
            let made = caller.try_call(number, &arguments);
            prop_assert!(begin.elapsed() < TIME_MAX, "call {number} with {arguments:x?} took {:?}", begin.elapsed());
            match made {
                Ok(_) | Err(Stop::Exit { .. } | Stop::OutOfFrames | Stop::Deadlock) => {}
                // The call may have unmapped the code.
                Err(Stop::Fault(_)) => break,
                Err(stop) => prop_assert!(false, "call {number} with {arguments:x?}: {stop}"),
            }
            if caller.machine.stop(0).unwrap().is_some_and(|stop| matches!(stop, Stop::Exit { .. })) {
                caller = Caller::new();
            }
        }
    }
}
