//! Benchmarks of the forward passes of all networks, with the weights that come with KVRM.
//!
//! Criterion's elements are evaluated tuples; of the small dispatch network they are top bytes. `plain` is the reference,
//! `folded` has the embedding in the first layer, `integers` is the form with which certificates prove exactness.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_models::{
    Architecture, DecoderNetwork, DispatchNetwork, SmallDispatchNetwork, Tuple, TupleNetwork, Weights,
};
use kvrm_testkit::random::Random;

/// The seed of the tuples.
const SEED: u64 = 1;
/// The number of tuples in a batch, as many as have the same top byte.
const BATCH: usize = 4096;

fn weights(architecture: Architecture) -> Vec<f32> {
    let found = Weights::builtin(architecture).expect("the file is complete");
    found.expect("the weights are built in").0.into_values()
}

/// Measures all forms of a network over tuples.
fn forms<const H: usize, const C: usize>(
    criterion: &mut Criterion,
    name: &str,
    network: &TupleNetwork<H, C>,
) {
    let mut random = Random::new(SEED);
    let tuples: Vec<Tuple> = (0..BATCH).map(|_| Tuple::new(random.bits() as u32)).collect();
    let folded = network.fold();
    let integers = network.to_integers().expect("the weights are on the grid");
    let mut group = criterion.benchmark_group("forward");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function(BenchmarkId::new(name, "form=plain"), |bencher| {
        bencher.iter(|| {
            for tuple in &tuples {
                black_box(network.logits(*tuple));
            }
        });
    });
    // The folded form evaluates all tuples of a top byte at once.
    let mut bytes = tuples.iter().map(|tuple| tuple.top_byte() as u8).cycle();
    group.bench_function(BenchmarkId::new(name, "form=folded"), |bencher| {
        bencher.iter(|| {
            let byte = bytes.next().unwrap_or_default();
            folded.for_each(byte, |_, logits| {
                black_box(logits);
            });
        });
    });
    group.bench_function(BenchmarkId::new(name, "form=integers"), |bencher| {
        bencher.iter(|| {
            for tuple in &tuples {
                black_box(integers.logits(*tuple));
            }
        });
    });
}

fn networks(criterion: &mut Criterion) {
    let dispatch = DispatchNetwork::from_flat(&weights(Architecture::Dispatch));
    forms(criterion, "dispatch", &dispatch.expect("the weights are complete"));
    let decoder = DecoderNetwork::from_flat(&weights(Architecture::Decoder));
    forms(criterion, "decoder", &decoder.expect("the weights are complete"));
    let small = SmallDispatchNetwork::from_flat(&weights(Architecture::SmallDispatch));
    let small = small.expect("the weights are complete");
    let mut group = criterion.benchmark_group("forward");
    group.throughput(Throughput::Elements(256));
    group.bench_function(BenchmarkId::new("small-dispatch", "form=plain"), |bencher| {
        bencher.iter(|| {
            for byte in 0..=u8::MAX {
                black_box(small.logits(byte));
            }
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    targets = networks
}
criterion_main!(benches);
