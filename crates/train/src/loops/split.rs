//! The splits of the data by program and by compiler level.

use std::collections::HashSet;

use super::record::LoopRecord;
use super::rename::{canonical, relative};

/// The programs from which no network learns.
const HELD_OUT: &[&str] = &[
    "image",
    "packet",
    "watchdog",
    "median",
    "scan",
    "pages",
    "dict",
    "rank",
    "strings",
    "bubble_sort",
    "lz",
    "mix",
    "process",
    "lua",
    "deflate",
];
/// The programs that show the progress of a training.
const VALIDATION: &[&str] = &["pool", "heap", "spin", "text", "vm", "json"];
/// The level from which no network learns.
const HELD_OUT_LEVEL: &str = "Os";

/// A part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The part from which the networks learn.
    Training,
    /// The part that shows the progress of a training.
    Validation,
    /// Held-out programs, at all levels.
    Programs,
    /// Other programs at the held-out level.
    Level,
}

impl Part {
    /// Returns the part of a program at a level, such as `gcc-O2`.
    #[must_use]
    pub fn of(program: &str, level: &str) -> Self {
        if is_held_out_program(program) {
            Self::Programs
        } else if is_held_out_level(level) {
            Self::Level
        } else if VALIDATION.contains(&program) {
            Self::Validation
        } else {
            Self::Training
        }
    }
}

/// Returns whether no network learns from a program.
#[must_use]
pub fn is_held_out_program(program: &str) -> bool {
    HELD_OUT.contains(&program)
}

/// Returns whether no network learns from programs at a level.
#[must_use]
pub fn is_held_out_level(level: &str) -> bool {
    level.ends_with(HELD_OUT_LEVEL)
}

/// The loops of each part. No body is in two parts, and none is twice in a part.
#[derive(Clone, Debug, Default)]
pub struct Splits {
    /// Loops of [`Part::Training`].
    pub training: Vec<LoopRecord>,
    /// Loops of [`Part::Validation`].
    pub validation: Vec<LoopRecord>,
    /// Loops of [`Part::Programs`].
    pub programs: Vec<LoopRecord>,
    /// Loops of [`Part::Level`].
    pub level: Vec<LoopRecord>,
    /// The number of records, before bodies that are the same become one.
    pub record_count: usize,
    /// The number of different bodies of validation, programs and level that are in the training too, and were removed.
    pub shared: [usize; 3],
    /// The number of bodies left in these parts that are the same as one of the training up to the names of registers.
    pub similar: [usize; 3],
}

impl Splits {
    /// Splits records. Bodies are the same if they differ only in the targets of their exits and in addresses relative to pc.
    #[must_use]
    pub fn new(records: Vec<LoopRecord>) -> Self {
        let mut splits = Self { record_count: records.len(), ..Self::default() };
        let mut seen: [HashSet<Vec<u32>>; 4] = Default::default();
        let mut all: [Vec<LoopRecord>; 4] = Default::default();
        let mut entries: std::collections::HashMap<(usize, Vec<u32>), usize> =
            std::collections::HashMap::new();
        for record in records {
            let part = Part::of(&record.program, &record.level) as usize;
            let key = relative(&record.words);
            if seen[part].insert(key.clone()) {
                entries.insert((part, key), all[part].len());
                all[part].push(record);
            } else if let Some(first) = entries.get(&(part, key)) {
                // The entries of all loops with this body count, up to a limit.
                let first = &mut all[part][*first];
                let room = 40_usize.saturating_sub(first.entries.len());
                first.entries.extend(record.entries.into_iter().take(room));
            }
        }
        let similar: HashSet<Vec<u32>> = all[0].iter().map(|record| canonical(&record.words)).collect();
        for (part, bodies) in all.iter_mut().enumerate().skip(1) {
            let count = bodies.len();
            // A body of the held-out programs does not count again at the held-out level, nor in the validation.
            let earlier: Vec<usize> = [0, 2, 1, 3].into_iter().take_while(|other| *other != part).collect();
            bodies.retain(|record| {
                let key = relative(&record.words);
                !earlier.iter().any(|other| seen[*other].contains(&key))
            });
            splits.shared[part - 1] = count - bodies.len();
            splits.similar[part - 1] =
                bodies.iter().filter(|record| similar.contains(&canonical(&record.words))).count();
        }
        [splits.training, splits.validation, splits.programs, splits.level] = all;
        splits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(program: &str, level: &str, words: &[u32]) -> LoopRecord {
        LoopRecord {
            program: program.to_owned(),
            level: level.to_owned(),
            head: 0,
            words: words.to_vec(),
            entries: Vec::new(),
            entry_count: 0,
            iteration_count: 0,
        }
    }

    #[test]
    fn no_body_is_in_two_parts() {
        let counts = |register: u32| [0xf100_0400 | (register * 0x21), 0x54ff_ffe1];
        let splits = Splits::new(vec![
            record("fill", "gcc-O2", &counts(0)),
            record("copy", "clang-O1", &counts(0)),
            record("fill", "gcc-Os", &counts(0)),
            record("fill", "gcc-Os", &counts(1)),
            record("lua", "gcc-O2", &counts(0)),
            record("lua", "gcc-O2", &counts(1)),
            record("lua", "gcc-Os", &counts(2)),
            record("pool", "gcc-O2", &counts(2)),
            record("pool", "gcc-O2", &counts(3)),
        ]);
        let sizes = [&splits.training, &splits.validation, &splits.programs, &splits.level].map(Vec::len);
        assert_eq!(sizes, [1, 1, 2, 0], "training, validation, programs, level");
        assert_eq!(splits.shared, [1, 1, 2], "removed bodies");
        assert_eq!(splits.similar, [1, 2, 0], "the same loop with other registers");
    }
}
