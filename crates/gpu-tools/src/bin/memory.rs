//! Measures the memory of 131,072 lanes that write 16 pages each of a 16 MiB heap, and the time of a reset of all
//! lanes.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin memory -- [LANES] [--record FILE]
//! ```

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::process::Command;
use std::time::Instant;

use clap::Parser as _;
use kvrm_arm64::Stop;
use kvrm_gpu::{Device, GpuEngine};
use kvrm_machine::{Machine, PAGE_BYTES, Permissions, Program, Register};
use kvrm_records::{Adapter, Figure, Kind, MeasuredRow, RecordArgs};

/// The number of pages that each lane writes, spread over its heap.
const PAGES: u64 = 16;
const HEAP_BYTES: u64 = 16 << 20;
/// The command line of this program, without arguments.
const PROGRAM: &str = "cargo run --release --package kvrm-gpu-tools --bin memory --";

/// Measures the memory of lanes that write pages, and the time of a reset of all lanes.
#[derive(clap::Parser)]
struct Args {
    /// Number of lanes.
    #[arg(default_value_t = 131_072)]
    lanes: usize,
    #[command(flatten)]
    record: RecordArgs,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Args { lanes, record } = Args::parse();
    let log = record.open(PROGRAM)?;
    // str x2, [x0]; add x0, x0, x1; subs x2, x2, #1; b.ne to the str; hlt #0
    let words = [0xf900_0002_u32, 0x8b01_0000, 0xf100_0442, 0x54ff_ffa1, 0xd440_0000];
    let mut program = Program::raw("pages", words.map(u32::to_le_bytes).concat(), 0x1000, 0)?;
    program.segments[0].permissions = Permissions::RX;
    // Stack and heap follow the program, each after an unmapped page.
    let page = PAGE_BYTES as u64;
    let stack = program.end().next_multiple_of(page) + page;
    let heap = stack + page + page;

    let device = Device::open(None)?;
    let info = device.info().clone();
    println!("{info}");
    let builder = Machine::builder(program).lanes(lanes).stack_bytes(page).heap_bytes(HEAP_BYTES);
    let mut machine = builder
        .engine(GpuEngine::new(device))
        .prepare(|lane| {
            lane.set_x(0, heap);
            lane.set_x(1, HEAP_BYTES / PAGES);
            lane.set_x(2, PAGES);
        })
        .build()?;
    machine.snapshot()?;
    let all: Vec<usize> = (0..lanes).collect();
    let (mut run_seconds, mut reset_milliseconds) = (Vec::new(), Vec::new());
    for round in 0..3 {
        let begin = Instant::now();
        let report = machine.run(1_000)?;
        let ran = begin.elapsed();
        assert_eq!(report.stops.get("halt"), Some(&lanes), "every lane ends");
        assert_eq!(report.frames, lanes * PAGES as usize, "every lane writes its pages");
        let begin = Instant::now();
        machine.reset(&all)?;
        // Reading registers waits until the reset has ended.
        let pcs = machine.registers(Register::Pc)?;
        let reset = begin.elapsed();
        assert!(pcs.iter().all(|pc| *pc == 0x1000), "every lane is at its first instruction");
        assert_ne!(machine.stop(0)?, Some(Stop::Halt { imm: 0 }), "no lane has stopped");
        println!(
            "round {round}: {} pages of {lanes} lanes written in {ran:?}, all lanes reset in {reset:?}",
            report.frames
        );
        run_seconds.push(ran.as_secs_f64());
        reset_milliseconds.push(1000.0 * reset.as_secs_f64());
    }
    let mebibytes = gpu_mebibytes();
    if let Some(mebibytes) = mebibytes {
        println!("{mebibytes} MiB of the GPU's memory are in use");
    }
    if let Some(mut log) = log {
        let reset = ("reset_milliseconds", Figure::of("ms", &reset_milliseconds));
        let run = ("run_seconds", Figure::of("s", &run_seconds));
        let memory = mebibytes.map(|mebibytes| ("gpu_mib", Figure::once("MiB", mebibytes)));
        log.append(MeasuredRow {
            kind: Kind::Memory,
            adapter: Some(Adapter::new(&info.name, info.kind, info.backend, &info.driver)),
            parameters: [("lanes", (lanes as u64).into()), ("program", "pages".into())].into(),
            figures: memory.into_iter().chain([reset, run]).collect(),
        })?;
    }
    Ok(())
}

/// Returns the used memory of the first NVIDIA GPU in MiB, by all processes. The machine still exists and has not freed
/// any memory.
fn gpu_mebibytes() -> Option<f64> {
    let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    let output = Command::new("nvidia-smi").args(query).output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next()?.trim().parse().ok()
}
