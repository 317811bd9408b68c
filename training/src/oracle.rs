//! The training of the memory oracle: data, batches, loss, measures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use burn::tensor::{Device, Tensor, TensorData, activation};
use kvrm_learn::oracle::{
    CONFIDENCE_WEIGHT, DELTA_SCALE, DELTA_WEIGHT, DELTAS, SAMPLE_ACCESSES, Sample, sequences,
};
use kvrm_models::inputs::{ACCESS_FEATURES, Access, access_features, decoded_delta, encoded_delta};
use kvrm_models::{Architecture, MemoryOracle};
use kvrm_prefetch::{AccessStream, RecordedAccess};
use kvrm_train::Random;
use kvrm_train::oracle::{OracleScores, Part, heard_in_use, synthetic_stream};
use sha2::{Digest as _, Sha256};

use crate::graph::{Graph, cross_entropy};
use crate::job::{Job, same};

/// The number of sequences of a batch.
pub(crate) const BATCH: usize = 32;
/// The largest number of accesses of a stream with a pool and a prefetcher that are kept.
const HEARD_MAX: usize = 16_000;
/// The share of synthetic sequences, in percent.
const SYNTHETIC: usize = 25;
/// The number of accesses of a synthetic stream.
const SYNTHETIC_ACCESSES: usize = 600;
/// The number of sequences that are taken from one synthetic stream.
const OF_STREAM: usize = 16;
/// The weight of the loss of patterns.
const PATTERN_WEIGHT: f32 = 0.3;
/// The number of windows of each program for measures.
const MEASURED: usize = 200;

/// The sequences of a program.
#[derive(Default)]
pub(crate) struct Program {
    sequences: Vec<Vec<RecordedAccess>>,
    /// The number of accesses of the sequences before each one and of itself.
    ends: Vec<usize>,
}

impl Program {
    fn add(&mut self, heard: &[RecordedAccess]) {
        for sequence in sequences(heard) {
            let before = self.ends.last().copied().unwrap_or(0);
            self.ends.push(before + sequence.len());
            self.sequences.push(sequence);
        }
    }

    /// Returns a random place: a sequence and a position.
    fn place(&self, random: &mut Random) -> (&[RecordedAccess], usize) {
        let access = random.below(self.ends.last().copied().unwrap_or(0));
        let number = self.ends.partition_point(|end| *end <= access);
        let sequence = &self.sequences[number];
        (sequence, access + sequence.len() - self.ends[number])
    }
}

/// Returns the sequences of all programs of a part.
fn programs(streams: &[AccessStream], part: Part, seed: u64) -> Result<Vec<Program>> {
    let mut random = Random::new(seed);
    let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
    for stream in streams.iter().filter(|stream| Part::of(&stream.program) == part) {
        let program = programs.entry(&stream.program).or_default();
        for heard in heard_in_use(&stream.accesses)? {
            let from = random.below(heard.len().saturating_sub(HEARD_MAX) + 1);
            program.add(&heard[from..heard.len().min(from + HEARD_MAX)]);
        }
    }
    ensure!(!programs.is_empty(), "there are no streams of the part {}", part.name());
    Ok(programs.into_values().collect())
}

/// Returns the windows on which a part is measured, as many of each program.
fn measured(programs: &[Program]) -> Vec<(&[RecordedAccess], usize)> {
    let mut random = Random::new(0);
    programs
        .iter()
        .flat_map(|program| (0..MEASURED).map(|_| program.place(&mut random)).collect::<Vec<_>>())
        .collect()
}

/// An endless stream of batches.
pub(crate) struct Batches<'a> {
    programs: &'a [Program],
    synthetic: Vec<Vec<RecordedAccess>>,
    left: usize,
    random: Random,
}

impl<'a> Batches<'a> {
    /// Returns batches of programs, or only of synthetic streams if there are none.
    pub(crate) fn new(programs: &'a [Program], seed: u64) -> Self {
        Self { programs, synthetic: Vec::new(), left: 0, random: Random::new(seed) }
    }

    fn sample(&mut self) -> Sample {
        let random = &mut self.random;
        let mask = random.bits() & 0xfc;
        if random.below(100) >= SYNTHETIC && !self.programs.is_empty() {
            let program = random.below(self.programs.len());
            let (sequence, position) = self.programs[program].place(random);
            // The end of a window is anywhere behind the chosen access, so beginnings are as likely as the rest.
            let position = (position + random.below(SAMPLE_ACCESSES)).min(sequence.len() - 1);
            return Sample::new(sequence, position, mask);
        }
        if self.left == 0 {
            self.synthetic = sequences(&synthetic_stream(random, SYNTHETIC_ACCESSES));
            self.left = OF_STREAM;
        }
        self.left -= 1;
        let lengths: usize = self.synthetic.iter().map(Vec::len).sum();
        let mut access = random.below(lengths);
        let mut chosen = &self.synthetic[0];
        for sequence in &self.synthetic {
            chosen = sequence;
            if access < sequence.len() {
                break;
            }
            access -= sequence.len();
        }
        let position = (access + random.below(SAMPLE_ACCESSES)).min(chosen.len() - 1);
        Sample::new(chosen, position, mask)
    }

    pub(crate) fn next(&mut self) -> Vec<Sample> {
        (0..BATCH).map(|_| self.sample()).collect()
    }
}

/// The outputs for all accesses of a batch: rows of encoded deltas, logits of confidences, and logits of patterns.
pub(crate) struct Outputs {
    deltas: Tensor<2>,
    confidences: Tensor<2>,
    patterns: Tensor<2>,
}

/// Returns the outputs, where sequences that are shorter than a window have rows that mean nothing behind them.
pub(crate) fn forward(graph: &Graph, batch: &[Sample]) -> Outputs {
    let (count, tokens) = (batch.len(), SAMPLE_ACCESSES);
    let mut features = Vec::with_capacity(count * tokens * ACCESS_FEATURES);
    for sample in batch {
        let padding = std::iter::repeat_n(Access::default(), tokens - sample.inputs.len());
        let padded = sample.inputs.iter().copied().chain(padding);
        features.extend(padded.flat_map(|access| access_features(&access)));
    }
    let hidden = activation::relu(graph.linear("feature_encoder.0", graph.rows(features, ACCESS_FEATURES)));
    let width = graph.matrix("feature_encoder.2.weight").dims()[0];
    let mut sequence: Tensor<3> = graph.linear("feature_encoder.2", hidden).reshape([count, tokens, width]);
    for layer in ["l0", "l1"] {
        sequence = graph.lstm("lstm", layer, sequence);
    }
    let units = sequence.dims()[2];
    let states: Tensor<2> = sequence.reshape([count * tokens, units]);
    let head = |first: &str, second: &str| {
        graph.linear(second, activation::relu(graph.linear(first, states.clone())))
    };
    Outputs {
        deltas: head("delta_head.0", "delta_head.3"),
        confidences: head("confidence_head.0", "confidence_head.2"),
        patterns: head("pattern_head.0", "pattern_head.2"),
    }
}

pub(crate) fn loss(flat: &[f32], batch: &[Sample], device: &Device) -> (Graph, Tensor<1>) {
    let graph = Graph::new(Architecture::MemoryOracle, flat, device);
    let outputs = forward(&graph, batch);
    let rows = batch.len() * SAMPLE_ACCESSES;
    let predicted = outputs.deltas.clone().into_data().try_to_vec::<f32>().unwrap_or_default();
    let (mut labels, mut weights) = (vec![0.0; rows * DELTAS], vec![0.0; rows * DELTAS]);
    let (mut used, mut named) = (vec![0.0; rows * DELTAS], vec![0.0; rows * DELTAS]);
    let (mut patterns, mut pattern_weights) = (vec![0; rows], vec![0.0; rows]);
    for (number, sample) in batch.iter().enumerate() {
        for (at, label) in sample.labels.iter().enumerate() {
            let Some(label) = label else { continue };
            let row = number * SAMPLE_ACCESSES + at;
            for (place, delta) in label.deltas.iter().enumerate() {
                labels[row * DELTAS + place] = encoded_delta(*delta);
                weights[row * DELTAS + place] = 1.0;
            }
            let deltas: Vec<i64> =
                predicted[row * DELTAS..][..DELTAS].iter().map(|value| decoded_delta(*value)).collect();
            for (place, is_used) in label.are_used(&deltas).into_iter().enumerate() {
                used[row * DELTAS + place] = f32::from(u8::from(is_used));
                named[row * DELTAS + place] = 1.0;
            }
            (patterns[row], pattern_weights[row]) = (label.pattern as usize, 1.0);
        }
    }
    let matrix = |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, [rows, DELTAS]), device);
    let mean = |losses: Tensor<2>, weights: Vec<f32>| {
        let count = weights.iter().sum::<f32>().max(1.0);
        (losses * matrix(weights)).sum() * (1.0 / count)
    };
    let error = (outputs.deltas - matrix(labels)) * (1.0 / DELTA_SCALE);
    let of_deltas = mean((error.powi_scalar(2) + 1.0).sqrt() - 1.0, weights);
    // The targets are those of the deltas that the network predicts now, so that confidences fit them.
    let used = matrix(used);
    let likely = activation::log_sigmoid(outputs.confidences.clone()) * used.clone();
    let unlikely = activation::log_sigmoid(-outputs.confidences) * (-used + 1.0);
    let of_confidences = mean(-(likely + unlikely), named);
    let of_patterns = cross_entropy(outputs.patterns, &patterns, &pattern_weights, device);
    let loss = of_deltas * DELTA_WEIGHT + of_confidences * CONFIDENCE_WEIGHT + of_patterns * PATTERN_WEIGHT;
    (graph, loss)
}

/// Reads the streams of a folder, in the order of their file names, and returns them with their SHA-256.
fn read(folder: &Path) -> Result<(Vec<AccessStream>, String)> {
    const ADVICE: &str = "run `cargo xtask prefetch log`";
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}; {ADVICE}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pages"));
    paths.sort_unstable();
    let mut hash = Sha256::new();
    let mut streams = Vec::new();
    for path in &paths {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        hash.update(&bytes);
        streams
            .push(AccessStream::from_bytes(&bytes).with_context(|| format!("{}; {ADVICE}", path.display()))?);
    }
    Ok((streams, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Trains the oracle with the streams of a folder.
pub(crate) fn run(folder: &Path, mut job: Job) -> Result<()> {
    let (streams, hash) = read(folder)?;
    job.data_hash = hash;
    let training = programs(&streams, Part::Training, job.seed)?;
    let validation = programs(&streams, Part::Validation, job.seed)?;
    let held_out = programs(&streams, Part::HeldOut, job.seed)?;
    drop(streams);
    for (name, part) in [("training", &training), ("validation", &validation), ("held-out", &held_out)] {
        let accesses: usize = part.iter().filter_map(|program| program.ends.last()).sum();
        let sequences: usize = part.iter().map(|program| program.sequences.len()).sum();
        println!("{name}: {} programs, {sequences} sequences, {accesses} accesses", part.len());
    }
    let mut batches = Batches::new(&training, job.seed);
    let score = |flat: &[f32]| {
        Ok(summary(&OracleScores::new(&MemoryOracle::from_flat(flat)?, measured(&validation))))
    };
    let flat = job.train(|flat| loss(flat, &batches.next(), &job.device), score)?;
    let network = MemoryOracle::from_flat(&flat)?;
    check(&network, &Batches::new(&training, job.seed).next(), &job.device)?;
    let scores = OracleScores::new(&network, measured(&held_out));
    println!("held-out: {}", summary(&scores));
    let validation = OracleScores::new(&network, measured(&validation));
    job.save(
        flat,
        &[
            ("programs_first_delta_accuracy", scores.accuracy(0)),
            ("programs_used_share", scores.used_share()),
            ("programs_calibration_error", scores.calibration_error()),
            ("programs_pattern_accuracy", scores.pattern_accuracy()),
            ("validation_first_delta_accuracy", validation.accuracy(0)),
            ("validation_used_share", validation.used_share()),
            ("validation_calibration_error", validation.calibration_error()),
        ],
    )
}

/// Fails if the training computes other outputs than `kvrm-models`.
pub(crate) fn check(network: &MemoryOracle, batch: &[Sample], device: &Device) -> Result<()> {
    let outputs = forward(&Graph::new(Architecture::MemoryOracle, network.flat(), device), batch);
    let deltas = outputs.deltas.into_data().try_to_vec::<f32>().unwrap_or_default();
    let patterns = outputs.patterns.into_data().try_to_vec::<f32>().unwrap_or_default();
    for (number, sample) in batch.iter().enumerate() {
        let prediction = network.predict(&sample.inputs).context("a window of 1 to 32 accesses")?;
        let row = number * SAMPLE_ACCESSES + sample.inputs.len() - 1;
        same(&deltas[row * DELTAS..][..DELTAS], &prediction.encoded_deltas)?;
        same(&patterns[row * 4..][..4], &prediction.pattern_logits)?;
    }
    Ok(())
}

/// Returns the measures as text.
fn summary(scores: &OracleScores) -> String {
    let exact: Vec<String> = (0..DELTAS).map(|place| format!("{:.3}", scores.accuracy(place))).collect();
    format!(
        "exact {} used {:.3} ECE {:.3} patterns {:.3}",
        exact.join(" "),
        scores.used_share(),
        scores.calibration_error(),
        scores.pattern_accuracy()
    )
}
