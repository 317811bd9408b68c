//! Benchmarks of the decoder and the disassembler, on words of every encoding and on random words.
//!
//! Criterion's elements are words.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{decode, disassemble};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

/// The seed of all words.
const SEED: u64 = 1;
/// The number of words of each encoding.
const PER_ENCODING: usize = 4;

/// Returns the names of the sets of words, and the words. Words of the table are shuffled, because neighbouring rows
/// take the same path through the decoder.
fn sets() -> [(&'static str, Vec<u32>); 2] {
    let mut random = Random::new(SEED);
    let rows = ENCODINGS.iter().flat_map(|row| [row; PER_ENCODING]);
    let mut of_table: Vec<u32> = rows.map(|row| words::allocated(row, &mut random)).collect();
    for last in (1..of_table.len()).rev() {
        of_table.swap(last, random.below(last as u64 + 1) as usize);
    }
    let any = of_table.iter().map(|_| random.bits() as u32).collect();
    [("all-encodings", of_table), ("random-words", any)]
}

fn decoder(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for (name, words) in sets() {
        group.throughput(Throughput::Elements(words.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for word in &words {
                    black_box(decode(*word));
                }
            });
        });
    }
}

fn disassembler(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("disassemble");
    for (name, words) in sets() {
        let mut text = String::new();
        group.throughput(Throughput::Elements(words.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for word in &words {
                    text.clear();
                    write!(text, "{}", disassemble(*word, 0)).expect("strings grow");
                    black_box(&text);
                }
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    targets = decoder, disassembler
}
criterion_main!(benches);
