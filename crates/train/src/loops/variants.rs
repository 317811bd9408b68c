//! Variants of bodies: other widths and signs of accesses, other orders, fewer registers, values that are computed with before
//! they are tested, exits in other places. A variant may do something else than the body, and has its own labels.

use kvrm_arm64::{Class, Word, decode};
use kvrm_models::inputs::BODY_WORDS_MAX;

use super::rename::replaced;
use super::synthetic::OUT;
use crate::random::Random;

/// Returns a variant of a body: up to three changes, some of which are made in several places.
///
/// ```
/// use kvrm_train::Random;
/// use kvrm_train::loops::varied;
///
/// let words = [0x3840_1c22, 0x3800_1c02, 0xf100_0463, 0x54ff_ffa1]; // ldrb, strb, subs, b.ne
/// let variant = varied(&words, &mut Random::new(1));
/// assert!((2..=32).contains(&variant.len()));
/// ```
#[must_use]
pub fn varied(words: &[u32], random: &mut Random) -> Vec<u32> {
    let mut words = words.to_vec();
    for _ in 0..1 + random.below(3) {
        match random.below(7) {
            0 => sign(&mut words, random),
            1 => size(&mut words, random),
            2 | 3 => order(&mut words, random),
            4 => merge(&mut words, random),
            5 => compute(&mut words, random),
            _ => rotate(&mut words, random),
        }
    }
    words
}

fn is_branch(word: u32) -> bool {
    decode(word).is_some_and(|op| op.class() == Class::Branch)
}

/// Returns the places of loads or stores of one general register, with an immediate or a register as offset.
fn accesses(words: &[u32], loads_only: bool) -> Vec<usize> {
    let is_access = |word: u32| {
        let is_single = word & 0x3f00_0000 == 0x3900_0000
            || word & 0x3f20_0000 == 0x3800_0000
            || word & 0x3f20_0c00 == 0x3820_0800;
        is_single && decode(word).is_some() && (!loads_only || word >> 22 & 3 != 0)
    };
    words.iter().enumerate().filter(|(_, word)| is_access(**word)).map(|(place, _)| place).collect()
}

/// Makes all loads, or one, extend with the sign.
fn sign(words: &mut [u32], random: &mut Random) {
    let loads = accesses(words, true);
    if loads.is_empty() {
        return;
    }
    let (all, chosen) = (random.below(4) > 0, loads[random.below(loads.len())]);
    let opc = [1, 2, 3][random.below(3)];
    for place in loads {
        let signed = words[place] & !0x00c0_0000 | opc << 22;
        // Not all sizes have all extensions.
        let is_load = decode(signed).is_some_and(|op| op.encoding().mnemonic.starts_with("ld"));
        if (all || place == chosen) && is_load {
            words[place] = signed;
        }
    }
}

/// Changes the size of all accesses, or of one.
fn size(words: &mut [u32], random: &mut Random) {
    let accesses = accesses(words, false);
    if accesses.is_empty() {
        return;
    }
    let (all, chosen) = (random.below(3) > 0, accesses[random.below(accesses.len())]);
    let size = random.below(4) as u32;
    for place in accesses {
        let other = words[place] & 0x3fff_ffff | size << 30;
        let is_same = decode(other)
            .is_some_and(|op| op.class() == Class::LoadStore && op.encoding().mnemonic != "prfm");
        if (all || place == chosen) && is_same {
            words[place] = other;
        }
    }
}

/// Exchanges neighbours that are not branches, a few times.
fn order(words: &mut [u32], random: &mut Random) {
    let last = words.len() - 1;
    for _ in 0..1 + random.below(6) {
        let place = random.below(last.max(1));
        if place + 1 < last && !is_branch(words[place]) && !is_branch(words[place + 1]) {
            words.swap(place, place + 1);
        }
    }
}

/// Replaces a register by another one everywhere.
fn merge(words: &mut Vec<u32>, random: &mut Random) {
    let registers: Vec<u32> = words.iter().flat_map(|word| [Word(*word).rn(), Word(*word).rd()]).collect();
    let (from, to) = (registers[random.below(registers.len())], registers[random.below(registers.len())]);
    if from < 30 && to < 30 {
        let merged: Option<Vec<u32>> = words.iter().map(|word| replaced(*word, from, to)).collect();
        *words = merged.unwrap_or_else(|| words.clone());
    }
}

/// Computes with the register of a load behind it.
fn compute(words: &mut Vec<u32>, random: &mut Random) {
    let loads = accesses(words, true);
    let is_straight = !words[..words.len() - 1].iter().any(|word| is_branch(*word));
    if loads.is_empty() || !is_straight {
        return;
    }
    let place = loads[random.below(loads.len())];
    let (d, m) = (Word(words[place]).rt(), random.below(30) as u32);
    for step in 0..1 + random.below(3) {
        let wide = random.below(2) as u32;
        let computed = match random.below(4) {
            // EOR, BIC, ADD, AND with another register.
            0 => 0x4a00_0000,
            1 => 0x0a20_0000,
            2 => 0x0b00_0000,
            _ => 0x0a00_0000,
        };
        if words.len() < BODY_WORDS_MAX {
            words.insert(place + 1 + step, wide << 31 | computed | m << 16 | d << 5 | d);
        }
    }
    let distance = -(words.len() as i64 - 1);
    lead_back(words, distance);
}

/// Puts the exit of a body without other branches elsewhere: it leaves in the middle, and the body ends with a branch.
fn rotate(words: &mut Vec<u32>, random: &mut Random) {
    let last = words.len() - 1;
    let is_condition = words[last] >> 24 == 0x54 || words[last] >> 25 & 0x3f == 0x1a;
    let is_straight = !words[..last].iter().any(|word| is_branch(*word));
    if !is_condition || !is_straight || last < 2 || words.len() >= BODY_WORDS_MAX {
        return;
    }
    let place = random.below(last);
    // The inverse of the condition leaves the loop.
    let exit = words[last] & !0x00ff_ffe0 | OUT << 5;
    let exit = if words[last] >> 24 == 0x54 { exit ^ 1 } else { exit ^ 1 << 24 };
    let mut rotated: Vec<u32> = words[place..last].to_vec();
    rotated.push(exit);
    rotated.extend(&words[..place]);
    let distance = -(rotated.len() as i32) as u32;
    rotated.push(0x1400_0000 | distance & 0x03ff_ffff);
    *words = rotated;
}

/// Lets the last branch lead back by a number of words.
fn lead_back(words: &mut [u32], distance: i64) {
    let distance = distance as u32;
    if let Some(back) = words.last_mut() {
        *back = match *back >> 24 & 0x7f {
            0x36 | 0x37 => *back & !0x0007_ffe0 | (distance & 0x3fff) << 5,
            _ if *back >> 26 == 5 => 5 << 26 | distance & 0x03ff_ffff,
            _ => *back & !0x00ff_ffe0 | (distance & 0x7_ffff) << 5,
        };
    }
}
