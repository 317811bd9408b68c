//! How long it takes to fork a lane with 120 private pages into 8,192 lanes, and to act on all of these lanes at once.

use criterion::{Criterion, criterion_group, criterion_main};
use kvrm_machine::{Machine, PAGE_BYTES, Register};
use kvrm_testkit::guests::{guest, linux_guest};

/// The lanes of a fork.
const LANES: usize = 8192;
/// The private pages of the forked lane.
const PAGES: usize = 120;

/// Returns a machine whose lane has begun and has written its pages.
fn started(name: &str) -> Machine {
    let program = if name == "files" { linux_guest(name) } else { guest(name) };
    let mut machine = Machine::builder(program).build().expect("a guest of the repository fits");
    machine.run(1000).expect("the CPU engine does not fail");
    let stack = machine.layout().stack.start;
    let written = machine.private_pages(0).expect("the lane exists").len();
    let bytes = vec![1; (PAGES - written) * PAGE_BYTES];
    machine.write(0, stack, &bytes).expect("the stack has room");
    assert_eq!(machine.private_pages(0).expect("the lane exists").len(), PAGES, "private pages");
    machine
}

fn forks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fork");
    group.sample_size(20);
    for name in ["mix", "files"] {
        let mut machine = started(name);
        group.bench_function(name, |bencher| {
            bencher.iter_with_large_drop(|| machine.fork(0, LANES).expect("the lanes fit"));
        });
    }
    let mut fork = started("mix").fork(0, LANES).expect("the lanes fit");
    let stack = fork.layout().stack.start;
    let (rows, values) = (vec![7; 64 * LANES], vec![7; LANES]);
    group.bench_function("write_rows", |bencher| {
        bencher.iter(|| fork.write_rows(.., stack, &rows).expect("the stack is mapped"));
    });
    group.bench_function("set_registers", |bencher| {
        bencher.iter(|| fork.set_registers(.., Register::X(0), &values).expect("all lanes have X0"));
    });
    group.bench_function("resume", |bencher| {
        bencher.iter(|| fork.resume(..).expect("the CPU engine does not fail"));
    });
}

criterion_group!(benches, forks);
criterion_main!(benches);
