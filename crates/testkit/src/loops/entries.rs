//! Many entries of random loops, executed at once in several modes and stepped.

use std::sync::Arc;

use kvrm_machine::{AddressSpace, Cpu, Image, Interpreter, LoopRunner, Loops, Stop};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::any_loop;
use super::memory::{image, lane};

/// The number of lanes that enter each loop.
const ENTRIES: usize = 64;

/// Modes whose results are compared: a name, and the acceleration for a new loop, whose lanes share it.
pub type Modes<'a> = [(&'static str, &'a dyn Fn() -> Loops)];

/// The counts of a mode.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// The number of lanes that entered a loop.
    pub entries: u64,
    /// The number of them that ended differently than when stepped.
    pub differences: u64,
    /// The first of these.
    pub first: Option<String>,
    /// The number of loops that were proposed to the checker.
    pub proposed: u64,
    /// The number of loops that were candidates.
    pub candidates: u64,
    /// The number of proofs that an opinion contradicts.
    pub disagreed: u64,
    /// The number of steps of all entries.
    pub steps: u64,
    /// The number of steps that were executed at once.
    pub credited_steps: u64,
}

/// The end of a lane.
#[derive(PartialEq)]
struct End {
    cpu: Cpu,
    stop: Stop,
    pages: Vec<(u64, Vec<u8>)>,
}

/// A lane that enters a loop.
#[derive(Debug)]
struct Entry {
    cpu: Cpu,
    frames: usize,
    budgets: Vec<u64>,
    /// The number of steps between two looks.
    slice: u64,
}

fn entry() -> impl Strategy<Value = Entry> {
    let frames = prop_oneof![3 => Just(100_usize), 1 => 0..5_usize];
    let budgets = prop::collection::vec(prop_oneof![1..200_u64, 1..4_000_u64], 1..3);
    (lane(), frames, budgets, 1..40_u64).prop_map(|(cpu, frames, budgets, slice)| Entry {
        cpu,
        frames,
        budgets,
        slice,
    })
}

impl Entry {
    /// Returns the end of the lane, after each of its budgets.
    fn ends(&self, image: &Arc<Image>, loops: Option<Loops>) -> Vec<End> {
        let mut cpu = self.cpu.clone();
        let mut memory = AddressSpace::new(Arc::clone(image), self.frames);
        let mut runner = LoopRunner::with_slices(Interpreter, loops, self.slice);
        let mut end = |budget: &u64| {
            let stop = runner.run(&mut cpu, &mut memory, *budget);
            let mut pages: Vec<_> =
                memory.private_pages().map(|(page, bytes)| (page, bytes.to_vec())).collect();
            pages.sort();
            End { cpu: cpu.clone(), stop, pages }
        };
        self.budgets.iter().map(&mut end).collect()
    }
}

/// Enters random loops so many times in each mode, and compares each end with that of stepping.
///
/// # Panics
/// Never: the generators reject nothing.
pub fn compare(seed: u64, entries: u64, modes: &Modes<'_>) -> Vec<Count> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (any_loop, entry) = (any_loop().boxed(), entry().boxed());
    let mut counts = vec![Count::default(); modes.len()];
    let mut left = entries;
    while left > 0 {
        let words = any_loop.new_tree(&mut runner).expect("nothing is rejected").current();
        let image = image(&words);
        let all: Vec<Loops> = modes.iter().map(|(_, loops)| loops()).collect();
        for _ in 0..left.min(ENTRIES as u64) {
            let entry = entry.new_tree(&mut runner).expect("nothing is rejected").current();
            let expected = entry.ends(&image, None);
            for (loops, count) in all.iter().zip(&mut counts) {
                count.entries += 1;
                count.steps += expected.last().map_or(0, |end| end.cpu.steps - entry.cpu.steps);
                if entry.ends(&image, Some(loops.clone())) != expected {
                    count.differences += 1;
                    count.first.get_or_insert_with(|| format!("the loop {words:x?}, with {entry:?}"));
                }
            }
        }
        for (loops, count) in all.iter().zip(&mut counts) {
            let report = loops.report();
            count.candidates += report.candidates;
            count.proposed += report.proposed;
            count.disagreed += report.disagreed;
            count.credited_steps += report.credited_steps;
        }
        left = left.saturating_sub(ENTRIES as u64);
    }
    counts
}
