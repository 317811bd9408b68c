//! Lowers all 2^32 words on the GPU and compares the results with the twin in Rust, by a digest for each block.
//!
//! ```console
//! $ cargo run --release --package kvrm-gpu-tools --bin lowering_sweep [-- [--blocks N] [--record FILE]]
//! ```
//!
//! A block has 1,024 words. With `--blocks`, only N of them, spread evenly, are compared.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser as _;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::{Features, disassemble};
use kvrm_gpu::{Device, Lowering, digest};
use kvrm_records::{Adapter, Figure, Kind, MeasuredRow, RecordArgs};
use rayon::prelude::*;

/// The number of blocks of 1,024 words in all 2^32 words.
const BLOCKS: u64 = 1 << 22;
/// The features of the lowering: all rows of the instruction table.
const FEATURES: Features = Features::ALL;
/// The time that a batch of blocks should take on the GPU.
const BATCH: Duration = Duration::from_millis(200);
/// The command line of this program, without arguments.
const PROGRAM: &str = "cargo run --release --package kvrm-gpu-tools --bin lowering_sweep --";

/// Lowers words on the GPU and on the host, and compares the results.
#[derive(clap::Parser)]
struct Args {
    /// Number of blocks of 1,024 words to compare, spread evenly.
    #[arg(long, value_name = "N", default_value_t = BLOCKS, value_parser = clap::value_parser!(u64).range(1..=BLOCKS))]
    blocks: u64,
    #[command(flatten)]
    record: RecordArgs,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let Args { blocks, record } = Args::parse();
    let log = record.open(PROGRAM)?;
    let device = Device::open(None)?;
    println!("{}", device.info());
    let mut lowering = Lowering::new(&device, 1, FEATURES)?;
    let begin = Instant::now();
    let (mut gpu, mut host) = (Duration::ZERO, Duration::ZERO);
    let (mut done, mut batch) = (0, 256);
    while done < blocks {
        let numbers: Vec<u32> =
            (done..blocks.min(done + batch)).map(|n| (n * BLOCKS / blocks) as u32).collect();
        let (on_gpu, on_host) = rayon::join(
            || timed(|| lowering.digests(&numbers)),
            || timed(|| numbers.par_iter().map(|&block| digest(block, FEATURES)).collect::<Vec<_>>()),
        );
        let ((digests, gpu_time), (expected, host_time)) = (on_gpu, on_host);
        let digests = digests?;
        (gpu, host) = (gpu + gpu_time, host + host_time);
        if let Some(at) = (0..numbers.len()).find(|&at| digests[at] != expected[at]) {
            print_differences(&mut lowering, numbers[at])?;
            return Ok(ExitCode::FAILURE);
        }
        done += numbers.len() as u64;
        let factor = BATCH.as_secs_f64() / gpu_time.as_secs_f64().max(1e-6);
        batch = ((batch as f64 * factor.clamp(0.5, 4.0)) as u64).clamp(64, 1 << 17);
    }
    let words = blocks * 1024;
    let rate = |time: Duration| words as f64 / time.as_secs_f64().max(1e-9) / 1e6;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{words} words in {blocks} blocks have the same micro-ops on both sides, in {seconds:.1} s: {:.0} million words \
         a second on the GPU, {:.0} on the host",
        rate(gpu),
        rate(host)
    );
    if let Some(mut log) = log {
        let info = device.info();
        log.append(MeasuredRow {
            kind: Kind::Lowering,
            adapter: Some(Adapter::new(&info.name, info.kind, info.backend, &info.driver)),
            parameters: [("words", words.into())].into(),
            figures: [
                ("gpu_mwords_a_second", Figure::once("million words/s", rate(gpu))),
                ("host_mwords_a_second", Figure::once("million words/s", rate(host))),
                ("seconds", Figure::once("s", seconds)),
            ]
            .into(),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let begin = Instant::now();
    let result = act();
    (result, begin.elapsed())
}

/// Prints the words of a block that are lowered differently.
fn print_differences(lowering: &mut Lowering, block: u32) -> Result<(), kvrm_gpu::Error> {
    let words: Vec<u32> = (0..1024).map(|index| block << 10 | index).collect();
    let ops = lowering.lower(&words)?;
    let mut wrong = 0;
    for (&word, op) in words.iter().zip(ops) {
        let expected = lower(word, FEATURES);
        if op != expected {
            wrong += 1;
            eprintln!("{word:#010x} {}", disassemble(word, 0));
            eprintln!("  on the GPU: {op:x?}\n  in Rust:    {expected:x?}");
        }
    }
    if wrong == 0 {
        eprintln!("the digests of block {block:#x} differ, but its words are lowered to the same micro-ops");
    }
    Ok(())
}
