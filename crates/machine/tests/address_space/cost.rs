//! Tests that the cost of an address space depends on the pages written, not on the pages mapped.

use std::sync::Arc;

use kvrm_arm64::Memory;
use kvrm_machine::{AddressSpace, Features, Image, PAGE_BYTES, Permissions, Segment};

#[test]
fn mapping_all_memory_takes_no_frame_and_writing_takes_one_a_page() {
    let all = Segment { address: 0, bytes: 1 << 48, data: Vec::new(), permissions: Permissions::RWX };
    let image = Arc::new(Image::new(&[all], Features::ALL).unwrap());
    assert_eq!((image.frames_used(), image.end()), (0, 1 << 48), "an image of zeros");
    let mut space = AddressSpace::new(image, usize::MAX);
    let places = [0, 0x1234_5678_9000, (1 << 48) - 8];
    for at in places {
        assert_eq!(space.read(at), Ok([0; 8]), "reading {at:#x}");
        assert_eq!(space.fetch(at).map(|code| code.word), Ok(0), "fetching {at:#x}");
    }
    assert_eq!(space.private_pages().count(), 0, "reading and fetching take no frames");
    for (index, at) in places.into_iter().enumerate() {
        space.write(at, [0; 8]).unwrap();
        space.write(at, [1; 8]).unwrap();
        assert_eq!(
            space.private_pages().count(),
            index + 1,
            "one frame per page: writing zeros takes one, and a second write to the page takes none"
        );
    }
}

/// A segment: its address, its size, and the size of its data.
type Place = (u64, u64, usize);

#[test]
fn an_image_has_frames_for_the_pages_that_have_data() {
    const PAGE: u64 = PAGE_BYTES as u64;
    // Segments, and the number of pages that their data touches.
    let cases: [(&[Place], usize); 6] = [
        (&[(0x1000, 1 << 30, 0)], 0),
        (&[(0x1000, 1 << 30, 1)], 1),
        (&[(0x1fff, 1 << 30, 2)], 2),
        (&[(0x1000, PAGE, PAGE_BYTES), (0x1800, PAGE, PAGE_BYTES)], 2),
        (&[(0x1000, PAGE, 1), (0x1800, 1 << 30, 1)], 1),
        (&[(0x1000, 1, 1), (0x9000, 1, 1)], 2),
    ];
    for (segments, frames) in cases {
        let segment = |&(address, bytes, data): &Place| Segment {
            address,
            bytes,
            data: vec![7; data],
            permissions: Permissions::R,
        };
        let segments: Vec<Segment> = segments.iter().map(segment).collect();
        let image = Image::new(&segments, Features::ALL).unwrap();
        assert_eq!(image.frames_used(), frames, "frames of {segments:?}");
    }
}

#[test]
fn an_access_of_no_bytes_succeeds_anywhere() {
    let image = Arc::new(Image::new(&[], Features::ALL).unwrap());
    let mut space = AddressSpace::new(image, 0);
    for at in [0, 0x1000, (1 << 48) - 1, 1 << 48, (1 << 48) + 1, u64::MAX] {
        assert_eq!(space.read_bytes(at, &mut [], None), Ok(()), "reading nothing from {at:#x}");
        assert_eq!(space.write_bytes(at, &[], None), Ok(()), "writing nothing to {at:#x}");
    }
    assert_eq!(space.private_pages().count(), 0, "nothing was written");
}

#[test]
fn an_image_of_an_impossible_segment_is_refused() {
    let cases =
        [(u64::MAX, 2, 0), (u64::MAX, u64::MAX, 0), (1 << 48, 1, 0), ((1 << 48) - 1, 2, 0), (0x1000, 1, 2)];
    for (address, bytes, data) in cases {
        let segment = Segment { address, bytes, data: vec![0; data], permissions: Permissions::RW };
        let error = Image::new(&[segment], Features::ALL).unwrap_err();
        assert!(error.to_string().contains(&format!("{bytes:#x} bytes at {address:#x}")), "{error}");
    }
}
