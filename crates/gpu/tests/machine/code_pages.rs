//! Lowered code with more pages than the engine has room for.

use std::sync::Arc;

use kvrm_gpu::{Bounds, ClassSelection, SelectionMode};
use kvrm_machine::{Image, PAGE_BYTES, Permissions, Stop};

use crate::class_selection::SPREADS;
use crate::support::{CODE, EnginePair, image, segment};

/// Returns an image with `pages` pages of code. Each page adds its number to x1 and branches to the next page; the last
/// one branches back to the first, x0 times. If the code `changes`, each page increments its number each time.
fn round_trip(pages: u32, changes: bool) -> Arc<Image> {
    let mut code = Vec::new();
    for page in 0..pages {
        let mut words = vec![0x9100_0421 | page << 10]; // add x1, x1, #page
        if changes {
            // adr x2, the add; ldr w3, [x2]; add w3, w3, #0x400; str w3, [x2]
            words.extend([0x10ff_ffe2, 0xb940_0043, 0x1110_0063, 0xb900_0043]);
        }
        let here = words.len() as u32;
        if page + 1 < pages {
            words.push(0x1400_0000 | (1024 - here)); // b the next page
        } else {
            let back = (0u32.wrapping_sub(page * 1024 + here + 1)) & 0x7_ffff;
            words.extend([0xf100_0400, 0x5400_0001 | back << 5, 0xd440_0000]); // subs x0, x0, #1; b.ne; hlt #0
        }
        code.extend(words.into_iter().flat_map(u32::to_le_bytes));
        code.resize((page as usize + 1) * PAGE_BYTES, 0);
    }
    image(&[segment(CODE, code.len() as u64, code, Permissions::RWX)])
}

/// Runs lanes with room for `code_pages` code pages.
fn run(images: &[Arc<Image>], lanes: usize, code_pages: usize) {
    run_with_dispatch(images, lanes, code_pages, &ClassSelection::TABLE, Bounds::NONE);
}

/// Runs lanes with a class selection and bounds, and room for `code_pages` code pages.
fn run_with_dispatch(
    images: &[Arc<Image>],
    lanes: usize,
    code_pages: usize,
    selection: &ClassSelection,
    bounds: Bounds,
) {
    let bounds = Bounds { code_pages: Some(code_pages), ..bounds };
    let mut pair = EnginePair::with_class_selection(images, lanes, 16, selection, bounds);
    for lane in 0..lanes {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 3 + lane as u64 % 3);
        });
    }
    pair.run(20);
    pair.assert_same("in between");
    pair.run(u64::MAX);
    let lanes = pair.assert_same(&format!("with {code_pages} pages of code"));
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
    if selection.mode() == SelectionMode::Network {
        let decisions =
            pair.gpu.take_decisions().expect("the engine works").expect("the lanes have a network");
        let steps = lanes.iter().map(|lane| lane.cpu.steps).sum();
        assert_eq!(
            (decisions.asked(), decisions.mispredicted()),
            (steps, 0),
            "the network is asked once in each step"
        );
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn networks_work_with_code_pages_that_take_turns() {
    let network = ClassSelection::new(SelectionMode::Network);
    for bounds in SPREADS {
        for (code_pages, changes) in [(1, false), (2, true), (5, false), (6, true)] {
            run_with_dispatch(&[round_trip(6, changes)], 3, code_pages, &network, bounds.clone());
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pages_of_code_take_turns_if_there_is_no_room_for_all() {
    for code_pages in [1, 2, 5, 6] {
        run(&[round_trip(6, false)], 3, code_pages);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_that_change_their_code_take_turns_with_others() {
    // Each lane soon has its own copies of all pages, which makes 40.
    for code_pages in [1, 3, 16] {
        run(&[round_trip(4, true)], 10, code_pages);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn images_need_not_all_be_lowered_at_once() {
    let images: Vec<_> = (0..12).map(|number| round_trip(1 + number % 3, number % 2 == 0)).collect();
    run(&images, 12, 7);
}
