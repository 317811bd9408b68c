//! Machines whose hot code is translated give the results of the reference.
//!
//! The environment variable `KVRM_TRANSLATED` is the number of batches of random programs with all instructions.

use std::env;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kvrm_gpu::{Bounds, ClassSelection, GpuExecutor, RegionBounds, SelectionMode, Translation};
use kvrm_machine::{
    Executor, Factory, Features, Image, Permissions, Plan, ReferenceEngine, Stop, TranslationReport,
};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::{
    CODE, EnginePair, LOOP_LIMIT, PAGE, busy, cuts_off_loops, device, image, lanes, raw, segment,
};

/// Returns whether machines are translated. They are not where the driver cuts off loops, which
/// [`nothing_is_translated_where_loops_are_cut_off`] tests. The other tests here have nothing to test then.
fn translates() -> bool {
    !cuts_off_loops()
}

/// Regions of some size that begin where lanes are when they start.
const fn translated(instructions: usize, quantum: u32) -> Bounds {
    let regions =
        RegionBounds { instructions, distance: 20, samples: 0, quantum, window: None, folder: None };
    Bounds { translation: Translation::Always, regions: Some(regions), ..Bounds::NONE }
}

/// Runs random programs, four lanes each, in slices and with budgets that are not theirs.
fn run_random(bounds: Bounds, features: Features, seed: u64, count: usize) -> u64 {
    let random = &mut Random::new(seed);
    let vectors: Vec<_> =
        (0..count).map(|_| programs::with_features("translation", features, 40, 1000, random)).collect();
    let image = |vector: &kvrm_machine::vectors::Vector| {
        Arc::new(Image::new(&vector.segments(), vector.machine_features()).expect("programs fit"))
    };
    let images: Vec<Arc<Image>> = vectors.iter().map(image).flat_map(|image| vec![image; 4]).collect();
    let plan = Plan { images: &images, lanes: images.len(), frames_max: 16, calls: None, loops: None };
    let mut gpu =
        GpuExecutor::with_bounds(device(), &plan, &ClassSelection::TABLE, bounds).expect("lanes fit");
    let mut reference = ReferenceEngine.executor(&plan).expect("lanes fit");
    for lane in 0..images.len() {
        let mut cpu = vectors[lane / 4].cpu();
        for register in 0..8 {
            cpu.set_x(register, random.bits() >> random.below(64));
        }
        gpu.set_cpu(lane, &cpu).expect("the engine works");
        reference.set_cpu(lane, &cpu).expect("the engine works");
    }
    let mut limits = vec![0; images.len()];
    for _ in 0..4 {
        for limit in &mut limits {
            *limit += random.below(400);
        }
        for executor in [&mut gpu as &mut dyn Executor, &mut *reference] {
            for lane in 0..images.len() {
                if executor.stop(lane).expect("the engine works") == Some(Stop::Budget) {
                    executor.set_stop(lane, None).expect("the engine works");
                }
            }
            executor.run(&limits, &mut |_| ControlFlow::Continue(())).expect("the engine works");
        }
        let (seen, expected) = (lanes(&mut gpu), lanes(&mut *reference));
        for (lane, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
            assert_eq!(seen, expected, "lane {lane}: the GPU on the left, the reference on the right");
        }
    }
    steps_of(&mut gpu)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_in_regions_equal_the_reference() {
    if !translates() {
        return;
    }
    // With the same seed, the regions are compiled once.
    for quantum in [7, 1 << 13] {
        let steps = run_random(translated(300, quantum), Features::GENERAL, 0, 12);
        assert!(steps > 1_500, "only {steps} steps were translated");
    }
    // More programs, with all instructions. Their shaders take long to compile.
    let batches = env::var("KVRM_TRANSLATED").map_or(0, |count| count.parse().expect("a number of batches"));
    for seed in 1..=batches {
        let steps = run_random(translated(300, 1 << 13), Features::ALL, seed, 12);
        assert!(steps > 0, "no steps were translated with seed {seed}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn nothing_is_translated_where_loops_are_cut_off() {
    let bounds = Bounds { loop_limit: LOOP_LIMIT, ..translated(100, 1 << 13) };
    let mut pair = EnginePair::bounded(&[raw(busy)], 2, 16, bounds);
    for lane in 0..2 {
        pair.change_registers(lane, |cpu| cpu.pc = CODE);
    }
    pair.run(2_000);
    pair.assert_same("without translation");
    assert!(pair.gpu.translation().expect("the engine works").is_none(), "no code is translated");
}

/// Returns the steps of all lanes in translated code.
fn steps_of(executor: &mut dyn Executor) -> u64 {
    let report = executor.translation().expect("the engine works").expect("code is translated");
    assert_eq!((report.failure, &*report.state), (None, "chosen"), "the regions are compiled");
    report.steps
}

fn translated_steps(pair: &mut EnginePair) -> u64 {
    steps_of(&mut *pair.gpu)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn regions_lead_from_page_to_page() {
    if !translates() {
        return;
    }
    // Each page adds another number to x1 and branches to the next one, the last to the first, x0 times.
    let pages: [&[u32]; 3] = [
        &[0x9100_0421, 0x1400_03ff],
        &[0x9100_0821, 0x1400_03ff],
        &[0x9100_0c21, 0xf100_0400, 0x54fe_ffc1, 0xd440_0000], // subs x0, x0, #1; b.ne; hlt #0
    ];
    let page = |words: &&[u32]| {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(PAGE as usize, 0);
        bytes
    };
    let code = pages.iter().flat_map(page).collect();
    let image = image(&[segment(CODE, 3 * PAGE, code, Permissions::RX)]);
    let plain = translated(100, 1 << 13);
    let votes = Bounds { stages_min: Some(2), votes: true, ..plain.clone() };
    for bounds in [plain.clone(), Bounds { stages_min: Some(2), ..plain }, votes] {
        let mut pair = EnginePair::bounded(&[Arc::clone(&image)], 3, 16, bounds);
        for lane in 0..3 {
            pair.change_registers(lane, |cpu| {
                cpu.pc = CODE;
                cpu.set_x(0, 200 + lane as u64);
            });
        }
        pair.run(u64::MAX);
        let lanes = pair.assert_same("after all turns");
        let steps: u64 = lanes.iter().map(|lane| lane.cpu.steps).sum();
        let translated = translated_steps(&mut pair);
        assert!(translated > steps / 10 * 9, "{translated} of {steps} steps were translated");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn words_that_a_network_has_named_are_translated() {
    if !translates() {
        return;
    }
    for mode in [SelectionMode::MemoDomain, SelectionMode::MemoWord] {
        let selection = ClassSelection::new(mode);
        let bounds = translated(100, 1 << 13);
        let mut pair = EnginePair::with_class_selection(&[raw(busy)], 2, 16, &selection, bounds);
        for lane in 0..2 {
            pair.change_registers(lane, |cpu| cpu.pc = CODE);
        }
        pair.run(2_000);
        pair.assert_same(mode.name());
        assert!(translated_steps(&mut pair) > 0, "{mode}: regions were entered");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn regions_end_where_their_code_changes() {
    if !translates() {
        return;
    }
    // A loop. If x4 is not zero, each turn changes its first instruction: it adds 1 or 2 to x1.
    let words = [
        0x9100_0421,     // add x1, x1, #1
        0x8b00_0021,     // add x1, x1, x0
        0xb400_0064,     // cbz x4, to the subs
        0xb900_0043,     // str w3, [x2]
        0x5216_0463,     // eor w3, w3, #0xc00
        0xf100_0400,     // subs x0, x0, #1
        0x54ff_ff41,     // b.ne, to the first
        0xd440_0000_u32, // hlt #0
    ];
    let code = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let image = image(&[segment(CODE, PAGE, code, Permissions::RWX)]);
    let mut pair = EnginePair::bounded(&[image], 6, 16, translated(100, 1 << 13));
    for lane in 0..6 {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 500);
            cpu.set_x(2, CODE);
            cpu.set_x(3, 0x9100_0821);
            cpu.set_x(4, lane as u64 % 2);
        });
    }
    pair.run(100);
    pair.assert_same("after some turns");
    assert!(translated_steps(&mut pair) > 0, "regions were entered");
    // The host changes the loop of some lanes, and the lanes are reset to code from before or after that.
    let write = |pair: &mut EnginePair, lane: usize, word: u32| {
        pair.call_both("a write", |executor| {
            executor.write_memory(lane, CODE + 4, &word.to_le_bytes(), None)
        })
        .expect("the code can be written");
    };
    write(&mut pair, 2, 0x8b00_0421); // add x1, x1, x0, lsl #1
    pair.run(100);
    pair.assert_same("after the host has changed a lane");
    pair.call_both("a snapshot", |executor| executor.snapshot());
    write(&mut pair, 0, 0x8b00_0821); // add x1, x1, x0, lsl #2
    pair.run(300);
    pair.assert_same("after a snapshot");
    pair.call_both("a reset", |executor| executor.reset(&[0, 1, 2]));
    pair.run(200);
    pair.assert_same("after a reset");
    let before = translated_steps(&mut pair);
    pair.run(u64::MAX);
    let lanes = pair.assert_same("in the end");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
    assert!(translated_steps(&mut pair) > before, "lanes with the translated code still run it");
}

/// The address of the second loop of [`two_loops`].
const SECOND: u64 = CODE + 0x100;

/// Returns an image with two loops. The first has x0 turns and leads to the address in x5, so a region that begins in it
/// does not have the second, which has x2 turns.
fn two_loops() -> Arc<Image> {
    let first = [
        0x9100_0421, // add x1, x1, #1
        0xca01_0063, // eor x3, x3, x1
        0xf100_0400, // subs x0, x0, #1
        0x54ff_ffa1, // b.ne, to the first
        0xd61f_00a0, // br x5
    ];
    let second = [
        0x9100_0821,     // add x1, x1, #2
        0x8b03_0421,     // add x1, x1, x3, lsl #1
        0xf100_0442,     // subs x2, x2, #1
        0x54ff_ffa1,     // b.ne, to the first
        0xd440_0000_u32, // hlt #0
    ];
    let bytes = |words: [u32; 5]| words.into_iter().flat_map(u32::to_le_bytes);
    let mut code: Vec<u8> = bytes(first).collect();
    code.resize((SECOND - CODE) as usize, 0);
    code.extend(bytes(second));
    image(&[segment(CODE, PAGE, code, Permissions::RX)])
}

/// Regions that begin where lanes are when they are sampled.
const SAMPLED: RegionBounds =
    RegionBounds { instructions: 100, distance: 3, samples: 4, quantum: 1 << 13, window: None, folder: None };

fn report_of(pair: &mut EnginePair) -> TranslationReport {
    pair.gpu.translation().expect("the engine works").expect("code is translated")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_is_sampled_again_when_lanes_get_to_other_code() {
    if !translates() {
        return;
    }
    for window in [None, Some(Duration::ZERO)] {
        let regions = RegionBounds { window, ..SAMPLED };
        let bounds = Bounds {
            translation: Translation::Always,
            regions: Some(regions),
            slice_steps: Some(1_000),
            ..Bounds::NONE
        };
        let mut pair = EnginePair::bounded(&[two_loops()], 4, 16, bounds);
        for lane in 0..4 {
            pair.change_registers(lane, |cpu| {
                cpu.pc = CODE;
                cpu.set_x(0, 10_000 + 20 * lane as u64);
                cpu.set_x(2, 10_000);
                cpu.set_x(5, SECOND);
            });
        }
        pair.run(u64::MAX);
        let lanes = pair.assert_same("after both loops");
        assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
        let steps: u64 = lanes.iter().map(|lane| lane.cpu.steps).sum();
        let report = report_of(&mut pair);
        let share = report.steps as f64 / steps as f64;
        if window.is_some() {
            assert_eq!(report.samplings, 2, "once for each loop");
            assert!(share > 0.9, "{share} of the steps are in regions");
        } else {
            assert_eq!(report.samplings, 1, "there is no second time");
            assert!((0.4..0.6).contains(&share), "{share} of the steps are in regions of the first loop");
        }
        assert_eq!(report.ways.len(), 2, "the old regions are not kept");
        assert_eq!(report.gain(), None, "nothing was measured");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_is_sampled_again_though_the_interpreter_is_chosen() {
    if !translates() {
        return;
    }
    let regions = Some(RegionBounds { window: Some(Duration::ZERO), ..SAMPLED });
    let bounds = Bounds { translation: Translation::Auto, regions, slice_steps: Some(1_000), ..Bounds::NONE };
    let mut pair = EnginePair::bounded(&[two_loops()], 4, 16, bounds);
    for lane in 0..4 {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            // Lanes leave the first loop after it is sampled, and before its regions are compiled.
            cpu.set_x(0, 500);
            cpu.set_x(2, u64::MAX - lane as u64);
            cpu.set_x(5, SECOND);
        });
    }
    let mut runs = 0;
    while report_of(&mut pair).gain().is_none_or(|gain| gain < 2.0) {
        let report = report_of(&mut pair);
        // How long the compiler takes does not matter.
        runs += u32::from(&*report.state != "compiling");
        assert!(runs < 1000, "the second loop is not translated: {report}");
        pair.run(1 << 14);
    }
    pair.assert_same("in the second loop");
    assert_eq!(report_of(&mut pair).samplings, 2, "once for each loop");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn runs_that_are_shorter_than_the_slices_with_samples_are_sampled() {
    if !translates() {
        return;
    }
    let bounds = Bounds { translation: Translation::Always, regions: Some(SAMPLED), ..Bounds::NONE };
    let mut pair = EnginePair::bounded(&[two_loops()], 4, 16, bounds);
    for lane in 0..4 {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, u64::MAX);
        });
    }
    for _ in 0..2 * SAMPLED.samples {
        pair.run(16);
    }
    pair.run(1 << 14);
    pair.assert_same("after short runs and a long one");
    let report = report_of(&mut pair);
    assert!(report.steps > 4 << 13, "the loop is translated: {report}");
}

/// Runs lanes that begin in one of the loops, until it is chosen how. Compares them with the reference.
fn settled(bounds: Bounds, begin: u64) -> TranslationReport {
    let mut pair = EnginePair::bounded(&[two_loops()], 4, 16, bounds);
    for lane in 0..4 {
        pair.change_registers(lane, |cpu| {
            cpu.pc = begin;
            cpu.set_x(0, u64::MAX);
            cpu.set_x(2, u64::MAX - lane as u64);
        });
    }
    let run = |pair: &mut EnginePair| pair.run(1 << 18);
    run(&mut pair);
    let mut runs = 0;
    while !report_of(&mut pair).is_settled() {
        let report = report_of(&mut pair);
        // How long the compiler takes does not matter.
        runs += u32::from(&*report.state != "compiling");
        assert!(runs < 1000, "no choice: {report}");
        run(&mut pair);
    }
    // The choice is stored with the next slice.
    run(&mut pair);
    pair.assert_same("with the choice");
    report_of(&mut pair)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn votes_are_tried_in_wide_workgroups() {
    if !translates() {
        return;
    }
    for workgroup in [32, 64] {
        let bounds = Bounds {
            translation: Translation::Auto,
            regions: Some(SAMPLED),
            workgroup: Some(workgroup),
            stages_min: Some(2),
            ..Bounds::NONE
        };
        let report = settled(bounds, CODE);
        let tried = report.ways.iter().any(|way| way.has_votes && way.steps_per_second.is_some());
        assert_eq!(tried, workgroup == 64 && device().info().has_subgroups, "{report}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn choices_are_remembered_from_machine_to_machine() {
    if !translates() {
        return;
    }
    let folder: &'static Path = Box::leak(tempfile::tempdir().expect("a folder").keep().into_boxed_path());
    let regions =
        Some(RegionBounds { folder: Some(folder), window: Some(Duration::from_millis(50)), ..SAMPLED });
    // With the small workgroups of one lane, there are two ways with regions. One joins late.
    let bounds = Bounds { translation: Translation::Auto, regions, workgroup: Some(2), ..Bounds::NONE };
    let check = |begin, is_remembered, samplings, what: &str| {
        let report = settled(bounds.clone(), begin);
        assert_eq!((&*report.state, &report.failure), ("chosen", &None), "{what}: {report}");
        assert_eq!((report.is_remembered, report.samplings), (is_remembered, samplings), "{what}: {report}");
        assert!(report.gain().is_some_and(|gain| gain > 5.0), "regions are ten times as fast: {report}");
        let files: Vec<_> = fs::read_dir(folder).expect("the folder exists").collect();
        let [Ok(file)] = &files[..] else { panic!("{what}: {files:?}") };
        file.path()
    };
    let file = check(CODE, false, 1, "nothing is remembered");
    check(CODE, true, 0, "the choice is remembered");
    for damage in ["", "not a choice"] {
        fs::write(&file, damage).expect("the file can be written");
        check(CODE, false, 1, "a damaged file is ignored");
        check(CODE, true, 0, "it is replaced");
    }
    // Lanes with the same code begin in another loop, where the remembered regions are of no use.
    check(SECOND, false, 1, "the remembered regions are not faster");
    check(SECOND, true, 0, "the choice for the second loop takes the place of the old one");
    fs::remove_dir_all(folder).expect("the folder can be removed");
}
