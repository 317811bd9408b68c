//! Dispatches that execute iterations of passes of a bubble sort at once.

use kvrm_shaders::interface::machine::PassJobsGroup;
use kvrm_shaders::layout::PASS_RESULT;

use super::loops::Counters;
use super::resident::Store;
use crate::device::error::Error;
use crate::machine::loop_jobs::Cell;
use crate::machine::pass_jobs::PassJob;

impl Store {
    /// Executes iterations of jobs, at most one for each lane. Returns the number of steps of each that were executed, and the
    /// counters, which have to be prepared.
    pub(crate) fn execute_passes(&mut self, jobs: &[PassJob]) -> Result<(Vec<u64>, Counters), Error> {
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
        let results = vec![0_u32; PASS_RESULT as usize * jobs.len()];
        let pages = vec![0_u32; pages as usize];
        let results_bytes = size_of_val(&results[..]) as u64;
        let sizes = [
            ("cells of passes", size_of_val(&cells[..]) as u64),
            ("jobs of passes", size_of_val(&firsts[..]) as u64),
            ("results of passes", results_bytes),
            ("chunks of passes", 16 * u64::from(chunks)),
            ("pages of passes", size_of_val(&pages[..]) as u64),
        ];
        let layout = &self.kernels.layouts.pass_jobs;
        let (buffers, group) =
            self.pass_buffers.get(&device, sizes, |[cells, jobs, results, chunks, pages]| {
                layout.bind(&device, PassJobsGroup { cells, jobs, results, chunks, pages })
            })?;
        buffers[0].upload(0, cells.as_flattened())?;
        buffers[1].upload(0, &firsts)?;
        buffers[2].upload(0, &results)?;
        buffers[4].upload(0, &pages)?;
        let [greatest, carry, count, prepare, exchange, finish] = self.kernels.passes(&device)?;
        let kernels = [
            (&greatest, chunks_max),
            (&carry, 1),
            (&count, chunks_max),
            (&prepare, 1),
            (&exchange, chunks_max),
            (&finish, 1),
        ];
        let (words, counters) =
            self.execute_jobs(jobs.len() as u32, &kernels, &group, (&buffers[2], results_bytes))?;
        let of_jobs = words.chunks_exact(PASS_RESULT as usize).zip(jobs);
        let steps = of_jobs.map(|(result, job)| if result[0] == 0 { job.steps(result[1]) } else { 0 });
        Ok((steps.collect(), counters))
    }
}
