//! Pages that are mapped, protected and unmapped while lanes run, beside the reference.

use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::Access;
use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_gpu::Bounds;
use kvrm_machine::{Features, Image, Mapping, Permissions, Stop};
use kvrm_testkit::random::Random;

use crate::support::{Both, CODE, LOOPS, PAGE, assemble, segment};

/// Where lanes may map: more than a node of a page table leads to.
const ROOM: Range<u64> = 0x10_0000..0x100_0000;
const NONE: Permissions = Permissions { read: false, write: false, execute: false };

/// Lanes that add x0 to what x1 points at, and go on where x2 points to.
fn roomy(lanes: usize, frames_max: usize) -> Both {
    let code = assemble(|a| {
        a.ldr(X0, at(X1, 0)).add(X0, X0, 1).str(X0, at(X1, 0)).br(X2);
    });
    let data: Vec<u8> = (0..2 * PAGE).map(|i| i as u8).collect();
    let segments =
        [segment(CODE, PAGE, code, Permissions::RX), segment(CODE + PAGE, 3 * PAGE, data, Permissions::RWX)];
    let image = Image::with_room(&segments, Features::ALL, &[ROOM]).expect("it fits");
    let mut both = Both::new(&[Arc::new(image)], lanes, frames_max);
    for lane in 0..lanes {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, ROOM.start);
            cpu.set_x(2, CODE);
        });
    }
    both
}

fn pages(address: u64, pages: u64) -> Range<u64> {
    address / PAGE..address / PAGE + pages
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_page_is_there_once_it_is_mapped_and_gone_once_it_is_not() {
    let mut both = roomy(3, 8);
    both.run(10);
    let lane = &both.same("without the page")[1];
    assert!(matches!(lane.stop, Some(Stop::Fault(_))), "nothing is mapped yet");
    for (mapping, is_there) in [
        (Mapping::Zero(Permissions::RW), true),
        (Mapping::Protect(Permissions::R), false),
        (Mapping::Protect(Permissions::RW), true),
        (Mapping::Unmap, false),
        (Mapping::Zero(NONE), false),
        (Mapping::Zero(Permissions::RW), true),
    ] {
        let mapped = both.each("a mapping", |executor| executor.map(1, pages(ROOM.start, 1), mapping));
        assert!(mapped, "there is room");
        both.each("it goes on", |executor| executor.set_stop(1, None));
        both.change(1, |cpu| cpu.pc = CODE);
        both.run(10);
        let lane = &both.same(&format!("after {mapping:?}"))[1];
        assert_eq!(lane.stop == Some(Stop::Budget), is_there, "{mapping:?}: {:?}", lane.stop);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_in_pages_that_are_mapped_again_is_what_was_written_last() {
    let mut both = roomy(2, 8);
    for round in 0..4_u64 {
        let fresh = both.each("mapping", |executor| {
            executor.map(0, pages(ROOM.start, 3), Mapping::Zero(Permissions::RWX))
        });
        assert!(fresh, "there is room");
        let code = assemble(|a| {
            a.add(X0, X0, 3 * round as i64 + 1).br(X2);
        });
        if round != 2 {
            let written =
                both.each("code", |executor| executor.write_memory(0, ROOM.start + PAGE, &code, None));
            written.expect("it is mapped");
        }
        both.change(0, |cpu| cpu.set_x(2, ROOM.start + PAGE));
        both.change(0, |cpu| cpu.pc = CODE);
        both.each("it goes on", |executor| executor.set_stop(0, None));
        both.run(50);
        let lane = &both.same(&format!("in round {round}"))[0];
        assert_eq!(lane.stop == Some(Stop::Undefined { word: 0 }), round == 2, "zeros are no code");
        if round == 0 {
            both.each("a snapshot", |executor| executor.snapshot());
        }
    }
    both.each("a reset", |executor| executor.reset(&[0, 1]));
    both.run(50);
    both.same("after the reset");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn any_sequence_of_mappings_writes_snapshots_and_resets() {
    let permissions = [Permissions::R, Permissions::RW, Permissions::RX, Permissions::RWX, NONE];
    let mut random = Random::new(77);
    for frames_max in [5, 40] {
        let mut both = roomy(3, frames_max);
        let mut has_snapshot = false;
        for round in 0..250_u64 {
            let lane = random.below(3) as usize;
            // Around the borders of what may be mapped, of the image, and of a node.
            let place = match random.below(4) {
                0 => CODE / PAGE + random.below(6),
                1 => ROOM.end / PAGE - 2 + random.below(4),
                2 => 1022 + random.below(5),
                _ => ROOM.start / PAGE + random.below(6),
            };
            let count = if random.below(40) == 0 { 2000 } else { random.below(4) };
            let chosen = permissions[random.below(5) as usize];
            match random.below(10) {
                0..3 => {
                    let mapping = match random.below(4) {
                        0 => Mapping::Unmap,
                        1 => Mapping::Protect(chosen),
                        _ => Mapping::Zero(chosen),
                    };
                    let _mapped =
                        both.each("mapping", |executor| executor.map(lane, place..place + count, mapping));
                }
                3..6 => {
                    let bytes: Vec<u8> = (0..random.below(6000)).map(|i| (i * 3 + round) as u8).collect();
                    let access = [None, Some(Access::Write)][random.below(2) as usize];
                    let address = place * PAGE + random.below(PAGE);
                    let _stop =
                        both.each("a write", |executor| executor.write_memory(lane, address, &bytes, access));
                }
                6 => {
                    let mut out = vec![0; 5000];
                    let _read = both.each("a read", |executor| {
                        let read = executor.read_memory(lane, place * PAGE, &mut out, None)?;
                        Ok((read, read.is_ok().then(|| out.clone())))
                    });
                }
                7 => {
                    both.change(lane, |cpu| {
                        cpu.pc = CODE;
                        cpu.set_x(1, place * PAGE);
                    });
                    both.each("it goes on", |executor| executor.set_stop(lane, None));
                    both.run(9);
                }
                8 if random.below(4) == 0 => {
                    has_snapshot = true;
                    both.each("a snapshot", |executor| executor.snapshot());
                }
                9 if has_snapshot => both.each("a reset", |executor| executor.reset(&[lane])),
                _ => {}
            }
            if round % 10 == 0 {
                both.same(&format!("in round {round}"));
            }
        }
        both.same("at the end");
    }
}

/// Sixteen lanes, of which two map 65,530 pages each and the others write at the same time.
fn long_mappings(bounds: Bounds, count: u64) {
    const LANES: usize = 16;
    let room = 0x10_0000..0x3000_0000;
    let segments = [
        segment(CODE, PAGE, assemble(|a| _ = a.hlt(0)), Permissions::RX),
        segment(CODE + PAGE, 3 * PAGE, Vec::new(), Permissions::RW),
    ];
    let image = Image::with_room(&segments, Features::ALL, std::slice::from_ref(&room)).expect("it fits");
    let mut both = Both::bounded(&[Arc::new(image)], LANES, 16, bounds);
    for round in 0..2 {
        for lane in 0..LANES {
            if lane % 8 == 2 {
                let first = pages(room.start + round * PAGE, count);
                let mapped = both.each("a mapping", |executor| {
                    executor.map(lane, first.clone(), Mapping::Zero(Permissions::RW))
                });
                assert!(mapped, "there is room");
                let last = (first.end - 1) * PAGE;
                let bytes = both.each("a write", |executor| executor.write_memory(lane, last, &[7; 9], None));
                bytes.expect("it is mapped to its end");
            } else {
                // Odd places in pages that have not been written.
                let address = CODE + PAGE + 3 * lane as u64 + round * PAGE;
                let written = both.each("a write", |executor| {
                    executor.write_memory(lane, address, &[lane as u8; 11], None)
                });
                written.expect("it is mapped");
            }
        }
        both.same("after long mappings");
        for lane in 0..LANES {
            both.change(lane, |cpu| cpu.pc = CODE);
            both.each("it goes on", |executor| executor.set_stop(lane, None));
        }
        both.run(5);
        let stops = both.same("after a run").into_iter().map(|lane| lane.stop);
        assert!(
            stops.into_iter().all(|stop| stop == Some(Stop::Halt { imm: 0 })),
            "all have reached the halt"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn long_mappings_leave_the_writes_of_other_lanes_alone() {
    // Mesa 22.3 ended the loops of all lanes that were served together with the one that maps: those of the walk
    // through the page table, too, so that bytes were written to a node of it.
    long_mappings(Bounds::NONE, 65_530);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn long_mappings_are_made_in_several_dispatches() {
    long_mappings(Bounds { loop_limit: LOOPS, ..Bounds::NONE }, 3_000);
}
