//! Views of pictures in the memory of lanes, compared with the reference.

use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_gpu::Bounds;
use kvrm_machine::{Image, Mapping, PAGE_BYTES, Permissions, Picture, PictureFormat, Stop, View, ViewFormat};
use kvrm_testkit::random::Random;
use kvrm_testkit::views;

use crate::support::{CODE, EnginePair, LOOP_LIMIT, PAGE, assemble, image, segment};

const LANES: usize = 5;
/// The addresses of pictures and palettes, in two nodes of a page table.
const AREA: Range<u64> = 0x3e_0000..0x42_0000;

/// Returns an image whose pages at [`AREA`] have random bytes, except for the last ones. Its program adds x0
/// to the words from x1 on, x2 bytes apart, and never ends.
fn pictures(random: &mut Random) -> Arc<Image> {
    let code = assemble(|a| {
        let again = a.label();
        a.bind(again);
        a.ldr(X2, at(X1, 0)).add(X2, X2, X0).str(X2, at(X1, 0)).add(X1, X1, 0x128).b(again);
    });
    let bytes = AREA.end - AREA.start;
    let data: Vec<u8> = (0..bytes - 9 * PAGE - 77).map(|_| random.bits() as u8).collect();
    image(&[segment(CODE, PAGE, code, Permissions::RX), segment(AREA.start, bytes, data, Permissions::RW)])
}

/// Reads a view of lanes on both engines. Returns the first lane without it and its stop.
fn read(pair: &mut EnginePair, what: &str, view: &View, lanes: &[usize]) -> Result<(), (usize, Stop)> {
    pair.call_both(&format!("{what}: {view:?} of lanes {lanes:?}"), |executor| {
        let mut out = vec![9; lanes.len() * view.bytes()];
        let read = executor.read_views(view, lanes, &mut out)?;
        // After a read that fails, the contents of the buffer are undefined.
        Ok(read.map(|()| out))
    })
    .map(drop)
}

/// Reads views between writes of guest and host, mappings, snapshots and resets.
fn any_sequence(seed: u64, bounds: Bounds, rounds: u64) {
    let mut random = Random::new(seed);
    let mut pair = EnginePair::bounded(&[pictures(&mut random)], LANES, 80, bounds);
    read(&mut pair, "new lanes", &views::view(&mut random, &AREA), &[3, 0]).expect("the memory is mapped");
    for lane in 0..LANES {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 0x0102_0304_0506_0708 * lane as u64);
            cpu.set_x(1, AREA.start + PAGE * lane as u64);
        });
    }
    let pages = (AREA.end - AREA.start) / PAGE;
    let (mut views, mut faults) = (0, 0);
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for round in 0..rounds {
        let lane = random.below(LANES as u64) as usize;
        match random.below(8) {
            0..3 => {
                let bytes: Vec<u8> = (0..random.below(3 * PAGE)).map(|_| random.bits() as u8).collect();
                let address = AREA.start + random.below(AREA.end - AREA.start - bytes.len() as u64);
                let _stop =
                    pair.call_both("a write", |executor| executor.write_memory(lane, address, &bytes, None));
            }
            3 => pair.run(random.below(2000)),
            4 => {
                let first = AREA.start / PAGE + random.below(pages - 8);
                let mapping = *random.pick(&[
                    Mapping::Unmap,
                    Mapping::Unmap,
                    Mapping::Zero(Permissions { read: false, write: false, execute: false }),
                    Mapping::Protect(Permissions::R),
                ]);
                let range = first..first + 1 + random.below(8);
                pair.call_both("a mapping", |executor| executor.map(lane, range.clone(), mapping));
            }
            5 => pair.call_both("a reset", |executor| executor.reset(&[lane])),
            6 if random.below(4) == 0 => pair.call_both("a snapshot", |executor| executor.snapshot()),
            _ => {}
        }
        let view = views::view(&mut random, &AREA);
        let mut lanes: Vec<usize> = (0..LANES).collect();
        (0..LANES).for_each(|index| lanes.swap(index, random.below(LANES as u64) as usize));
        lanes.truncate(random.below(LANES as u64 + 1) as usize);
        match read(&mut pair, &format!("round {round} of seed {seed}"), &view, &lanes) {
            Ok(()) => views += 1,
            Err(_) => faults += 1,
        }
    }
    pair.assert_same("at the end");
    assert!(views > rounds / 2 && faults > 0, "{views} views, {faults} faults");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn views_between_writes_mappings_and_resets() {
    any_sequence(1, Bounds::NONE, 150);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn views_of_frames_in_several_pools() {
    let pools = Bounds { pool_shift: Some(14), workgroup: Some(16), ..Bounds::NONE };
    any_sequence(2, pools.clone(), 150);
    any_sequence(3, Bounds { buffer_arrays: false, pool_shift: Some(16), pools: Some(4), ..pools }, 150);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_host_computes_views_where_drivers_end_loops() {
    any_sequence(4, Bounds { loop_limit: LOOP_LIMIT, ..Bounds::NONE }, 150);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn views_of_many_lanes_take_several_dispatches() {
    const MANY: usize = 300;
    let mut random = Random::new(5);
    let mut pair = EnginePair::new(&[pictures(&mut random)], MANY, 4);
    for lane in 0..MANY {
        let (at, byte) = (AREA.start + 100 * lane as u64, [lane as u8]);
        pair.call_both("a write", |executor| executor.write_memory(lane, at, &byte, None))
            .expect("the memory is mapped");
    }
    let format = PictureFormat::Palette { address: AREA.end - 0x8000 };
    // The views are not whole words, and the largest ones are larger than the other pictures of these tests.
    let picture = Picture { address: AREA.start + 1, width: 333, height: 111, stride: 335, format };
    let backwards: Vec<usize> = (0..MANY).rev().collect();
    for (columns, rows, shift, format) in [
        (0..333, 0..111, 0, ViewFormat::Index),
        (1..333, 3..111, 1, ViewFormat::Rgb),
        (5..330, 1..110, 0, ViewFormat::Rgb),
        (13..333, 15..111, 5, ViewFormat::Grey),
    ] {
        let view = View::new(picture, columns, rows, shift, format).expect("the picture has them");
        read(&mut pair, "many lanes", &view, &backwards).expect("the memory is mapped");
    }
    pair.call_both("unmapping", |executor| {
        executor.map(150, AREA.start / PAGE + 2..AREA.start / PAGE + 3, Mapping::Unmap)
    });
    let view = View::new(picture, 0..333, 0..111, 0, ViewFormat::Index).expect("the picture has them");
    let (lane, _) = read(&mut pair, "a lane without", &view, &backwards).expect_err("a page is missing");
    assert_eq!(lane, 150, "the only lane without the picture");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pictures_may_be_large_and_narrow() {
    let room = 0x1000_0000_u64;
    let bytes = 16 << 20;
    let mut random = Random::new(6);
    let data: Vec<u8> = (0..100 * PAGE_BYTES).map(|_| random.bits() as u8).collect();
    let mut pair = EnginePair::new(&[image(&[segment(room, bytes, data.clone(), Permissions::RW)])], 2, 2000);
    for at in (0..bytes - data.len() as u64).step_by(1 << 20) {
        let address = room + at + 3;
        pair.call_both("a write", |executor| executor.write_memory(1, address, &data, None))
            .expect("the memory is mapped");
    }
    let (grey, xrgb) = (PictureFormat::Grey, PictureFormat::Xrgb);
    for (address, stride, width, height, format, shift) in [
        // Rows of many pages: chunks of 1,024 groups of pixels, of fewer, and even of one depend on too many.
        (room + 5, 5000, 5000, 3000, grey, 0),
        (room + 5, 50_000, 12, 320, grey, 0),
        (room + 5, 70_000, 192, 192, grey, 6),
        (room, 65_536, 192, 128, xrgb, 6),
        // Rows of few bytes.
        (room + PAGE - 1, 1, 1, 9000, grey, 0),
        (room + PAGE - 2, 3, 2, 9000, grey, 1),
        (room + PAGE - 4, 12, 3, 2000, xrgb, 0),
    ] {
        let picture = Picture { address, width, height, stride, format };
        let side = 1 << shift;
        let (columns, rows) = (0..width / side * side, 0..height / side * side);
        for view in [ViewFormat::Grey, ViewFormat::Rgb] {
            let view = View::new(picture, columns.clone(), rows.clone(), shift, view);
            let view = view.expect("the picture has them");
            read(&mut pair, "a large picture", &view, &[1, 0]).expect("the memory is mapped");
        }
    }
}
