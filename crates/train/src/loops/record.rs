//! Records of loops that programs have executed, and their file.

use std::fmt::Write as _;

use kvrm_models::inputs::{BODY_WORDS_MAX, REGISTERS};
use thiserror::Error;

/// An entry of a loop: the state in which a program reaches the first instruction from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The values of x0 to x30 and the stack pointer.
    pub registers: [u64; REGISTERS],
    /// The number of iterations that begin until the loop is left, including the one that leaves it: one more than the
    /// branch back is taken.
    pub iterations: u64,
    /// Whether the budget of the run ended before the loop was left. There may be more iterations then.
    pub is_cut: bool,
    /// The number of iterations of the previous entry, 0 if there is none.
    pub previous: u64,
}

/// A loop of a program, with some of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopRecord {
    /// The name of the program.
    pub program: String,
    /// The compiler and its level, such as `gcc-O2`.
    pub level: String,
    /// The address of the first instruction.
    pub head: u64,
    /// The words from the target of the branch back to the branch, both included.
    pub words: Vec<u32>,
    /// A random choice of the entries, in the order of the run.
    pub entries: Vec<Entry>,
    /// The number of all entries of the run.
    pub entry_count: u64,
    /// The number of iterations of all entries.
    pub iteration_count: u64,
}

/// The file is not one that [`write_records`] has written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the log of loops: {problem}; `cargo xtask loops log` writes the file again")]
pub struct ReadError {
    line: usize,
    problem: String,
}

/// Returns the text of records: a line for each loop, followed by a line for each of its entries. Numbers are
/// hexadecimal, and an entry has only its registers that are not zero.
#[must_use]
pub fn write_records(records: &[LoopRecord]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for record in records {
        let LoopRecord { program, level, head, entry_count, iteration_count, .. } = record;
        let _ = write!(text, "loop {program} {level} {head:x} {entry_count:x} {iteration_count:x}");
        record.words.iter().for_each(|word| _ = write!(text, " {word:x}"));
        text.push('\n');
        for entry in &record.entries {
            let _ = write!(
                text,
                "{} {:x} {:x}",
                if entry.is_cut { "cut" } else { "entry" },
                entry.iterations,
                entry.previous
            );
            for (register, value) in entry.registers.iter().enumerate().filter(|(_, value)| **value != 0) {
                let _ = write!(text, " {register:x}={value:x}");
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the records of a text of [`write_records`].
///
/// # Errors
/// The text has another form.
pub fn read_records(text: &str) -> Result<Vec<LoopRecord>, ReadError> {
    let mut records: Vec<LoopRecord> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fail = |problem: &str| ReadError { line: index + 1, problem: problem.to_owned() };
        let number = |text: &str| {
            u64::from_str_radix(text, 16)
                .map_err(|_| fail(&format!("`{text}` where a hexadecimal number is expected")))
        };
        let mut words = line.split(' ');
        let tag = words.next().unwrap_or_default();
        let mut next = || words.next().ok_or_else(|| fail("the line ends too early"));
        match tag {
            "loop" => {
                let (program, level) = (next()?.to_owned(), next()?.to_owned());
                let (head, entry_count, iteration_count) =
                    (number(next()?)?, number(next()?)?, number(next()?)?);
                let code = words.map(|word| number(word).map(|word| word as u32));
                let words = code.collect::<Result<Vec<_>, _>>()?;
                if words.is_empty() || words.len() > BODY_WORDS_MAX {
                    return Err(fail(&format!(
                        "{} words where 1 to {BODY_WORDS_MAX} are expected",
                        words.len()
                    )));
                }
                records.push(LoopRecord {
                    program,
                    level,
                    head,
                    words,
                    entries: Vec::new(),
                    entry_count,
                    iteration_count,
                });
            }
            "entry" | "cut" => {
                let (iterations, previous) = (number(next()?)?, number(next()?)?);
                let mut registers = [0; REGISTERS];
                for word in words {
                    let (register, value) =
                        word.split_once('=').ok_or_else(|| fail("a register without a value"))?;
                    let slot = registers.get_mut(number(register)? as usize);
                    *slot.ok_or_else(|| fail("a register above 1f"))? = number(value)?;
                }
                let entry = Entry { registers, iterations, is_cut: tag == "cut", previous };
                records.last_mut().ok_or_else(|| fail("an entry before the first loop"))?.entries.push(entry);
            }
            _ => return Err(fail(&format!("`{tag}` where `loop`, `entry` or `cut` is expected"))),
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut registers = [0; REGISTERS];
        (registers[0], registers[31]) = (7, u64::MAX);
        let entries = vec![
            Entry { registers, iterations: 7, is_cut: false, previous: 0 },
            Entry { registers: [0; REGISTERS], iterations: 1 << 40, is_cut: true, previous: 7 },
        ];
        let record = LoopRecord {
            program: "count".to_owned(),
            level: "gcc-O2".to_owned(),
            head: 0x40_0000,
            words: vec![0xf100_0400, 0x54ff_ffe1],
            entries,
            entry_count: 9,
            iteration_count: 1 << 41,
        };
        let text = write_records(&[record.clone(), record.clone()]);
        assert_eq!(read_records(&text), Ok(vec![record.clone(), record]));
    }

    #[test]
    fn a_damaged_line_is_named() {
        for (text, problem) in [
            ("entry 5 0", "before the first loop"),
            ("loop a b 1 1", "ends too early"),
            ("loop a b 1 1 1", "0 words"),
            ("loop a b 1 1 1 5\nentry x 0", "`x` where a hexadecimal number"),
            ("loop a b 1 1 1 5\nentry 1 0 20=1", "above 1f"),
            ("jump", "`jump` where `loop`"),
        ] {
            let error = read_records(text).expect_err("the text is damaged");
            assert!(error.to_string().contains(problem), "{error} for {text:?}");
            assert_eq!(error.line, text.lines().count(), "the line of {text:?}");
        }
    }
}
