//! Snapshots and resets beyond what the random operations do.

use std::sync::Arc;

use kvrm_arm64::Memory;
use kvrm_machine::{AddressSpace, Features, Image, PAGE_BYTES, Permissions, Segment};

const BASE: u64 = 0x1_0000;
const PAGE: u64 = PAGE_BYTES as u64;

fn space() -> AddressSpace {
    let segment =
        Segment { address: BASE, bytes: 8 * PAGE, data: vec![1; 64], permissions: Permissions::RWX };
    AddressSpace::new(Arc::new(Image::new(&[segment], Features::ALL)), usize::MAX)
}

fn dirty(space: &AddressSpace) -> Vec<u64> {
    space.dirty_pages().map(|(address, _)| address).collect()
}

#[test]
fn a_snapshot_can_be_gone_back_to_again_and_again() {
    let mut space = space();
    space.write(BASE, [2; 4]).unwrap();
    let snapshot = space.snapshot();
    for round in 0..5 {
        space.write(BASE + 2, [round; 8]).unwrap();
        space.write(BASE + (1 + u64::from(round)) * PAGE, [round; 8]).unwrap();
        assert_eq!(space.read(BASE + 2), Ok([round; 8]), "the write of round {round}");
        space.reset(&snapshot);
        assert_eq!(space.read(BASE), Ok([2, 2, 2, 2, 1, 1, 1, 1]), "what the snapshot has, round {round}");
        assert_eq!(dirty(&space), [BASE], "only what the snapshot has is owned, round {round}");
    }
}

#[test]
fn an_older_snapshot_can_be_gone_back_to_and_then_a_newer_one() {
    let mut space = space();
    let clean = space.snapshot();
    space.write(BASE, [2; 4]).unwrap();
    let written = space.snapshot();
    space.write(BASE, [3; 4]).unwrap();
    let rewritten = space.snapshot();
    let values = [(&written, [2; 4]), (&rewritten, [3; 4]), (&clean, [1; 4]), (&rewritten, [3; 4])];
    for (index, (snapshot, value)) in values.into_iter().enumerate() {
        space.reset(snapshot);
        assert_eq!(space.read(BASE), Ok(value), "reset number {index}");
    }
}

#[test]
fn code_that_was_rewritten_is_the_old_code_again_after_a_reset() {
    let (nop, svc) = (0xd503_201f_u32, 0xd400_0001_u32);
    let mut space = space();
    // Once as a page of the image, and once as a page that is the lane's own already.
    for own in [false, true] {
        if own {
            space.write(BASE, svc.to_le_bytes()).unwrap();
        }
        let before = space.fetch(BASE).unwrap().word;
        let snapshot = space.snapshot();
        space.write(BASE, nop.to_le_bytes()).unwrap();
        assert_eq!(space.fetch(BASE).map(|code| code.word), Ok(nop), "the new code");
        space.reset(&snapshot);
        assert_eq!(space.fetch(BASE).map(|code| code.word), Ok(before), "the old code");
    }
}
