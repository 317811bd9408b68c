//! Devices that are lost: the lanes continue on a new device with the same results.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::X0;
use kvrm_gpu::{
    Bounds, ClassSelection, Device, Error, GpuEngine, HostFile, MemoryLimits, RecoveringExecutor,
    SelectionMode,
};
use kvrm_machine::{
    Builder, Cpu, Executor, Factory, Hooks, Image, LaneStart, Machine, Picture, PictureFormat, Plan,
    ProcessState, Program, Progress, Reference, Register, Stop, View, ViewFormat,
};
use kvrm_testkit::guests::{LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::random::Random;

use crate::support::{CODE, PAGE, assert_kept, busy, lanes, lock_device, machine_lanes, raw};

const LANES: usize = 5;
/// Bounds with slices so short that every run has several.
const SLICES: Bounds = Bounds { slice_steps: Some(64), tlb_sets: Some(2), ..Bounds::NONE };

/// Loses the device between two slices, and breaks the run off.
fn lose_and_break(device: &Device) -> ControlFlow<()> {
    device.raw().destroy();
    ControlFlow::Break(())
}

/// Returns the device that the process has open.
fn open_device() -> Device {
    GpuEngine::open(None).expect("the host has an adapter").device().clone()
}

/// Lanes on a device that will be lost, and the same lanes on the reference.
struct Pair {
    gpu: RecoveringExecutor,
    reference: Reference,
}

impl Pair {
    fn new(images: &[Arc<Image>], bounds: Bounds) -> Self {
        Self::with_class_selection(images, &ClassSelection::TABLE, bounds)
    }

    /// Makes the lanes with a class selection.
    fn with_class_selection(images: &[Arc<Image>], selection: &ClassSelection, bounds: Bounds) -> Self {
        Self::on(&open_device(), images, selection, bounds)
    }

    /// Makes the lanes on a device.
    fn on(device: &Device, images: &[Arc<Image>], selection: &ClassSelection, bounds: Bounds) -> Self {
        let plan = Plan { images, lanes: LANES, frames_max: 16, calls: None, loops: None };
        let gpu = RecoveringExecutor::new(device, &plan, selection, bounds).expect("the lanes fit");
        let reference = Reference::new(&plan).expect("the lanes fit");
        let mut pair = Self { gpu, reference };
        for lane in 0..LANES {
            pair.change_registers(lane, 1 + lane as u64);
        }
        pair
    }

    /// Makes a call on both executors. Repeats it on the GPU if the device was lost.
    fn call_both(&mut self, mut act: impl FnMut(&mut dyn Executor) -> Result<(), kvrm_machine::Error>) {
        act(&mut self.reference).expect("the reference works");
        if let Err(error) = act(&mut self.gpu) {
            assert_kept(&error);
            act(&mut self.gpu).expect("the device is opened again");
        }
    }

    fn change_registers(&mut self, lane: usize, x0: u64) {
        self.call_both(|executor| {
            let mut cpu = executor.cpu(lane)?;
            cpu.set_x(0, x0);
            cpu.v[3] = u128::from(x0) << 64;
            cpu.pc = if cpu.pc == 0 { CODE } else { cpu.pc };
            executor.set_cpu(lane, &cpu)
        });
    }

    fn clear_budgets(&mut self) {
        self.call_both(|executor| {
            (0..LANES).try_for_each(|lane| match executor.stop(lane)? {
                Some(Stop::Budget | Stop::HardwareBreakpoint | Stop::Watchpoint { .. }) => {
                    executor.set_stop(lane, None)
                }
                _ => Ok(()),
            })
        });
    }

    /// Returns the limits of lanes that run `budget` more steps, and one more for each lane before them.
    fn limits(&mut self, budget: u64) -> Vec<u64> {
        (0..LANES)
            .map(|lane| self.reference.steps(lane).expect("the engine works") + budget + lane as u64)
            .collect()
    }

    fn run(&mut self, budget: u64) {
        self.clear_budgets();
        let limits = self.limits(budget);
        self.call_both(|executor| executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop));
    }

    /// Runs the lanes on the GPU and calls `act` after some slices, which may lose the device or break the run off.
    /// Then runs the reference for exactly as many steps as each lane did. Returns whether the device was lost.
    fn run_with_interruption(&mut self, slices: u32, act: fn(&Device) -> ControlFlow<()>) -> bool {
        self.clear_budgets();
        let limits = self.limits(1000);
        let device = self.gpu.device().clone();
        let mut left = slices;
        let mut seen = Progress::default();
        let result = self.gpu.run(&limits, &mut |now| {
            left -= 1;
            seen = now;
            if left == 0 { act(&device) } else { ControlFlow::Continue(()) }
        });
        if let Err(error) = &result {
            assert_kept(error);
        }
        let mut retired = 0;
        for lane in 0..LANES {
            let steps = self.gpu.steps(lane).expect("the engine works");
            retired += steps - self.reference.steps(lane).expect("the engine works");
            let mut one = [0; LANES];
            one[lane] = steps;
            // A stop keeps the other lanes from running.
            let stops: Vec<_> =
                (0..LANES).map(|lane| self.reference.stop(lane).expect("the engine works")).collect();
            (0..LANES).filter(|other| *other != lane).for_each(|other| {
                self.reference.set_stop(other, Some(Stop::Budget)).expect("the engine works");
            });
            self.reference.run(&one, &mut |_| ControlFlow::Continue(())).expect("the engine works");
            (0..LANES).filter(|other| *other != lane).for_each(|other| {
                self.reference.set_stop(other, stops[other]).expect("the engine works");
            });
            if steps < limits[lane] {
                self.reference.set_stop(lane, None).expect("the engine works");
            }
        }
        assert!(
            retired >= seen.steps,
            "complete slices are kept: the observer saw {} steps, the lanes have {retired}",
            seen.steps
        );
        result.is_err()
    }

    /// Loses the device. The next call that uses it fails.
    fn lose(&mut self) {
        self.gpu.device().raw().destroy();
    }

    /// Asserts that the visible state of all lanes is the same on both, on a device that works.
    fn assert_same(&mut self, when: &str) {
        // This call uses the device, so that a loss is noticed here. Other calls may find their values on the host.
        if let Err(error) = self.gpu.read_memory_of_each(CODE, 8, &ALL, &mut Vec::new()) {
            assert_kept(&error);
        }
        let (gpu, reference) = (lanes(&mut self.gpu), lanes(&mut self.reference));
        for (number, (gpu, reference)) in gpu.iter().zip(&reference).enumerate() {
            assert_eq!(
                gpu, reference,
                "lane {number} {when}: the GPU on the left, the reference on the right"
            );
        }
        let frames = [&mut self.gpu as &mut dyn Executor, &mut self.reference]
            .map(|executor| executor.frames_used().expect("the engine works"));
        assert_eq!(frames[0], frames[1], "frames in use {when}");
    }
}

const ALL: [usize; LANES] = [0, 1, 2, 3, 4];

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_machine_is_built_although_its_device_is_lost_before_or_meanwhile() {
    let _lock = lock_device();
    let images = [raw(busy)];
    let mut losses = 0;
    for call in [0, 1, 2, 7, 15, 31, 63] {
        let device = open_device();
        if call == 0 {
            device.raw().destroy();
        }
        device.lose_at(call);
        let mut pair = Pair::on(&device, &images, &ClassSelection::TABLE, SLICES);
        device.lose_at(0);
        losses += usize::from(device.check("looking for a loss").is_err());
        pair.run(100);
        pair.assert_same(&format!("lost at call {call}"));
        assert_eq!(pair.gpu.recoveries(), 0, "a loss while the machine is built is no recovery");
    }
    assert!(losses >= 4, "the device is lost while the machine is built, but only {losses} times");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn runs_resets_and_writes_survive_the_loss_of_the_device() {
    let _lock = lock_device();
    let mut pair = Pair::new(&[raw(busy)], SLICES);
    pair.run(100);
    // The device is lost in a run, between two slices.
    assert!(
        pair.run_with_interruption(4, |device| {
            device.raw().destroy();
            ControlFlow::Continue(())
        }),
        "the device is lost"
    );
    pair.assert_same("after a loss in a run");
    assert_eq!(pair.gpu.recoveries(), 1, "the lanes were restored");
    pair.run(300);
    // The journal has a run that is broken off, snapshots, resets and pending writes when the device is lost again.
    assert!(!pair.run_with_interruption(3, |_| ControlFlow::Break(())), "the run is only broken off");
    pair.call_both(|executor| executor.write_memory(2, CODE + 9 * PAGE - 3, &[7; 9], None).map(drop));
    pair.call_both(|executor| executor.snapshot());
    pair.run(333);
    pair.call_both(|executor| executor.reset(&[1, 3]));
    pair.call_both(|executor| executor.write_memory(1, CODE + 4 * PAGE, &[9; 5000], None).map(drop));
    pair.call_both(|executor| executor.set_frames_max(13));
    pair.change_registers(4, 99);
    pair.lose();
    pair.run(50);
    pair.assert_same("after a loss between runs");
    assert_eq!(pair.gpu.recoveries(), 2, "the lanes were restored again");
    // The run is broken off just when the device is lost. The lanes change their code in each slice, for which their stops are
    // fetched, so the end of the last slice is known.
    assert!(!pair.run_with_interruption(2, lose_and_break), "the loss is not noticed yet");
    pair.assert_same("after a loss in a run that was broken off, whose end is known");
    pair.change_registers(0, 5);
    pair.lose();
    pair.change_registers(1, 6);
    pair.assert_same("after a loss in a run that was broken off");
    pair.call_both(|executor| executor.reset(&[0, 1, 2, 3, 4]));
    pair.lose();
    pair.assert_same("back at the snapshot");
    pair.run(500);
    pair.assert_same("at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn runs_that_are_broken_off_when_the_device_is_lost_are_repeated() {
    let _lock = lock_device();
    // These lanes make no requests, for which their stops would be fetched.
    let count = raw(|a| {
        let again = a.label();
        a.bind(again);
        a.add(X0, X0, 1).b(again);
    });
    let mut pair = Pair::new(&[count], SLICES);
    pair.run(300);
    assert!(
        pair.run_with_interruption(2, lose_and_break),
        "after a long run, the end of a slice is not known"
    );
    pair.assert_same("after a loss in a run whose end is not known");
    // After a short run, the end of each slice is fetched with its counters, so the loss is found later.
    pair.run(0);
    assert!(!pair.run_with_interruption(2, lose_and_break), "after a short run, the end of a slice is known");
    pair.assert_same("after a loss in a run whose end is known");
    assert_eq!(pair.gpu.recoveries(), 2, "the lanes were restored twice");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn views_are_computed_on_a_new_device_after_a_loss() {
    let _lock = lock_device();
    let format = PictureFormat::Grey;
    let picture = Picture { address: CODE + 5, width: 300, height: 150, stride: 301, format };
    let view =
        View::new(picture, 0..300, 0..150, 0, ViewFormat::Rgb).expect("the picture has as many pixels");
    let mut pair = Pair::new(&[raw(busy)], SLICES);
    for call in [1, 2, 4, 6] {
        pair.run(100);
        pair.gpu.device().lose_at(call);
        let mut views = Vec::new();
        pair.call_both(|executor| {
            let mut out = vec![0; 3 * view.bytes()];
            executor.read_views(&view, &[4, 0, 2], &mut out)?.expect("the picture is mapped");
            views.push(out);
            Ok(())
        });
        assert!(views[0] == views[1], "the views if the device is lost at call {call}");
    }
    assert_eq!(pair.gpu.recoveries(), 4, "the device was lost each time");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn hooks_survive_the_loss_of_the_device() {
    let _lock = lock_device();
    // With a journal of 200 bytes, a checkpoint takes the place of the change of hooks.
    for journal_bytes in [None, Some(200)] {
        let mut pair = Pair::new(&[raw(busy)], Bounds { journal_bytes, ..SLICES });
        pair.call_both(|executor| executor.snapshot());
        pair.run(50);
        pair.call_both(|executor| {
            executor.set_hooks(&Hooks::new().watch_writes(CODE + PAGE..CODE + 9 * PAGE))
        });
        pair.change_registers(1, 7);
        pair.lose();
        pair.run(1000);
        pair.assert_same("after a loss between the hooks and the run");
        let stops = pair.reference.stops().expect("the reference works");
        assert!(
            stops.iter().all(|stop| matches!(stop, Some(Stop::Watchpoint { .. }))),
            "every lane stops at a store: {stops:?}"
        );
        // A reset empties the journal, but not the hooks.
        pair.call_both(|executor| executor.reset(&[0, 1, 2, 3, 4]));
        pair.lose();
        pair.run(1000);
        pair.assert_same("after a reset and a loss");
        pair.call_both(|executor| executor.set_hooks(&Hooks::new()));
        pair.lose();
        pair.run(1000);
        pair.assert_same("without hooks");
        let stops = pair.reference.stops().expect("the reference works");
        assert_eq!(stops, [Some(Stop::Budget); LANES], "no lane stops at a store");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn all_changes_before_a_loss_are_kept() {
    let _lock = lock_device();
    // With a journal of 2,000 bytes, there are many checkpoints. With 60 places, most frames are on the host, at last in a file.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = HostFile::new(folder.path().join("frames")).with_bytes(8 << 20);
    let few_places = Bounds { memory: Some(MemoryLimits::new(0, 8 << 20)), places: Some(60), ..SLICES };
    for (seed, journal_bytes, bounds) in [
        (1, None, SLICES),
        (2, Some(2000), SLICES),
        (3, None, few_places.clone()),
        (4, Some(2000), few_places.clone()),
        (
            5,
            Some(2000),
            Bounds { memory: Some(MemoryLimits::new(0, 30 * 4096)), host_file: Some(file), ..few_places },
        ),
    ] {
        let mut random = Random::new(seed);
        let mut pair = Pair::new(&[raw(busy)], Bounds { journal_bytes, ..bounds });
        pair.call_both(|executor| executor.snapshot());
        let mut losses = 0;
        for round in 0..60 {
            match random.below(12) {
                0 => pair.call_both(|executor| executor.snapshot()),
                8 => {
                    let some: Vec<usize> = ALL.into_iter().filter(|_| random.below(3) != 0).collect();
                    let values: Vec<u64> = some.iter().map(|_| random.bits()).collect();
                    let register = *random.pick(&[Register::X(0), Register::Nzcv, Register::Fpsr]);
                    pair.call_both(|executor| executor.set_registers(register, &some, &values));
                }
                9 => {
                    let (at, bytes) = (CODE + PAGE + random.below(9 * PAGE), 1 + random.below(5000) as usize);
                    let all: Vec<u8> = (0..LANES * bytes).map(|_| random.bits() as u8).collect();
                    let rows: Vec<_> = ALL.into_iter().zip(all.chunks(bytes)).collect();
                    let rows: Vec<_> = rows.into_iter().filter(|_| random.below(3) != 0).collect();
                    pair.call_both(|executor| executor.write_memory_of_each(at, &rows).map(drop));
                }
                10 => {
                    let mut cpu = Cpu::new(CODE, random.bits());
                    cpu.set_x(0, random.bits());
                    cpu.v[31] = u128::from(random.bits()) << 32;
                    let process_state = ProcessState { slept: random.bits(), ..ProcessState::default() };
                    let stop = (random.below(2) == 0).then_some(Stop::Budget);
                    let start = LaneStart { cpu, process_state, stop, console: 0 };
                    pair.call_both(|executor| executor.set_all(&start));
                    for lane in ALL {
                        let states = [&mut pair.gpu as &mut dyn Executor, &mut pair.reference]
                            .map(|executor| executor.process_state(lane).expect("the engine works"));
                        assert_eq!(states, [process_state; 2], "process state");
                    }
                }
                1 => {
                    let some: Vec<usize> = ALL.into_iter().filter(|_| random.below(3) != 0).collect();
                    pair.call_both(|executor| executor.reset(&some));
                }
                11 => {
                    let some: Vec<usize> = ALL.into_iter().filter(|_| random.below(2) == 0).collect();
                    let stop = (random.below(2) == 0).then_some(Stop::Budget);
                    pair.call_both(|executor| executor.set_stops(&some, stop));
                }
                2 => {
                    let (lane, at) =
                        (random.below(LANES as u64) as usize, CODE + PAGE + random.below(9 * PAGE));
                    let bytes: Vec<u8> = (0..1 + random.below(5000)).map(|_| random.bits() as u8).collect();
                    pair.call_both(|executor| executor.write_memory(lane, at, &bytes, None).map(drop));
                }
                3 => pair.change_registers(random.below(LANES as u64) as usize, random.bits()),
                4 => drop(pair.run_with_interruption(1 + random.below(5) as u32, |_| ControlFlow::Break(()))),
                5 => {
                    let frames = 12 + random.below(4) as usize;
                    pair.call_both(|executor| executor.set_frames_max(frames));
                }
                _ => pair.run(random.below(400)),
            }
            if round % 20 == 13 {
                losses += 1;
                if random.below(2) == 0 {
                    pair.run_with_interruption(1, |device| {
                        device.raw().destroy();
                        ControlFlow::Continue(())
                    });
                } else {
                    pair.lose();
                }
            }
            if random.below(5) == 0 {
                pair.assert_same(&format!("in round {round} of seed {seed}"));
            }
        }
        pair.assert_same(&format!("at the end of seed {seed}"));
        assert_eq!(pair.gpu.recoveries(), losses, "of seed {seed}");
        assert_eq!(pair.gpu.checkpoints() > 0, journal_bytes.is_some(), "of seed {seed}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn forks_survive_the_loss_of_the_device() {
    let _lock = lock_device();
    let (name, arguments) = LINUX_GUESTS[0];
    let build = |engine: Option<GpuEngine>| {
        let builder = Machine::builder(linux_guest(name));
        let builder = builder.arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect());
        let builder = if let Some(engine) = engine { builder.engine(engine) } else { builder };
        builder.build().expect("the guest fits")
    };
    let mut reference = build(None);
    let mut gpu = build(Some(GpuEngine::new(open_device())));
    let lose = || open_device().raw().destroy();
    for machine in [&mut reference, &mut gpu] {
        machine.run(2500).expect("the engine works");
    }
    // Lost before the fork: the first attempt fails, and the second one has the lane as it was.
    lose();
    let mut losses = 0;
    let mut fork = match gpu.fork(0, 2) {
        Err(error) => {
            assert_kept(&error);
            losses += 1;
            gpu.fork(0, 2).expect("the device is opened again")
        }
        Ok(fork) => fork,
    };
    // Lost right after the fork, and again after a part of the run.
    let mut expected = reference.fork(0, 2).expect("the lanes fit");
    for budget in [0, 700, u64::MAX] {
        lose();
        if let Err(error) = fork.run(budget) {
            assert_kept(&error);
            losses += 1;
            // Complete slices count, so run to the number of steps that the reference reaches.
            expected.run(budget).expect("the reference works");
            let ends = expected.registers(Register::Steps).expect("the reference works");
            let now = fork.registers(Register::Steps).expect("the device is opened again");
            fork.run(if budget == u64::MAX { budget } else { ends[0] - now[0] }).expect("the device works");
        } else {
            expected.run(budget).expect("the reference works");
        }
        lose();
        if let Err(error) = fork.read_all(reference.layout().stack.start, 8) {
            assert_kept(&error);
            losses += 1;
        }
        assert!(machine_lanes(&mut fork) == machine_lanes(&mut expected), "after {budget} steps");
    }
    assert!(losses >= 5, "the calls find the device lost: {losses} times");
    gpu.run(u64::MAX).or_else(|_| gpu.run(u64::MAX)).expect("the forked machine still works");
    reference.run(u64::MAX).expect("the reference works");
    assert!(machine_lanes(&mut gpu) == machine_lanes(&mut reference), "the forked machine");
}

/// Returns the number of calls of the device that changing and reading all lanes of a machine takes.
fn calls_to_change(lanes: usize) -> u32 {
    let succeeds_with = |calls: u32| {
        let device = open_device();
        let builder = Machine::builder(guest("mix")).lanes(lanes).engine(GpuEngine::new(device.clone()));
        let mut machine = builder.build().expect("the guest fits");
        machine.run(100).expect("the device works");
        let stack = machine.layout().stack.start;
        // Room for the pages is made before, because that may take more calls for more lanes.
        machine.write(.., stack, &[1]).expect("the stack is mapped");
        machine.read_all(stack, 1).expect("the device works");
        let rows: Vec<u8> = (0..9 * lanes).map(|at| at as u8).collect();
        // The call after these loses the device.
        device.lose_at(calls + 1);
        let mut change = || {
            machine.write_rows(.., stack + 3, &rows)?;
            machine.write(.., stack + 20, b"the same")?;
            machine.set_registers(.., Register::X(9), &vec![9; lanes])?;
            machine.resume(..)?;
            machine.read_all(stack + 3, 9)
        };
        let seen = change();
        device.lose_at(0);
        if let Ok(seen) = &seen {
            assert_eq!(*seen, rows, "the rows are in the lanes");
        }
        seen.is_ok()
    };
    let (mut fails, mut succeeds) = (0, 128);
    assert!(succeeds_with(succeeds), "{lanes} lanes take fewer calls");
    while fails + 1 < succeeds {
        let middle = (fails + succeeds) / 2;
        *(if succeeds_with(middle) { &mut succeeds } else { &mut fails }) = middle;
    }
    succeeds
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn changes_of_many_lanes_take_as_many_calls_as_of_one() {
    let _lock = lock_device();
    let one = calls_to_change(1);
    assert!(one > 1, "the changes need the device");
    assert_eq!(calls_to_change(200), one, "calls of the device");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_of_all_lanes_empties_the_journal_and_so_does_a_checkpoint() {
    let _lock = lock_device();
    let mut pair = Pair::new(&[raw(busy)], SLICES);
    pair.run(200);
    pair.call_both(|executor| executor.snapshot());
    pair.run(100);
    pair.call_both(|executor| executor.reset(&ALL));
    let (size, most) = (pair.gpu.journal_bytes(), 1500);
    assert!((1..most).contains(&size), "{size} bytes");
    for round in 0..20 {
        pair.change_registers(round % LANES, round as u64);
        pair.call_both(|executor| {
            executor.write_memory(round % LANES, CODE + 3 * PAGE, &[1; 500], None).map(drop)
        });
        pair.run(100);
        assert!(pair.gpu.journal_bytes() > size + 500, "the journal grows");
        pair.call_both(|executor| executor.reset(&ALL));
        assert_eq!(pair.gpu.journal_bytes(), size, "the reset shrinks the journal");
    }
    assert_eq!(pair.gpu.checkpoints(), 0, "no checkpoint was needed");
    pair.lose();
    pair.run(10);
    pair.assert_same("after a loss");

    // Now the journal exceeds its limit.
    let mut pair = Pair::new(&[raw(busy)], Bounds { journal_bytes: Some(200_000), ..SLICES });
    pair.call_both(|executor| executor.snapshot());
    let mut most = 0;
    for round in 0..300 {
        pair.call_both(|executor| {
            executor.write_memory(0, CODE + 3 * PAGE, &[round as u8; 4096], None).map(drop)
        });
        if round % 100 == 0 {
            pair.run(100);
        }
        most = most.max(pair.gpu.journal_bytes());
    }
    assert!(pair.gpu.checkpoints() > 1 && most < 300 * 4096 / 2, "at most {most} bytes");
    pair.lose();
    pair.call_both(|executor| executor.reset(&[2]));
    pair.run(100);
    pair.assert_same("after a loss that follows a checkpoint");
    pair.call_both(|executor| executor.reset(&ALL));
    pair.lose();
    pair.assert_same("at a snapshot that is in the checkpoint");
    assert_eq!(pair.gpu.recoveries(), 2, "the device was lost twice");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn state_that_cannot_be_replayed_is_lost_but_never_wrong() {
    let _lock = lock_device();
    // There are too few frames for all lanes, and chance decides which lanes get some.
    let bounds = Bounds { pool_shift: Some(14), pools: Some(1), ..SLICES };
    let mut pair = Pair::new(&[raw(busy)], bounds);
    pair.gpu.snapshot().expect("the engine works");
    let run = |gpu: &mut RecoveringExecutor| gpu.run(&[1000; LANES], &mut |_| ControlFlow::Continue(()));
    let full = |gpu: &mut RecoveringExecutor| {
        run(gpu).expect("the engine works");
        ALL.into_iter()
            .filter(|&lane| gpu.stop(lane).expect("the engine works") == Some(Stop::OutOfFrames))
            .count()
    };
    assert!(full(&mut pair.gpu) > 0, "there are too few frames");
    assert_eq!(pair.gpu.checkpoints(), 0, "the state may still be reset");
    pair.gpu.reset(&ALL).expect("the engine works");
    pair.lose();
    let read = |gpu: &mut RecoveringExecutor| gpu.read_memory_of_each(CODE, 8, &ALL, &mut Vec::new());
    assert_kept(&read(&mut pair.gpu).expect_err("the device is lost"));
    // The new device runs out of frames, too. Before lanes go on from there, a checkpoint is made.
    assert!(full(&mut pair.gpu) > 0, "there are still too few frames");
    run(&mut pair.gpu).expect("the engine works");
    assert_eq!((pair.gpu.checkpoints(), pair.gpu.recoveries()), (1, 1), "one checkpoint, one recovery");
    let before = lanes(&mut pair.gpu);
    pair.lose();
    assert_kept(&read(&mut pair.gpu).expect_err("the device is lost"));
    assert_eq!(lanes(&mut pair.gpu), before, "the state is that of the checkpoint");
    // If the device is lost before the checkpoint, the state is lost.
    pair.gpu.reset(&ALL).expect("the engine works");
    assert!(full(&mut pair.gpu) > 0, "there are too few frames again");
    pair.lose();
    for _ in 0..2 {
        let error = read(&mut pair.gpu).expect_err("the device is lost");
        let cause = std::error::Error::source(&error).expect("the error has a cause");
        assert!(matches!(cause.downcast_ref(), Some(Error::StateLost { .. })), "{cause}");
    }
}

/// An engine like that of users, on the device that the process has open, but with short slices and a limited journal.
struct RecoveringEngine {
    journal_bytes: Option<u64>,
}

impl Factory for RecoveringEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(RecoveringExecutor::new(
            &open_device(),
            plan,
            &ClassSelection::TABLE,
            Bounds { slice_steps: Some(5000), journal_bytes: self.journal_bytes, ..SLICES },
        )?))
    }
}

/// Runs a guest whose device is lost several times, and asserts that it ends as on the reference. `calls` are the calls
/// of the observer at which the device is lost. Returns the number of losses while the guest was running.
fn run_with_losses(builder: &dyn Fn() -> Builder<'static>, calls: &[u32]) -> usize {
    let mut losses = 0;
    let _lock = lock_device();
    let mut reference = builder().build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let expected = machine_lanes(&mut reference);

    // With a journal of one byte there is a checkpoint after every change, also while output waits.
    for journal_bytes in [None, Some(1)] {
        let mut gpu = builder().engine(RecoveringEngine { journal_bytes }).build().expect("the guest fits");
        // The device is lost before the first run, and then at calls of the observer.
        open_device().raw().destroy();
        assert_kept(&gpu.run(u64::MAX).expect_err("the device is lost"));
        for calls in calls {
            let (device, mut left) = (open_device(), *calls);
            let result = gpu.run_with(u64::MAX, |_| {
                left = left.saturating_sub(1);
                if left == 0 {
                    device.raw().destroy();
                }
                ControlFlow::Continue(())
            });
            match result {
                Err(error) => assert_kept(&error),
                Ok(_) => break,
            }
            losses += 1;
        }
        gpu.run(u64::MAX).expect("the device is opened again");
        assert_eq!(machine_lanes(&mut gpu), expected, "with a journal of {journal_bytes:?} bytes");
    }
    assert!(expected.iter().all(|(lane, _)| lane.stop.is_some()), "the guest has ended");
    losses
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_prints_the_same_although_its_device_is_lost() {
    let (name, size) = ("sha256", "3");
    let builder = || -> Builder<'static> {
        Machine::builder(guest(name)).lanes(3).arguments(|lane| vec![size.to_owned(), lane.to_string()])
    };
    assert!(run_with_losses(&builder, &[1, 3, 7]) >= 4, "the device is lost while the guest runs");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pipes_survive_the_loss_of_the_device() {
    const NUMBERS: [&str; 5] = ["1", "100", "3", "20", "30000"];
    let builder = || -> Builder<'static> {
        Machine::builder(linux_guest("pipes")).lanes(2).arguments(|_| NUMBERS.map(str::to_owned).to_vec())
    };
    assert!(run_with_losses(&builder, &[2, 9]) >= 3, "the device is lost while the guest runs");
}

/// Regression test: pending output on the device was once dropped if the device was lost while it was fetched and all
/// lanes had ended.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_loss_at_any_call_of_a_run_loses_no_output() {
    let _lock = lock_device();
    // A guest of few calls, because each loss compiles all kernels again.
    let builder = || -> Builder<'static> { Machine::builder(linux_guest("tls")).lanes(2) };
    let mut reference = builder().build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let expected = machine_lanes(&mut reference);
    assert!(!expected[0].1.is_empty(), "the guest prints");
    for call in 1.. {
        let mut gpu =
            builder().engine(RecoveringEngine { journal_bytes: None }).build().expect("the guest fits");
        let device = open_device();
        device.lose_at(call);
        let ran = gpu.run(u64::MAX);
        device.lose_at(0);
        match ran {
            Err(error) => assert_kept(&error),
            Ok(_) => {
                assert!(call > 4, "a run makes more than {call} calls of wgpu");
                break;
            }
        }
        gpu.run(u64::MAX).expect("the device is opened again");
        assert_eq!(machine_lanes(&mut gpu), expected, "lost at call {call}");
    }
}

/// Makes a call, and once more if the device was lost, which is counted.
fn retry<T>(losses: &mut u32, mut call: impl FnMut() -> Result<T, kvrm_machine::Error>) -> T {
    let result = call().or_else(|error| {
        assert_kept(&error);
        *losses += 1;
        call()
    });
    result.expect("the device is opened again")
}

/// Regression test: after a loss, a lane that had passed a breakpoint of a branch to itself passed it twice, and the hooks
/// of one step could stay for good.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_loss_at_any_call_of_resumed_runs_misses_no_breakpoint() {
    let _lock = lock_device();
    let program = Program::from_code(CODE, &[0x1400_0000]).expect("the program fits"); // b .
    let builder = || Machine::builder(program.clone()).lanes(2).hooks(Hooks::new().breakpoint(CODE));
    // Each device takes a while to open, so only every third call is tried. These include the calls that failed.
    for call in (3..).step_by(3) {
        let engine = RecoveringEngine { journal_bytes: None };
        let mut gpu = builder().engine(engine).build().expect("the program fits");
        let device = open_device();
        device.lose_at(call);
        let losses = &mut 0;
        for steps in 0..3 {
            retry(losses, || gpu.run(100));
            let stops = retry(losses, || gpu.stops());
            assert_eq!(stops, [Some(Stop::HardwareBreakpoint); 2], "lost at call {call}, {steps} steps");
            assert_eq!(retry(losses, || gpu.registers(Register::Steps)), [steps; 2], "lost at call {call}");
            (0..2).for_each(|lane| retry(losses, || gpu.resume(lane)));
        }
        device.lose_at(0);
        if *losses == 0 {
            assert!(call > 10, "the runs make more than {call} calls of wgpu");
            break;
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn services_of_linux_programs_survive_the_loss_of_the_device() {
    let mut losses = 0;
    for (name, arguments) in LINUX_GUESTS {
        let builder = || -> Builder<'static> {
            Machine::builder(linux_guest(name))
                .lanes(2)
                .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
                .input(|lane| b"some input ".repeat(lane))
        };
        losses += run_with_losses(&builder, &[1, 2, 4]);
    }
    assert!(losses >= 4, "devices are lost while guests run, but only {losses} times");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_survive_the_loss_of_the_device_with_their_network() {
    let _lock = lock_device();
    let mut pair =
        Pair::with_class_selection(&[raw(busy)], &ClassSelection::new(SelectionMode::Network), SLICES);
    pair.run(500);
    let asked = |pair: &mut Pair| {
        let decisions =
            pair.gpu.take_decisions().expect("the engine works").expect("the lanes have a network");
        assert_eq!(
            (decisions.mispredicted(), decisions.tuples_right),
            (0, 1 << 20),
            "the network is complete and correct"
        );
        decisions.asked()
    };
    let steps = |pair: &mut Pair| -> u64 {
        (0..LANES).map(|lane| pair.reference.steps(lane).expect("the engine works")).sum()
    };
    assert_eq!(asked(&mut pair), steps(&mut pair), "the network is asked in each step");
    let before = steps(&mut pair);
    pair.gpu.device().raw().destroy();
    pair.run(300);
    assert_eq!(pair.gpu.recoveries(), 1, "the lanes were restored");
    pair.assert_same("after a loss");
    assert_eq!(asked(&mut pair), steps(&mut pair) - before, "replayed steps are counted once");
}
