//! Batches: real bodies with other registers, real bodies with a changed instruction, and synthetic bodies.

use std::collections::HashMap;

use kvrm_models::inputs::REGISTERS;
use kvrm_models::{LoopKind, LoopPattern};
use kvrm_train::Random;
use kvrm_train::loops::{Analysis, LoopLabels, LoopRecord, Renaming, mutated, synthetic, varied};

/// The number of samples of a batch.
pub(crate) const BATCH: usize = 64;
/// The greatest number of iterations that is a label: no run has more.
const ITERATIONS_MAX: u64 = 1 << 40;

/// The number of tries to find a variant of a certain class.
const TRIES: u32 = 16;

/// A body with values of registers, and its labels.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) words: Vec<u32>,
    pub(crate) registers: [u64; REGISTERS],
    pub(crate) labels: LoopLabels,
    pub(crate) iterations: Option<u64>,
}

/// The labels by which classes are balanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balance {
    Kinds,
    Patterns,
}

impl Balance {
    pub(crate) const fn class(self, labels: &LoopLabels) -> usize {
        match self {
            Self::Kinds => labels.kind as usize,
            Self::Patterns => labels.pattern as usize,
        }
    }

    /// Returns the share of variants in the samples, in percent.
    const fn variants(self) -> usize {
        match self {
            Self::Kinds => 30,
            Self::Patterns => 40,
        }
    }

    /// Returns the share of near misses in the variants, and of counting loops without a pattern in the records, in percent.
    /// Fills and copies are drawn as often as each other class, but only few bodies without a pattern look like them. Without
    /// these shares, the network sees those so seldom that it takes them for fills and copies.
    const fn near(self) -> usize {
        match self {
            Self::Kinds => 0,
            Self::Patterns => 20,
        }
    }

    const fn classes(self) -> usize {
        match self {
            Self::Kinds => LoopKind::ALL.len(),
            Self::Patterns => LoopPattern::ALL.len(),
        }
    }
}

/// An endless stream of batches, in which all bodies of a batch have the same length.
pub(crate) struct Batches<'a> {
    records: &'a [LoopRecord],
    analyses: Vec<Analysis>,
    /// The numbers of records by class.
    by_class: Vec<Vec<usize>>,
    /// The numbers of counting loops without a pattern.
    near: Vec<usize>,
    /// Words of bodies, for changes.
    words: Vec<u32>,
    balance: Balance,
    random: Random,
    waiting: HashMap<usize, Vec<Sample>>,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(records: &'a [LoopRecord], balance: Balance, seed: u64) -> Self {
        let analyses: Vec<Analysis> = records.iter().map(|record| Analysis::new(&record.words)).collect();
        let (mut by_class, mut near) = (vec![Vec::new(); balance.classes()], Vec::new());
        for (number, (record, analysis)) in records.iter().zip(&analyses).enumerate() {
            let labels = analysis.labels(&record.entries[0].registers);
            by_class[balance.class(&labels)].push(number);
            if labels.pattern == LoopPattern::Unknown && labels.kind != LoopKind::None {
                near.push(number);
            }
        }
        assert!(by_class.iter().all(|class| !class.is_empty()), "each class has a body: {by_class:?}");
        let words = records.iter().flat_map(|record| record.words[..record.words.len() - 1].iter().copied());
        let words = words.collect();
        Self {
            records,
            analyses,
            by_class,
            near,
            words,
            balance,
            random: Random::new(seed),
            waiting: HashMap::new(),
        }
    }

    /// Returns the next batch.
    pub(crate) fn next(&mut self) -> Vec<Sample> {
        loop {
            let sample = self.sample();
            let waiting = self.waiting.entry(sample.words.len()).or_default();
            waiting.push(sample);
            if waiting.len() == BATCH {
                return std::mem::take(waiting);
            }
        }
    }

    /// Returns a record: of any class with the same probability, perhaps a counting loop without a pattern, or any record.
    fn record(&mut self) -> usize {
        if self.random.below(100) < self.balance.near() && !self.near.is_empty() {
            self.near[self.random.below(self.near.len())]
        } else if self.random.below(100) < 50 {
            let class = self.random.below(self.by_class.len());
            let numbers = &self.by_class[class];
            numbers[self.random.below(numbers.len())]
        } else {
            self.random.below(self.records.len())
        }
    }

    fn sample(&mut self) -> Sample {
        let source = self.random.below(100);
        if self.random.below(100) < self.balance.variants() {
            return self.variant();
        }
        if source < 30 {
            return self.synthetic();
        }
        let number = self.record();
        let record = &self.records[number];
        let entry = &record.entries[self.random.below(record.entries.len())];
        let renaming = Renaming::random(&mut self.random);
        if source < 55
            && let Some(words) = mutated(&record.words, &self.words, &mut self.random)
        {
            return finish(words, entry.registers, &renaming);
        }
        let labels = self.analyses[number].labels(&entry.registers);
        let iterations = (!entry.is_cut).then_some(entry.iterations);
        let mut sample =
            Sample { words: record.words.clone(), registers: entry.registers, labels, iterations };
        if let Some(words) = renaming.words(&sample.words).filter(|_| source < 95) {
            sample.words = words;
            sample.registers = renaming.registers(&sample.registers);
            sample.labels.counter = labels.counter.map(|counter| renaming.of(counter));
        }
        sample
    }

    /// Returns a body of a class, or any body: real or synthetic.
    fn original(&mut self, class: Option<usize>) -> (Vec<u32>, [u64; REGISTERS]) {
        if self.random.below(2) == 0 {
            let number = match class {
                Some(class) => self.by_class[class][self.random.below(self.by_class[class].len())],
                None => self.record(),
            };
            (self.records[number].words.clone(), self.records[number].entries[0].registers)
        } else {
            let generated = synthetic(&mut self.random);
            (generated.words, generated.registers)
        }
    }

    /// Returns a variant of a real or synthetic body. Most variants are of rare classes, all of them equally often as far as
    /// a few tries find them.
    fn variant(&mut self) -> Sample {
        if self.random.below(100) < self.balance.near() {
            return self.near_miss();
        }
        let wanted = (self.random.below(100) < 60).then(|| self.random.below(self.by_class.len()));
        let mut tries = 0;
        loop {
            let (words, registers) = self.original(wanted);
            let words = varied(&words, &mut self.random);
            let sample = finish(words, registers, &Renaming::random(&mut self.random));
            tries += 1;
            if tries == TRIES || wanted.is_none_or(|class| class == self.balance.class(&sample.labels)) {
                return sample;
            }
        }
    }

    /// Returns a fill or a copy with changes after which it is none, if a few tries find one.
    fn near_miss(&mut self) -> Sample {
        let pattern = [LoopPattern::Memset, LoopPattern::Memcpy][self.random.below(2)];
        let mut tries = 0;
        loop {
            let (original, registers) = self.original(Some(pattern as usize));
            let words = match self.random.below(3) {
                0 => mutated(&original, &self.words, &mut self.random),
                _ => Some(varied(&original, &mut self.random)),
            };
            let was = Analysis::new(&original).pattern();
            let sample = finish(words.unwrap_or(original), registers, &Renaming::random(&mut self.random));
            tries += 1;
            let is_stream = matches!(was, LoopPattern::Memset | LoopPattern::Memcpy);
            if tries == TRIES || (is_stream && sample.labels.pattern != was) {
                return sample;
            }
        }
    }

    fn synthetic(&mut self) -> Sample {
        // The classes of synthetic bodies are balanced too, roughly: two tries for a rare one.
        let mut generated = synthetic(&mut self.random);
        let mut analysis = Analysis::new(&generated.words);
        let common = match self.balance {
            Balance::Kinds => analysis.labels(&generated.registers).kind == LoopKind::None,
            Balance::Patterns => analysis.pattern() == LoopPattern::Unknown,
        };
        if common && self.random.below(2) == 0 {
            generated = synthetic(&mut self.random);
            if self.random.below(3) == 0
                && let Some(words) = mutated(&generated.words, &self.words, &mut self.random)
            {
                generated.words = words;
            }
            analysis = Analysis::new(&generated.words);
        }
        let labels = analysis.labels(&generated.registers);
        let iterations = labels.proved_iterations.filter(|count| *count <= ITERATIONS_MAX);
        Sample { words: generated.words, registers: generated.registers, labels, iterations }
    }
}

/// Returns a changed body with its own labels.
fn finish(words: Vec<u32>, registers: [u64; REGISTERS], renaming: &Renaming) -> Sample {
    let (words, registers) = match renaming.words(&words) {
        Some(renamed) => (renamed, renaming.registers(&registers)),
        None => (words, registers),
    };
    let labels = Analysis::new(&words).labels(&registers);
    let iterations = labels.proved_iterations.filter(|count| *count <= ITERATIONS_MAX);
    Sample { words, registers, labels, iterations }
}
