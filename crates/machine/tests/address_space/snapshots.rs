//! Tests of snapshots and resets that random operations do not cover.

use std::sync::Arc;

use kvrm_arm64::Memory;
use kvrm_machine::{AddressSpace, Error, Features, Image, PAGE_BYTES, Permissions, Segment};

const BASE: u64 = 0x1_0000;
const PAGE: u64 = PAGE_BYTES as u64;

fn space() -> AddressSpace {
    let segment =
        Segment { address: BASE, bytes: 8 * PAGE, data: vec![1; 64], permissions: Permissions::RWX };
    AddressSpace::new(Arc::new(Image::new(&[segment], Features::ALL).unwrap()), usize::MAX)
}

fn private_pages(space: &AddressSpace) -> Vec<u64> {
    space.private_pages().map(|(address, _)| address).collect()
}

#[test]
fn a_snapshot_can_be_restored_repeatedly() {
    let mut space = space();
    space.write(BASE, [2; 4]).unwrap();
    let snapshot = space.snapshot();
    for round in 0..5 {
        space.write(BASE + 2, [round; 8]).unwrap();
        space.write(BASE + (1 + u64::from(round)) * PAGE, [round; 8]).unwrap();
        assert_eq!(space.read(BASE + 2), Ok([round; 8]), "the write of round {round}");
        space.reset(&snapshot).unwrap();
        assert_eq!(
            space.read(BASE),
            Ok([2, 2, 2, 2, 1, 1, 1, 1]),
            "the contents in the snapshot, round {round}"
        );
        assert_eq!(private_pages(&space), [BASE], "only pages of the snapshot stay private, round {round}");
    }
}

#[test]
fn only_the_last_snapshot_can_be_restored() {
    let mut space = space();
    let mut snapshots = Vec::new();
    for value in 2..5 {
        space.write(BASE + PAGE * u64::from(value), [value; 4]).unwrap();
        space.write(BASE, [value; 4]).unwrap();
        snapshots.push(space.snapshot());
    }
    space.write(BASE, [5; 4]).unwrap();
    for older in &snapshots[..2] {
        let error = space.reset(older).unwrap_err();
        assert!(matches!(error, Error::StaleSnapshot), "{error:?}");
        assert_eq!(error.to_string(), "the snapshot is not the last one of this lane", "the error message");
        assert_eq!(space.read(BASE), Ok([5; 4]), "nothing has changed");
    }
    space.reset(&snapshots[2]).unwrap();
    assert_eq!(space.read(BASE), Ok([4; 4]), "the contents in the last snapshot");
}

#[test]
fn a_snapshot_of_another_space_is_refused() {
    let (mut one, mut other) = (space(), space());
    one.snapshot();
    other.write(BASE, [7; 4]).unwrap();
    let snapshot = other.snapshot();
    assert!(one.reset(&snapshot).is_err(), "the snapshot is of another address space");
    assert_eq!((one.read(BASE), private_pages(&one)), (Ok([1; 4]), vec![]), "nothing has changed");
}

#[test]
fn a_reset_restores_rewritten_code() {
    let (nop, svc) = (0xd503_201f_u32, 0xd400_0001_u32);
    let mut space = space();
    // First with a page of the image, then with a page that is already private.
    for own in [false, true] {
        if own {
            space.write(BASE, svc.to_le_bytes()).unwrap();
        }
        let before = space.fetch(BASE).unwrap().word;
        let snapshot = space.snapshot();
        space.write(BASE, nop.to_le_bytes()).unwrap();
        assert_eq!(space.fetch(BASE).map(|code| code.word), Ok(nop), "the new code");
        space.reset(&snapshot).unwrap();
        assert_eq!(space.fetch(BASE).map(|code| code.word), Ok(before), "the old code");
    }
}
