//! Devices that are lost: the lanes go on elsewhere as if nothing had been.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm_gpu::{Bounds, Device, Dispatch, Error, GpuEngine, Mode, Recovering};
use kvrm_machine::{Builder, Executor, Factory, Image, Machine, Plan, Progress, Reference, Stop};
use kvrm_testkit::guests::{GUESTS, LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::random::Random;

use crate::support::{CODE, PAGE, busy, lanes, machine_lanes, raw};

const LANES: usize = 5;
/// Slices short enough that every run has some.
const SLICES: Bounds = Bounds { slice_steps: Some(64), ..Bounds::NONE };

/// These tests lose the device that the process has open; one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device the process has open now.
fn open() -> Device {
    GpuEngine::open(None).expect("there is a device").device().clone()
}

/// Lanes on a device that will be lost, and the same lanes on the reference.
struct Pair {
    gpu: Recovering,
    reference: Reference,
}

impl Pair {
    fn new(images: &[Arc<Image>], bounds: Bounds) -> Self {
        Self::asking(images, &Dispatch::TABLE, bounds)
    }

    /// The same with classes chosen by a network.
    fn asking(images: &[Arc<Image>], dispatch: &Dispatch, bounds: Bounds) -> Self {
        Self::on(&open(), images, dispatch, bounds)
    }

    /// The same on a device.
    fn on(device: &Device, images: &[Arc<Image>], dispatch: &Dispatch, bounds: Bounds) -> Self {
        let plan = Plan { images, lanes: LANES, frames_max: 16, calls: None };
        let gpu = Recovering::new(device, &plan, dispatch, bounds).expect("the lanes fit");
        let reference = Reference::new(&plan).expect("the lanes fit");
        let mut pair = Self { gpu, reference };
        for lane in 0..LANES {
            pair.change(lane, 1 + lane as u64);
        }
        pair
    }

    /// The same on both; on the GPU again if its device turns out to be lost.
    fn both(&mut self, mut act: impl FnMut(&mut dyn Executor) -> Result<(), kvrm_machine::Error>) {
        act(&mut self.reference).expect("the reference works");
        if let Err(error) = act(&mut self.gpu) {
            is_kept(&error);
            act(&mut self.gpu).expect("it was opened again");
        }
    }

    fn change(&mut self, lane: usize, x0: u64) {
        self.both(|executor| {
            let mut cpu = executor.cpu(lane)?;
            cpu.set_x(0, x0);
            cpu.v[3] = u128::from(x0) << 64;
            cpu.pc = if cpu.pc == 0 { CODE } else { cpu.pc };
            executor.set_cpu(lane, &cpu)
        });
    }

    fn clear_budgets(&mut self) {
        self.both(|executor| {
            (0..LANES).try_for_each(|lane| match executor.stop(lane)? {
                Some(Stop::Budget) => executor.set_stop(lane, None),
                _ => Ok(()),
            })
        });
    }

    /// Where lanes are to stop that go `budget` steps, and some more the higher their number.
    fn limits(&mut self, budget: u64) -> Vec<u64> {
        (0..LANES).map(|lane| self.reference.steps(lane).expect("it works") + budget + lane as u64).collect()
    }

    fn run(&mut self, budget: u64) {
        self.clear_budgets();
        let limits = self.limits(budget);
        self.both(|executor| executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop));
    }

    /// A run to whose device something is done after some slices; the reference then goes exactly as far as the
    /// lanes on the GPU went. Says whether it was lost.
    fn run_until(&mut self, slices: u32, act: fn(&Device) -> ControlFlow<()>) -> bool {
        self.clear_budgets();
        let limits = self.limits(1000);
        let device = self.gpu.on().clone();
        let mut left = slices;
        let mut seen = Progress::default();
        let result = self.gpu.run(&limits, &mut |now| {
            left -= 1;
            seen = now;
            if left == 0 { act(&device) } else { ControlFlow::Continue(()) }
        });
        if let Err(error) = &result {
            is_kept(error);
        }
        let mut retired = 0;
        for lane in 0..LANES {
            let steps = self.gpu.steps(lane).expect("it works");
            retired += steps - self.reference.steps(lane).expect("it works");
            let mut one = [0; LANES];
            one[lane] = steps;
            // The others stay where they are, as they have stopped or are at their limits.
            let stops: Vec<_> = (0..LANES).map(|lane| self.reference.stop(lane).expect("it works")).collect();
            (0..LANES).filter(|other| *other != lane).for_each(|other| {
                self.reference.set_stop(other, Some(Stop::Budget)).expect("it works");
            });
            self.reference.run(&one, &mut |_| ControlFlow::Continue(())).expect("it works");
            (0..LANES).filter(|other| *other != lane).for_each(|other| {
                self.reference.set_stop(other, stops[other]).expect("it works");
            });
            if steps < limits[lane] {
                self.reference.set_stop(lane, None).expect("it works");
            }
        }
        assert!(retired >= seen.steps, "complete slices are kept: {} steps, not {retired}", seen.steps);
        result.is_err()
    }

    /// Loses the device. The next call that needs it says so.
    fn lose(&mut self) {
        self.gpu.on().raw().destroy();
    }

    /// All there is to see is the same on both, on a device that works.
    fn same(&mut self, when: &str) {
        // What is at hand would need no device.
        if let Err(error) = self.gpu.read_memory_of_all(CODE, 8, &mut Vec::new()) {
            is_kept(&error);
        }
        let (gpu, reference) = (lanes(&mut self.gpu), lanes(&mut self.reference));
        for (number, (gpu, reference)) in gpu.iter().zip(&reference).enumerate() {
            assert_eq!(
                gpu, reference,
                "lane {number} {when}: the GPU on the left, the reference on the right"
            );
        }
        let frames = [&mut self.gpu as &mut dyn Executor, &mut self.reference]
            .map(|executor| executor.frames_used().expect("it works"));
        assert_eq!(frames[0], frames[1], "frames in use {when}");
    }
}

/// It says that the device was lost and that the lanes are kept.
fn is_kept(error: &kvrm_machine::Error) {
    let cause = std::error::Error::source(error).expect("it has a cause");
    let cause: &Error = cause.downcast_ref().expect("it is the GPU's");
    assert!(matches!(cause, Error::DeviceLost { kept: true, .. }), "{cause}");
    assert!(cause.to_string().contains("are kept as they were before"), "{cause}");
}

const ALL: [usize; LANES] = [0, 1, 2, 3, 4];

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_machine_is_built_although_its_device_is_lost_before_or_meanwhile() {
    let _alone = alone();
    let images = [raw(busy)];
    let mut losses = 0;
    for call in [0, 1, 2, 7, 15, 31, 63] {
        let device = open();
        if call == 0 {
            device.raw().destroy();
        }
        device.lose_at(call);
        let mut pair = Pair::on(&device, &images, &Dispatch::TABLE, SLICES);
        device.lose_at(0);
        losses += usize::from(device.check("looking for a loss").is_err());
        pair.run(100);
        pair.same(&format!("lost at call {call}"));
        assert_eq!(pair.gpu.recoveries(), 0, "there was nothing to make again");
    }
    assert!(losses >= 4, "the device is lost before the machine is there, not only {losses} times");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn runs_resets_and_writes_survive_the_loss_of_the_device() {
    let _alone = alone();
    let mut pair = Pair::new(&[raw(busy)], SLICES);
    pair.run(100);
    // In a run, between two slices.
    assert!(
        pair.run_until(4, |device| {
            device.raw().destroy();
            ControlFlow::Continue(())
        }),
        "it is lost"
    );
    pair.same("after a loss in a run");
    assert_eq!(pair.gpu.recoveries(), 1, "they were made again");
    pair.run(300);
    // Runs broken off, snapshots, writes that the device has not been told, and again.
    assert!(!pair.run_until(3, |_| ControlFlow::Break(())), "it is only broken off");
    pair.both(|executor| executor.write_memory(2, CODE + 9 * PAGE - 3, &[7; 9], None).map(drop));
    pair.both(|executor| executor.snapshot());
    pair.run(333);
    pair.both(|executor| executor.reset(&[1, 3]));
    pair.both(|executor| executor.write_memory(1, CODE + 4 * PAGE, &[9; 5000], None).map(drop));
    pair.both(|executor| executor.set_frames_max(13));
    pair.change(4, 99);
    pair.lose();
    pair.run(50);
    pair.same("after a loss between runs");
    assert_eq!(pair.gpu.recoveries(), 2, "once more");
    // Broken off as the device is lost: nobody knows then where the last slice has ended.
    assert!(
        pair.run_until(2, |device| {
            device.raw().destroy();
            ControlFlow::Break(())
        }),
        "it is lost"
    );
    pair.change(0, 5);
    pair.lose();
    pair.change(1, 6);
    pair.same("after a loss in a run that was broken off");
    pair.both(|executor| executor.reset(&[0, 1, 2, 3, 4]));
    pair.lose();
    pair.same("back at the snapshot");
    pair.run(500);
    pair.same("at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn whatever_is_done_before_a_loss_is_kept() {
    let _alone = alone();
    // The second time the state is copied to the host again and again.
    for (seed, journal_bytes) in [(1, None), (2, Some(2000))] {
        let mut random = Random::new(seed);
        let mut pair = Pair::new(&[raw(busy)], Bounds { journal_bytes, ..SLICES });
        pair.both(|executor| executor.snapshot());
        let mut losses = 0;
        for round in 0..60 {
            match random.below(8) {
                0 => pair.both(|executor| executor.snapshot()),
                1 => {
                    let some: Vec<usize> = ALL.into_iter().filter(|_| random.below(3) != 0).collect();
                    pair.both(|executor| executor.reset(&some));
                }
                2 => {
                    let (lane, at) =
                        (random.below(LANES as u64) as usize, CODE + PAGE + random.below(9 * PAGE));
                    let bytes: Vec<u8> = (0..1 + random.below(5000)).map(|_| random.bits() as u8).collect();
                    pair.both(|executor| executor.write_memory(lane, at, &bytes, None).map(drop));
                }
                3 => pair.change(random.below(LANES as u64) as usize, random.bits()),
                4 => drop(pair.run_until(1 + random.below(5) as u32, |_| ControlFlow::Break(()))),
                5 => {
                    let frames = 12 + random.below(4) as usize;
                    pair.both(|executor| executor.set_frames_max(frames));
                }
                _ => pair.run(random.below(400)),
            }
            if round % 20 == 13 {
                losses += 1;
                if random.below(2) == 0 {
                    pair.run_until(1, |device| {
                        device.raw().destroy();
                        ControlFlow::Continue(())
                    });
                } else {
                    pair.lose();
                }
            }
            if random.below(5) == 0 {
                pair.same(&format!("in round {round} of seed {seed}"));
            }
        }
        pair.same(&format!("at the end of seed {seed}"));
        assert_eq!(pair.gpu.recoveries(), losses, "of seed {seed}");
        assert_eq!(pair.gpu.checkpoints() > 0, journal_bytes.is_some(), "of seed {seed}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_of_all_lanes_empties_the_journal_and_so_does_a_checkpoint() {
    let _alone = alone();
    let mut pair = Pair::new(&[raw(busy)], SLICES);
    pair.run(200);
    pair.both(|executor| executor.snapshot());
    pair.run(100);
    pair.both(|executor| executor.reset(&ALL));
    let (size, most) = (pair.gpu.journal_bytes(), 1500);
    assert!((1..most).contains(&size), "{size} bytes");
    for round in 0..20 {
        pair.change(round % LANES, round as u64);
        pair.both(|executor| {
            executor.write_memory(round % LANES, CODE + 3 * PAGE, &[1; 500], None).map(drop)
        });
        pair.run(100);
        assert!(pair.gpu.journal_bytes() > size + 500, "it grows with what is done");
        pair.both(|executor| executor.reset(&ALL));
        assert_eq!(pair.gpu.journal_bytes(), size, "and shrinks with the reset");
    }
    assert_eq!(pair.gpu.checkpoints(), 0, "so there was no need to copy the state");
    pair.lose();
    pair.run(10);
    pair.same("after a loss");

    // Now it grows larger than it may.
    let mut pair = Pair::new(&[raw(busy)], Bounds { journal_bytes: Some(200_000), ..SLICES });
    pair.both(|executor| executor.snapshot());
    let mut most = 0;
    for round in 0..300 {
        pair.both(|executor| executor.write_memory(0, CODE + 3 * PAGE, &[round as u8; 4096], None).map(drop));
        if round % 100 == 0 {
            pair.run(100);
        }
        most = most.max(pair.gpu.journal_bytes());
    }
    assert!(pair.gpu.checkpoints() > 1 && most < 300 * 4096 / 2, "at most {most} bytes");
    pair.lose();
    pair.both(|executor| executor.reset(&[2]));
    pair.run(100);
    pair.same("after a loss behind a checkpoint");
    pair.both(|executor| executor.reset(&ALL));
    pair.lose();
    pair.same("at a snapshot that is in the checkpoint");
    assert_eq!(pair.gpu.recoveries(), 2, "it was lost twice");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn what_cannot_be_done_again_is_lost_but_never_wrong() {
    let _alone = alone();
    // Too few frames for all lanes, and which of them get some is a matter of chance.
    let bounds = Bounds { pool_shift: Some(14), pools: Some(1), ..SLICES };
    let mut pair = Pair::new(&[raw(busy)], bounds);
    pair.gpu.snapshot().expect("it works");
    let run = |gpu: &mut Recovering| gpu.run(&[1000; LANES], &mut |_| ControlFlow::Continue(()));
    let full = |gpu: &mut Recovering| {
        run(gpu).expect("it works");
        ALL.into_iter().filter(|&lane| gpu.stop(lane).expect("it works") == Some(Stop::OutOfFrames)).count()
    };
    assert!(full(&mut pair.gpu) > 0, "there are too few frames");
    assert_eq!(pair.gpu.checkpoints(), 0, "that may be undone");
    pair.gpu.reset(&ALL).expect("it works");
    pair.lose();
    let read = |gpu: &mut Recovering| gpu.read_memory_of_all(CODE, 8, &mut Vec::new());
    is_kept(&read(&mut pair.gpu).expect_err("it is lost"));
    // On the new device it happens again; before lanes go on from there, the state is copied.
    assert!(full(&mut pair.gpu) > 0, "there are still too few");
    run(&mut pair.gpu).expect("it works");
    assert_eq!((pair.gpu.checkpoints(), pair.gpu.recoveries()), (1, 1), "a copy");
    let before = lanes(&mut pair.gpu);
    pair.lose();
    is_kept(&read(&mut pair.gpu).expect_err("it is lost"));
    assert_eq!(lanes(&mut pair.gpu), before, "from the copy");
    // And if it is lost at once.
    pair.gpu.reset(&ALL).expect("it works");
    assert!(full(&mut pair.gpu) > 0, "once more");
    pair.lose();
    for _ in 0..2 {
        let error = read(&mut pair.gpu).expect_err("it is lost");
        let cause = std::error::Error::source(&error).expect("it has a cause");
        assert!(matches!(cause.downcast_ref(), Some(Error::StateLost { .. })), "{cause}");
    }
}

/// Makes executors on the device the process has open, as a user's are but for the length of slices.
struct Losing {
    journal_bytes: Option<u64>,
}

impl Factory for Losing {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(Recovering::new(
            &open(),
            plan,
            &Dispatch::TABLE,
            Bounds { slice_steps: Some(5000), journal_bytes: self.journal_bytes, ..SLICES },
        )?))
    }
}

/// A guest ends as on the reference although its device is lost again and again; says how often it was while it ran.
fn losses_until_it_ends_the_same(builder: &dyn Fn() -> Builder<'static>, calls: &[u32]) -> usize {
    let mut losses = 0;
    let _alone = alone();
    let mut reference = builder().build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let expected = machine_lanes(&mut reference);

    // With a journal of one byte there is a checkpoint after every change, also while output waits.
    for journal_bytes in [None, Some(1)] {
        let mut gpu = builder().engine(Losing { journal_bytes }).build().expect("the guest fits");
        // It is lost while nothing runs, and then when the observer is called, sooner or later.
        open().raw().destroy();
        is_kept(&gpu.run(u64::MAX).expect_err("it is lost"));
        for calls in calls {
            let (device, mut left) = (open(), *calls);
            let result = gpu.run_observed(u64::MAX, &mut |_| {
                left = left.saturating_sub(1);
                if left == 0 {
                    device.raw().destroy();
                }
                ControlFlow::Continue(())
            });
            match result {
                Err(error) => is_kept(&error),
                Ok(_) => break,
            }
            losses += 1;
        }
        gpu.run(u64::MAX).expect("it is opened again");
        assert_eq!(machine_lanes(&mut gpu), expected, "as if nothing had been");
    }
    assert!(expected.iter().all(|(lane, _)| lane.stop.is_some()), "it has ended");
    losses
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_prints_the_same_whatever_happens_to_the_device() {
    let (name, size) = GUESTS[7];
    let builder = || -> Builder<'static> {
        Machine::builder(guest(name)).lanes(3).arguments(|lane| vec![size.to_owned(), lane.to_string()])
    };
    assert!(losses_until_it_ends_the_same(&builder, &[1, 3, 7]) >= 4, "it is lost while it runs");
}

/// Output that waited on the device was once left there if the device was lost when it was fetched and all lanes had ended.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_loss_at_any_call_of_a_run_loses_no_output() {
    let _alone = alone();
    let (name, arguments) = LINUX_GUESTS[5];
    let builder = || -> Builder<'static> {
        Machine::builder(linux_guest(name))
            .lanes(2)
            .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
    };
    let mut reference = builder().build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let expected = machine_lanes(&mut reference);
    assert!(!expected[0].1.is_empty(), "it prints");
    for call in 1.. {
        let mut gpu = builder().engine(Losing { journal_bytes: None }).build().expect("the guest fits");
        let device = open();
        device.lose_at(call);
        let ran = gpu.run(u64::MAX);
        device.lose_at(0);
        match ran {
            Err(error) => is_kept(&error),
            Ok(_) => {
                assert!(call > 4, "a run makes more than {call} calls");
                break;
            }
        }
        gpu.run(u64::MAX).expect("it is opened again");
        assert_eq!(machine_lanes(&mut gpu), expected, "lost at call {call}");
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
        losses += losses_until_it_ends_the_same(&builder, &[1, 2, 4]);
    }
    assert!(losses >= 4, "they are lost while they run, not only {losses} times");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_survive_the_loss_of_the_device_with_their_network() {
    let _alone = alone();
    let mut pair = Pair::asking(&[raw(busy)], &Dispatch::new(Mode::Network), SLICES);
    pair.run(500);
    let asked = |pair: &mut Pair| {
        let decisions = pair.gpu.take_decisions().expect("it works").expect("there is a network");
        assert_eq!(
            (decisions.mispredicted(), decisions.tuples_right),
            (0, 1 << 20),
            "it is the same network"
        );
        decisions.asked()
    };
    let steps = |pair: &mut Pair| -> u64 {
        (0..LANES).map(|lane| pair.reference.steps(lane).expect("it works")).sum()
    };
    assert_eq!(asked(&mut pair), steps(&mut pair), "each step is asked about");
    let before = steps(&mut pair);
    pair.gpu.on().raw().destroy();
    pair.run(300);
    assert_eq!(pair.gpu.recoveries(), 1, "lanes were made again");
    pair.same("after a loss");
    assert_eq!(asked(&mut pair), steps(&mut pair) - before, "what is done again counts once");
}
