//! The counts and disagreements of a sweep.

use std::fmt::{self, Display, Formatter};

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Class, Op};

/// The number of disagreements that are shown.
const SHOWN: usize = 20;

/// The counts and disagreements of a set of words.
pub(super) struct Tally {
    /// The number of words by class.
    by_class: [u64; Class::ALL.len()],
    /// The number of words by encoding.
    by_op: Vec<u64>,
    disagreements: u64,
    /// The first disagreements, in the order of words.
    first: Vec<(u32, String)>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self { by_class: [0; _], by_op: vec![0; ENCODINGS.len()], disagreements: 0, first: Vec::new() }
    }

    pub(super) fn count(&mut self, op: Option<Op>, class: Class) {
        self.by_class[class as usize] += 1;
        if let Some(op) = op {
            self.by_op[op as usize] += 1;
        }
    }

    /// Adds a disagreement about `word`. Words must come in ascending order.
    pub(super) fn disagree(&mut self, word: u32, problem: impl FnOnce() -> String) {
        self.disagreements += 1;
        if self.first.len() < SHOWN {
            self.first.push((word, problem()));
        }
    }

    /// Returns the tally of both sets of words together.
    pub(super) fn merge(mut self, other: Self) -> Self {
        let add =
            |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.by_class, &other.by_class);
        add(&mut self.by_op, &other.by_op);
        self.disagreements += other.disagreements;
        self.first.extend(other.first);
        self.first.sort_unstable();
        self.first.truncate(SHOWN);
        self
    }

    pub(super) fn words(&self) -> u64 {
        self.by_class.iter().sum()
    }

    /// Returns the number of words that decode to `op`.
    pub(super) fn allocated(&self, op: Op) -> u64 {
        self.by_op[op as usize]
    }

    pub(super) const fn disagreements(&self) -> u64 {
        self.disagreements
    }

    pub(super) fn first_disagreements(&self) -> String {
        let lines: Vec<String> =
            self.first.iter().map(|(word, problem)| format!("{word:#010x} {problem}")).collect();
        lines.join("\n")
    }
}

/// Prints a table of the classes.
impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<14}{:>10}{:>14}{:>14}", "class", "encodings", "allocated", "words")?;
        let mut line = |name, rows: &[Op], words| {
            let allocated: u64 = rows.iter().map(|op| self.allocated(*op)).sum();
            writeln!(f, "{name:<14}{:>10}{allocated:>14}{words:>14}", rows.len())
        };
        for class in Class::ALL {
            let rows = ENCODINGS.iter().filter(|row| row.class == class).map(|row| row.op);
            line(class.name(), &rows.collect::<Vec<_>>(), self.by_class[class as usize])?;
        }
        line("all", &ENCODINGS.iter().map(|row| row.op).collect::<Vec<_>>(), self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_counts_and_keeps_the_first_disagreements() {
        let mut low = Tally::new();
        let mut high = Tally::new();
        low.count(None, Class::System);
        high.count(Some(Op::NOP_HI_hints), Class::System);
        for word in 0..30 {
            low.disagree(word, || "low".to_owned());
            high.disagree(word + 15, || "high".to_owned());
        }
        let both = high.merge(low);
        assert_eq!((both.words(), both.allocated(Op::NOP_HI_hints)), (2, 1), "one of two is allocated");
        assert_eq!(both.disagreements(), 60, "all are counted");
        assert_eq!(both.first_disagreements().lines().count(), SHOWN, "some are shown");
        assert!(both.first_disagreements().starts_with("0x00000000 low\n"), "lowest words first");
    }
}
