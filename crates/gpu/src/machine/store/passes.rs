//! Dispatches that execute iterations of passes of a bubble sort at once.

use kvrm_shaders::interface::machine::PassJobsGroup;
use kvrm_shaders::layout::{COUNTERS, DISPATCH_ROW, JOB_INVOCATIONS, PASS_RESULT};

use super::parameters::Launch;
use super::resident::Store;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::loop_jobs::Cell;
use crate::machine::pass_jobs::PassJob;

impl Store {
    /// Executes iterations of jobs, at most one for each lane. Returns the number of steps of each that were executed, and the
    /// counters, which have to be prepared.
    pub(crate) fn execute_passes(
        &mut self,
        jobs: &[PassJob],
    ) -> Result<(Vec<u64>, [u32; COUNTERS as usize]), Error> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut firsts = Vec::new();
        let (mut chunks, mut pages, mut chunks_max) = (0, 0, 1);
        for job in jobs {
            firsts.push(cells.len() as u32);
            cells.extend(job.cells(chunks, pages));
            chunks_max = job.chunks().max(chunks_max);
            chunks += job.chunks();
            pages += job.pages();
        }
        let device = self.device.clone();
        let cells = Buffer::with_contents(&device, "cells of passes", cells.as_flattened())?;
        let firsts = Buffer::with_contents(&device, "jobs of passes", &firsts)?;
        let results =
            Buffer::zeroed(&device, "results of passes", 4 * u64::from(PASS_RESULT) * jobs.len() as u64)?;
        let chunks = Buffer::zeroed(&device, "chunks of passes", 16 * u64::from(chunks))?;
        let pages = Buffer::zeroed(&device, "pages of passes", 4 * u64::from(pages))?;
        let buffers =
            PassJobsGroup { cells: &cells, jobs: &firsts, results: &results, chunks: &chunks, pages: &pages };
        let group = self.kernels.layouts.pass_jobs.bind(&device, buffers)?;
        let [greatest, carry, count, prepare, exchange, finish] = self.kernels.passes(&device)?;
        let jobs_count = jobs.len() as u32;
        let launch = Launch { jobs: jobs_count, ..Launch::default() };
        let (y, z) = (jobs_count.min(DISPATCH_ROW), jobs_count.div_ceil(DISPATCH_ROW));
        let kernels = [
            (&greatest, (chunks_max, y, z)),
            (&carry, (1, y, z)),
            (&count, (chunks_max, y, z)),
            (&prepare, (1, y, z)),
            (&exchange, (chunks_max, y, z)),
            (&finish, (jobs_count.div_ceil(JOB_INVOCATIONS), 1, 1)),
        ];
        self.dispatch_each(&kernels, launch, Some(&group))?;
        let counters = 0..4 * u64::from(COUNTERS);
        let bytes = device.download(&[(&results, 0..results.bytes()), (&self.counters, counters)])?;
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[0]);
        let of_jobs = words.chunks_exact(PASS_RESULT as usize).zip(jobs);
        let steps = of_jobs.map(|(result, job)| if result[0] == 0 { job.steps(result[1]) } else { 0 });
        Ok((steps.collect(), bytemuck::pod_read_unaligned(&bytes[1])))
    }
}
