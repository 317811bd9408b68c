//! Dispatches that execute iterations of loops at once.

use kvrm_shaders::interface::machine::LoopJobsGroup;
use kvrm_shaders::layout::{COUNTERS, DISPATCH_ROW, JOB_HEADER, JOB_INVOCATIONS, JOB_RESULT, TAPE_FOLDS};

use super::parameters::Launch;
use super::resident::Store;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::loop_jobs::{Cell, LoopJob, instructions};

/// The number of chunks that an invocation executes, if there are enough.
const CHUNKS: u64 = 4;
/// The number of workgroups of all jobs together that keep a device busy.
const WORKGROUPS: u64 = 1 << 12;

/// The counters of a dispatch.
pub(crate) type Counters = [u32; COUNTERS as usize];

impl Store {
    /// Executes iterations of jobs, at most one for each lane. Returns the number of steps of each that were executed, and the
    /// counters, which have to be prepared.
    pub(crate) fn execute_loops(&mut self, jobs: &[LoopJob]) -> Result<(Vec<u64>, Counters), Error> {
        let mut cells: Vec<Cell> = Vec::new();
        let (mut firsts, mut results) = (Vec::new(), Vec::new());
        let (mut partials, mut groups_max) = (0, 1);
        for job in jobs {
            firsts.push(cells.len() as u32);
            let probes = u32::from(job.evaluates && job.loads.is_none());
            results.extend([u32::try_from(job.most).unwrap_or(u32::MAX), probes, 0, 0]);
            let chunks = if job.evaluates { u64::from(job.probed.div_ceil(job.chunk)) } else { 1 };
            let most = (WORKGROUPS / jobs.len() as u64).max(1);
            let groups = chunks.div_ceil(u64::from(JOB_INVOCATIONS) * CHUNKS).min(most) as u32;
            groups_max = groups.max(groups_max);
            cells.extend(header(job, groups, partials));
            cells.extend(instructions(&job.words));
            let loads = job.loads.as_deref().unwrap_or(&[]);
            for part in [loads, &job.stores, &job.registers, &job.folds, &job.operations] {
                cells.extend(part);
            }
            partials += if job.folds.is_empty() { 0 } else { 2 * groups * TAPE_FOLDS };
        }
        let device = self.device.clone();
        let results_bytes = size_of_val(&results[..]) as u64;
        let sizes = [
            ("cells of loops", size_of_val(&cells[..]) as u64),
            ("jobs of loops", size_of_val(&firsts[..]) as u64),
            ("results of loops", results_bytes),
            ("partial results of loops", 8 * u64::from(partials).max(1)),
        ];
        let layout = &self.kernels.layouts.loop_jobs;
        let (buffers, group) =
            self.loop_buffers.get(&device, sizes, |[cells, jobs, results, partials]| {
                layout.bind(&device, LoopJobsGroup { cells, jobs, results, partials })
            })?;
        buffers[0].upload(0, cells.as_flattened())?;
        buffers[1].upload(0, &firsts)?;
        buffers[2].upload(0, &results)?;
        let [check, probe, prepare, even, odd, finish] = self.kernels.loops(&device)?;
        let mut kernels = Vec::new();
        if jobs.iter().any(|job| job.evaluates) {
            kernels.extend([(&check, 1), (&probe, groups_max)]);
        }
        // It compares the code of the lanes, too.
        kernels.push((&prepare, 1));
        if jobs.iter().any(|job| !job.stores.is_empty() || !job.folds.is_empty()) {
            kernels.extend([(&even, groups_max), (&odd, groups_max)]);
        }
        kernels.push((&finish, 1));
        let (words, counters) =
            self.execute_jobs(jobs.len() as u32, &kernels, &group, (&buffers[2], results_bytes))?;
        let of_jobs = words.chunks_exact(JOB_RESULT as usize).zip(jobs);
        let steps =
            of_jobs.map(|(result, job)| (u64::from(result[1]) | u64::from(result[2]) << 32) * job.steps);
        Ok((steps.collect(), counters))
    }

    /// Dispatches kernels one after the other, each with so many workgroups for each job. Returns the first words of a buffer of
    /// results, of so many bytes, and the counters.
    pub(super) fn execute_jobs(
        &mut self,
        jobs: u32,
        kernels: &[(&wgpu::ComputePipeline, u32)],
        group: &wgpu::BindGroup,
        (results, bytes): (&Buffer, u64),
    ) -> Result<(Vec<u32>, Counters), Error> {
        let grid = |workgroups| (workgroups, jobs.min(DISPATCH_ROW), jobs.div_ceil(DISPATCH_ROW));
        let kernels: Vec<_> =
            kernels.iter().map(|(kernel, workgroups)| (*kernel, grid(*workgroups))).collect();
        self.columns.forget_pages();
        self.dispatch_each(&kernels, Launch { jobs, ..Launch::default() }, Some(group))?;
        let counters = 0..4 * u64::from(COUNTERS);
        let contents = self.device.download(&[(results, 0..bytes), (&self.counters, counters)])?;
        Ok((bytemuck::pod_collect_to_vec(&contents[0]), bytemuck::pod_read_unaligned(&contents[1])))
    }
}

/// Returns the cells of the header of a job.
fn header(job: &LoopJob, groups: u32, partials: u32) -> [Cell; JOB_HEADER as usize] {
    let count = |part: &Vec<Cell>| part.len() as u32;
    let evaluates = u32::from(job.evaluates);
    [
        [job.lane, groups, job.words.len() as u32, job.chunk],
        [job.most as u32, (job.most >> 32) as u32, partials, evaluates],
        [count(&job.stores), count(&job.registers), count(&job.folds), count(&job.operations)],
        [job.steps as u32, (job.steps >> 32) as u32, 0, 0],
        [job.head as u32, (job.head >> 32) as u32, job.probed, job.loads.as_ref().map_or(0, count)],
    ]
}
