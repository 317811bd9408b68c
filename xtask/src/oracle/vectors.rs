//! The corpora of test vectors, with outputs from Unicorn and QEMU.

use anyhow::{Result, bail};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Class, Encoding, Feature, Features, Processor, class_of};
use kvrm_machine::vectors::{State, StopName, Vector};
use kvrm_testkit::inputs;
use kvrm_testkit::random::Random;

use super::corpus::write_corpus;
use super::judge;
use super::undefined;
use super::unicorn::Unicorn;

/// The seed of the committed corpus.
pub(super) const SEED: u64 = 1;

/// The number of UNDEFINED words to add for each encoding: up to this many in holes, and as many outside.
const UNDEFINED_EACH: usize = 4;

/// Returns whether Unicorn cannot show the behaviour of an encoding at EL0, because nothing sets up its EL1. The
/// hand-written corpus covers these encodings.
fn unknown_to_unicorn(name: &str) -> bool {
    matches!(
        name,
        "ERET_64E_branch_reg"
            | "DRPS_64E_branch_reg"
            | "SYS_CR_systeminstrs"
            | "SYSL_RC_systeminstrs"
            | "HLT_EX_exception"
            | "SMC_EX_exception"
            | "MSR_SI_pstate"
            | "WFI_HI_hints"
            | "WFE_HI_hints"
    )
}

/// The factor by which encodings of floating point and vectors have more vectors, because they have more cases.
const SIMD_TIMES: usize = 2;

/// Makes the test vectors of general registers, those of floating point and vectors, and those of later features.
pub(super) fn run(each: usize, seed: u64) -> Result<()> {
    let armv8_0 = Processor::CortexA53.features();
    let is_general = |row: &Encoding| Features::GENERAL.has(row.feature);
    let is_simd = |row: &Encoding| !is_general(row) && armv8_0.has(row.feature);
    // Those of pointer authentication have a corpus of their own.
    let is_later = |row: &Encoding| !is_general(row) && !is_simd(row) && row.feature != Feature::PAuth;
    let results = [
        make(&Corpus { file: "later.jsonl.gz", each, seed, is_later: true }, is_later),
        make(&Corpus { file: "unicorn.jsonl.gz", each, seed, is_later: false }, is_general),
        make(&Corpus { file: "simd.jsonl.gz", each: SIMD_TIMES * each + 2, seed, is_later: false }, is_simd),
    ];
    results.into_iter().collect()
}

/// A file of vectors.
pub(super) struct Corpus {
    pub(super) file: &'static str,
    /// The number of vectors for each encoding.
    pub(super) each: usize,
    pub(super) seed: u64,
    /// Whether the encodings are of features after Armv8.0.
    pub(super) is_later: bool,
}

fn make(corpus: &Corpus, belongs: impl Fn(&Encoding) -> bool) -> Result<()> {
    let mut random = Random::new(corpus.seed);
    let mut vectors = Vec::new();
    for encoding in ENCODINGS.iter().filter(|row| belongs(row) && !unknown_to_unicorn(row.name)) {
        vectors.extend(inputs::of_encoding(encoding, corpus.each, &mut random));
        if corpus.is_later {
            vectors.extend(inputs::in_holes(encoding, UNDEFINED_EACH, &mut random));
            continue;
        }
        let beside = inputs::beside_encoding(encoding, UNDEFINED_EACH, &mut random);
        let simd = encoding.feature.is_simd();
        vectors.extend(beside.into_iter().filter(|vector| undefined::comparable(vector.code[0].0, simd)));
    }
    // QEMU answers words of later features, because it is newer than Unicorn. It has no memory of vectors.
    let (mut for_qemu, mut for_unicorn): (Vec<Vector>, Vec<Vector>) =
        vectors.into_iter().partition(|vector| {
            let class = class_of(vector.code[0].0);
            let is_later = vector.features.iter().any(|name| name == Processor::Max.name());
            is_later && !matches!(class, Class::LoadStore | Class::Branch)
        });
    let mut unicorn = Unicorn::start()?;
    for vector in &mut for_unicorn {
        vector.expected = unicorn.ask(vector)?;
    }
    let answers = judge::answers(&for_qemu)?;
    for (vector, answer) in for_qemu.iter_mut().zip(answers) {
        vector.expected = answer;
    }
    finish(corpus, [for_unicorn, for_qemu].concat())
}

/// Compares the reference with the answers, and writes the corpus if they are the same.
pub(super) fn finish(corpus: &Corpus, vectors: Vec<Vector>) -> Result<()> {
    let (mut text, mut failures) = (String::new(), Vec::new());
    let count = vectors.len();
    for mut vector in vectors {
        if vector.expected.stop == Some(StopName::Fault) {
            // Unicorn stores the part of an access that is in the page without a fault.
            vector.expected.mem.clear();
        }
        shorten(&mut vector);
        let mismatches = vector.run();
        if !mismatches.is_empty() {
            failures.push(vector.describe(&mismatches));
        }
        text += &serde_json::to_string(&vector)?;
        text.push('\n');
    }
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    println!("{}: {count} vectors, {} on which reference and oracle differ", corpus.file, failures.len());
    if !failures.is_empty() {
        bail!(
            "the reference and the oracle differ; the corpus is not written before the differences are resolved"
        );
    }
    if corpus.seed == SEED { write_corpus(corpus.file, &text) } else { Ok(()) }
}

/// Removes unchanged values from the outputs. The vectors are exact, so unlisted values must not change.
fn shorten(vector: &mut Vector) {
    let State { x, v, sp, nzcv, fpcr, fpsr, tpidr_el0, .. } = &mut vector.expected;
    let init = &vector.init;
    x.retain(|n, value| init.x.get(n).map_or(0, |before| before.0) != value.0);
    v.retain(|n, value| init.v.get(n).map_or(0, |before| before.0) != value.0);
    let zero = |value: Option<kvrm_machine::vectors::Hex<u32>>| value.map_or(0, |value| value.0);
    let zero64 = |value: Option<kvrm_machine::vectors::Hex<u64>>| value.map_or(0, |value| value.0);
    sp.take_if(|value| value.0 == zero64(init.sp));
    tpidr_el0.take_if(|value| value.0 == zero64(init.tpidr_el0));
    nzcv.take_if(|value| value.0 == zero(init.nzcv));
    fpcr.take_if(|value| value.0 == zero(init.fpcr));
    fpsr.take_if(|value| value.0 == zero(init.fpsr));
}
