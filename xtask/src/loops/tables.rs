//! The tables of `docs/loop-networks.md`: measures of the networks that look at loops, and of simple methods, on the held-out
//! parts of the log.

use anyhow::Result;
use kvrm_models::{
    Architecture, IterationPredictor, LoopDetector, LoopKind, LoopPattern, PatternRecogniser, Weights,
};
use kvrm_train::loops::{
    Analysis, Confusion, DetectorScores, Errors, Histogram, LoopRecord, PredictorScores, RecogniserScores,
    Splits, first_labels, rule_pattern,
};

use crate::markdown::{head, percent, replace_between, row};
use crate::root::root;

/// The marks around the tables in the document.
const BEGIN: &str = "<!-- loop tables -->";
const END: &str = "<!-- end of loop tables -->";
const DOCUMENT: &str = "docs/loop-networks.md";

/// Prints the tables, and replaces those of the document if `write`.
pub(super) fn run(splits: &Splits, write: bool) -> Result<()> {
    let mut out = String::new();
    data(splits, &mut out);
    checks(splits, &mut out);
    kinds(splits, &mut out)?;
    patterns(splits, &mut out)?;
    iterations(splits, &mut out)?;
    println!("{out}");
    if write {
        replace_between(DOCUMENT, BEGIN, END, &out)?;
    }
    Ok(())
}

/// Returns the weights of a network of `weights/`, unless they have not been trained yet.
fn weights(architecture: Architecture) -> Result<Option<Weights>> {
    let path = root().join(format!("weights/{architecture}.safetensors"));
    Ok(path.exists().then(|| Weights::load(&path)).transpose()?)
}

fn parts(splits: &Splits) -> [(&'static str, &[LoopRecord]); 2] {
    [("held-out programs", &splits.programs), ("held-out level", &splits.level)]
}

fn data(splits: &Splits, out: &mut String) {
    let all = [
        ("training", &splits.training),
        ("validation", &splits.validation),
        ("held-out programs", &splits.programs),
        ("held-out level", &splits.level),
    ];
    let mut columns = vec!["part", "programs", "bodies", "entries", "shared", "similar"];
    columns.extend(LoopKind::ALL.map(LoopKind::name));
    head(out, &format!("Data: {} loops of the log", splits.record_count), &columns);
    for (number, (name, records)) in all.into_iter().enumerate() {
        let programs: std::collections::BTreeSet<_> = records.iter().map(|record| &record.program).collect();
        let entries: usize = records.iter().map(|record| record.entries.len()).sum();
        let mut counts = [0; 4];
        first_labels(records).iter().for_each(|(_, labels)| counts[labels.kind as usize] += 1);
        let removed =
            |counts: [usize; 3]| if number == 0 { "-".to_owned() } else { counts[number - 1].to_string() };
        let cells = [programs.len(), records.len(), entries].map(|count| count.to_string());
        let cells = cells.into_iter().chain([removed(splits.shared), removed(splits.similar)]);
        row(out, [name.to_owned()].into_iter().chain(cells).chain(counts.map(|count| count.to_string())));
    }
    let mut columns = vec!["part"];
    columns.extend(LoopPattern::ALL.map(LoopPattern::name));
    head(out, "Patterns of the bodies", &columns);
    for (name, records) in all {
        let mut counts = [0; 6];
        records.iter().for_each(|record| counts[Analysis::new(&record.words).pattern() as usize] += 1);
        row(out, [name.to_owned()].into_iter().chain(counts.map(|count: u32| count.to_string())));
    }
}

/// Compares the iterations that the checker proves with those of the runs.
fn checks(splits: &Splits, out: &mut String) {
    let (mut equal, mut fewer, mut more) = (0_u64, 0_u64, 0_u64);
    for record in
        [&splits.training, &splits.validation, &splits.programs, &splits.level].into_iter().flatten()
    {
        let analysis = Analysis::new(&record.words);
        for entry in record.entries.iter().filter(|entry| !entry.is_cut) {
            match analysis
                .labels(&entry.registers)
                .proved_iterations
                .map(|proved| proved.cmp(&entry.iterations))
            {
                Some(std::cmp::Ordering::Equal) => equal += 1,
                Some(std::cmp::Ordering::Less) => fewer += 1,
                Some(std::cmp::Ordering::Greater) => more += 1,
                None => {}
            }
        }
    }
    head(
        out,
        "Iterations that the checker proves, against the runs",
        &["entries with a counter", "equal", "fewer proved", "more proved"],
    );
    row(out, [equal + fewer + more, equal, fewer, more].map(|count| count.to_string()));
}

fn kinds(splits: &Splits, out: &mut String) -> Result<()> {
    let samples: Vec<(&[u32], usize)> = first_labels(&splits.training)
        .into_iter()
        .map(|(words, labels)| (words, labels.kind as usize))
        .collect();
    let histogram = Histogram::<4>::fit(&samples);
    let network = weights(Architecture::LoopDetector)?;
    let network = network.map(|weights| LoopDetector::from_flat(weights.values())).transpose()?;
    head(out, "Kinds and counters", &["", "accuracy of kinds", "macro F1", "right counters"]);
    let mut confusion = None;
    for (part, records) in parts(splits) {
        let mut line = |name: &str, kinds: &Confusion<4>, counters: Option<f64>| {
            let counters = counters.map_or("-".to_owned(), percent);
            row(
                out,
                [
                    format!("{name}, {part}"),
                    percent(kinds.accuracy()),
                    format!("{:.3}", kinds.macro_f1()),
                    counters,
                ],
            );
        };
        if let Some(network) = &network {
            let scores = DetectorScores::new(network, records);
            line("loop detector", &scores.kinds, Some(scores.counter_accuracy()));
            confusion.get_or_insert(scores.kinds);
        }
        let rules = DetectorScores::of_rules(records);
        line("matcher of opcodes", &rules.kinds, Some(rules.counter_accuracy()));
        let mut kinds = Confusion::default();
        for (words, labels) in first_labels(records) {
            kinds.add(labels.kind as usize, histogram.class(words));
        }
        line("histogram of opcodes", &kinds, None);
    }
    if let Some(confusion) = confusion {
        confused(
            out,
            "Kinds of the loop detector on held-out programs",
            &LoopKind::ALL.map(LoopKind::name),
            &confusion,
        );
    }
    Ok(())
}

fn confused<const N: usize>(out: &mut String, title: &str, names: &[&str; N], confusion: &Confusion<N>) {
    let mut columns = vec!["label"];
    columns.extend(names);
    columns.push("F1");
    head(out, title, &columns);
    for (class, name) in names.iter().enumerate() {
        let f1 = confusion.f1(class).map_or("-".to_owned(), |f1| format!("{f1:.3}"));
        let counts = confusion.counts[class].map(|count| count.to_string());
        row(out, [(*name).to_owned()].into_iter().chain(counts).chain([f1]));
    }
}

fn patterns(splits: &Splits, out: &mut String) -> Result<()> {
    let samples: Vec<(&[u32], usize)> = splits
        .training
        .iter()
        .map(|record| (&record.words[..], Analysis::new(&record.words).pattern() as usize))
        .collect();
    let histogram = Histogram::<6>::fit(&samples);
    let network = weights(Architecture::PatternRecogniser)?;
    let network = network.map(|weights| PatternRecogniser::from_flat(weights.values())).transpose()?;
    head(out, "Patterns", &["", "accuracy", "macro F1"]);
    let mut measured = None;
    for (part, records) in parts(splits) {
        let mut line = |name: &str, patterns: &Confusion<6>| {
            row(
                out,
                [
                    format!("{name}, {part}"),
                    percent(patterns.accuracy()),
                    format!("{:.3}", patterns.macro_f1()),
                ],
            );
        };
        if let Some(network) = &network {
            let scores = RecogniserScores::new(network, records);
            line("pattern recogniser", &scores.patterns);
            measured.get_or_insert(scores);
        }
        line("matcher of opcodes", &RecogniserScores::of_function(records, rule_pattern));
        let by_histogram = |words: &[u32]| LoopPattern::ALL[histogram.class(words)];
        line("histogram of opcodes", &RecogniserScores::of_function(records, by_histogram));
    }
    if let Some(scores) = measured {
        let names = LoopPattern::ALL.map(LoopPattern::name);
        confused(out, "Patterns of the recogniser on held-out programs", &names, &scores.patterns);
        head(
            out,
            "Rejection on held-out programs",
            &["least cosine", "macro F1", "UNKNOWN accepted", "patterns rejected"],
        );
        for point in scores.curve {
            row(
                out,
                [
                    format!("{:.2}", point.threshold),
                    format!("{:.3}", point.macro_f1),
                    percent(point.false_accepts),
                    percent(point.false_rejects),
                ],
            );
        }
    }
    Ok(())
}

fn iterations(splits: &Splits, out: &mut String) -> Result<()> {
    let detector = weights(Architecture::LoopDetector)?;
    let detector = detector.map(|weights| LoopDetector::from_flat(weights.values())).transpose()?;
    let recogniser = weights(Architecture::PatternRecogniser)?;
    let recogniser = recogniser.map(|weights| PatternRecogniser::from_flat(weights.values())).transpose()?;
    let predictor = weights(Architecture::IterationPredictor)?;
    let predictor = predictor.map(|weights| IterationPredictor::from_flat(weights.values())).transpose()?;
    head(
        out,
        "Iterations",
        &[
            "",
            "countable entries",
            "median error",
            "within 10 %",
            "within factor 2",
            "all entries",
            "median error",
            "within factor 2",
        ],
    );
    for (part, records) in parts(splits) {
        let mut line = |name: &str, countable: &Errors, all: &Errors| {
            row(
                out,
                [
                    format!("{name}, {part}"),
                    countable.count().to_string(),
                    percent(countable.median()),
                    percent(countable.within_factor(1.1)),
                    percent(countable.within_factor(2.0)),
                    all.count().to_string(),
                    percent(all.median()),
                    percent(all.within_factor(2.0)),
                ],
            );
        };
        if let (Some(predictor), Some(recogniser)) = (&predictor, &recogniser) {
            let scores = PredictorScores::new(predictor, recogniser, records);
            line("iteration predictor", &scores.countable, &scores.all);
        }
        if let Some(detector) = &detector {
            let scores = DetectorScores::new(detector, records);
            line("loop detector", &scores.countable, &scores.all);
        }
        for (name, scores) in [
            ("last value", PredictorScores::of_last_values(records)),
            ("distance / step", PredictorScores::of_quotients(records)),
            ("median of the same body", PredictorScores::of_medians(records)),
        ] {
            line(name, &scores.countable, &scores.all);
        }
    }
    Ok(())
}
