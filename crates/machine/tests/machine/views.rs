//! Views of pictures in guest memory, compared with a computation from arrays of colors.

use std::ops::Range;

use kvrm_machine::{Error, Machine, Picture, PictureFormat, Program, Segment, Stop, View, ViewFormat};
use kvrm_machine::{FaultKind, Permissions};
use kvrm_testkit::random::Random;
use kvrm_testkit::views;

use crate::support::{CODE, PAGE, assemble};

/// The addresses of pictures and palettes.
const AREA: Range<u64> = 0x10_0000..0x14_0000;

/// A picture of a byte a pixel.
const GREY: Picture =
    Picture { address: 0x10_0000, width: 12, height: 8, stride: 16, format: PictureFormat::Grey };

/// Returns a machine with pages at [`AREA`].
fn machine(lanes: usize) -> Machine {
    let code = assemble(|a| _ = a.hlt(0));
    let text = Segment { address: CODE, bytes: PAGE, data: code, permissions: Permissions::RX };
    let bytes = AREA.end - AREA.start;
    let data = Segment { address: AREA.start, bytes, data: Vec::new(), permissions: Permissions::RW };
    let program = Program::builder().name("pictures").entry(CODE).segments([text, data]).build().unwrap();
    Machine::builder(program).lanes(lanes).build().unwrap()
}

/// Returns the red, green and blue of each pixel of a picture, by row and column, and the bytes of its
/// pixels.
fn colors(machine: &mut Machine, lane: usize, picture: &Picture) -> Vec<Vec<([u8; 3], u8)>> {
    let mut read = |address: u64| {
        let mut byte = [0];
        machine.read(lane, address, &mut byte).unwrap();
        byte[0]
    };
    let mut color = |address: u64| match picture.format {
        PictureFormat::Grey => {
            let byte = read(address);
            ([byte; 3], byte)
        }
        PictureFormat::Palette { address: palette } => {
            let byte = read(address);
            ([2, 1, 0].map(|channel| read(palette + 4 * u64::from(byte) + channel)), byte)
        }
        PictureFormat::Xrgb => ([2, 1, 0].map(|channel| read(address + channel)), 0),
    };
    let (pixel, stride) = (u64::from(picture.format.bytes()), u64::from(picture.stride));
    let row = |y: u64| -> Vec<_> {
        (0..u64::from(picture.width)).map(|x| color(picture.address + y * stride + x * pixel)).collect()
    };
    (0..u64::from(picture.height)).map(row).collect()
}

/// Computes a view from colors, square by square.
fn expected(view: &View, colors: &[Vec<([u8; 3], u8)>]) -> Vec<u8> {
    let side = 1 << view.shift();
    let (left, top) = view.origin();
    let mut out = Vec::new();
    for y in 0..view.height() {
        for x in 0..view.width() {
            let rows = &colors[(top + y * side) as usize..][..side as usize];
            let square: Vec<_> =
                rows.iter().flat_map(|row| &row[(left + x * side) as usize..][..side as usize]).collect();
            let mean = [0, 1, 2].map(|channel| {
                let sum: f64 = square.iter().map(|(color, _)| f64::from(color[channel])).sum();
                (sum / square.len() as f64).round()
            });
            match view.format() {
                ViewFormat::Index => out.push(square[0].1),
                ViewFormat::Rgb => out.extend(mean.map(|value| value as u8)),
                ViewFormat::Grey => {
                    out.push(((77.0 * mean[0] + 150.0 * mean[1] + 29.0 * mean[2]) / 256.0).round() as u8);
                }
            }
        }
    }
    out
}

#[test]
fn views_are_those_of_the_colors_of_their_pixels() {
    let mut random = Random::new(1);
    let mut machine = machine(3);
    for round in 0..60 {
        for lane in 0..3 {
            let address = AREA.start + random.below(AREA.end - AREA.start - 9000);
            let bytes: Vec<u8> = (0..9000).map(|_| random.bits() as u8).collect();
            machine.write(lane, address, &bytes).unwrap();
        }
        let view = views::view(&mut random, &AREA);
        let lanes: &[usize] = random.pick::<&[usize]>(&[&[0, 1, 2], &[2, 0], &[1], &[1, 2, 1], &[]]);
        let expected: Vec<u8> = lanes
            .iter()
            .flat_map(|lane| expected(&view, &colors(&mut machine, *lane, &view.picture())))
            .collect();
        let mut out = vec![1, 2, 3];
        machine.read_views(lanes, &view, &mut out).unwrap();
        assert_eq!(out.len(), view.bytes() * lanes.len(), "round {round}: the bytes of {view:?}");
        assert!(out == expected, "round {round}: {view:?} of lanes {lanes:?}");
    }
}

#[test]
fn means_are_rounded_half_up() {
    let mut machine = machine(1);
    machine.write(0, GREY.address, &[0, 1, 0, 0, 254, 255, 7, 7]).unwrap();
    machine.write(0, GREY.address + 16, &[0, 1, 0, 1, 255, 255, 8, 8]).unwrap();
    let mut out = Vec::new();
    machine.read_views(.., &View::new(GREY, 0..8, 0..2, 1, ViewFormat::Grey).unwrap(), &mut out).unwrap();
    assert_eq!(out, [1, 0, 255, 8], "2/4, 1/4, 1019/4 and 30/4");
}

#[test]
fn only_the_bytes_of_a_view_have_to_be_mapped() {
    let mut machine = machine(3);
    let page = AREA.start + 4 * PAGE;
    for unmapped in [AREA.start..page, page + 2 * PAGE..AREA.end] {
        machine.unmap(1, unmapped).unwrap();
    }
    let mut check = |picture, columns, rows, format: ViewFormat| {
        let view = View::new(picture, columns, rows, 0, format).unwrap();
        let mut out = Vec::new();
        match machine.read_views(&[0, 2, 1], &view, &mut out) {
            Ok(()) => None,
            Err(Error::Memory { lane: 1, stop: Stop::Fault(fault) }) => {
                assert_eq!(fault.kind, FaultKind::Translation, "of {view:?}");
                Some(fault.address)
            }
            Err(error) => panic!("{error}"),
        }
    };
    // The first row ends in the page before, and the last row begins in the page behind.
    let picture = Picture { address: page - 10, height: 513, ..GREY };
    let grey = ViewFormat::Grey;
    assert_eq!(check(picture, 10..12, 0..512, grey), None, "the columns that are mapped");
    assert_eq!(check(picture, 9..12, 0..512, grey), Some(page - 1), "a column before the page");
    assert_eq!(check(picture, 0..12, 1..512, grey), None, "the rows that are mapped");
    assert_eq!(
        check(picture, 10..11, 1..513, grey),
        Some(page + 2 * PAGE),
        "the last row ends behind the pages"
    );
    assert_eq!(check(picture, 0..10, 1..513, grey), None, "its beginning is mapped");
    // Indices do not need the palette.
    let format = PictureFormat::Palette { address: page + 2 * PAGE - 1020 };
    let picture = Picture { address: page, format, ..GREY };
    assert_eq!(check(picture, 0..12, 0..8, ViewFormat::Index), None, "of indices");
    for format in [ViewFormat::Grey, ViewFormat::Rgb] {
        assert_eq!(check(picture, 0..12, 0..8, format), Some(page + 2 * PAGE), "the end of the palette");
    }
    let format = PictureFormat::Palette { address: page - 4 };
    assert_eq!(check(Picture { format, ..picture }, 0..1, 0..1, grey), Some(page - 4), "its beginning");
    // Pictures that need more memory than there is are refused before anything is allocated.
    let large = Picture { address: page, width: u32::MAX, height: 1 << 15, stride: u32::MAX, ..GREY };
    let view = View::new(large, 0..1 << 31, 0..1 << 15, 0, ViewFormat::Rgb).unwrap();
    let error = machine.read_views(1, &view, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::Memory { lane: 1, .. }), "{error}");
    let error = machine.read_views(3, &view, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, Error::NoSuchLane { lane: 3, lanes: 3 }), "{error}");
}

#[test]
fn views_that_do_not_exist_are_refused_with_the_reason() {
    let palette = |address| PictureFormat::Palette { address };
    let end = (1 << 48) - 8 * 16;
    let cases = [
        (GREY, 0..12, 0..8, 0, ViewFormat::Rgb, None),
        (GREY, 3..11, 1..5, 2, ViewFormat::Index, None),
        (GREY, 0..0, 0..8, 0, ViewFormat::Grey, Some("columns 0..0")),
        (GREY, 0..13, 0..8, 0, ViewFormat::Grey, Some("columns 0..13")),
        (GREY, 0..12, 8..9, 0, ViewFormat::Grey, Some("rows 8..9")),
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        (GREY, 0..12, 5..3, 0, ViewFormat::Grey, Some("rows 5..3")),
        (GREY, 0..12, 0..6, 2, ViewFormat::Grey, Some("not a multiple of 4")),
        (GREY, 0..10, 0..8, 2, ViewFormat::Grey, Some("not a multiple of 4")),
        (Picture { width: 128, height: 128, stride: 128, ..GREY }, 0..128, 0..128, 6, ViewFormat::Grey, None),
        (
            Picture { width: 128, height: 128, stride: 128, ..GREY },
            0..128,
            0..128,
            7,
            ViewFormat::Grey,
            Some("at most 2^6"),
        ),
        (Picture { width: 17, ..GREY }, 0..1, 0..1, 0, ViewFormat::Grey, Some("has 17 bytes")),
        (
            Picture { width: 5, format: PictureFormat::Xrgb, ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Grey,
            Some("has 20 bytes"),
        ),
        (
            Picture { width: 4, format: PictureFormat::Xrgb, ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Index,
            Some("indices"),
        ),
        (
            Picture { address: GREY.address + 2, width: 4, format: PictureFormat::Xrgb, ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Grey,
            Some("multiples of 4"),
        ),
        (
            Picture { width: 4, stride: 18, format: PictureFormat::Xrgb, ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Grey,
            Some("multiples of 4"),
        ),
        (
            Picture { format: palette(0x1001), ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Grey,
            Some("multiples of 4"),
        ),
        (Picture { format: palette(0x1004), stride: 13, ..GREY }, 0..1, 0..1, 0, ViewFormat::Index, None),
        (Picture { address: end + 4, ..GREY }, 0..12, 0..8, 0, ViewFormat::Grey, None),
        (Picture { address: end + 5, ..GREY }, 0..1, 0..1, 0, ViewFormat::Grey, Some("address space")),
        (Picture { address: u64::MAX, ..GREY }, 0..1, 0..1, 0, ViewFormat::Grey, Some("address space")),
        (
            Picture { width: u32::MAX, height: u32::MAX, stride: u32::MAX, ..GREY },
            0..1,
            0..1,
            0,
            ViewFormat::Grey,
            Some("address space"),
        ),
        (Picture { height: 0, ..GREY }, 0..1, 0..1, 0, ViewFormat::Grey, Some("rows 0..1")),
    ];
    for (picture, columns, rows, shift, format, reason) in cases {
        let what = format!("{columns:?} and {rows:?} of {picture:x?}, shift {shift}, as {format:?}");
        match (View::new(picture, columns.clone(), rows.clone(), shift, format), reason) {
            (Ok(view), None) => {
                let pixels = (columns.len() >> shift) * (rows.len() >> shift);
                assert_eq!(view.bytes(), pixels * format.channels(), "{what}");
            }
            (Err(error @ Error::View { .. }), Some(reason)) => {
                assert!(error.to_string().contains(reason), "{what}: {error}");
            }
            (result, _) => panic!("{what}: {result:?}"),
        }
    }
}
