//! What a device is asked before it is trusted: whether 64-bit integers are right, how long a loop may be, how
//! much goes on at a time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytemuck::{NoUninit, Pod, Zeroable};

use super::buffer::Buffer;
use super::error::Error;
use super::lock::lock;
use super::logical::Device;
use super::pipeline::{self, Access, Shader};

/// Values with something special about them; the test takes all pairs.
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

/// About two milliseconds on a GPU: much longer than it takes to hand over the work.
const WIDTH_ITERATIONS: u32 = 100_000;
/// How long the GPU is kept busy before that.
const WIDTH_WARM_UP: Duration = Duration::from_millis(100);
/// The most workgroups that any device runs side by side.
const WIDTH_MAX: u32 = 1 << 15;

/// Longer than any limit known: Mesa before 24 ends loops after 65,535 iterations.
const LOOP_ITERATIONS: u32 = 200_000;
/// How many invocations the test of shared limits has, more than share one anywhere.
const SHARING_MEMBERS: u32 = 64;
/// What the generator of the tests begins with.
const SEED: u32 = 1;

#[derive(Clone, Copy, Debug, NoUninit)]
#[repr(C)]
struct Operands {
    a: u64,
    b: u64,
}

/// The fields of `Results` in `int64_test.wgsl`, in their order.
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
    "a with its words exchanged",
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

/// Compares arithmetic of 64-bit integers on the device with that of the host.
///
/// # Errors
///
/// A result is wrong, or the device fails.
pub fn int64_test(device: &Device) -> Result<(), Error> {
    let pairs = OPERANDS.iter().flat_map(|&a| OPERANDS.iter().map(move |&b| Operands { a, b }));
    let pairs: Vec<Operands> = pairs.collect();
    let bytes = (pairs.len() * size_of::<[u64; OPERATIONS.len()]>()) as u64;
    let test = Test { name: "int64_test", source: include_str!("int64_test.wgsl"), workgroup_size: 64 };
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

/// When a driver ends loops, silently: each that is still running leaves at the end of its iteration.
///
/// Mesa's llvmpipe did so before version 24. It runs eight invocations as the lanes of one SIMD register, and a loop
/// as long as any of them needs it, so all eight count on one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLimit {
    /// How many iterations all loops together may have.
    pub iterations: u32,
    /// How many invocations of a workgroup share them.
    pub sharers: u32,
}

/// How many iterations loops may have in all before the driver ends them; `None` if it does not.
///
/// # Errors
///
/// The device fails, or computes something else wrongly.
pub fn loop_limit(device: &Device) -> Result<Option<LoopLimit>, Error> {
    let Some(iterations) = loop_limit_of_one(device)? else { return Ok(None) };
    Ok(Some(LoopLimit { iterations, sharers: loop_sharers(device, iterations)? }))
}

/// How many iterations the loops of an invocation may have that has a workgroup to itself.
fn loop_limit_of_one(device: &Device) -> Result<Option<u32>, Error> {
    // A linear congruential generator of full period comes back to its seed after 2^32 steps.
    let input = [LOOP_ITERATIONS, SEED, SEED];
    let test = Test { name: "loop_test", source: include_str!("loop_test.wgsl"), workgroup_size: 1 };
    let output = test.prepare(device, &input, size_of::<LoopOutput>() as u64)?.run(1)?;
    let output: LoopOutput = bytemuck::pod_read_unaligned(&output);

    let iterations = output.iterations;
    let state = generate(SEED, iterations.min(LOOP_ITERATIONS));
    if iterations > LOOP_ITERATIONS || output.state != state {
        return Err(Error::WrongResult {
            message: format!(
                "a loop of {LOOP_ITERATIONS} iterations has {iterations} with the result {:#x}",
                output.state
            ),
        });
    }
    Ok((iterations < LOOP_ITERATIONS).then_some(iterations))
}

/// How many invocations of a workgroup share a limit of so many iterations.
fn loop_sharers(device: &Device, limit: u32) -> Result<u32, Error> {
    // Enough for one invocation, and too many for two.
    let iterations = limit / 4 * 3;
    let source = include_str!("loop_sharing_test.wgsl");
    let test = Test { name: "loop_sharing_test", source, workgroup_size: SHARING_MEMBERS };
    let bytes = u64::from(SHARING_MEMBERS) * size_of::<LoopOutput>() as u64;
    let output = test.prepare(device, &[iterations, SEED, SEED], bytes)?.run(1)?;
    let complete = LoopOutput { iterations, state: generate(SEED, iterations) };
    let all: Vec<LoopOutput> = bytemuck::pod_collect_to_vec(&output);
    let completed = all.iter().filter(|output| **output == complete).count() as u32;
    if completed == 0 {
        return Err(Error::WrongResult {
            message: format!("of {SHARING_MEMBERS} loops of {iterations} iterations none came to its end"),
        });
    }
    Ok(SHARING_MEMBERS.div_ceil(completed))
}

/// The generator of the tests after some steps.
fn generate(seed: u32, steps: u32) -> u32 {
    (0..steps).fold(seed, |state, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
}

/// How many workgroups of one invocation a device runs in about the time of one, a power of two.
///
/// # Errors
///
/// The device fails, or computes something else wrongly.
pub fn width(device: &Device) -> Result<u32, Error> {
    let most = WIDTH_MAX.min(device.limits().workgroups);
    let test = Test { name: "width_test", source: include_str!("width_test.wgsl"), workgroup_size: 1 };
    let limit = device.loop_limit()?.map_or(u32::MAX, |limit| limit.iterations / 2);
    let iterations = WIDTH_ITERATIONS.min(limit);
    let test = test.prepare(device, &[iterations, SEED], 4 * u64::from(most))?;
    let time = |workgroups| -> Result<Duration, Error> {
        let begin = Instant::now();
        test.submit(workgroups)?;
        Ok(begin.elapsed())
    };
    // The driver may compile when a pipeline is first used, and a GPU that was idle takes its time to get fast.
    let begin = Instant::now();
    while begin.elapsed() < WIDTH_WARM_UP {
        time(1)?;
    }
    // If it is still getting faster, what is compared has to be measured in turns.
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

/// What was measured on a device.
#[derive(Debug, Default)]
struct Measured {
    loop_limit: Mutex<Option<Option<LoopLimit>>>,
    width: Mutex<Option<u32>>,
}

impl Device {
    /// What [`loop_limit`] says, measured once.
    pub(crate) fn loop_limit(&self) -> Result<Option<LoopLimit>, Error> {
        let measured = self.extension::<Measured>();
        let mut known = lock(&measured.loop_limit);
        match *known {
            Some(limit) => Ok(limit),
            None => Ok(*known.insert(loop_limit(self)?)),
        }
    }

    /// What [`width`] says, measured once.
    pub(crate) fn width(&self) -> Result<u32, Error> {
        let measured = self.extension::<Measured>();
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

/// A shader with an entry point of its own name, an input and an output.
struct Test {
    name: &'static str,
    source: &'static str,
    workgroup_size: u32,
}

impl Test {
    fn prepare<'a, T: NoUninit>(
        &self,
        device: &'a Device,
        input: &[T],
        output_bytes: u64,
    ) -> Result<Prepared<'a>, Error> {
        let layout = pipeline::storage_layout(device, self.name, &[Access::Read, Access::ReadWrite])?;
        let shader = Shader::compile(device, self.source, &|line| (format!("{}.wgsl", self.name), line))?;
        let constants = [("workgroup_size", self.workgroup_size.into())];
        let pipeline = shader.pipeline(self.name, &[&layout], &constants)?;
        let input = Buffer::with_contents(device, "input", input)?;
        let output = Buffer::zeroed(device, "output", output_bytes)?;
        let group = pipeline::bind(device, self.name, &layout, &[&input, &output])?;
        Ok(Prepared { device, name: self.name, pipeline, group, output })
    }
}

/// A test that can be run.
struct Prepared<'a> {
    device: &'a Device,
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    output: Buffer,
}

impl Prepared<'_> {
    /// Runs it to its end.
    fn submit(&self, workgroups: u32) -> Result<(), Error> {
        let submission = self.device.submit(self.name, |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })?;
        self.device.wait(&submission)
    }

    /// Runs it, and gives its output.
    fn run(&self, workgroups: u32) -> Result<Vec<u8>, Error> {
        self.submit(workgroups)?;
        Ok(self.device.download(&[(&self.output, 0..self.output.bytes())])?.remove(0))
    }
}
