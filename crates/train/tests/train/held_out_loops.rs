//! The networks that come with KVRM, on a sample of loops of programs from which they did not learn.

use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, LoopKind, LoopPattern, PatternRecogniser, Weights,
};
use kvrm_train::loops::{
    Analysis, DetectorScores, Part, PredictorScores, RecogniserScores, read_records, write_records,
};

/// `cargo xtask loops sample` wrote it.
const SAMPLE: &str = include_str!("../held_out_loops.txt");

fn weights(architecture: Architecture) -> Vec<f32> {
    let (weights, _) = Weights::builtin(architecture).expect("the file is whole").expect("the file is there");
    assert!(
        weights.values().iter().all(|value| half::f16::from_f32(*value).to_f32() == *value),
        "{architecture}: devices store numbers of 16 bits"
    );
    weights.into_values()
}

#[test]
fn the_sample_is_of_held_out_programs_and_has_all_labels() {
    let records = read_records(SAMPLE).expect("the sample is whole");
    assert_eq!(write_records(&records), SAMPLE, "as it was written");
    let (mut kinds, mut patterns) = ([0; LoopKind::ALL.len()], [0; LoopPattern::ALL.len()]);
    for record in &records {
        assert_eq!(Part::of(&record.program, &record.level), Part::Programs, "{}", record.program);
        let analysis = Analysis::new(&record.words);
        patterns[analysis.pattern() as usize] += 1;
        kinds[analysis.labels(&record.entries[0].registers).kind as usize] += 1;
        for entry in record.entries.iter().filter(|entry| !entry.is_cut) {
            let proved = analysis.labels(&entry.registers).proved_iterations;
            assert!(proved.is_none_or(|proved| proved <= entry.iterations), "{record:x?}");
        }
    }
    assert!(kinds.iter().all(|count| *count > 5), "{kinds:?}");
    assert!(patterns.iter().all(|count| *count > 4), "{patterns:?}");
}

#[test]
fn measures_of_the_sample_are_not_worse_than_recorded() {
    let records = read_records(SAMPLE).expect("the sample is whole");
    let detector = LoopDetector::from_flat(&weights(Architecture::LoopDetector)).expect("its weights");
    let scores = DetectorScores::new(&detector, &records);
    assert!(scores.kinds.accuracy() >= KINDS, "kinds: {:?}", scores.kinds);
    assert!(scores.counter_accuracy() >= COUNTERS, "counters: {}", scores.counter_accuracy());

    let recogniser =
        PatternRecogniser::from_flat(&weights(Architecture::PatternRecogniser)).expect("its weights");
    let scores = RecogniserScores::new(&recogniser, &records);
    assert!(scores.patterns.macro_f1() >= MACRO_F1, "patterns: {:?}", scores.patterns);

    let predictor =
        IterationPredictor::from_flat(&weights(Architecture::IterationPredictor)).expect("its weights");
    let scores = PredictorScores::new(&predictor, &recogniser, &records);
    assert!(scores.countable.median() <= MEDIAN, "median error {}", scores.countable.median());
    assert!(scores.countable.within_factor(2.0) >= WITHIN_2, "{}", scores.countable.within_factor(2.0));
}

// The measures of the weights that come with KVRM on the sample, rounded so that a few bodies may differ.

/// The least share of right kinds.
const KINDS: f64 = 0.95;
/// The least share of right counters.
const COUNTERS: f64 = 0.95;
/// The least macro F1 score of patterns.
const MACRO_F1: f64 = 0.90;
/// The greatest median of relative errors of iterations.
const MEDIAN: f64 = 0.05;
/// The least share of iterations within a factor of two.
const WITHIN_2: f64 = 0.9;
