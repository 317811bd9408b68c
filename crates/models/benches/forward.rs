//! Benchmarks of the forward passes of all networks, with the weights that come with KVRM where there are some.
//!
//! Criterion's elements are evaluated tuples; of the small dispatch network they are top bytes. `plain` is the reference,
//! `folded` has the embedding in the first layer, `integers` is the form with which certificates prove exactness.
//!
//! The networks that look at loops and the memory oracle have arbitrary weights, which do not change their speed. Their
//! elements are bodies and windows.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_models::inputs::{Access, ITERATION_INPUTS};
use kvrm_models::{
    Architecture, DecoderNetwork, DispatchNetwork, IterationPredictor, LoopDetector, MemoryOracle,
    PatternRecogniser, SmallDispatchNetwork, Tuple, TupleNetwork, Weights,
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

/// Returns weights between ±0.1.
fn arbitrary(architecture: Architecture, random: &mut Random) -> Vec<f32> {
    let weight = |bits: u64| (bits >> 40) as f32 / 83_886_080.0 - 0.1;
    (0..architecture.parameters()).map(|_| weight(random.bits())).collect()
}

/// Measures the networks that look at loops, for bodies of several lengths.
fn loop_networks(criterion: &mut Criterion) {
    let mut random = Random::new(SEED);
    let detector = LoopDetector::from_flat(&arbitrary(Architecture::LoopDetector, &mut random));
    let detector = detector.expect("the weights are complete");
    let recogniser = PatternRecogniser::from_flat(&arbitrary(Architecture::PatternRecogniser, &mut random));
    let recogniser = recogniser.expect("the weights are complete");
    let predictor = IterationPredictor::from_flat(&arbitrary(Architecture::IterationPredictor, &mut random));
    let predictor = predictor.expect("the weights are complete");
    let mut group = criterion.benchmark_group("forward");
    group.throughput(Throughput::Elements(1));
    for words in [2, 8, 32] {
        let body: Vec<u32> = (0..words).map(|_| random.bits() as u32).collect();
        let registers = std::array::from_fn(|_| random.bits());
        group.bench_function(BenchmarkId::new("loop-detector", format!("words={words}")), |bencher| {
            bencher.iter(|| detector.propose(black_box(&body), &registers));
        });
        group.bench_function(BenchmarkId::new("pattern-recogniser", format!("words={words}")), |bencher| {
            bencher.iter(|| recogniser.recognise(black_box(&body)));
        });
    }
    group.bench_function("iteration-predictor", |bencher| {
        bencher.iter(|| predictor.log10_iterations(black_box(&[0.5; ITERATION_INPUTS])));
    });
}

/// Measures the memory oracle, for windows of several lengths.
fn memory_oracle(criterion: &mut Criterion) {
    let mut random = Random::new(SEED);
    let oracle = MemoryOracle::from_flat(&arbitrary(Architecture::MemoryOracle, &mut random));
    let oracle = oracle.expect("the weights are complete");
    let mut group = criterion.benchmark_group("forward");
    group.throughput(Throughput::Elements(1));
    for accesses in [2, 8, 32] {
        let access = |random: &mut Random| Access {
            delta: random.bits() as i64 >> 50,
            size: 8,
            is_load: true,
            pc: random.bits(),
        };
        let window: Vec<Access> = (0..accesses).map(|_| access(&mut random)).collect();
        group.bench_function(BenchmarkId::new("memory-oracle", format!("accesses={accesses}")), |bencher| {
            bencher.iter(|| oracle.predict(black_box(&window)));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    targets = networks, loop_networks, memory_oracle
}
criterion_main!(benches);
