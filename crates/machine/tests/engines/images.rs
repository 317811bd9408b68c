//! Tests of the public view of images, and of lanes with an image each.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::X0;
use kvrm_machine::{
    Cpu, Executor, Factory, Features, Image, ImagePage, PAGE_BYTES, Permissions, Plan, Reference,
    ReferenceEngine, Region, Register, Segment, Stop,
};

use crate::support::{CODE, image};

const PAGE: u64 = PAGE_BYTES as u64;

#[test]
fn regions_frames_and_pages_of_an_image_agree() {
    let segment = |page: u64, pages: u64, data: usize, permissions| Segment {
        address: page * PAGE,
        bytes: pages * PAGE,
        data: vec![page as u8; data],
        permissions,
    };
    let segments = [
        segment(1, 2, PAGE_BYTES + 1, Permissions::RX),
        segment(3, 1 << 20, 10, Permissions::RW),
        segment((1 << 36) - 1, 1, 0, Permissions::R),
    ];
    let image = Image::new(&segments, Features::ALL).unwrap();
    let region = |first_page, end_page, permissions, first_frame| Region {
        first_page,
        end_page,
        permissions,
        first_frame,
    };
    let expected = [
        region(1, 3, Permissions::RX, Some(1)),
        region(3, 4, Permissions::RW, Some(3)),
        region(4, 3 + (1 << 20), Permissions::RW, None),
        region((1 << 36) - 1, 1 << 36, Permissions::R, None),
    ];
    assert_eq!(image.regions(), expected, "sorted, and split where data ends");
    assert_eq!(image.frames().len(), image.frames_used() + 1, "the zero frame and those with data");
    let starts = [0, 1, 1, 3].map(|byte| byte as u8);
    assert_eq!(
        image.frames().iter().map(|frame| frame[0]).collect::<Vec<_>>(),
        starts,
        "the first byte of each frame"
    );
    assert!(image.frames()[0].iter().all(|&byte| byte == 0), "the zero frame");
    for region in image.regions() {
        for page in [region.first_page, region.end_page - 1] {
            let frame = region.first_frame.map_or(0, |first| first + (page - region.first_page) as u32);
            let permissions = region.permissions;
            assert_eq!(image.page(page), Some(ImagePage { frame, permissions }), "page {page:#x}");
        }
    }
    for page in [0, 3 + (1 << 20), (1 << 36) - 2, 1 << 36, u64::MAX] {
        assert_eq!(image.page(page), None, "page {page:#x}");
    }
}

#[test]
fn lanes_share_an_image_or_have_one_each() {
    let own: Vec<Arc<Image>> = (1..=3)
        .map(|value| {
            image(|a| {
                a.add(X0, X0, value).hlt(value);
            })
        })
        .collect();
    for (images, expected) in [(&own[..], [1, 2, 3]), (&own[1..2], [2, 2, 2])] {
        let plan = Plan { images, lanes: 3, frames_max: 0, calls: None, loops: None };
        let mut executor = ReferenceEngine.executor(&plan).unwrap();
        for lane in 0..3 {
            executor.set_cpu(lane, &Cpu::new(CODE, 0)).unwrap();
        }
        executor.run(&[10; 3], &mut |_| ControlFlow::Continue(())).unwrap();
        let mut values = vec![99];
        executor.registers(Register::X(0), &mut values).unwrap();
        assert_eq!(values, expected, "each lane has run its code");
        for (lane, imm) in expected.into_iter().enumerate() {
            assert_eq!(executor.stop(lane).unwrap(), Some(Stop::Halt { imm: imm as u16 }), "lane {lane}");
        }
        let mut code = Vec::new();
        executor.read_memory_of_each(CODE, 4, &[0, 1, 2], &mut code).unwrap().unwrap();
        assert_eq!(
            code[..4] == code[8..],
            images.len() == 1,
            "lanes with images of their own have different memory"
        );
    }
}

#[test]
fn reading_a_range_that_one_lane_lacks_names_that_lane() {
    let far = Segment { address: 0x5000, bytes: PAGE, data: vec![1], permissions: Permissions::R };
    let images = [
        Arc::new(Image::new(&[far], Features::ALL).unwrap()),
        Arc::new(Image::new(&[], Features::ALL).unwrap()),
    ];
    let mut executor =
        Reference::new(&Plan { images: &images, lanes: 2, frames_max: 0, calls: None, loops: None }).unwrap();
    let mut out = vec![7; 3];
    let (lane, stop) = executor.read_memory_of_each(0x5000, 1, &[0, 1], &mut out).unwrap().unwrap_err();
    assert_eq!(
        (lane, &*stop.to_string()),
        (1, "read from unmapped memory at 0x5000"),
        "lane 1 lacks the range"
    );
}
