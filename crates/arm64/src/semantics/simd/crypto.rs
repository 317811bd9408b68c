//! AES, SHA-1 and SHA-256.

use super::vector::{collect, elem, set_v, v};
use crate::{Cpu, Word};

/// Returns the product of two elements of the finite field of AES, GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
const fn ff_mul(a: u8, b: u8) -> u8 {
    let (mut product, mut power, mut bit) = (0, a, 0);
    while bit < 8 {
        if b >> bit & 1 == 1 {
            product ^= power;
        }
        power = power << 1 ^ if power >> 7 == 1 { 0x1b } else { 0 };
        bit += 1;
    }
    product
}

/// The substitution box of AES and its inverse. The box is the multiplicative inverse followed by an affine map.
const SUBSTITUTION: ([u8; 256], [u8; 256]) = {
    let (mut forward, mut inverse) = ([0; 256], [0; 256]);
    let mut x = 0;
    while x < 256 {
        // The 254th power is the multiplicative inverse, and 0 for 0.
        let (mut power, mut n) = (1, 0);
        while n < 254 {
            power = ff_mul(power, x as u8);
            n += 1;
        }
        let rotations =
            power.rotate_left(1) ^ power.rotate_left(2) ^ power.rotate_left(3) ^ power.rotate_left(4);
        let value = power ^ rotations ^ 0x63;
        forward[x] = value;
        inverse[value as usize] = x as u8;
        x += 1;
    }
    (forward, inverse)
};
static SUB_BYTES: [u8; 256] = SUBSTITUTION.0;
static INV_SUB_BYTES: [u8; 256] = SUBSTITUTION.1;

/// Adds the round key: exclusive or of Vd and Vn. Rotates row `r` of the state left by `columns * r` columns,
/// substitutes all bytes by the table, and writes the result to Vd.
fn aes_round(cpu: &mut Cpu, w: Word, table: &[u8; 256], columns: u32) {
    let state = v(cpu, w.rd()) ^ v(cpu, w.rn());
    // The byte at row r and column c is number 4 * c + r.
    let from = |e: u32| (e + 4 * columns * (e % 4)) % 16;
    set_v(cpu, w.rd(), collect(8, 16, |e| table[elem(state, from(e), 8) as usize].into()));
}

/// AESE.
pub fn aese(cpu: &mut Cpu, w: Word) {
    aes_round(cpu, w, &SUB_BYTES, 1);
}

/// AESD.
pub fn aesd(cpu: &mut Cpu, w: Word) {
    aes_round(cpu, w, &INV_SUB_BYTES, 3);
}

/// Multiplies the columns of Vn by the circulant matrix whose first row is `factors`, and writes the result to Vd.
fn mix_columns(cpu: &mut Cpu, w: Word, factors: [u8; 4]) {
    let n = v(cpu, w.rn());
    let result = collect(8, 16, |e| {
        let (column, row) = (e & !3, e & 3);
        let product = |i: u32| ff_mul(elem(n, column + (row + i) % 4, 8) as u8, factors[i as usize]);
        (product(0) ^ product(1) ^ product(2) ^ product(3)).into()
    });
    set_v(cpu, w.rd(), result);
}

/// AESMC.
pub fn aesmc(cpu: &mut Cpu, w: Word) {
    mix_columns(cpu, w, [2, 3, 1, 1]);
}

/// AESIMC.
pub fn aesimc(cpu: &mut Cpu, w: Word) {
    mix_columns(cpu, w, [14, 11, 13, 9]);
}

/// Returns a 32-bit element of a vector.
const fn word(vector: u128, index: u32) -> u32 {
    elem(vector, index, 32) as u32
}

/// Returns a vector of four words.
const fn words([a, b, c, d]: [u32; 4]) -> u128 {
    a as u128 | (b as u128) << 32 | (c as u128) << 64 | (d as u128) << 96
}

/// `SHAchoose()`.
const fn choose(x: u32, y: u32, z: u32) -> u32 {
    (y ^ z) & x ^ z
}

/// `SHAparity()`.
const fn parity(x: u32, y: u32, z: u32) -> u32 {
    x ^ y ^ z
}

/// `SHAmajority()`.
const fn majority(x: u32, y: u32, z: u32) -> u32 {
    x & y | (x | y) & z
}

/// `SHA1hash()`: four rounds of SHA-1.
fn sha1_hash(cpu: &mut Cpu, w: Word, function: impl Fn(u32, u32, u32) -> u32) {
    let (x, schedule) = (v(cpu, w.rd()), v(cpu, w.rm()));
    let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|e| word(x, e));
    let mut e = word(v(cpu, w.rn()), 0);
    for round in 0..4 {
        let sum = e
            .wrapping_add(a.rotate_left(5))
            .wrapping_add(function(b, c, d))
            .wrapping_add(word(schedule, round));
        (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
    }
    set_v(cpu, w.rd(), words([a, b, c, d]));
}

/// SHA1C.
pub fn sha1c(cpu: &mut Cpu, w: Word) {
    sha1_hash(cpu, w, choose);
}

/// SHA1P.
pub fn sha1p(cpu: &mut Cpu, w: Word) {
    sha1_hash(cpu, w, parity);
}

/// SHA1M.
pub fn sha1m(cpu: &mut Cpu, w: Word) {
    sha1_hash(cpu, w, majority);
}

/// SHA1H.
pub fn sha1h(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), word(v(cpu, w.rn()), 0).rotate_left(30).into());
}

/// SHA1SU0.
pub fn sha1su0(cpu: &mut Cpu, w: Word) {
    let (d, n, m) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
    set_v(cpu, w.rd(), (n << 64 | d >> 64) ^ d ^ m);
}

/// SHA1SU1.
pub fn sha1su1(cpu: &mut Cpu, w: Word) {
    let sum = v(cpu, w.rd()) ^ v(cpu, w.rn()) >> 32;
    let mut result = [0, 1, 2, 3].map(|e| word(sum, e).rotate_left(1));
    result[3] ^= word(sum, 0).rotate_left(2);
    set_v(cpu, w.rd(), words(result));
}

/// Returns the exclusive or of three rotations to the right.
const fn rotations(x: u32, [a, b, c]: [u32; 3]) -> u32 {
    x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c)
}

/// `SHA256hash()`: four rounds of SHA-256. Returns both halves of the state.
fn sha256_hash(x: u128, y: u128, schedule: u128) -> (u128, u128) {
    let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|e| word(x, e));
    let [mut e, mut f, mut g, mut h] = [0, 1, 2, 3].map(|e| word(y, e));
    for round in 0..4 {
        let sum = h
            .wrapping_add(rotations(e, [6, 11, 25]))
            .wrapping_add(choose(e, f, g))
            .wrapping_add(word(schedule, round));
        let next = sum.wrapping_add(rotations(a, [2, 13, 22])).wrapping_add(majority(a, b, c));
        (a, b, c, d, e, f, g, h) = (next, a, b, c, d.wrapping_add(sum), e, f, g);
    }
    (words([a, b, c, d]), words([e, f, g, h]))
}

/// SHA256H.
pub fn sha256h(cpu: &mut Cpu, w: Word) {
    let (x, _) = sha256_hash(v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
    set_v(cpu, w.rd(), x);
}

/// SHA256H2.
pub fn sha256h2(cpu: &mut Cpu, w: Word) {
    let (_, y) = sha256_hash(v(cpu, w.rn()), v(cpu, w.rd()), v(cpu, w.rm()));
    set_v(cpu, w.rd(), y);
}

/// SHA256SU0.
pub fn sha256su0(cpu: &mut Cpu, w: Word) {
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    let next = n << 96 | d >> 32;
    let sigma = |x: u32| x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
    set_v(cpu, w.rd(), words([0, 1, 2, 3].map(|e| sigma(word(next, e)).wrapping_add(word(d, e)))));
}

/// SHA256SU1.
pub fn sha256su1(cpu: &mut Cpu, w: Word) {
    let (d, n, m) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
    let next = m << 96 | n >> 32;
    let sigma = |x: u32| x.rotate_right(17) ^ x.rotate_right(19) ^ x >> 10;
    let element = |x, e| sigma(x).wrapping_add(word(d, e)).wrapping_add(word(next, e));
    let (first, second) = (element(word(m, 2), 0), element(word(m, 3), 1));
    set_v(cpu, w.rd(), words([first, second, element(first, 2), element(second, 3)]));
}
