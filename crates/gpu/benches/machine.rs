//! Benchmarks of the GPU engine: running guests, resetting lanes to a snapshot, and lowering code.
//!
//! Criterion's elements are retired steps, lanes, or words. The device is the one that `KVRM_ADAPTER` names, or
//! the best one; its name is printed first. `kvrm bench` measures more numbers of lanes.

#![expect(clippy::print_stderr, reason = "results are useless without the name of the device")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_arm64::Features;
use kvrm_gpu::{GpuEngine, Lowering};
use kvrm_machine::{Machine, Program, Register, Stop};

/// The measured numbers of lanes: one, some, and as many as keep a small GPU busy.
const LANES: [usize; 3] = [1, 128, 4096];

/// The guests, each with its size argument, the steps before the measured part, and the steps of a measured run.
const GUESTS: [(&str, &str, u64, u64); 3] = [
    ("mix", "1000000000000", 2_000, 100_000),
    ("sha256", "16384", 400_000, 100_000),
    ("sieve", "300000", 2_000, 100_000),
];

/// The number of words to lower.
const WORDS: u32 = 1 << 20;

fn open() -> GpuEngine {
    GpuEngine::open(None).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a machine at the beginning of the measured part, with a snapshot there. Each lane of `mix` has its own seed.
fn machine(engine: &GpuEngine, (name, size, begin, _): (&str, &str, u64, u64), lanes: usize) -> Machine {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin").join(name).with_extension("elf");
    let program = Program::open(path).expect("the guest is in the repository");
    let seed = |lane: usize| if name == "mix" { lane + 1 } else { 1 };
    let mut machine = Machine::builder(program)
        .engine(engine.clone())
        .lanes(lanes)
        .arguments(|lane| vec![size.to_owned(), seed(lane).to_string()])
        .build()
        .expect("the lanes fit");
    machine.run(begin).expect("the engine works");
    machine.snapshot().expect("the snapshot fits");
    machine
}

/// Resets and runs a machine `times` times. Returns the total time of the runs and of the resets.
fn run(machine: &mut Machine, steps: u64, times: u64) -> (Duration, Duration) {
    let all: Vec<usize> = (0..machine.lanes()).collect();
    let (mut running, mut resetting) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..times {
        let begin = Instant::now();
        machine.reset(&all).expect("the machine has a snapshot");
        // Reading registers waits until the device has done the reset.
        machine.registers(Register::Steps).expect("the engine works");
        resetting += begin.elapsed();
        let report = machine.run(steps).expect("the engine works");
        running += report.wall;
        assert_eq!(report.steps, steps * all.len() as u64, "all lanes have retired all steps");
        assert_eq!(machine.stop(0).ok(), Some(Some(Stop::Budget)), "the guest has not ended");
    }
    (running, resetting)
}

fn guests(criterion: &mut Criterion) {
    let engine = open();
    eprintln!("{}", engine.device().info());
    let mut group = criterion.benchmark_group("run");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for guest in GUESTS {
        let (name, _, _, steps) = guest;
        for lanes in LANES {
            let mut machine = machine(&engine, guest, lanes);
            group.throughput(Throughput::Elements(steps * lanes as u64));
            group.bench_function(BenchmarkId::new(name, format!("lanes={lanes}")), |bencher| {
                bencher.iter_custom(|times| run(&mut machine, steps, times).0);
            });
        }
    }
}

/// Measures resets, each after a short run that writes pages.
fn resets(criterion: &mut Criterion) {
    let engine = open();
    let mut group = criterion.benchmark_group("reset");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for lanes in LANES {
        let mut machine = machine(&engine, GUESTS[0], lanes);
        group.throughput(Throughput::Elements(lanes as u64));
        group.bench_function(BenchmarkId::new("mix", format!("lanes={lanes}")), |bencher| {
            bencher.iter_custom(|times| run(&mut machine, 1000, times).1);
        });
    }
}

fn lowering(criterion: &mut Criterion) {
    let engine = open();
    let words: Vec<u32> = (0..WORDS).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut lowering =
        Lowering::new(engine.device(), words.len().div_ceil(1024), Features::ALL).expect("the words fit");
    let mut group = criterion.benchmark_group("lower");
    group.sample_size(10).throughput(Throughput::Elements(WORDS.into()));
    group.bench_function("words", |bencher| {
        bencher.iter(|| lowering.lower(&words).expect("the device works"));
    });
}

criterion_group!(benches, guests, resets, lowering);
criterion_main!(benches);
