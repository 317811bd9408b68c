//! Pages that are mapped, protected and unmapped between runs, compared with the reference.

use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::Access;
use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_gpu::Bounds;
use kvrm_machine::{Features, Image, Mapping, Permissions, Stop};
use kvrm_testkit::random::Random;

use crate::support::{CODE, EnginePair, LOOP_LIMIT, PAGE, assemble, segment};

/// The addresses where lanes may map pages: more than one node of a page table covers.
const ROOM: Range<u64> = 0x10_0000..0x100_0000;
/// The last page of the address space.
const LAST_PAGE: u64 = (1 << (kvrm_machine::ADDRESS_BITS - 12)) - 1;
const NONE: Permissions = Permissions { read: false, write: false, execute: false };

/// Returns an image with code that increments the word at x1 and branches to x2. Lanes may map the pages in `room`.
fn incrementing_image(room: &[Range<u64>]) -> Image {
    let code = assemble(|a| {
        a.ldr(X0, at(X1, 0)).add(X0, X0, 1).str(X0, at(X1, 0)).br(X2);
    });
    let data: Vec<u8> = (0..2 * PAGE).map(|i| i as u8).collect();
    let segments =
        [segment(CODE, PAGE, code, Permissions::RX), segment(CODE + PAGE, 3 * PAGE, data, Permissions::RWX)];
    Image::with_room(&segments, Features::ALL, room).expect("the segments fit")
}

/// Sets the registers of all lanes for the code of [`incrementing_image`].
fn start_incrementing(pair: &mut EnginePair, lanes: usize) {
    for lane in 0..lanes {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, ROOM.start);
            cpu.set_x(2, CODE);
        });
    }
}

/// Returns lanes that increment the word at x1 and branch to x2. They may map pages in [`ROOM`].
fn lanes_with_room(lanes: usize, frames_max: usize) -> EnginePair {
    let mut pair = EnginePair::new(&[Arc::new(incrementing_image(&[ROOM]))], lanes, frames_max);
    start_incrementing(&mut pair, lanes);
    pair
}

fn pages(address: u64, pages: u64) -> Range<u64> {
    address / PAGE..address / PAGE + pages
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn mapped_pages_are_accessible_and_unmapped_ones_fault() {
    let mut pair = lanes_with_room(3, 8);
    pair.run(10);
    let lane = &pair.assert_same("without the page")[1];
    assert!(matches!(lane.stop, Some(Stop::Fault(_))), "the page is not mapped yet");
    for (mapping, is_there) in [
        (Mapping::Zero(Permissions::RW), true),
        (Mapping::Protect(Permissions::R), false),
        (Mapping::Protect(Permissions::RW), true),
        (Mapping::Unmap, false),
        (Mapping::Zero(NONE), false),
        (Mapping::Zero(Permissions::RW), true),
    ] {
        let mapped = pair.call_both("a mapping", |executor| executor.map(1, pages(ROOM.start, 1), mapping));
        assert!(mapped, "the lane has room");
        pair.call_both("clearing the stop", |executor| executor.set_stop(1, None));
        pair.change_registers(1, |cpu| cpu.pc = CODE);
        pair.run(10);
        let lane = &pair.assert_same(&format!("after {mapping:?}"))[1];
        assert_eq!(lane.stop == Some(Stop::Budget), is_there, "{mapping:?}: {:?}", lane.stop);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn remapped_pages_execute_the_code_written_last() {
    let mut pair = lanes_with_room(2, 8);
    for round in 0..4_u64 {
        let fresh = pair.call_both("mapping", |executor| {
            executor.map(0, pages(ROOM.start, 3), Mapping::Zero(Permissions::RWX))
        });
        assert!(fresh, "the lane has room");
        let code = assemble(|a| {
            a.add(X0, X0, 3 * round as i64 + 1).br(X2);
        });
        if round != 2 {
            let written =
                pair.call_both("code", |executor| executor.write_memory(0, ROOM.start + PAGE, &code, None));
            written.expect("the page is mapped");
        }
        pair.change_registers(0, |cpu| cpu.set_x(2, ROOM.start + PAGE));
        pair.change_registers(0, |cpu| cpu.pc = CODE);
        pair.call_both("it goes on", |executor| executor.set_stop(0, None));
        pair.run(50);
        let lane = &pair.assert_same(&format!("in round {round}"))[0];
        assert_eq!(
            lane.stop == Some(Stop::Undefined { word: 0 }),
            round == 2,
            "words of zeros are undefined"
        );
        if round == 0 {
            pair.call_both("a snapshot", |executor| executor.snapshot());
        }
    }
    pair.call_both("a reset", |executor| executor.reset(&[0, 1]));
    pair.run(50);
    pair.assert_same("after the reset");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn any_sequence_of_mappings_writes_snapshots_and_resets() {
    for frames_max in [5, 40] {
        any_sequence(&mut lanes_with_room(3, frames_max), &mut Random::new(77), |random| {
            // A page near a border of `ROOM`, of the image, or of a node.
            let place = match random.below(4) {
                0 => CODE / PAGE + random.below(6),
                1 => ROOM.end / PAGE - 2 + random.below(4),
                2 => 1022 + random.below(5),
                _ => ROOM.start / PAGE + random.below(6),
            };
            (place, if random.below(40) == 0 { 2000 } else { random.below(4) })
        });
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn any_sequence_of_far_and_huge_mappings() {
    /// The pages of a node of each level.
    const NODES: [u64; 3] = [1 << 10, 1 << 20, 1 << 30];
    for frames_max in [5, 40] {
        let mut pair = EnginePair::new(&[Arc::new(incrementing_image(&[]).with_all_room())], 3, frames_max);
        start_incrementing(&mut pair, 3);
        any_sequence(&mut pair, &mut Random::new(78), |random| {
            let node = NODES[random.below(3) as usize];
            // A page near the border of a node, or of the address space.
            let border = match random.below(4) {
                0 => LAST_PAGE,
                times => node * times,
            };
            let place = border - 2 + random.below(4);
            let count = match random.below(6) {
                0 => NODES[random.below(3) as usize] * (1 + random.below(3)) + random.below(3),
                _ => random.below(4),
            };
            (place, count)
        });
    }
}

/// Maps, writes, reads and executes at random in 3 lanes, between snapshots and resets. `choose` returns the first page and
/// the number of pages of a mapping.
fn any_sequence(pair: &mut EnginePair, random: &mut Random, choose: impl Fn(&mut Random) -> (u64, u64)) {
    let permissions = [Permissions::R, Permissions::RW, Permissions::RX, Permissions::RWX, NONE];
    let mut has_snapshot = false;
    for round in 0..250_u64 {
        let lane = random.below(3) as usize;
        let (place, count) = choose(random);
        let chosen = permissions[random.below(5) as usize];
        match random.below(10) {
            0..3 => {
                let mapping = match random.below(4) {
                    0 => Mapping::Unmap,
                    1 => Mapping::Protect(chosen),
                    _ => Mapping::Zero(chosen),
                };
                let _mapped =
                    pair.call_both("mapping", |executor| executor.map(lane, place..place + count, mapping));
            }
            3..6 => {
                let bytes: Vec<u8> = (0..random.below(6000)).map(|i| (i * 3 + round) as u8).collect();
                let access = [None, Some(Access::Write)][random.below(2) as usize];
                let address = place * PAGE + random.below(PAGE);
                let _stop = pair
                    .call_both("a write", |executor| executor.write_memory(lane, address, &bytes, access));
            }
            6 => {
                let mut out = vec![0; 5000];
                let _read = pair.call_both("a read", |executor| {
                    let read = executor.read_memory(lane, place * PAGE, &mut out, None)?;
                    Ok((read, read.is_ok().then(|| out.clone())))
                });
            }
            7 => {
                pair.change_registers(lane, |cpu| {
                    cpu.pc = CODE;
                    cpu.set_x(1, place * PAGE);
                });
                pair.call_both("it goes on", |executor| executor.set_stop(lane, None));
                pair.run(9);
            }
            8 if random.below(4) == 0 => {
                has_snapshot = true;
                pair.call_both("a snapshot", |executor| executor.snapshot());
            }
            9 if has_snapshot => pair.call_both("a reset", |executor| executor.reset(&[lane])),
            _ => {}
        }
        if round % 10 == 0 {
            pair.assert_same(&format!("in round {round}"));
        }
    }
    pair.assert_same("at the end");
}

/// Runs sixteen lanes. Two of them get `count` pages mapped, and at the same time the host writes to the others.
fn long_mappings(bounds: Bounds, count: u64) {
    const LANES: usize = 16;
    let room = 0x10_0000..0x3000_0000;
    let segments = [
        segment(CODE, PAGE, assemble(|a| _ = a.hlt(0)), Permissions::RX),
        segment(CODE + PAGE, 3 * PAGE, Vec::new(), Permissions::RW),
    ];
    let image =
        Image::with_room(&segments, Features::ALL, std::slice::from_ref(&room)).expect("the segments fit");
    let mut pair = EnginePair::bounded(&[Arc::new(image)], LANES, 16, bounds);
    for round in 0..2 {
        for lane in 0..LANES {
            if lane % 8 == 2 {
                let all = pages(room.start + round * PAGE, count);
                // A piece is smaller than a node of a page table, which would be mapped at once.
                for first in all.clone().step_by(1000) {
                    let part = first..all.end.min(first + 1000);
                    let mapped = pair.call_both("a mapping", |executor| {
                        executor.map(lane, part.clone(), Mapping::Zero(Permissions::RW))
                    });
                    assert!(mapped, "the lane has room");
                }
                let last = (all.end - 1) * PAGE;
                let bytes =
                    pair.call_both("a write", |executor| executor.write_memory(lane, last, &[7; 9], None));
                bytes.expect("the last page is mapped");
            } else {
                // An odd address in a page that has not been written.
                let address = CODE + PAGE + 3 * lane as u64 + round * PAGE;
                let written = pair.call_both("a write", |executor| {
                    executor.write_memory(lane, address, &[lane as u8; 11], None)
                });
                written.expect("the page is mapped");
            }
        }
        pair.assert_same("after long mappings");
        for lane in 0..LANES {
            pair.change_registers(lane, |cpu| cpu.pc = CODE);
            pair.call_both("it goes on", |executor| executor.set_stop(lane, None));
        }
        pair.run(5);
        let stops = pair.assert_same("after a run").into_iter().map(|lane| lane.stop);
        assert!(stops.into_iter().all(|stop| stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn long_mappings_leave_the_writes_of_other_lanes_alone() {
    // Mesa 22.3 ended the loops of all lanes that shared a SIMD register with a lane that mapped many pages, those of
    // the walk through the page table, too. So bytes were written to a node of a page table.
    long_mappings(Bounds::NONE, 65_530);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn long_mappings_are_made_in_several_dispatches() {
    long_mappings(Bounds { loop_limit: LOOP_LIMIT, ..Bounds::NONE }, 3_000);
}
