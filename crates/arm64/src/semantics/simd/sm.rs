//! SM3 and SM4, the hash function and the block cipher of Chinese standards.

use super::vector::{elem, set_v, v};
use crate::{Cpu, Word};

/// Returns the words of a vector.
fn words(vector: u128) -> [u32; 4] {
    [0, 1, 2, 3].map(|e| elem(vector, e, 32) as u32)
}

/// Returns the vector of four words.
fn vector(words: [u32; 4]) -> u128 {
    words.into_iter().rev().fold(0, |vector, word| vector << 32 | u128::from(word))
}

/// Returns the words of Vd, Vn and Vm.
fn operands(cpu: &Cpu, w: Word) -> [[u32; 4]; 3] {
    [w.rd(), w.rn(), w.rm()].map(|register| words(v(cpu, register)))
}

/// The function of three words in rounds 16 to 63 of SM3 that gives TT1.
const fn majority(x: u32, y: u32, z: u32) -> u32 {
    x & y | (x | y) & z
}

/// The function of three words in rounds 16 to 63 of SM3 that gives TT2.
const fn choose(x: u32, y: u32, z: u32) -> u32 {
    (y ^ z) & x ^ z
}

/// The function of three words in rounds 0 to 15 of SM3.
const fn parity(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

/// SM3SS1.
pub fn sm3ss1(cpu: &mut Cpu, w: Word) {
    let ([_, n, m], a) = (operands(cpu, w), words(v(cpu, w.ra())));
    let sum = n[3].rotate_left(12).wrapping_add(m[3]).wrapping_add(a[3]);
    set_v(cpu, w.rd(), vector([0, 0, 0, sum.rotate_left(7)]));
}

/// The half of a round of SM3 that gives TT1.
fn first_half(cpu: &mut Cpu, w: Word, function: impl Fn(u32, u32, u32) -> u32) {
    let [d, n, m] = operands(cpu, w);
    let ss2 = n[3] ^ d[3].rotate_left(12);
    let word = m[w.bits(12, 2) as usize];
    let tt1 = function(d[1], d[3], d[2]).wrapping_add(d[0]).wrapping_add(ss2).wrapping_add(word);
    set_v(cpu, w.rd(), vector([d[1], d[2].rotate_left(9), d[3], tt1]));
}

/// The half of a round of SM3 that gives TT2.
fn second_half(cpu: &mut Cpu, w: Word, function: impl Fn(u32, u32, u32) -> u32) {
    let [d, n, m] = operands(cpu, w);
    let word = m[w.bits(12, 2) as usize];
    let tt2 = function(d[3], d[2], d[1]).wrapping_add(d[0]).wrapping_add(n[3]).wrapping_add(word);
    let mixed = tt2 ^ tt2.rotate_left(9) ^ tt2.rotate_left(17);
    set_v(cpu, w.rd(), vector([d[1], d[2].rotate_left(19), d[3], mixed]));
}

/// SM3TT1A.
pub fn sm3tt1a(cpu: &mut Cpu, w: Word) {
    first_half(cpu, w, parity);
}

/// SM3TT1B.
pub fn sm3tt1b(cpu: &mut Cpu, w: Word) {
    first_half(cpu, w, majority);
}

/// SM3TT2A.
pub fn sm3tt2a(cpu: &mut Cpu, w: Word) {
    second_half(cpu, w, parity);
}

/// SM3TT2B.
pub fn sm3tt2b(cpu: &mut Cpu, w: Word) {
    second_half(cpu, w, choose);
}

/// The permutation of words of the schedule of SM3.
const fn permuted(x: u32) -> u32 {
    x ^ x.rotate_left(15) ^ x.rotate_left(23)
}

/// SM3PARTW1.
pub fn sm3partw1(cpu: &mut Cpu, w: Word) {
    let [d, n, m] = operands(cpu, w);
    let word = |i: usize| permuted(d[i] ^ n[i] ^ m[i + 1].rotate_left(15));
    let first = word(0);
    set_v(cpu, w.rd(), vector([first, word(1), word(2), permuted(d[3] ^ n[3] ^ first.rotate_left(15))]));
}

/// SM3PARTW2.
pub fn sm3partw2(cpu: &mut Cpu, w: Word) {
    let [d, n, m] = operands(cpu, w);
    let terms = [0, 1, 2, 3].map(|i| n[i] ^ m[i].rotate_left(7));
    let last = permuted(terms[0].rotate_left(15));
    set_v(cpu, w.rd(), vector([d[0] ^ terms[0], d[1] ^ terms[1], d[2] ^ terms[2], d[3] ^ terms[3] ^ last]));
}

/// Returns the product of two elements of the finite field of SM4, GF(2^8) modulo x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1.
const fn ff_mul(a: u8, b: u8) -> u8 {
    let (mut product, mut power, mut bit) = (0, a, 0);
    while bit < 8 {
        if b >> bit & 1 == 1 {
            product ^= power;
        }
        power = power << 1 ^ if power >> 7 == 1 { 0xf5 } else { 0 };
        bit += 1;
    }
    product
}

/// The affine map of the substitution box of SM4.
const fn affine(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(3) ^ x.rotate_left(6) ^ x.rotate_left(7) ^ 0xd3
}

/// The substitution box of SM4: the multiplicative inverse between two affine maps.
static SUBSTITUTION: [u8; 256] = {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        let base = affine(x as u8);
        // The 254th power is the multiplicative inverse, and 0 for 0.
        let (mut power, mut n) = (1, 0);
        while n < 254 {
            power = ff_mul(power, base);
            n += 1;
        }
        table[x] = affine(power);
        x += 1;
    }
    table
};

/// Applies four rounds of SM4 to `state`, with these keys and the linear map `mix`.
fn sm4_rounds(mut state: [u32; 4], keys: [u32; 4], mix: impl Fn(u32) -> u32) -> u128 {
    for key in keys {
        let bytes = (state[3] ^ state[2] ^ state[1] ^ key).to_le_bytes();
        let substituted = u32::from_le_bytes(bytes.map(|byte| SUBSTITUTION[usize::from(byte)]));
        state = [state[1], state[2], state[3], state[0] ^ mix(substituted)];
    }
    vector(state)
}

/// SM4E.
pub fn sm4e(cpu: &mut Cpu, w: Word) {
    let [d, n, _] = operands(cpu, w);
    let mix = |x: u32| x ^ x.rotate_left(2) ^ x.rotate_left(10) ^ x.rotate_left(18) ^ x.rotate_left(24);
    set_v(cpu, w.rd(), sm4_rounds(d, n, mix));
}

/// SM4EKEY.
pub fn sm4ekey(cpu: &mut Cpu, w: Word) {
    let [_, n, m] = operands(cpu, w);
    set_v(cpu, w.rd(), sm4_rounds(n, m, |x| x ^ x.rotate_left(13) ^ x.rotate_left(23)));
}
