//! The loops on which networks are compared.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use kvrm::arm64::asm::{Arg, Assembler, Label, Mode, Register, X0, XZR, at};
use kvrm::arm64::encoding::ENCODINGS;
use kvrm::arm64::{Class, Encoding, decode};
use kvrm::gpu::loop_networks::LoopCandidate;
use kvrm::models::inputs::{BODY_WORDS_MAX, REGISTERS};

use crate::verify::random::Random;

/// A source of loops.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// Bodies of a file, with the registers of their last entry.
    File(&'a Path),
    /// Bodies of well-known forms between random instructions of the table, with random registers.
    Generated {
        seed: u64,
        /// The number of words of each body; `None` for all lengths, mostly short ones.
        words: Option<usize>,
    },
}

/// A loop with the values of its registers.
pub(super) struct Sample {
    body: Vec<u32>,
    registers: [u64; REGISTERS],
    distance: u64,
    step: u64,
    pc: u64,
}

impl Sample {
    pub(super) fn candidate(&self) -> LoopCandidate<'_> {
        let Self { body, registers, distance, step, pc } = self;
        LoopCandidate { body, registers: *registers, distance: *distance, step: *step, pc: *pc }
    }
}

impl Display for Source<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Generated { seed, .. } => write!(f, "generated, seed {seed}"),
        }
    }
}

impl Source<'_> {
    /// Returns so many loops, or all of a file.
    pub(super) fn samples(self, count: usize) -> Result<Vec<Sample>> {
        match self {
            Self::File(path) => {
                let text =
                    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                read(&text).with_context(|| format!("cannot use {}", path.display()))
            }
            Self::Generated { seed, words } => {
                let mut random = Random::new(seed);
                (0..count).map(|_| generated(&mut random, words)).collect()
            }
        }
    }
}

/// Reads the loops of a file: lines `loop PROGRAM LEVEL HEAD ENTRIES ITERATIONS WORDS...`, each followed by entries
/// `entry ITERATIONS BEFORE REGISTER=VALUE...`. Numbers are hexadecimal.
fn read(text: &str) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let problem = |what: &str| anyhow!("line {number}: expected {what}");
        let hex = |text: &str| {
            u64::from_str_radix(text, 16)
                .map_err(|_| anyhow!("line {number}: expected a hexadecimal number, found `{text}`"))
        };
        let parts: Vec<&str> = line.split(' ').collect();
        match parts[..] {
            ["loop", _, _, head, _, _, ref words @ ..] if (1..=BODY_WORDS_MAX).contains(&words.len()) => {
                let body = words.iter().map(|word| Ok(u32::try_from(hex(word)?)?)).collect::<Result<_>>()?;
                samples.push(Sample {
                    body,
                    registers: [0; REGISTERS],
                    distance: 0,
                    step: 0,
                    pc: hex(head)?,
                });
            }
            ["loop", ..] => return Err(problem("`loop`, program, level, three numbers and 1 to 32 words")),
            ["entry" | "cut", _, _, ref registers @ ..] => {
                let sample = samples.last_mut().ok_or_else(|| problem("a loop before its entries"))?;
                sample.registers = [0; REGISTERS];
                for register in registers {
                    let (place, value) = register.split_once('=').ok_or_else(|| problem("REGISTER=VALUE"))?;
                    let place = sample.registers.get_mut(hex(place)? as usize);
                    *place.ok_or_else(|| problem("a register from 0 to 1f"))? = hex(value)?;
                }
                // The distance and the step need an analysis of the loop; any numbers serve to compare both sides.
                (sample.distance, sample.step) = (sample.registers[0], sample.registers[1]);
            }
            _ => return Err(problem("`loop` or `entry`")),
        }
    }
    if samples.is_empty() { Err(anyhow!("expected a line for each loop, found none")) } else { Ok(samples) }
}

/// The registers of a loop: a counter, a limit, two pointers and a value, all different.
struct Roles {
    counter: Register,
    limit: Register,
    pointer: Register,
    other: Register,
    value: Register,
}

impl Roles {
    fn random(random: &mut Random) -> Self {
        // Five of 31 registers at the same distance, which differ because 31 is prime.
        let (first, step) = (random.below(31) as u32, [1, 6, 26, 30][random.below(4) as usize]);
        let register = |index: u32| Register { number: (first + index * step) % 31, ..X0 };
        Self {
            counter: register(0),
            limit: register(1),
            pointer: register(2),
            other: register(3),
            value: register(4),
        }
    }
}

/// A well-known form of a loop.
struct Form {
    roles: Roles,
    /// The numbers of the choices of instructions at the beginning and at the end.
    begin: u64,
    end: u64,
    /// The step of counters and pointers.
    step: i64,
    /// The bit that is tested while a loop waits.
    bit: i64,
}

impl Form {
    fn random(random: &mut Random) -> Self {
        let roles = Roles::random(random);
        let step = 1 << random.below(4);
        Self { roles, begin: random.below(7), end: random.below(4), step, bit: random.below(8) as i64 }
    }

    /// Returns the words of the form: first some other words, then its begin, other words again, and its end, which
    /// branches to the first word.
    fn words(&self, before: &[u32], between: &[u32]) -> Result<Vec<u32>> {
        let mut a = Assembler::new(0);
        let first = a.label();
        a.bind(first);
        let others = |a: &mut Assembler, words: &[u32]| {
            for word in words {
                a.word(*word);
            }
        };
        others(&mut a, before);
        self.append_begin(&mut a);
        others(&mut a, between);
        self.append_end(&mut a, first);
        a.finish().context("a generated loop does not assemble")
    }

    fn append_begin(&self, a: &mut Assembler) {
        let Roles { limit, pointer, other, value, .. } = self.roles;
        let post = |base| Arg::Address(base, Mode::Post(self.step));
        let pair = Arg::Address(pointer, Mode::Post(8));
        match self.begin {
            // Fills, copies and sums.
            0 => a.str(value, post(pointer)),
            1 => a.ldr(value, post(pointer)).str(value, post(other)),
            2 => a.ldrb(narrow(value), post(pointer)).add(other, other, value),
            // The inner pass of a bubble sort.
            3 => a.ldp(value, other, at(pointer, 0)).subs(limit, value, other).stp(other, value, pair),
            // Arithmetic alone.
            4 => a.madd(value, value, other, pointer),
            _ => a,
        };
    }

    fn append_end(&self, a: &mut Assembler, first: Label) {
        let Roles { counter, limit, pointer, value, .. } = self.roles;
        let step = self.step;
        match (self.begin, self.end) {
            // The search for a zero.
            (5, _) => a.ldrb(narrow(value), Arg::Address(pointer, Mode::Post(step))).cbnz(value, first),
            // Waiting for a flag.
            (6, _) => a.ldr(value, at(pointer, 0)).tbz(value, self.bit, first),
            (_, 0) => a.subs(counter, counter, 1).b_cond("ne", first),
            (_, 1) => a.sub(counter, counter, 1).cbnz(counter, first),
            (_, 2) => a.add(counter, counter, step).subs(XZR, counter, limit).b_cond("ne", first),
            _ => a.add(counter, counter, step).subs(XZR, counter, limit).b_cond("cc", first),
        };
    }
}

/// Returns the 32-bit form of a register.
fn narrow(register: Register) -> Register {
    Register { wide: false, ..register }
}

/// Returns a random loop, of so many words if this is given.
fn generated(random: &mut Random, words: Option<usize>) -> Result<Sample> {
    let (form, length) = loop {
        let form = Form::random(random);
        let length = form.words(&[], &[])?.len();
        // The shortest forms have two words, so this ends soon.
        if words.is_none_or(|words| length <= words.max(SHORTEST)) {
            break (form, length);
        }
    };
    let most = BODY_WORDS_MAX - length;
    // Most loops are short.
    let any = match random.below(8) {
        0..=3 => random.below(3),
        4..=6 => random.below(12),
        _ => random.below(most as u64 + 1),
    };
    let others = words.map_or(any as usize, |words| words.saturating_sub(length)).min(most);
    let fillers: Vec<u32> = (0..others).map(|_| filler(random)).collect();
    let (before, between) = fillers.split_at(random.below(others as u64 + 1) as usize);
    let body = form.words(before, between)?;

    let registers: [u64; REGISTERS] = std::array::from_fn(|_| number(random));
    // Any numbers serve to compare both sides.
    let [distance, step] = [form.roles.counter, form.roles.limit].map(|role| registers[role.number as usize]);
    let pc = 0x40_0000 + 4 * random.below(1 << 20);
    Ok(Sample { body, registers, distance, step, pc })
}

/// The number of words of the shortest forms.
const SHORTEST: usize = 2;

/// Returns a random instruction that is neither a branch nor a system instruction.
fn filler(random: &mut Random) -> u32 {
    let rows: [&Encoding; 64] = std::array::from_fn(|_| random.pick(ENCODINGS));
    let fits = |row: &&&Encoding| !matches!(row.class, Class::Branch | Class::System);
    let rows = rows.iter().filter(fits);
    let word = |row: &&Encoding| row.pattern.canonical() | random.bits() as u32 & row.pattern.variable_bits();
    // A word that matches the diagram may be a hole of the row.
    let mut words = rows.map(word);
    words.find(|word| decode(*word).is_some()).unwrap_or(NOP)
}

/// The word of NOP.
const NOP: u32 = 0xd503_201f;

/// Returns a random number: often small or an address, sometimes negative or zero.
fn number(random: &mut Random) -> u64 {
    let bits = random.bits();
    match random.below(8) {
        0 => 0,
        1 => (bits >> random.below(64)).wrapping_neg(),
        2 | 3 => 0x7f00_0000_0000 | bits & 0xffff_fff8,
        _ => bits >> (32 + random.below(32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_loops_fit_and_end_with_a_branch_to_their_first_word() {
        let samples = Source::Generated { seed: 1, words: None }.samples(500).expect("all forms assemble");
        let mut lengths = [0; BODY_WORDS_MAX + 1];
        for Sample { body, .. } in &samples {
            lengths[body.len()] += 1;
            let last = *body.last().expect("a body has words");
            let fields = kvrm::models::inputs::word_fields(last);
            assert_eq!(
                fields[28..30],
                [1.0, 1.0],
                "{last:#010x} is a conditional branch that goes backwards"
            );
            let is_known = |word: &&u32| decode(**word).is_some();
            assert_eq!(body.iter().filter(is_known).count(), body.len(), "all words are instructions");
        }
        for words in SHORTEST..=BODY_WORDS_MAX {
            let samples = Source::Generated { seed: 2, words: Some(words) }.samples(5).expect("all assemble");
            assert!(samples.iter().all(|sample| sample.body.len() == words), "bodies of {words} words");
        }
        assert!(lengths[1..8].iter().sum::<usize>() > 200, "most are short: {lengths:?}");
        assert!(lengths[20..].iter().sum::<usize>() > 10, "some are long: {lengths:?}");
    }
}
