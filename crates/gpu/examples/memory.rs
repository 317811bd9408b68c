//! What 131,072 lanes cost that each write 16 pages of a 16 MiB heap, and how long a reset of all of them takes.
//!
//! ```console
//! cargo run --release --package kvrm-gpu --example memory -- [LANES] [--record FILE]
//! ```

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::process::Command;
use std::time::Instant;

use clap::Parser as _;
use kvrm_arm64::Stop;
use kvrm_gpu::{Device, GpuEngine};
use kvrm_machine::{Machine, PAGE_BYTES, Permissions, Program, Register};
use kvrm_records::{Adapter, Figure, Kind, Measured, RecordArgs};

/// Pages each lane writes, spread over its heap.
const PAGES: u64 = 16;
const HEAP_BYTES: u64 = 16 << 20;
/// How a user calls this program.
const PROGRAM: &str = "cargo run --release --package kvrm-gpu --example memory --";

/// Measures what lanes cost that write memory, and how long a reset of all of them takes.
#[derive(clap::Parser)]
struct Args {
    /// How many lanes.
    #[arg(default_value_t = 131_072)]
    lanes: usize,
    #[command(flatten)]
    record: RecordArgs,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Args { lanes, record } = Args::parse();
    let log = record.open(PROGRAM)?;
    // str x2, [x0]; add x0, x0, x1; subs x2, x2, #1; b.ne to the first; hlt #0
    let words = [0xf900_0002_u32, 0x8b01_0000, 0xf100_0442, 0x54ff_ffa1, 0xd440_0000];
    let mut program = Program::raw("pages", words.map(u32::to_le_bytes).concat(), 0x1000, 0)?;
    program.segments[0].permissions = Permissions::RX;
    // Stack and heap lie behind the program, each after a page that is not mapped.
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
        // The registers are those of the snapshot when they come back.
        let pcs = machine.registers(Register::Pc)?;
        let reset = begin.elapsed();
        assert!(pcs.iter().all(|pc| *pc == 0x1000), "every lane is at its beginning");
        assert_ne!(machine.stop(0)?, Some(Stop::Halt { imm: 0 }), "and has not stopped");
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
        log.append(Measured {
            kind: Kind::Memory,
            adapter: Some(Adapter::new(&info.name, info.kind, info.backend, &info.driver)),
            parameters: [("lanes", (lanes as u64).into()), ("program", "pages".into())].into(),
            figures: memory.into_iter().chain([reset, run]).collect(),
        })?;
    }
    Ok(())
}

/// The memory of the first NVIDIA GPU that is in use, by whomever. The machine is still there, and gives no memory back.
fn gpu_mebibytes() -> Option<f64> {
    let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    let output = Command::new("nvidia-smi").args(query).output().ok()?;
    String::from_utf8(output.stdout).ok()?.lines().next()?.trim().parse().ok()
}
