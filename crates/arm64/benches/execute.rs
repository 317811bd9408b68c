//! Benchmarks of the semantics, one for each family of instructions.
//!
//! Criterion's elements are executed instructions. Each instruction has registers of its own, as in the test vectors,
//! because results that feed the next instruction soon become zeros and NaNs. Fetching and decoding is not measured.

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Cpu, Encoding, Features, Instruction, Memory, Op, Stop, Word, decode, execute};
use kvrm_testkit::inputs;
use kvrm_testkit::random::Random;

/// The seed of all instructions and registers.
const SEED: u64 = 1;
/// The number of instructions of a family. Their registers fit in the cache of a core.
const INSTRUCTIONS: usize = 256;

/// The families of semantics, in the order of the benchmarks.
const FAMILIES: [&str; 11] = [
    "arithmetic",
    "logical",
    "shift",
    "multiply-divide",
    "branch",
    "load-store",
    "atomic",
    "floating-point",
    "simd-integer",
    "simd-float",
    "crypto",
];

/// Returns the family of a row, or `None` for instructions of the system and loads and stores of vectors.
fn family(row: &Encoding) -> Option<&'static str> {
    let semantics = row.semantics();
    let (module, rest) = semantics.split_once("::")?;
    Some(match module {
        "add_sub" | "conditional" | "move_wide" | "pc_rel" => "arithmetic",
        "logical" => "logical",
        "bitfield" | "bits" | "shift" => "shift",
        "multiply" | "divide" | "crc" => "multiply-divide",
        "branch" => "branch",
        "load_store" | "pair" | "ordered" => "load-store",
        "atomic" | "exclusive" => "atomic",
        "simd" if rest.starts_with("crypto") || rest.starts_with("polynomial") => "crypto",
        "simd" if rest.starts_with("load_store") || rest.starts_with("structure") => return None,
        "simd" if row.group().starts_with("float") => "floating-point",
        "simd" if ["float", "convert", "compare"].iter().any(|name| rest.starts_with(name)) => "simd-float",
        "simd" => "simd-integer",
        "system" => return None,
        _ => panic!("{} has semantics {semantics}, which belong to no family", row.name),
    })
}

/// A few pages of memory at every address, so that no access fails.
struct Flat(Box<[u8; Self::BYTES]>);

impl Flat {
    const BYTES: usize = 0x4000;

    fn place(address: u64, offset: usize) -> usize {
        (address as usize).wrapping_add(offset) % Self::BYTES
    }
}

impl Memory for Flat {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        Ok(Instruction::new(u32::from_le_bytes(self.read(pc)?), Features::ALL))
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        Ok(std::array::from_fn(|offset| self.0[Self::place(address, offset)]))
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        for (offset, byte) in bytes.into_iter().enumerate() {
            self.0[Self::place(address, offset)] = byte;
        }
        Ok(())
    }

    fn check_write(&mut self, _: u64, _: u64) -> Result<(), Stop> {
        Ok(())
    }
}

/// An instruction with the registers before it.
type Case = (Op, Word, Cpu);

/// Returns instructions of a family, with equal numbers for all of its encodings.
fn cases(name: &str, random: &mut Random) -> Vec<Case> {
    let rows: Vec<&Encoding> = ENCODINGS.iter().filter(|row| family(row) == Some(name)).collect();
    assert!(!rows.is_empty(), "no encoding belongs to the family {name}");
    let count = INSTRUCTIONS.div_ceil(rows.len());
    let vectors = rows.iter().flat_map(|row| inputs::of_encoding(row, count, random));
    let cases = vectors.map(|vector| {
        // An exclusive store follows its load.
        let word = vector.code[vector.code.len() - 1].0;
        (decode(word).expect("the word belongs to the row"), Word(word), vector.cpu())
    });
    cases.collect()
}

fn families(criterion: &mut Criterion) {
    let mut random = Random::new(SEED);
    let mut memory = Flat(Box::new([0; Flat::BYTES]));
    memory.0.fill_with(|| random.bits() as u8);
    let mut group = criterion.benchmark_group("execute");
    for name in FAMILIES {
        let cases = cases(name, &mut random);
        for (op, word, cpu) in &cases {
            let done = execute(&mut cpu.clone(), &mut memory, *op, *word);
            assert_eq!(done, Ok(()), "{} is executed to its end", op.encoding().name);
        }
        group.throughput(Throughput::Elements(cases.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format_args!("family={name}")), |bencher| {
            bencher.iter_batched_ref(
                || cases.clone(),
                |cases| {
                    for (op, word, cpu) in cases {
                        let _ = execute(cpu, &mut memory, *op, *word);
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    targets = families
}
criterion_main!(benches);
