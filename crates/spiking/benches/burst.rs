//! Benchmarks of a step of common networks on CPU engines.
//!
//! Criterion measures the time of `STEPS` steps; its elements are steps. The microcircuit is at a tenth of the
//! published scale. `KVRM_FULL=1` adds networks that take minutes and gigabytes to build.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_spiking::networks::{
    Balanced, Fly, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly, microcircuit, vogels_abbott,
};
use kvrm_spiking::{Executor, Input, Network, Parallel, Reference};

/// The number of steps per measurement.
const STEPS: u64 = 20;

fn measure(criterion: &mut Criterion, name: &str, network: Network, input: &Input, settle: u64) {
    let network = Arc::new(network);
    let engines: [Box<dyn Executor>; 2] =
        [Box::new(Parallel::new(Arc::clone(&network))), Box::new(Reference::new(Arc::clone(&network)))];
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(STEPS));
    for mut engine in engines {
        engine.run(settle, &Input::default(), None).expect("nothing is injected");
        let id = BenchmarkId::from_parameter(engine.name());
        group.bench_function(id, |bencher| {
            bencher.iter(|| engine.run(STEPS, input, None).expect("injections are in range"));
        });
    }
    group.finish();
}

fn networks(criterion: &mut Criterion) {
    let none = Input::default();
    for neurons in [100_000, 500_000] {
        let network = feagi(neurons, 100, 1).expect("parameters are in range");
        let input = feagi_input(neurons, 0.01, STEPS, 1).expect("amounts are small");
        measure(criterion, &format!("feagi/{neurons}"), network, &input, 0);
    }
    let tenth = microcircuit(&Microcircuit { scale: 0.1, ..Microcircuit::default() });
    measure(criterion, "microcircuit/0.1", tenth.expect("parameters are in range"), &none, 2000);
    let published = vogels_abbott(&VogelsAbbott::default()).expect("parameters are in range");
    measure(criterion, "vogels_abbott/4000", published, &none, 1000);
    let small = Balanced { neurons: 20_000, ..Balanced::default() };
    measure(criterion, "balanced/20000", balanced(&small).expect("parameters are in range"), &none, 1000);
    let brain = fly(&Fly::default()).expect("parameters are in range");
    measure(criterion, "fly/138000", brain, &none, 1000);
    if std::env::var_os("KVRM_FULL").is_some() {
        let full = microcircuit(&Microcircuit::default()).expect("parameters are in range");
        measure(criterion, "microcircuit/1", full, &none, 1000);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = networks
}
criterion_main!(benches);
