//! Iterations of a pass of a bubble sort as a job of the device.

use kvrm_loops::{Pass, PassPlan};
use kvrm_machine::PAGE_BYTES;
use kvrm_shaders::layout::{JOB_INVOCATIONS, PASS_HEADER, PASS_RUN};

use super::loop_jobs::{Cell, column, halves, instructions, moving};

/// Iterations of a pass in a lane, for the device.
#[derive(Clone, Debug)]
pub(crate) struct PassJob {
    lane: u32,
    head: u64,
    words: Vec<u32>,
    /// The number of iterations that are executed.
    pub(crate) iterations: u32,
    /// Whether more iterations are certain to follow than the job has.
    pub(crate) is_clipped: bool,
    /// The logarithm of the number of bytes of an element, how elements are extended, and whether equal ones are exchanged.
    element: [u32; 3],
    address: u64,
    inverted: u64,
    mask: u64,
    /// The numbers of steps of an iteration without and with an exchange.
    lengths: [u64; 2],
    registers: Vec<Cell>,
    counts: Vec<Cell>,
}

impl PassJob {
    /// Creates the job of a plan, of at most `iterations_max` iterations. Returns `None` if the device cannot execute it: elements
    /// are not aligned, or registers change in a way that depends on elements. `before` are the registers of the lane.
    pub(crate) fn new(
        lane: u32,
        (head, words): (u64, &[u32]),
        pass: &Pass,
        (plan, before): (&PassPlan, &[u64]),
        iterations_max: u64,
    ) -> Option<Self> {
        let order = pass.order();
        let address = plan.neighbours.address;
        let iterations = (plan.most - 1).min(iterations_max);
        let (begin, end) = plan.neighbours.range(iterations);
        let (code_begin, code_end) = (i128::from(head), i128::from(head) + 4 * words.len() as i128);
        if !address.is_multiple_of(order.size) || (begin < code_end && code_begin < end) {
            return None;
        }
        // Devices compare keys as unsigned numbers.
        let (sign, mask) = if order.wide { (1 << 63, u64::MAX) } else { (1 << 31, u32::MAX.into()) };
        let counts = pass.counts(plan, before)?.into_iter().flat_map(|count| {
            let ([a, b], [c, d]) = (halves(count.number), halves(count.step));
            let kind = u32::from(count.wide) | u32::from(!count.adds) << 1;
            [[column(count.register), kind, a, b], [c, d, 0, 0]]
        });
        Some(Self {
            lane,
            head,
            words: words.to_vec(),
            iterations: iterations as u32,
            is_clipped: iterations < plan.most - 1,
            element: [order.size.trailing_zeros(), order.extend, order.exchanges_equal.into()],
            address,
            inverted: order.inverted ^ sign,
            mask,
            lengths: pass.lengths(),
            registers: plan.steps().map(moving).collect(),
            counts: counts.collect(),
        })
    }

    /// Returns the number of chunks.
    pub(crate) fn chunks(&self) -> u32 {
        let chunk = PASS_RUN * JOB_INVOCATIONS;
        let before = (self.address >> self.element[0]) as u32 % chunk;
        (before + self.iterations).div_ceil(chunk)
    }

    /// Returns the number of pages that have elements.
    pub(crate) fn pages(&self) -> u32 {
        let last = self.address + (u64::from(self.iterations) << self.element[0]);
        ((last / PAGE_BYTES as u64) - self.address / PAGE_BYTES as u64 + 1) as u32
    }

    /// Returns the number of steps of the iterations, if there are so many exchanges.
    pub(crate) fn steps(&self, exchanges: u32) -> u64 {
        let [short, long] = self.lengths;
        u64::from(self.iterations - exchanges) * short + u64::from(exchanges) * long
    }

    /// Returns the cells of the job. `first_chunk` and `first_page` are the numbers of its first chunk and page.
    pub(crate) fn cells(&self, first_chunk: u32, first_page: u32) -> Vec<Cell> {
        let ([size, extend, equal], [short, long]) = (self.element, self.lengths);
        let ([a, b], [c, d], [e, f], [g, h]) =
            (halves(self.address), halves(self.inverted), halves(self.mask), halves(self.head));
        let header: [Cell; PASS_HEADER as usize] = [
            [self.lane, self.chunks(), self.words.len() as u32, size | extend << 8 | equal << 16],
            [self.iterations, first_chunk, first_page, self.pages()],
            [a, b, c, d],
            [e, f, g, h],
            [self.registers.len() as u32, self.counts.len() as u32, short as u32, long as u32],
        ];
        header
            .into_iter()
            .chain(instructions(&self.words))
            .chain(self.registers.clone())
            .chain(self.counts.clone())
            .collect()
    }
}
