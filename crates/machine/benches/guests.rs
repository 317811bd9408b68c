//! How fast the CPU engine runs each guest: in one lane on one core, and in a thousand lanes on all cores.
//!
//! Criterion's elements are retired steps, so its Melem/s are MIPS. Every run is checked: a guest that does
//! not exit with 0 fails the benchmark.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_machine::{Machine, Stop};
use kvrm_testkit::guests::{features, guest};

/// The guests, with the size that makes one lane of many take about 100,000 steps.
const GUESTS: [(&str, &str); 17] = [
    ("bubble_sort", "140"),
    ("decimal", "1"),
    ("fft", "1"),
    ("life", "1"),
    ("lz", "1200"),
    ("mandelbrot", "2"),
    ("matmul", "16"),
    ("mix", "1700"),
    ("nbody", "120"),
    ("quicksort", "700"),
    ("relocs", "2400"),
    ("render", "2"),
    ("sha256", "500"),
    ("sieve", "8000"),
    ("strings", "5"),
    ("vectors", "1"),
    ("vm", "30"),
];

/// Lanes in the benchmark of all cores.
const LANES: usize = 1000;

fn machine(name: &str, lanes: usize, arguments: Vec<String>) -> Machine {
    let builder = Machine::builder(guest(name)).features(features(name)).lanes(lanes);
    let builder = builder.arguments(move |_| arguments.clone());
    let mut machine = builder.build().expect("a guest of the repository fits");
    machine.snapshot().expect("the CPU engine can always take a snapshot");
    machine
}

/// Runs all lanes from the snapshot to their end, as often as asked; gives steps a run, and the time of all.
fn run(machine: &mut Machine, times: u64) -> (u64, Duration) {
    let all: Vec<usize> = (0..machine.lanes()).collect();
    let (mut steps, mut wall) = (0, Duration::ZERO);
    for _ in 0..times {
        machine.reset(&all).expect("there is a snapshot");
        let report = machine.run(u64::MAX).expect("the CPU engine does not fail");
        for lane in &all {
            assert_eq!(
                machine.stop(*lane).ok(),
                Some(Some(Stop::Exit { code: 0 })),
                "the guest checks itself"
            );
        }
        steps = report.steps;
        wall += report.wall;
    }
    (steps, wall)
}

fn guests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reference");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for (name, size) in GUESTS {
        for (lanes, arguments) in [(1, Vec::new()), (LANES, vec![size.to_owned()])] {
            let mut machine = machine(name, lanes, arguments);
            let (steps, _) = run(&mut machine, 1);
            group.throughput(Throughput::Elements(steps));
            group.bench_function(BenchmarkId::new(name, format!("lanes={lanes}")), |bencher| {
                bencher.iter_custom(|times| run(&mut machine, times).1);
            });
        }
    }
}

criterion_group!(benches, guests);
criterion_main!(benches);
