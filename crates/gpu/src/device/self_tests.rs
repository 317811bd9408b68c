//! Self-tests of a device: whether its 64-bit integers are right, whether its driver limits loops, and how many
//! workgroups it runs at the same time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytemuck::{NoUninit, Pod, Zeroable};

use super::buffer::Buffer;
use super::error::Error;
use super::lock::lock;
use super::logical::Device;
use super::pipeline::{self, Access, Shader};

/// Edge cases of 64-bit integers. The test takes all pairs of them.
const OPERANDS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    63,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x1_0000_0001,
    0x0123_4567_89ab_cdef,
    0x7fff_ffff_ffff_fffe,
    i64::MAX as u64,
    i64::MIN as u64,
    0x8000_0000_0000_0001,
    0xdead_beef_cafe_f00d,
    0xffff_ffff_0000_0000,
    u64::MAX - 1,
    u64::MAX,
];

/// The iterations of a loop in the test of the width. They take about two milliseconds on a GPU, much longer than a
/// submission.
const WIDTH_ITERATIONS: u32 = 100_000;
/// The time for which the GPU is kept busy before the width is measured.
const WIDTH_WARM_UP: Duration = Duration::from_millis(100);
/// The maximum number of workgroups that the test of the width tries. No known device runs more at the same time.
const WIDTH_MAX: u32 = 1 << 15;

/// The iterations of the loop that tests for a limit. No known limit is higher: Mesa before 24 ends loops after 65,535
/// iterations.
const LOOP_ITERATIONS: u32 = 200_000;
/// The number of invocations in the test of shared limits. No known driver lets more invocations share a limit.
const SHARING_MEMBERS: u32 = 64;
/// The seed of the random numbers in the tests.
const SEED: u32 = 1;

#[derive(Clone, Copy, Debug, NoUninit)]
#[repr(C)]
struct Operands {
    a: u64,
    b: u64,
}

/// The operations of the fields of `Results` in `int64_test.wgsl`, in the same order.
const OPERATIONS: [&str; 12] = [
    "a + b",
    "a - b",
    "a * b",
    "a << (b & 63)",
    "a >> (b & 63)",
    "signed a >> (b & 63)",
    "a / b",
    "a % b",
    "signed a / b",
    "a < b, signed a < b, a == b",
    "~a",
    "a with its words swapped",
];

impl Operands {
    fn results(self) -> [u64; OPERATIONS.len()] {
        let Self { a, b } = self;
        let (signed_a, signed_b) = (a as i64, b as i64);
        let amount = (b & 63) as u32;
        [
            a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a << amount,
            a >> amount,
            (signed_a >> amount) as u64,
            a.checked_div(b).unwrap_or(0),
            a.checked_rem(b).unwrap_or(0),
            if b == 0 { 0 } else { signed_a.wrapping_div(signed_b) as u64 },
            u64::from(a < b) | u64::from(signed_a < signed_b) << 1 | u64::from(a == b) << 2,
            !a,
            a.rotate_left(32),
        ]
    }
}

/// Compares arithmetic with 64-bit integers on the device and on the host.
///
/// # Errors
///
/// [`Error::WrongResult`] for the first wrong result; or the device fails.
pub fn int64_test(device: &Device) -> Result<(), Error> {
    let pairs = OPERANDS.iter().flat_map(|&a| OPERANDS.iter().map(move |&b| Operands { a, b }));
    let pairs: Vec<Operands> = pairs.collect();
    let bytes = (pairs.len() * size_of::<[u64; OPERATIONS.len()]>()) as u64;
    let test = ShaderTest { name: "int64_test", source: include_str!("int64_test.wgsl"), workgroup_size: 64 };
    let results = test.prepare(device, &pairs, bytes)?.run(pairs.len().div_ceil(64) as u32)?;
    let results: Vec<[u64; OPERATIONS.len()]> = bytemuck::pod_collect_to_vec(&results);

    for (pair, results) in pairs.iter().zip(results) {
        for ((operation, expected), result) in OPERATIONS.iter().zip(pair.results()).zip(results) {
            if result != expected {
                let Operands { a, b } = pair;
                return Err(Error::WrongResult {
                    message: format!("{operation} of {a:#x} and {b:#x} is {result:#x}, not {expected:#x}"),
                });
            }
        }
    }
    Ok(())
}

/// The limit of a driver that ends loops silently. When the limit is reached, each running loop ends with its current
/// iteration.
///
/// Mesa's llvmpipe has such a limit before version 24. It runs eight invocations as the elements of one SIMD register
/// and repeats a loop as long as one of them needs it, so the eight share one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLimit {
    /// The number of iterations that all loops of an invocation may have together.
    pub iterations: u32,
    /// The number of invocations of a workgroup that share the iterations.
    pub sharers: u32,
}

/// Measures after how many iterations the driver ends loops. Returns `None` if it does not.
///
/// # Errors
///
/// [`Error::WrongResult`] if a loop has a wrong result for another reason; or the device fails.
pub fn loop_limit(device: &Device) -> Result<Option<LoopLimit>, Error> {
    let Some(iterations) = single_loop_limit(device)? else { return Ok(None) };
    Ok(Some(LoopLimit { iterations, sharers: loop_sharers(device, iterations)? }))
}

/// Measures the limit for an invocation that is alone in its workgroup.
fn single_loop_limit(device: &Device) -> Result<Option<u32>, Error> {
    // The loop ends early if the generator returns to the seed, which takes 2^32 steps: it has the full period.
    let input = [LOOP_ITERATIONS, SEED, SEED];
    let test = ShaderTest { name: "loop_test", source: include_str!("loop_test.wgsl"), workgroup_size: 1 };
    let output = test.prepare(device, &input, size_of::<LoopOutput>() as u64)?.run(1)?;
    let output: LoopOutput = bytemuck::pod_read_unaligned(&output);

    let iterations = output.iterations;
    let state = generate(SEED, iterations.min(LOOP_ITERATIONS));
    if iterations > LOOP_ITERATIONS || output.state != state {
        return Err(Error::WrongResult {
            message: format!(
                "a loop of {LOOP_ITERATIONS} iterations ended after {iterations} with the result {:#x}",
                output.state
            ),
        });
    }
    Ok((iterations < LOOP_ITERATIONS).then_some(iterations))
}

/// Measures how many invocations of a workgroup share a limit of `limit` iterations.
fn loop_sharers(device: &Device, limit: u32) -> Result<u32, Error> {
    // One invocation stays within the limit, and two together exceed it.
    let iterations = limit / 4 * 3;
    let source = include_str!("loop_sharing_test.wgsl");
    let test = ShaderTest { name: "loop_sharing_test", source, workgroup_size: SHARING_MEMBERS };
    let bytes = u64::from(SHARING_MEMBERS) * size_of::<LoopOutput>() as u64;
    let output = test.prepare(device, &[iterations, SEED, SEED], bytes)?.run(1)?;
    let complete = LoopOutput { iterations, state: generate(SEED, iterations) };
    let all: Vec<LoopOutput> = bytemuck::pod_collect_to_vec(&output);
    let completed = all.iter().filter(|output| **output == complete).count() as u32;
    if completed == 0 {
        return Err(Error::WrongResult {
            message: format!("none of {SHARING_MEMBERS} loops of {iterations} iterations ran to its end"),
        });
    }
    Ok(SHARING_MEMBERS.div_ceil(completed))
}

/// Returns the state of the random number generator of the tests after `steps` steps.
fn generate(seed: u32, steps: u32) -> u32 {
    (0..steps).fold(seed, |state, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

/// Measures the width of a device: the number of workgroups with one invocation that it runs in about the time of a
/// single one. It is a power of two.
///
/// # Errors
///
/// [`Error::WrongResult`] if a loop has a wrong result; or the device fails.
pub fn width(device: &Device) -> Result<u32, Error> {
    let most = WIDTH_MAX.min(device.limits().workgroups);
    let test = ShaderTest { name: "width_test", source: include_str!("width_test.wgsl"), workgroup_size: 1 };
    let limit = device.loop_limit()?.map_or(u32::MAX, |limit| limit.iterations / 2);
    let iterations = WIDTH_ITERATIONS.min(limit);
    let test = test.prepare(device, &[iterations, SEED], 4 * u64::from(most))?;
    let time = |workgroups| -> Result<Duration, Error> {
        let begin = Instant::now();
        test.submit(workgroups)?;
        Ok(begin.elapsed())
    };
    // The driver may compile a pipeline when it is first used, and an idle GPU takes a while to raise its clock.
    let begin = Instant::now();
    while begin.elapsed() < WIDTH_WARM_UP {
        time(1)?;
    }
    // The clock may still rise, so both numbers of workgroups are measured in turns.
    let is_as_fast = |many: u32| -> Result<bool, Error> {
        let (many_first, one_first) = (time(many)?, time(1)?);
        Ok(time(many)?.min(many_first) < time(1)?.min(one_first) * 3 / 2)
    };
    let mut width = 1;
    while width * 2 <= most && is_as_fast(width * 2)? {
        width *= 2;
    }
    let state: u32 = bytemuck::pod_read_unaligned(&test.run(1)?[..4]);
    let expected = generate(SEED, iterations);
    if state != expected {
        return Err(Error::WrongResult {
            message: format!(
                "a loop of {iterations} iterations has the result {state:#x}, not {expected:#x}"
            ),
        });
    }
    Ok(width)
}

/// The results of self-tests, which are stored with the device.
#[derive(Debug, Default)]
struct Measurements {
    loop_limit: Mutex<Option<Option<LoopLimit>>>,
    width: Mutex<Option<u32>>,
}

impl Device {
    /// Returns the result of [`loop_limit`], which is measured only once.
    pub(crate) fn loop_limit(&self) -> Result<Option<LoopLimit>, Error> {
        let measured = self.extension::<Measurements>();
        let mut known = lock(&measured.loop_limit);
        match *known {
            Some(limit) => Ok(limit),
            None => Ok(*known.insert(loop_limit(self)?)),
        }
    }

    /// Returns the result of [`width`], which is measured only once.
    pub(crate) fn width(&self) -> Result<u32, Error> {
        let measured = self.extension::<Measurements>();
        let mut known = lock(&measured.width);
        match *known {
            Some(width) => Ok(width),
            None => Ok(*known.insert(width(self)?)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct LoopOutput {
    iterations: u32,
    state: u32,
}

/// A shader whose entry point has the same name, with an input and an output buffer.
struct ShaderTest {
    name: &'static str,
    source: &'static str,
    workgroup_size: u32,
}

impl ShaderTest {
    fn prepare<'a, T: NoUninit>(
        &self,
        device: &'a Device,
        input: &[T],
        output_bytes: u64,
    ) -> Result<PreparedTest<'a>, Error> {
        let layout = pipeline::storage_layout(device, self.name, &[Access::Read, Access::ReadWrite])?;
        // With loop bounds: without them an H200 has twice the width, and other numbers of lanes a workgroup are chosen.
        let shader = Shader::compile(device, self.source, &|line| (format!("{}.wgsl", self.name), line))?;
        let constants = [("workgroup_size", self.workgroup_size.into())];
        let pipeline = shader.pipeline(self.name, &[&layout], &constants)?;
        let input = Buffer::with_contents(device, "input", input)?;
        let output = Buffer::zeroed(device, "output", output_bytes)?;
        let group = pipeline::bind(device, self.name, &layout, &[&input, &output])?;
        Ok(PreparedTest { device, name: self.name, pipeline, group, output })
    }
}

/// A test with its pipeline and buffers on a device.
struct PreparedTest<'a> {
    device: &'a Device,
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    output: Buffer,
}

impl PreparedTest<'_> {
    /// Runs the test and waits for its end.
    fn submit(&self, workgroups: u32) -> Result<(), Error> {
        let submission = self.device.submit(self.name, |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })?;
        self.device.wait(&submission)
    }

    /// Runs the test and returns its output.
    fn run(&self, workgroups: u32) -> Result<Vec<u8>, Error> {
        self.submit(workgroups)?;
        Ok(self.device.download(&[(&self.output, 0..self.output.bytes())])?.remove(0))
    }
}
