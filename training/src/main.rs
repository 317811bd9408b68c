//! Trains a network that looks at loops, or the memory oracle. `cargo xtask train` calls it: NETWORK DATA SEED OUT [STEPS]. DATA
//! is the log of loops, or the folder with the streams of page accesses.

mod data;
mod detector;
mod graph;
mod job;
mod oracle;
mod predictor;
mod rate;
mod recogniser;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::{env, fs};

use anyhow::{Context as _, Result, bail};
use burn::tensor::Device;
use kvrm_models::inputs::{REGISTERS, iteration_input};
use kvrm_models::{Architecture, IterationPredictor, LoopDetector, PatternRecogniser, Weights};
use kvrm_train::Random;
use kvrm_train::loops::{
    Analysis, DetectorScores, LoopRecord, PredictorScores, RecogniserScores, Renaming, Splits, estimate,
    first_labels, read_records, synthetic,
};
use sha2::{Digest as _, Sha256};

use self::data::{Balance, Batches};
use self::job::{Job, rounded, same};
use self::predictor::Pair;

/// The weight of entries whose number of iterations nobody can know from registers.
const UNKNOWN_WEIGHT: f32 = 0.02;
/// The number of times that the counter of an entry gets other values.
const OTHERS: usize = 4;
/// The number of synthetic loops from which the iteration predictor learns.
const SYNTHETIC: usize = 60_000;

/// A training of a network that looks at loops.
struct LoopJob {
    job: Job,
    splits: Splits,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [network, data, seed, out, rest @ ..] = &arguments[..] else {
        bail!("expected NETWORK DATA SEED OUT [STEPS], found {} arguments", arguments.len());
    };
    let (architecture, steps, peak) = match &network[..] {
        "loops" => (Architecture::LoopDetector, 10_000, 1e-3),
        "patterns" => (Architecture::PatternRecogniser, 16_000, 1e-3),
        "iterations" => (Architecture::IterationPredictor, 60_000, 3e-3),
        "oracle" => (Architecture::MemoryOracle, 5_000, 2e-3),
        _ => bail!("unknown network `{network}`; expected loops, patterns, iterations or oracle"),
    };
    let steps = rest.first().map_or(Ok(steps), |steps| steps.parse()).context("STEPS is a number")?;
    let job = Job {
        architecture,
        seed: seed.parse().context("SEED is a number")?,
        steps,
        batch: if architecture == Architecture::MemoryOracle { oracle::BATCH } else { data::BATCH },
        peak,
        out: out.into(),
        data_hash: String::new(),
        device: Device::flex().autodiff(),
    };
    if architecture == Architecture::MemoryOracle {
        return oracle::run(Path::new(data), job);
    }
    let job = LoopJob::new(data, job)?;
    match architecture {
        Architecture::LoopDetector => job.loops(),
        Architecture::PatternRecogniser => job.patterns(),
        _ => job.iterations(),
    }
}

impl LoopJob {
    /// Reads a log of loops.
    fn new(log: &str, mut job: Job) -> Result<Self> {
        let text = fs::read_to_string(log)
            .with_context(|| format!("cannot read {log}; run `cargo xtask loops log`"))?;
        job.data_hash = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let splits = Splits::new(read_records(&text)?);
        let sizes = [&splits.training, &splits.validation, &splits.programs, &splits.level].map(Vec::len);
        println!(
            "{} records; bodies: {sizes:?}; shared {:?}, similar {:?}",
            splits.record_count, splits.shared, splits.similar
        );
        for part in [&splits.training, &splits.validation, &splits.programs, &splits.level] {
            let (mut kinds, mut patterns) = ([0; 4], [0; 6]);
            for (_, labels) in first_labels(part) {
                kinds[labels.kind as usize] += 1;
                patterns[labels.pattern as usize] += 1;
            }
            println!("kinds {kinds:?}, patterns {patterns:?}");
        }
        Ok(Self { job, splits })
    }

    fn loops(&self) -> Result<()> {
        let mut batches = Batches::new(&self.splits.training, Balance::Kinds, self.job.seed);
        // An entry of each body is enough for kinds and counters.
        let mut validation = self.splits.validation.clone();
        validation.iter_mut().for_each(|record| record.entries.truncate(1));
        let score = |flat: &[f32]| {
            let scores = DetectorScores::new(&LoopDetector::from_flat(flat)?, &validation);
            let (kinds, f1, counters) =
                (scores.kinds.accuracy(), scores.kinds.macro_f1(), scores.counter_accuracy());
            let text = format!(
                "kinds {kinds:.4} F1 {f1:.4} counters {counters:.4} iterations {:.3} {:.3}",
                scores.countable.median(),
                scores.countable.within_factor(2.0)
            );
            Ok(text)
        };
        let flat = self.job.train(|flat| detector::loss(flat, &batches.next(), &self.job.device), score)?;
        let network = LoopDetector::from_flat(&flat)?;
        let batch = Batches::new(&self.splits.programs, Balance::Kinds, self.job.seed).next();
        let out =
            detector::forward(&graph::Graph::new(self.job.architecture, &flat, &self.job.device), &batch);
        let values = |tensor: burn::tensor::Tensor<2>| tensor.into_data().try_to_vec::<f32>();
        let (kinds, counters) =
            (values(out.kinds).unwrap_or_default(), values(out.counters).unwrap_or_default());
        for (index, sample) in batch.iter().enumerate() {
            let proposal =
                network.propose(&sample.words, &sample.registers).context("a body of at most 32 words")?;
            same(&kinds[index * 4..][..4], &proposal.kind_logits)?;
            same(&counters[index * 32..][..32], &proposal.counter_logits)?;
        }
        let scores = DetectorScores::new(&network, &self.splits.programs);
        let level = DetectorScores::new(&network, &self.splits.level);
        println!("{:?}", scores.kinds.counts);
        self.job.save(
            flat,
            &[
                ("programs_kind_accuracy", scores.kinds.accuracy()),
                ("programs_kind_macro_f1", scores.kinds.macro_f1()),
                ("programs_counter_accuracy", scores.counter_accuracy()),
                ("programs_iterations_median_error", scores.countable.median()),
                ("programs_iterations_within_2", scores.countable.within_factor(2.0)),
                ("level_kind_accuracy", level.kinds.accuracy()),
                ("level_counter_accuracy", level.counter_accuracy()),
            ],
        )
    }

    fn patterns(&self) -> Result<()> {
        let mut batches = Batches::new(&self.splits.training, Balance::Patterns, self.job.seed);
        let score = |flat: &[f32]| {
            let scores = RecogniserScores::new(&PatternRecogniser::from_flat(flat)?, &self.splits.validation);
            let f1 = scores.patterns.macro_f1();
            let each: Vec<String> = (0..6)
                .map(|class| scores.patterns.f1(class).map_or("-".into(), |f1| format!("{f1:.3}")))
                .collect();
            Ok(format!("accuracy {:.4} F1 {f1:.4} {}", scores.patterns.accuracy(), each.join(" ")))
        };
        let flat = self.job.train(|flat| recogniser::loss(flat, &batches.next(), &self.job.device), score)?;
        let network = PatternRecogniser::from_flat(&flat)?;
        let batch = Batches::new(&self.splits.programs, Balance::Patterns, self.job.seed).next();
        let logits =
            recogniser::forward(&graph::Graph::new(self.job.architecture, &flat, &self.job.device), &batch);
        let logits = logits.into_data().try_to_vec::<f32>().unwrap_or_default();
        for (index, sample) in batch.iter().enumerate() {
            let found = network.recognise(&sample.words).context("a body of at most 32 words")?;
            same(&logits[index * 6..][..6], &found.logits)?;
        }
        let scores = RecogniserScores::new(&network, &self.splits.programs);
        let level = RecogniserScores::new(&network, &self.splits.level);
        scores.patterns.counts.iter().for_each(|row| println!("{row:?}"));
        scores.curve.iter().for_each(|point| println!("{point:?}"));
        self.job.save(
            flat,
            &[
                ("programs_accuracy", scores.patterns.accuracy()),
                ("programs_macro_f1", scores.patterns.macro_f1()),
                ("level_accuracy", level.patterns.accuracy()),
                ("level_macro_f1", level.patterns.macro_f1()),
            ],
        )
    }

    fn iterations(&self) -> Result<()> {
        let recogniser = Weights::load(&self.job.out.with_file_name("pattern-recogniser.safetensors"))
            .context(
                "the embeddings come from the pattern recogniser; run `cargo xtask train patterns` first",
            )?;
        let recogniser = PatternRecogniser::from_flat(recogniser.values())?;
        let pairs = pairs(&recogniser, &self.splits.training, self.job.seed);
        println!("{} pairs", pairs.len());
        let mut random = Random::new(self.job.seed ^ 1);
        let score = |flat: &[f32]| {
            let network = IterationPredictor::from_flat(flat)?;
            let scores = PredictorScores::new(&network, &recogniser, &self.splits.validation);
            let (median, within) = (scores.countable.median(), scores.countable.within_factor(2.0));
            let all = (scores.all.median(), scores.all.within_factor(2.0));
            Ok(format!("median {median:.4} within 2 {within:.4} all {all:?}"))
        };
        let flat = self.job.train(
            |flat| {
                let batch: Vec<_> = (0..256).map(|_| pairs[random.below(pairs.len())]).collect();
                // The answers depend on small differences, so the training sees what rounding does.
                predictor::loss(&rounded(flat), &batch, &self.job.device)
            },
            score,
        )?;
        let network = IterationPredictor::from_flat(&flat)?;
        let graph = graph::Graph::new(self.job.architecture, &flat, &self.job.device);
        let batch = &pairs[..pairs.len().min(256)];
        let values = predictor::forward(&graph, batch).into_data().try_to_vec::<f32>().unwrap_or_default();
        for (pair, value) in batch.iter().zip(values) {
            same(&[value], &[network.log10_iterations(&pair.input)])?;
        }
        let scores = PredictorScores::new(&network, &recogniser, &self.splits.programs);
        let level = PredictorScores::new(&network, &recogniser, &self.splits.level);
        self.job.save(
            flat,
            &[
                ("programs_median_error", scores.countable.median()),
                ("programs_within_2", scores.countable.within_factor(2.0)),
                ("programs_within_1.1", scores.countable.within_factor(1.1)),
                ("programs_all_median_error", scores.all.median()),
                ("programs_all_within_2", scores.all.within_factor(2.0)),
                ("level_median_error", level.countable.median()),
                ("level_within_2", level.countable.within_factor(2.0)),
            ],
        )
    }
}

/// Returns inputs of the iteration predictor with their labels: entries of real loops, with the registers of the log and with
/// other numbers of iterations, and synthetic loops.
fn pairs(recogniser: &PatternRecogniser, records: &[LoopRecord], seed: u64) -> Vec<Pair> {
    let mut random = Random::new(seed);
    let mut pairs = Vec::new();
    for record in records {
        let Some(found) = recogniser.recognise(&record.words) else { continue };
        let analysis = Analysis::new(&record.words);
        let pair = |registers: &[u64; REGISTERS], head: u64, count: u64, weight: f32| {
            let of = estimate(&record.words, registers);
            let input = iteration_input(&found.embedding, of.distance, of.step, head);
            Pair { input, log10: (count as f64).log10() as f32, weight }
        };
        for entry in record.entries.iter().filter(|entry| !entry.is_cut) {
            let labels = analysis.labels(&entry.registers);
            let weight = if labels.counter.is_some() { 1.0 } else { UNKNOWN_WEIGHT };
            pairs.push(pair(&entry.registers, record.head, entry.iterations, weight));
            // The place of a program says nothing about its loops.
            pairs.push(pair(&entry.registers, random.bits(), entry.iterations, weight));
            let Some(counter) = labels.counter else { continue };
            // Other values of the counter, for which the checker proves the number of iterations.
            for _ in 0..OTHERS {
                let iterations = random.magnitude(20);
                let step = estimate(&record.words, &entry.registers).step;
                let by = step.wrapping_mul(iterations.wrapping_sub(entry.iterations));
                for value in
                    [entry.registers[counter].wrapping_add(by), entry.registers[counter].wrapping_sub(by)]
                {
                    let mut registers = entry.registers;
                    registers[counter] = value;
                    if analysis.labels(&registers).proved_iterations == Some(iterations) {
                        pairs.push(pair(&registers, random.bits(), iterations, 1.0));
                    }
                }
            }
        }
    }
    for _ in 0..SYNTHETIC {
        let generated = synthetic(&mut random);
        let renaming = Renaming::random(&mut random);
        let Some(words) = renaming.words(&generated.words) else { continue };
        let registers = renaming.registers(&generated.registers);
        let proved = Analysis::new(&words).labels(&registers).proved_iterations;
        let proved = proved.filter(|count| *count < 1 << 40);
        if let (Some(count), Some(found)) = (proved, recogniser.recognise(&words)) {
            let of = estimate(&words, &registers);
            let input = iteration_input(&found.embedding, of.distance, of.step, random.bits());
            pairs.push(Pair { input, log10: (count as f64).log10() as f32, weight: 1.0 });
        }
    }
    pairs
}
