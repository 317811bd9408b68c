//! The speed of a device, measured with a short program, by which lanes are divided among different GPUs.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kvrm_arm64::{Cpu, Features};
use kvrm_machine::{Executor as _, Image, LaneStart, Permissions, Plan, ProcessState, Segment};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::lock::lock;
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;

/// The number of lanes, enough to keep a GPU busy.
const LANES: usize = 8192;
/// The time that the measured run takes at least.
const TIME: Duration = Duration::from_millis(20);
/// The number of steps of each lane in the first run, which is not measured because kernels are compiled in it.
const FIRST_STEPS: u64 = 64;
/// The number of steps of each lane after which the measurement ends, however short it was.
const MOST_STEPS: u64 = 1 << 20;

/// The address of the program.
const CODE: u64 = 0x1_0000;
/// The address of a word of memory of each lane.
const DATA: u64 = 0x1_1000;
/// A program that never ends: arithmetic, a load, a store and a branch.
const PROGRAM: [u32; 8] = [
    0xf940_0022, // ldr x2, [x1]
    0x8b00_0042, // add x2, x2, x0
    0xca42_1c42, // eor x2, x2, x2, lsr #7
    0x9b02_7c03, // mul x3, x0, x2
    0xf900_0023, // str x3, [x1]
    0xf100_0484, // subs x4, x4, #1
    0x9a82_0060, // csel x0, x3, x2, eq
    0x17ff_fff9, // b to the first instruction
];

/// The speed of a device that was measured before.
#[derive(Debug, Default)]
struct LastSpeed(Mutex<Option<f64>>);

/// Returns the number of steps per second that many lanes together take on a device. It is measured once for each device.
pub(crate) fn steps_per_second(device: &Device) -> Result<f64, Error> {
    let last = device.extension::<LastSpeed>();
    let mut last = lock(&last.0);
    if let Some(speed) = *last {
        return Ok(speed);
    }
    let speed = measure(device).map_err(error_of_gpu)?;
    *last = Some(speed);
    drop(last);
    Ok(speed)
}

/// Returns the error of the GPU that an executor has returned.
fn error_of_gpu(error: kvrm_machine::Error) -> Error {
    let refused =
        |message: String| Error::Refused { doing: "to measure the speed of a GPU".to_owned(), message };
    match error {
        kvrm_machine::Error::Engine(cause) => {
            cause.downcast::<Error>().map_or_else(|other| refused(other.to_string()), |cause| *cause)
        }
        other => refused(other.to_string()),
    }
}

/// Returns the image of the program.
fn image() -> Result<Arc<Image>, kvrm_machine::Error> {
    let code = PROGRAM.into_iter().flat_map(u32::to_le_bytes).collect();
    let segments = [
        Segment { address: CODE, bytes: 0x1000, data: code, permissions: Permissions::RX },
        Segment { address: DATA, bytes: 0x1000, data: Vec::new(), permissions: Permissions::RW },
    ];
    Ok(Arc::new(Image::new(&segments, Features::ALL)?))
}

/// Returns the state in which lanes begin.
fn start() -> LaneStart {
    let mut cpu = Cpu::new(CODE, 0);
    cpu.set_x(0, 3);
    cpu.set_x(1, DATA);
    LaneStart { cpu, process_state: ProcessState::default(), stop: None, console: 0 }
}

fn measure(device: &Device) -> Result<f64, kvrm_machine::Error> {
    let images = [image()?];
    let plan = Plan { images: &images, lanes: LANES, frames_max: 1, calls: None, loops: None };
    let mut executor = GpuExecutor::with_bounds(device, &plan, &ClassSelection::TABLE, Bounds::NONE)?;
    executor.set_all(&start())?;
    let all: Vec<usize> = (0..LANES).collect();
    let (mut end, mut steps) = (0, FIRST_STEPS);
    loop {
        end += steps;
        executor.set_stops(&all, None)?;
        let begin = Instant::now();
        let ran = executor.run(&vec![end; LANES], &mut |_| ControlFlow::Continue(()))?;
        let took = begin.elapsed();
        if steps > FIRST_STEPS && (took >= TIME || steps >= MOST_STEPS) {
            return Ok(ran.progress.steps as f64 / took.as_secs_f64().max(1e-9));
        }
        steps *= 4;
    }
}

#[cfg(test)]
mod tests {
    use kvrm_machine::{Reference, Stop};

    use super::*;
    use crate::device::registry::{SHARED_DEVICE, open};

    #[test]
    fn the_program_never_ends() {
        let images = [image().expect("the program fits")];
        let plan = Plan { images: &images, lanes: 1, frames_max: 1, calls: None, loops: None };
        let mut reference = Reference::new(&plan).expect("the lane fits");
        reference.set_all(&start()).expect("the engine works");
        reference.run(&[1000], &mut |_| ControlFlow::Continue(())).expect("the engine works");
        assert_eq!(reference.stop(0).expect("the engine works"), Some(Stop::Budget), "it goes on");
        assert_eq!(reference.frames_used().expect("the engine works"), 1, "it stores to memory");
    }

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_device_is_measured_once() {
        let _guard = lock(&SHARED_DEVICE);
        let device = open(None).expect("the host has an adapter");
        let speed = steps_per_second(&device).expect("the device works");
        assert!(speed > 1000.0, "{speed} steps per second");
        // Two measurements are never equal to the last bit.
        assert_eq!(
            steps_per_second(&device).expect("the device works").to_bits(),
            speed.to_bits(),
            "remembered"
        );
    }
}
