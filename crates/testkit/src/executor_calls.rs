//! Random calls of an executor, which is compared with the reference.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_machine::{
    Cpu, Error, Executor, Factory, Image, Mapping, Permissions, Plan, ProcessState, ReferenceEngine,
    Register, Stop,
};

use crate::images::{CODE, PAGE, assemble, busy, image, segment};
use crate::lanes::{self, Lane};
use crate::random::Random;
use crate::views;

/// The number of pages from [`CODE`] on.
const PAGES: u64 = 80;
/// The number of pages that a lane may write. The program of the lanes writes eight.
const FRAMES: usize = 12;

/// Returns the image of the lanes.
fn lanes_image() -> Arc<Image> {
    image(&[segment(CODE, PAGES * PAGE, assemble(busy), Permissions::RWX)])
}

/// Makes `calls` random calls of an executor with `lanes` lanes and of the reference, and asserts that both do the same. Then
/// makes as many calls of an executor of the same engine for another number of lanes.
///
/// # Panics
/// The executors differ, or the engine fails.
pub fn check(engine: &dyn Factory, lanes: usize, calls: usize, random: &mut Random) {
    let images = [lanes_image()];
    let plan = Plan { images: &images, lanes, frames_max: FRAMES, calls: None, loops: None };
    let engine = engine.executor(&plan).expect("the lanes fit");
    let reference = ReferenceEngine.executor(&plan).expect("the lanes fit");
    let mut pair = Pair { engine, reference, lanes, has_snapshot: false };
    pair.calls(calls, random);
    let lanes = 1 + random.below(2 * lanes as u64) as usize;
    let plan = Plan { lanes, ..plan };
    let engine = pair.engine.executor_for(&plan).expect("the lanes fit");
    let reference = pair.reference.executor_for(&plan).expect("the lanes fit");
    Pair { engine, reference, lanes, has_snapshot: false }.calls(calls, random);
}

struct Pair {
    engine: Box<dyn Executor>,
    reference: Box<dyn Executor>,
    lanes: usize,
    has_snapshot: bool,
}

impl Pair {
    fn calls(&mut self, calls: usize, random: &mut Random) {
        for lane in 0..self.lanes {
            let mut cpu = Cpu::new(CODE, 0);
            cpu.set_x(0, random.below(1 << 20));
            self.both("set_cpu", |executor| executor.set_cpu(lane, &cpu));
        }
        for _ in 0..calls {
            self.call(random);
        }
        assert_eq!(self.engine.audit().expect("the engine works"), [], "violations");
        let seen: Vec<Lane> = self.result_of_both("the lanes", lanes::of_executor);
        assert_eq!(seen.len(), self.lanes, "the number of lanes");
    }

    /// Makes a call on both executors, and asserts that the results are equal.
    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        act: impl FnMut(&mut dyn Executor) -> Result<T, Error>,
    ) {
        drop(self.result_of_both(what, act));
    }

    /// Makes a call on both executors, asserts that the results are equal, and returns the result.
    fn result_of_both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &str,
        mut act: impl FnMut(&mut dyn Executor) -> Result<T, Error>,
    ) -> T {
        let engine = act(&mut *self.engine).expect("the engine works");
        let reference = act(&mut *self.reference).expect("the reference works");
        assert_eq!(engine, reference, "{what}: the engine on the left, the reference on the right");
        reference
    }

    /// Returns some lanes: all, an ascending list, or any list.
    fn some_lanes(&self, random: &mut Random) -> Vec<usize> {
        let all = 0..self.lanes;
        match random.below(3) {
            0 => all.collect(),
            1 => all.filter(|_| random.below(2) == 0).collect(),
            _ => (0..random.below(6)).map(|_| random.below(self.lanes as u64) as usize).collect(),
        }
    }

    /// Makes a random call.
    fn call(&mut self, random: &mut Random) {
        let lane = random.below(self.lanes as u64) as usize;
        let selected = self.some_lanes(random);
        // Some ranges cross pages, and some begin beyond the memory of the lanes.
        let address = CODE + random.below(PAGES * PAGE + 2 * PAGE);
        let bytes = *random.pick(&[0, 1, 8, 300, 5000]);
        match random.below(15) {
            0 | 1 => self.run(random),
            2 => {
                let stop = *random.pick(&[None, None, Some(Stop::Budget), Some(Stop::Halt { imm: 3 })]);
                self.both("set_stops", |executor| executor.set_stops(&selected, stop));
                self.both("set_stop", |executor| executor.set_stop(lane, None));
                self.both("stops", |executor| executor.stops());
            }
            3 => {
                let register = *random.pick(&[Register::X(0), Register::X(7), Register::Sp]);
                let values: Vec<u64> = selected.iter().map(|_| random.below(1 << 30)).collect();
                self.both("set_registers", |executor| executor.set_registers(register, &selected, &values));
                self.both("registers", |executor| {
                    let mut values = vec![1];
                    executor.registers(register, &mut values).map(|()| values)
                });
            }
            4 => {
                let read = |executor: &mut dyn Executor| {
                    let mut out = vec![7];
                    let read = executor.read_memory_of_each(address, bytes, &selected, &mut out)?;
                    Ok(read.map(|()| out))
                };
                self.both("read_memory_of_each", read);
            }
            5 | 6 => {
                let data: Vec<u8> = (0..bytes * selected.len()).map(|_| random.bits() as u8).collect();
                let row = |index: usize| &data[index * bytes..(index + 1) * bytes];
                let rows: Vec<_> = (0..).zip(&selected).map(|(index, lane)| (*lane, row(index))).collect();
                // Code is not overwritten, so that lanes run on.
                let address = address.max(CODE + PAGE);
                self.both("check", |executor| executor.check_memory_of_each(address, &rows));
                self.both("write_memory_of_each", |executor| executor.write_memory_of_each(address, &rows));
                self.both("pages", |executor| executor.private_pages(lane));
                self.both("frames_used", |executor| executor.frames_used());
            }
            7 => {
                let view = views::view(random, &(CODE..CODE + PAGES * PAGE));
                let read = |executor: &mut dyn Executor| {
                    let mut out = vec![0; selected.len() * view.bytes()];
                    let read = executor.read_views(&view, &selected, &mut out)?;
                    Ok(read.map(|()| out))
                };
                self.both("read_views", read);
            }
            8 => {
                let first = CODE / PAGE + 9 + random.below(PAGES - 9);
                let mapping = *random.pick(&[
                    Mapping::Unmap,
                    Mapping::Zero(Permissions::RW),
                    Mapping::Protect(Permissions::R),
                ]);
                self.both("map", |executor| executor.map(lane, first..first + 2, mapping));
                let region =
                    |executor: &mut dyn Executor| Ok(executor.page_map(lane)?.region(first).cloned());
                self.both("page_map", region);
            }
            9 => {
                self.both("snapshot", |executor| executor.snapshot());
                self.has_snapshot = true;
            }
            10 if self.has_snapshot => {
                self.both("reset", |executor| executor.reset(&selected));
            }
            11 => {
                let ranges: Vec<_> = selected.iter().map(|lane| (*lane, address, bytes)).collect();
                self.both("prefetch", |executor| executor.prefetch(&ranges));
                let mut seen = vec![0; bytes];
                let read = |executor: &mut dyn Executor| {
                    let read = executor.read_memory(lane, address, &mut seen, None)?;
                    Ok(read.map(|()| seen.clone()))
                };
                self.both("read_memory", read);
            }
            12 => {
                let state = ProcessState { slept: random.bits(), ..ProcessState::default() };
                self.both("set_process_state", |executor| executor.set_process_state(lane, &state));
                self.both("process_state", |executor| executor.process_state(lane));
            }
            13 => self.serve(&selected),
            _ => {
                self.both("cpu", |executor| executor.cpu(lane));
                self.both("steps", |executor| executor.steps(lane));
            }
        }
    }

    /// Runs the lanes that can run, each up to a limit of its own.
    fn run(&mut self, random: &mut Random) {
        let mut started = Vec::new();
        self.reference.registers(Register::Steps, &mut started).expect("the reference works");
        let limits: Vec<u64> = started.iter().map(|steps| steps + random.below(300)).collect();
        let stats = self.result_of_both("run", |executor| {
            let stats = executor.run(&limits, &mut |_| ControlFlow::Continue(()))?;
            Ok((stats.progress.steps, stats.progress.running))
        });
        let mut ended = Vec::new();
        self.reference.registers(Register::Steps, &mut ended).expect("the reference works");
        let retired = ended.iter().sum::<u64>() - started.iter().sum::<u64>();
        assert_eq!(stats, (retired, 0), "the steps of the run, and no lane that runs");
    }

    /// Serves lanes, whose numbers have to ascend.
    fn serve(&mut self, selected: &[usize]) {
        let mut selected = selected.to_vec();
        selected.sort_unstable();
        selected.dedup();
        self.both("serve_parallel", |executor| {
            executor.serve_parallel(&selected, &|index, lane| {
                let mut cpu = lane.general().expect("the engine works");
                cpu.set_x(9, index as u64);
                lane.set_general(&cpu).expect("the engine works");
            })
        });
    }
}
