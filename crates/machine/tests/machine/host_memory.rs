//! Tests of memory that the host reads, writes and maps between runs.

use kvrm_arm64::asm::{X0, X1, at};
use kvrm_machine::{Error, Machine, MapFailure, Permissions, Stop};

use crate::support::{fault, raw};

const ROOM: u64 = 0x4000_0000;
const PAGE: u64 = 4096;

/// Returns a machine of two lanes that load from and store to the address in X0, with a megabyte of reserved addresses.
fn machine() -> Machine {
    let program = raw(|a| {
        a.ldr(X1, at(X0, 0)).add(X1, X1, 1).str(X1, at(X0, 0)).hlt(0);
    });
    let builder = Machine::builder(program).lanes(2).reserve(ROOM..ROOM + (1 << 20));
    builder.prepare(|lane| lane.set_x(0, ROOM + 8)).build().unwrap()
}

#[test]
fn reserved_pages_are_unmapped_until_the_host_maps_them_in_a_lane() {
    let mut machine = machine();
    machine.map(1, ROOM..ROOM + 2 * PAGE, Permissions::RW).unwrap();
    machine.write(1, ROOM + 8, &41_u64.to_le_bytes()).unwrap();
    machine.run(100).unwrap();
    let unmapped = fault(kvrm_machine::FaultKind::Translation, kvrm_machine::Access::Read, ROOM + 8);
    assert_eq!(machine.stops().unwrap(), [Some(unmapped), Some(Stop::Halt { imm: 0 })], "of both lanes");
    let mut bytes = [0; 8];
    machine.read(1, ROOM + 8, &mut bytes).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 42, "the guest has added one");
    let error = machine.read(0, ROOM + 8, &mut bytes).unwrap_err();
    assert!(matches!(error, Error::Memory { lane: 0, .. }), "{error}");
}

#[test]
fn protected_pages_keep_their_contents_and_unmapped_ones_lose_them() {
    let mut machine = machine();
    let page = ROOM..ROOM + PAGE;
    machine.map(0, page.clone(), Permissions::RW).unwrap();
    machine.write(0, ROOM + 8, &[7]).unwrap();
    machine.protect(0, page.clone(), Permissions::R).unwrap();
    machine.run(100).unwrap();
    let refused = fault(kvrm_machine::FaultKind::Permission, kvrm_machine::Access::Write, ROOM + 8);
    assert_eq!(machine.stop(0).unwrap(), Some(refused), "a read-only page");
    let byte = |machine: &mut Machine| {
        let mut byte = [0];
        machine.read(0, ROOM + 8, &mut byte).map(|()| byte[0])
    };
    assert_eq!(byte(&mut machine).unwrap(), 7, "the content stays");
    machine.unmap(0, page.clone()).unwrap();
    assert!(matches!(byte(&mut machine), Err(Error::Memory { lane: 0, .. })), "the page is gone");
    machine.map(0, page, Permissions::RW).unwrap();
    assert_eq!(byte(&mut machine).unwrap(), 0, "zeros");
}

#[test]
fn mappings_that_are_not_possible_are_refused_with_the_reason() {
    let mut machine = machine();
    let mut reason = |addresses: std::ops::Range<u64>, protects: bool| {
        let result = match protects {
            true => machine.protect(0, addresses, Permissions::R),
            false => machine.map(0, addresses, Permissions::R),
        };
        match result.unwrap_err() {
            Error::Map { lane: 0, reason, .. } => reason,
            error => panic!("{error}"),
        }
    };
    assert_eq!(reason(ROOM + 1..ROOM + PAGE, false), MapFailure::Range, "not aligned");
    assert_eq!(reason(ROOM..ROOM, false), MapFailure::Range, "empty");
    assert_eq!(reason(0x9000_0000..0x9000_1000, false), MapFailure::NotReserved, "beyond");
    assert_eq!(reason(ROOM..ROOM + PAGE, true), MapFailure::NotMapped, "reserved, and not mapped");
    let error = Machine::builder(raw(|a| _ = a.hlt(0))).reserve(1..PAGE).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot reserve 0x1..0x1000: expected whole pages of 4096 bytes in the 48-bit address space",
        "with the addresses"
    );
}
