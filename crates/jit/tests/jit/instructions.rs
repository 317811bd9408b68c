//! Each encoding by itself, on vectors of the corpus, whose answers come from independent sources.

use std::path::Path;

use kvrm_jit::JitEngine;
use kvrm_machine::vectors::{self, Vector};

/// One vector in so many is tested. Those of an encoding follow each other, and each has more.
const STRIDE: usize = 19;

#[test]
fn vectors_of_the_corpus_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let open = |name: &str| vectors::open(&folder.join(name)).expect("the repository has the corpus");
    let corpus =
        ["unicorn.jsonl.gz", "simd.jsonl.gz", "later.jsonl.gz", "manual.jsonl"].into_iter().flat_map(open);
    let corpus: Vec<Vector> = corpus.step_by(STRIDE).collect();
    assert!(corpus.len() > 2_500, "{} vectors", corpus.len());
    let results = vectors::run_all(&corpus, &JitEngine::eager(4)).expect("the JIT works");
    let failed = corpus.iter().zip(&results).filter(|(_, mismatches)| !mismatches.is_empty());
    let failed: Vec<String> = failed.map(|(vector, mismatches)| vector.describe(mismatches)).collect();
    let shown = failed[..failed.len().min(10)].join("\n");
    assert!(failed.is_empty(), "{} vectors fail:\n{shown}", failed.len());
}
