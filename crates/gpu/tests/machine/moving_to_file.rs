//! Machines whose frames find no room in the memory of the host and go to a file, with failures of the host, compared with the reference.

use std::ops::ControlFlow;

use kvrm_gpu::{Bounds, Error, GpuExecutor, HostFault, HostFaults, HostFile, MemoryLimits};
use kvrm_machine::{Executor, Plan, Stop};
use kvrm_prefetch::Policy;
use tempfile::TempDir;

use crate::moving::{any_order, eager, moves, pair, passes, places, prefetching, run_twice, start};
use crate::support::{DATA, EnginePair, PAGE, device, text_and_data};

/// Returns bounds with room for `frames` frames in memory, and for many in a file of a folder.
fn filed(folder: &TempDir, frames: u64, bounds: Bounds) -> Bounds {
    let file = HostFile::new(folder.path().join("frames")).with_bytes(64 << 20);
    Bounds { memory: Some(MemoryLimits::new(0, frames * PAGE)), host_file: Some(file), ..bounds }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_with_most_of_their_frames_in_a_file_do_the_same() {
    let folder = folder();
    // The lanes need 960 frames.
    let mut many = pair(12, 78, filed(&folder, 100, places(120)));
    run_twice(&mut many, 78);
    let moved = moves(&mut *many.gpu);
    assert!(moved.to_file > 0 && moved.from_file > 0, "frames were in the file: {moved:?}");
    assert!(moved.from_file <= moved.fetched, "they came back to the device: {moved:?}");
    run_twice(&mut pair(5, 20, filed(&folder, 8, eager(60))), 20);
    run_twice(&mut pair(1, 100, filed(&folder, 20, places(40))), 100);
    let left = std::fs::read_dir(folder.path()).expect("the folder exists").count();
    assert_eq!(left, 0, "no file is left");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_resets_writes_and_mappings_in_any_order_with_a_file() {
    let folder = folder();
    any_order(11, filed(&folder, 30, places(64)));
    any_order(12, filed(&folder, 10, eager(70)));
    any_order(6, prefetching(Policy::BestOffset, filed(&folder, 20, eager(80))));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn nothing_is_lost_when_the_host_fails() {
    for fault in HostFault::ALL {
        for (before, count) in [(0, 1), (7, u32::MAX)] {
            // The memory is a single chunk.
            let before = if fault == HostFault::NoMemory { 0 } else { before };
            survive(fault, before, count);
        }
    }
}

/// Runs lanes with a tenth of their frames on the device, whose frames move at every chance, while the host fails.
fn survive(fault: HostFault, before: u32, count: u32) {
    const LANES: usize = 12;
    const PAGES: u64 = 48;
    let what = format!("{fault:?} after {before}, {count} times");
    let (folder, faults) = (folder(), HostFaults::new());
    let short = Bounds { slice_steps: Some(200), host_faults: faults.clone(), ..eager(60) };
    let images = [text_and_data(PAGES, passes)];
    let mut pair = EnginePair::bounded(&images, LANES, PAGES as usize, filed(&folder, 64, short));
    pair.call_both("a snapshot", |executor| executor.snapshot());
    start(&mut pair, PAGES);
    for lane in 0..LANES {
        pair.change_registers(lane, |cpu| cpu.set_x(3, 2));
    }
    faults.inject(fault, before, count);
    let go_on = &mut |_| ControlFlow::Continue(());
    // An error of a read ends a run. The next one goes on where it ended.
    for failed in 0.. {
        let Err(error) = pair.gpu.run(&[u64::MAX; LANES], go_on) else { break };
        assert!(is_failed_read(&error), "{what}: {error:?}");
        assert!(failed < 10, "{what}: runs go on after the failure");
        if failed == 3 {
            faults.clear();
        }
    }
    assert!(faults.seen(fault) > 0, "{what}: the fault has struck");
    faults.clear();
    let stops = pair.gpu.stops().expect("the GPU works");
    let is_full = stops.contains(&Some(Stop::OutOfFrames));
    let is_write = matches!(fault, HostFault::WriteFails | HostFault::WriteEnds);
    assert!(is_full || !is_write, "{what}: the file counts as full: {stops:?}");
    let warnings = pair.gpu.take_warnings().expect("the GPU works");
    assert_eq!(warnings.len(), usize::from(is_write), "{what}: {warnings:?}");
    assert!(
        warnings.iter().all(|text| text.contains("frames")),
        "{what}: the warning names the file: {warnings:?}"
    );
    // The reference runs each lane for as many steps.
    let steps: Vec<u64> = (0..LANES).map(|lane| pair.gpu.steps(lane).expect("the GPU works")).collect();
    pair.reference.run(&steps, go_on).expect("the reference works");
    for (lane, stop) in stops.iter().enumerate() {
        pair.reference.set_stop(lane, *stop).expect("the reference works");
    }
    pair.assert_same(&format!("{what}, at the end of the run"));
    assert_eq!(pair.gpu.audit().expect("the GPU works"), [], "{what}: the memory is consistent");
    pair.run(u64::MAX);
    let lanes = pair.assert_same(&format!("{what}, at the end"));
    assert!(
        lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })),
        "{what}: all lanes have halted"
    );
    let moved = moves(&mut *pair.gpu);
    assert!(moved.to_file > 0 && moved.from_file > 0, "{what}: frames were in the file: {moved:?}");
}

/// Returns whether an error is that of a read from the file.
fn is_failed_read(error: &kvrm_machine::Error) -> bool {
    let kvrm_machine::Error::Engine(cause) = error else { return false };
    matches!(cause.downcast_ref(), Some(Error::HostFile { done: "read", .. }))
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn moving_frames_that_the_host_reads_come_from_the_file() {
    let (folder, faults) = (folder(), HostFaults::new());
    let bounds = Bounds { host_faults: faults.clone(), ..filed(&folder, 20, eager(60)) };
    let mut pair = pair(5, 20, bounds);
    pair.run(u64::MAX);
    let read = |executor: &mut dyn Executor| {
        let mut bytes = vec![0; 20 * PAGE as usize];
        executor.read_memory(2, DATA, &mut bytes, None).map(|read| read.map(|()| bytes))
    };
    faults.inject(HostFault::ReadDamages, 0, 1);
    let error = read(&mut *pair.gpu).expect_err("bytes of the file have changed");
    assert!(is_failed_read(&error), "{error:?}");
    pair.call_both("a read", read).expect("the memory is mapped");
    pair.assert_same("after a read that has failed");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_file_of_moving_frames_that_cannot_be_created_is_an_error() {
    let folder = folder();
    let file = HostFile::new(folder.path().join("no folder").join("frames"));
    let bounds = Bounds { host_file: Some(file), ..places(100) };
    let images = [text_and_data(1, passes)];
    let plan = Plan { images: &images, lanes: 1, frames_max: 1, calls: None, loops: None };
    let built = GpuExecutor::with_bounds(device(), &plan, &kvrm_gpu::ClassSelection::TABLE, bounds);
    let error = built.expect_err("the folder does not exist").to_string();
    assert!(error.contains("no folder") && error.contains("created"), "{error}");
}
