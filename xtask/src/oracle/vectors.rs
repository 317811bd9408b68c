//! The corpus of test vectors, with outputs from Unicorn.

use anyhow::{Result, bail};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Encoding, Features};
use kvrm_machine::vectors::{State, StopName, Vector};
use kvrm_testkit::inputs;
use kvrm_testkit::random::Random;

use super::corpus::write_corpus;
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

/// Makes the test vectors of general registers, then those of floating point and vectors.
pub(super) fn run(each: usize, seed: u64) -> Result<()> {
    make("unicorn.jsonl.gz", each, seed, |row| Features::GENERAL.has(row.feature))?;
    make("simd.jsonl.gz", SIMD_TIMES * each + 2, seed, |row| !Features::GENERAL.has(row.feature))
}

fn make(corpus: &str, each: usize, seed: u64, belongs: impl Fn(&Encoding) -> bool) -> Result<()> {
    let mut unicorn = Unicorn::start()?;
    let mut random = Random::new(seed);
    let (mut text, mut count, mut failures) = (String::new(), 0, Vec::new());
    for encoding in ENCODINGS.iter().filter(|row| belongs(row) && !unknown_to_unicorn(row.name)) {
        let mut vectors = inputs::of_encoding(encoding, each, &mut random);
        let beside = inputs::beside_encoding(encoding, UNDEFINED_EACH, &mut random);
        let simd = !Features::GENERAL.has(encoding.feature);
        vectors.extend(beside.into_iter().filter(|vector| undefined::comparable(vector.code[0].0, simd)));
        for mut vector in vectors {
            vector.expected = unicorn.ask(&vector)?;
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
            count += 1;
        }
    }
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    println!("{corpus}: {} vectors, {} on which reference and Unicorn differ", count, failures.len());
    if !failures.is_empty() {
        bail!(
            "the reference and Unicorn differ; the corpus is not written before the differences are resolved"
        );
    }
    if seed == SEED { write_corpus(corpus, &text) } else { Ok(()) }
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
