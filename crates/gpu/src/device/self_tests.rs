//! What a device is asked before it is trusted: whether 64-bit integers are right, how long a loop may be, how
//! much goes on at a time.

use std::time::{Duration, Instant};

use bytemuck::{NoUninit, Pod, Zeroable};

use super::Device;
use crate::buffer::Buffer;
use crate::error::Error;
use crate::pipeline::{self, Access};

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

/// Longer than any limit known: Mesa before 24 ends the loops of an invocation after 65,535 iterations.
const LOOP_ITERATIONS: u32 = 200_000;

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

/// How many iterations the loops of one invocation may have in all before the driver ends them, silently;
/// `None` if it does not.
///
/// # Errors
///
/// The device fails, or computes something else wrongly.
pub fn loop_limit(device: &Device) -> Result<Option<u32>, Error> {
    const SEED: u32 = 1;
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
    const SEED: u32 = 1;
    let most = WIDTH_MAX.min(device.limits().workgroups);
    let test = Test { name: "width_test", source: include_str!("width_test.wgsl"), workgroup_size: 1 };
    let test = test.prepare(device, &[WIDTH_ITERATIONS, SEED], 4 * u64::from(most))?;
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
    let expected = generate(SEED, WIDTH_ITERATIONS);
    if state != expected {
        return Err(Error::WrongResult {
            message: format!(
                "a loop of {WIDTH_ITERATIONS} iterations has the result {state:#x}, not {expected:#x}"
            ),
        });
    }
    Ok(width)
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
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
        let pipeline = pipeline::compute_pipeline(
            device,
            self.source,
            &|line| (format!("{}.wgsl", self.name), line),
            self.name,
            &[&layout],
            &[("workgroup_size", self.workgroup_size.into())],
        )?;
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
