//! Tests that the memory that calls read is prefetched for all lanes together.

use crate::support::{CODE, RecordingEngine, calling_machine};

const BLOCK: u64 = CODE + 0x1000;
const DATA: u64 = CODE + 0x2000;
const MORE: u64 = CODE + 0x3000;

/// Ranges of a lane's memory: address and size.
type Ranges = &'static [(u64, usize)];

/// Calls: the operation, the fields of the parameter block at [`BLOCK`], and the ranges that the call reads besides it.
const CALLS: [(u64, &[u64], Ranges); 25] = [
    (0x01, &[DATA, 4, 3], &[(DATA, 3)]),                  // SYS_OPEN
    (0x02, &[1], &[]),                                    // SYS_CLOSE
    (0x03, &[], &[]),                                     // SYS_WRITEC
    (0x04, &[], &[]),                                     // SYS_WRITE0
    (0x05, &[1, DATA, 5000], &[(DATA, 5000)]),            // SYS_WRITE
    (0x06, &[1, DATA, 5000], &[]),                        // SYS_READ
    (0x07, &[], &[]),                                     // SYS_READC
    (0x08, &[1], &[]),                                    // SYS_ISERROR
    (0x09, &[1], &[]),                                    // SYS_ISTTY
    (0x0a, &[1, 0], &[]),                                 // SYS_SEEK
    (0x0c, &[1], &[]),                                    // SYS_FLEN
    (0x0d, &[DATA, 1, 64], &[]),                          // SYS_TMPNAM
    (0x0e, &[DATA, 9], &[(DATA, 9)]),                     // SYS_REMOVE
    (0x0f, &[DATA, 9, MORE, 8], &[(DATA, 9), (MORE, 8)]), // SYS_RENAME
    (0x10, &[], &[]),                                     // SYS_CLOCK
    (0x11, &[], &[]),                                     // SYS_TIME
    (0x12, &[DATA, 9], &[]),                              // SYS_SYSTEM
    (0x13, &[], &[]),                                     // SYS_ERRNO
    (0x15, &[DATA, 64], &[]),                             // SYS_GET_CMDLINE
    (0x16, &[DATA], &[]),                                 // SYS_HEAPINFO
    (0x18, &[0x2_0026, 3], &[]),                          // SYS_EXIT
    (0x20, &[0x2_0026, 3], &[]),                          // SYS_EXIT_EXTENDED
    (0x30, &[], &[]),                                     // SYS_ELAPSED
    (0x31, &[], &[]),                                     // SYS_TICKFREQ
    (0x99, &[], &[]),                                     // unknown operation
];

#[test]
fn all_memory_that_calls_read_is_prefetched_in_two_passes() {
    let engine = RecordingEngine::default();
    let lanes: Vec<_> =
        CALLS.iter().map(|&(operation, fields, _)| (operation, BLOCK, fields.to_vec())).collect();
    let report = calling_machine(&engine, &lanes).run(100).unwrap();
    assert_eq!(report.services, lanes.len() as u64, "all lanes are served");
    let log = engine.log();
    assert_eq!(log.prefetched.len(), 2, "parameter blocks of all lanes, then the ranges they refer to");
    assert!(log.prefetched[0].iter().all(|&(_, address, _)| address == BLOCK), "{:x?}", log.prefetched[0]);
    let named: Vec<_> = (0..)
        .zip(CALLS)
        .flat_map(|(lane, (.., named))| named.iter().map(move |&(at, bytes)| (lane, at, bytes)))
        .collect();
    assert_eq!(log.prefetched[1], named, "the ranges that parameter blocks refer to");
    for &(lane, address, bytes) in &log.read {
        let holds = |&(of, at, room): &(usize, u64, usize)| {
            of == lane && at <= address && address + bytes as u64 <= at + room as u64
        };
        let asked = log.prefetched.iter().flatten().any(holds);
        assert!(asked, "lane {lane} reads {bytes} bytes at {address:#x} for operation {:#x}", lanes[lane].0);
    }
}

#[test]
fn prefetching_stays_within_the_limits_of_a_call() {
    let huge = u64::MAX;
    let calls = [0x01, 0x05, 0x0e, 0x0f].map(|operation| (operation, BLOCK, vec![DATA, huge, huge, huge]));
    let engine = RecordingEngine::default();
    calling_machine(&engine, &calls).run(100).unwrap();
    let log = engine.log();
    assert_eq!(log.prefetched[1], [(1, huge, 1 << 20)], "a transfer is cut short, and names are refused");
    // An unmapped parameter block refers to nothing.
    let engine = RecordingEngine::default();
    calling_machine(&engine, &[(0x05, 8, Vec::new()), (0x05, huge, Vec::new())]).run(100).unwrap();
    assert_eq!(engine.log().prefetched[1], [], "no ranges");
}

#[test]
fn a_round_without_calls_prefetches_nothing() {
    let engine = RecordingEngine::default();
    let mut machine = calling_machine(&engine, &[(0x10, 0, Vec::new())]);
    machine.run(0).unwrap();
    assert!(engine.log().prefetched.is_empty(), "no call was made yet");
}
