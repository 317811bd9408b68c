//! Naga translates interpreters with regions to SPIR-V, Metal and HLSL. This needs no GPU.

use kvrm_arm64::Features;
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_shaders::interface::machine::{Interpreter, InterpreterFew, InterpreterMany};
use kvrm_shaders::kernel::Root;
use kvrm_shaders::link_source;
use kvrm_shaders::variants::{FramePlaces, FramePools, Hooks, LinuxCalls, Regions, SimdUnit, StageOrder};
use kvrm_testkit::random::Random;
use kvrm_testkit::{languages, words};
use kvrm_translate::{Flow, Limits, Region, is_translatable, to_wgsl};

/// Returns a region of instructions one after the other, which ends with a branch back to the first.
fn region(ops: &[MicroOp]) -> Region {
    let end = 4 * ops.len() as u64;
    let back = 0x1400_0000 | (0x400_0000 - ops.len() as u32);
    let fetch = |pc: u64| {
        if pc == end { Some(lower(back, Features::ALL)) } else { ops.get(pc as usize / 4).copied() }
    };
    Region::find(&[0], &Limits { instructions: ops.len() + 1, pages: 1, distance: 9 }, fetch)
}

/// Returns a micro-op of each row that is translated and does not branch.
fn translatable() -> Vec<MicroOp> {
    let random = &mut Random::new(0);
    let ops: Vec<MicroOp> = ENCODINGS
        .iter()
        .map(|row| lower(words::allocated(row, random), Features::ALL))
        .filter(|op| is_translatable(*op) && Flow::of(0, *op) == Flow::Next)
        .collect();
    assert!(ops.len() > 300, "only {} rows are translated", ops.len());
    ops
}

#[test]
fn a_region_of_any_one_instruction_declares_what_it_uses() {
    for op in translatable() {
        let text = to_wgsl(&[region(&[op])]).text;
        let linked =
            link_source("tests::region", &text, &[]).unwrap_or_else(|error| panic!("{op:?}: {error}"));
        let _ = languages::validate(&format!("{op:?}"), &linked.source);
    }
}

#[test]
fn interpreters_with_regions_are_translated_to_every_language() {
    let mut ops = translatable();
    // Instructions of a handler stay together, so that regions differ in what they import.
    ops.sort_by_key(|op| op.handler());
    for (number, ops) in ops.chunks(100).enumerate() {
        let regions = [region(&ops[..ops.len() / 2]), region(&ops[ops.len() / 2..])];
        let text = to_wgsl(&regions).text;
        let what = format!("regions {number}");
        let (hooks, regions) = (Hooks::Absent, Regions::Present);
        let frame_pools = [FramePools::Four, FramePools::Array][number % 2];
        let frame_places = FramePlaces::ALL[number % 2];
        let linux_calls = LinuxCalls::Served;
        let few = InterpreterFew {
            frame_pools,
            frame_places,
            simd_unit: SimdUnit::None,
            linux_calls,
            hooks,
            regions,
        };
        let plain =
            Interpreter { frame_pools, frame_places, simd_unit: SimdUnit::All, linux_calls, hooks, regions };
        let stage_order = [StageOrder::Votes, StageOrder::Fixed][number / 2 % 2];
        let simd_unit = SimdUnit::Integers;
        let many = InterpreterMany {
            frame_pools,
            frame_places,
            stage_order,
            simd_unit,
            linux_calls,
            hooks,
            regions,
        };
        let linked = [few.link_translated(&text), plain.link_translated(&text), many.link_translated(&text)];
        for linked in linked {
            let source = linked.unwrap_or_else(|error| panic!("{what}: {error}")).source;
            let (module, info) = languages::validate(&what, &source);
            languages::translate(&what, &module, &info);
        }
    }
}
