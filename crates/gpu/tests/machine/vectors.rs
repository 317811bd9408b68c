//! The corpus of test vectors for every encoding, from independent sources, on the GPU.

use std::path::Path;

use kvrm_machine::Factory;
use kvrm_machine::vectors::{self, Mismatch, Vector};

use crate::support::{Gpu, ONE_LANE_WORKGROUPS};

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_vector_of_the_corpus_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let open = |name: &str| vectors::open(&folder.join(name)).expect("the repository has the corpus");
    let corpus: Vec<Vector> =
        ["unicorn.jsonl.gz", "simd.jsonl.gz", "later.jsonl.gz", "pauth.jsonl.gz", "manual.jsonl"]
            .into_iter()
            .flat_map(open)
            .collect();
    assert!(corpus.len() > 50_000, "the corpus has {} vectors", corpus.len());
    for engine in [&Gpu as &dyn Factory, &ONE_LANE_WORKGROUPS] {
        let results: Vec<Vec<Mismatch>> = vectors::run_all(&corpus, engine).expect("the GPU works");
        let failed: Vec<String> = corpus
            .iter()
            .zip(&results)
            .filter(|(_, mismatches)| !mismatches.is_empty())
            .map(|(vector, mismatches)| vector.describe(mismatches))
            .collect();
        assert!(
            failed.is_empty(),
            "{} vectors fail:\n{}",
            failed.len(),
            failed[..failed.len().min(10)].join("\n")
        );
    }
}
