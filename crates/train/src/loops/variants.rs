//! Variants of bodies: other widths and signs of accesses, other steps and ways to address, other orders, fewer registers, values
//! that are computed with before they are tested, exits in other places, two iterations in one. A variant may do something else
//! than the body, and has its own labels.

use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Class, Word, decode};
use kvrm_models::inputs::BODY_WORDS_MAX;

use super::rename::replaced;
use super::synthetic::OUT;
use kvrm_learn::Random;

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
        match random.below(17) {
            0 => sign(&mut words, random),
            1 => size(&mut words, random),
            2..=4 => order(&mut words, random),
            5 | 6 => merge(&mut words, random),
            7 => compute(&mut words, random),
            8 | 9 => rotate(&mut words, random),
            10 | 11 => step(&mut words, random),
            12 => mode(&mut words, random),
            13 => address(&mut words, random),
            14 => later(&mut words, random),
            15 => twice(&mut words, random),
            _ => again(&mut words, random),
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

/// Returns whether no branch but the last leads to another place of the body, not even if the body gets longer.
fn is_straight(words: &[u32]) -> bool {
    let last = words.len() - 1;
    let leaves = |(place, word): (usize, &u32)| {
        let w = Word(*word);
        let to = |offset: i64| 4 * place as i64 + offset;
        let is_outside = |to: i64| !(0..4 * BODY_WORDS_MAX as i64).contains(&to);
        decode(*word).is_none_or(|op| {
            op.encoding().operands.iter().all(|operand| match operand {
                Operand::Label26 => is_outside(to(w.offset26())),
                Operand::Label19 => is_outside(to(w.offset19())),
                Operand::Label14 => is_outside(to(w.offset14())),
                _ => true,
            })
        })
    };
    words[..last].iter().enumerate().all(leaves)
}

/// Lets the exits in front of the last branch lead so far away that they leave a longer body, too.
fn lead_out(words: &mut [u32]) {
    let (last, end) = (words.len() - 1, 4 * words.len() as i64);
    for (place, word) in words[..last].iter_mut().enumerate() {
        let (w, at) = (Word(*word), 4 * place as i64);
        *word = match *word >> 24 & 0x7f {
            0x54 | 0x34 | 0x35 if at + w.offset19() >= end => *word & !0x00ff_ffe0 | OUT << 5,
            0x36 | 0x37 if at + w.offset14() >= end => *word & !0x0007_ffe0 | OUT << 5,
            _ => *word,
        };
    }
}

/// Inserts words, if the body stays short enough and no branch leads to another place of it.
fn insert(words: &mut Vec<u32>, place: usize, added: &[u32]) -> bool {
    lead_out(words);
    let is_possible = is_straight(words) && words.len() + added.len() <= BODY_WORDS_MAX;
    if is_possible {
        words.splice(place..place, added.iter().copied());
        let distance = 1 - words.len() as i64;
        lead_back(words, distance);
    }
    is_possible
}

/// Returns a register that a body does not mention, as far as the fields of most instructions say.
fn unused(words: &[u32], random: &mut Random) -> u32 {
    let is_used = |register: u32| {
        words.iter().any(|word| [0, 5, 10, 16].into_iter().any(|low| Word(*word).bits(low, 5) == register))
    };
    let first = random.below(29) as u32;
    (0..29).map(|more| (first + more) % 29).find(|register| !is_used(*register)).unwrap_or(first)
}

/// ADD or SUB of an immediate, perhaps with flags.
fn is_step(word: u32) -> bool {
    word & 0x1f80_0000 == 0x1100_0000
}

/// Changes by how much a register or an address moves, in one place or in all: twice or half as much, down in place of up, or by
/// a register.
fn step(words: &mut [u32], random: &mut Random) {
    let writes_back = |word: u32| word & 0x3b20_0400 == 0x3800_0400;
    let places: Vec<usize> =
        (0..words.len() - 1).filter(|place| is_step(words[*place]) || writes_back(words[*place])).collect();
    if places.is_empty() {
        return;
    }
    let (all, chosen) = (random.below(4) == 0, places[random.below(places.len())]);
    let change = random.below(6);
    let other = 1 << random.below(6);
    let register = unused(words, random);
    for place in places.into_iter().filter(|place| all || *place == chosen) {
        let word = words[place];
        let (low, bits) = if is_step(word) { (10, 12) } else { (12, 9) };
        let by = Word(word).bits(low, bits);
        let by = match change {
            0 => by << 1,
            1 => by >> 1 | u32::from(by == 1),
            2 => by + 1,
            3 => by.wrapping_neg(),
            _ => other,
        };
        let mask = (1 << bits) - 1;
        words[place] = match change {
            // The opposite of ADD is SUB.
            3 if is_step(word) => word ^ 1 << 30,
            4 if is_step(word) => word & 0xe000_03ff | 0x0b00_0000 | register << 16,
            _ => word & !(mask << low) | (by & mask) << low,
        };
    }
}

/// Lets an access move its base before or behind the access, or no longer.
fn mode(words: &mut [u32], random: &mut Random) {
    let places: Vec<usize> = accesses(words, false)
        .into_iter()
        .filter(|place| words[*place] & 0x3b20_0000 != 0x3820_0000)
        .collect();
    if places.is_empty() {
        return;
    }
    let place = places[random.below(places.len())];
    let (word, size) = (words[place], words[place] >> 30);
    let moves = word & 0x0100_0400 == 0x0000_0400;
    words[place] = match (moves, random.below(2)) {
        // Post-index and pre-index differ in one bit.
        (true, 0) => word ^ 1 << 11,
        (true, _) => word & !0x011f_fc00 | 0x0100_0000,
        (false, of) => word & !0x013f_fc00 | 1 << size << 12 | 0x400 | (of as u32) << 11,
    };
}

/// Computes the address of an access before the access.
fn address(words: &mut Vec<u32>, random: &mut Random) {
    let accesses = accesses(words, false);
    if accesses.is_empty() {
        return;
    }
    let place = accesses[random.below(accesses.len())];
    let (word, other) = (words[place], unused(words, random));
    let w = Word(word);
    let (base, size) = (w.rn(), word >> 30);
    let at = |imm: u32| word & !0x013f_ffe0 | 0x0100_0000 | imm << 10 | other << 5;
    let (sum, access) = if word & 0x0100_0000 != 0 {
        let imm = w.bits(10, 12);
        let part = random.below(imm as usize + 1) as u32;
        let bytes = part << size;
        if bytes > 0xfff || base == 31 {
            return;
        }
        (0x9100_0000 | bytes << 10 | base << 5 | other, at(imm - part))
    } else if word & 0x0020_0000 != 0 && w.bits(13, 3) == 3 && base != 31 {
        let shift = if w.bits(12, 1) == 1 { size } else { 0 };
        (0x8b00_0000 | w.bits(16, 5) << 16 | shift << 10 | base << 5 | other, at(0))
    } else {
        return;
    };
    if insert(words, place, &[sum]) {
        words[place + 1] = access;
    }
}

/// Steps into another register, which is moved back at the end.
fn later(words: &mut Vec<u32>, random: &mut Random) {
    let last = words.len() - 1;
    let places: Vec<usize> = (0..last)
        .filter(|place| is_step(words[*place]) && Word(words[*place]).rd() == Word(words[*place]).rn())
        .filter(|place| Word(words[*place]).rd() < 30)
        .collect();
    if places.is_empty() {
        return;
    }
    let place = places[random.below(places.len())];
    let (register, other) = (Word(words[place]).rd(), unused(words, random));
    let back = 0xaa00_03e0 | other << 16 | register;
    if !insert(words, last, &[back]) {
        return;
    }
    words[place] = words[place] & !31 | other;
    // Comparisons see the stepped value, and accesses the old one.
    for word in &mut words[place + 1..] {
        let compares = *word & 0x7f20_001f == 0x6b00_001f || *word & 0x7f80_001f == 0x7100_001f;
        if compares || (*word >> 25 & 0x3f == 0x1a) {
            *word = replaced(*word, register, other).unwrap_or(*word);
        }
    }
    // Perhaps the old value is used up to here, so that the step may come first.
    if place > 0 && random.below(3) == 0 {
        let step = words.remove(place);
        words.insert(random.below(place), step);
    }
}

/// Makes one iteration of two: the exit of the first is in the middle.
fn twice(words: &mut Vec<u32>, random: &mut Random) {
    let last = words.len() - 1;
    let is_condition = words[last] >> 24 == 0x54 || words[last] >> 25 & 0x3f == 0x1a;
    if !is_condition || !is_straight(words) || words.len() * 2 > BODY_WORDS_MAX {
        return;
    }
    let mut second = words[..last].to_vec();
    if random.below(3) == 0 {
        // Not every variant does the same twice.
        order(&mut second, random);
    }
    // The inverse of the condition leaves the loop. Without it both parts have one exit.
    if random.below(3) > 0 {
        let exit = words[last] & !0x00ff_ffe0 | OUT << 5;
        second.insert(0, if words[last] >> 24 == 0x54 { exit ^ 1 } else { exit ^ 1 << 24 });
    }
    insert(words, last, &second);
}

/// Has an access twice, the second time with another base or offset, and perhaps with another register.
fn again(words: &mut Vec<u32>, random: &mut Random) {
    let accesses = accesses(words, false);
    if accesses.is_empty() {
        return;
    }
    let place = accesses[random.below(accesses.len())];
    let word = words[place];
    let has_offset = word & 0x3b00_0000 == 0x3900_0000;
    let mut copied = match random.below(2) {
        0 if has_offset => word ^ (1 + random.below(3) as u32) << 10,
        _ => word & !0x3e0 | unused(words, random) << 5,
    };
    if random.below(2) == 0 {
        copied = copied & !31 | unused(&[&words[..], &[copied]].concat(), random);
    }
    insert(words, place + random.below(2), &[copied]);
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

#[cfg(test)]
mod tests {
    use kvrm_models::LoopPattern;

    use super::*;
    use crate::loops::Analysis;

    #[test]
    fn variants_of_a_copy_are_loops_and_some_are_no_copies() {
        // ldrb w2, [x1], #1; strb w2, [x0], #1; subs x3, x3, #1; b.ne to the first
        let words = [0x3840_1422, 0x3800_1402, 0xf100_0463, 0x54ff_ffa1];
        let mut random = Random::new(7);
        let (mut copies, mut longest) = (0, 0);
        for _ in 0..2000 {
            let variant = varied(&words, &mut random);
            let (last, back) = (variant.len() - 1, *variant.last().expect("a body has words"));
            let offset = if back >> 26 == 5 { Word(back).offset26() } else { Word(back).offset19() };
            assert_eq!(offset, -4 * last as i64, "{variant:08x?} ends with a branch to the first word");
            assert!(is_straight(&variant), "{variant:08x?}");
            copies += u32::from(Analysis::new(&variant).pattern() == LoopPattern::Memcpy);
            longest = longest.max(variant.len());
        }
        assert!((500..1500).contains(&copies), "{copies} of 2000 are copies");
        assert!((8..=BODY_WORDS_MAX).contains(&longest), "{longest} words");
    }
}
