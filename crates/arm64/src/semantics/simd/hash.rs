//! SHA-512, and the operations for SHA-3.

use super::vector::{set_v, v};
use crate::{Cpu, Word};

/// Returns the lower and the upper half of a vector.
const fn halves(vector: u128) -> [u64; 2] {
    [vector as u64, (vector >> 64) as u64]
}

/// Returns the vector of two halves.
const fn joined([low, high]: [u64; 2]) -> u128 {
    low as u128 | (high as u128) << 64
}

/// Returns the exclusive or of three rotations to the right.
const fn rotations(x: u64, [a, b, c]: [u32; 3]) -> u64 {
    x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c)
}

/// `SHAchoose()`, for words of 64 bits.
const fn choose(x: u64, y: u64, z: u64) -> u64 {
    (y ^ z) & x ^ z
}

/// `SHAmajority()`, for words of 64 bits.
const fn majority(x: u64, y: u64, z: u64) -> u64 {
    x & y | (x | y) & z
}

/// SHA512H: the first part of two rounds.
pub fn sha512h(cpu: &mut Cpu, w: Word) {
    let [d, n, m] = [w.rd(), w.rn(), w.rm()].map(|register| halves(v(cpu, register)));
    let sum = |x, first, second| choose(x, first, second).wrapping_add(rotations(x, [14, 18, 41]));
    let high = sum(m[1], n[0], n[1]).wrapping_add(d[1]);
    let next = high.wrapping_add(m[0]);
    let low = sum(next, m[1], n[0]).wrapping_add(d[0]);
    set_v(cpu, w.rd(), joined([low, high]));
}

/// SHA512H2: the second part of two rounds.
pub fn sha512h2(cpu: &mut Cpu, w: Word) {
    let [d, n, m] = [w.rd(), w.rn(), w.rm()].map(|register| halves(v(cpu, register)));
    let sum = |x, of| rotations(x, [28, 34, 39]).wrapping_add(of);
    let high = sum(m[0], majority(n[0], m[1], m[0])).wrapping_add(d[1]);
    let low = sum(high, majority(high, m[0], m[1])).wrapping_add(d[0]);
    set_v(cpu, w.rd(), joined([low, high]));
}

/// SHA512SU0: the first part of two words of the schedule.
pub fn sha512su0(cpu: &mut Cpu, w: Word) {
    let (d, n) = (halves(v(cpu, w.rd())), halves(v(cpu, w.rn())));
    let sigma = |x: u64| x.rotate_right(1) ^ x.rotate_right(8) ^ x >> 7;
    set_v(cpu, w.rd(), joined([d[0].wrapping_add(sigma(d[1])), d[1].wrapping_add(sigma(n[0]))]));
}

/// SHA512SU1: the second part of two words of the schedule.
pub fn sha512su1(cpu: &mut Cpu, w: Word) {
    let [d, n, m] = [w.rd(), w.rn(), w.rm()].map(|register| halves(v(cpu, register)));
    let sigma = |x: u64| x.rotate_right(19) ^ x.rotate_right(61) ^ x >> 6;
    let half = |i: usize| d[i].wrapping_add(sigma(n[i])).wrapping_add(m[i]);
    set_v(cpu, w.rd(), joined([half(0), half(1)]));
}

/// EOR3.
pub fn eor3(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), v(cpu, w.rn()) ^ v(cpu, w.rm()) ^ v(cpu, w.ra()));
}

/// BCAX.
pub fn bcax(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), v(cpu, w.rn()) ^ v(cpu, w.rm()) & !v(cpu, w.ra()));
}

/// RAX1.
pub fn rax1(cpu: &mut Cpu, w: Word) {
    let (n, m) = (v(cpu, w.rn()), halves(v(cpu, w.rm())));
    set_v(cpu, w.rd(), n ^ joined(m.map(|half| half.rotate_left(1))));
}

/// XAR.
pub fn xar(cpu: &mut Cpu, w: Word) {
    let sum = halves(v(cpu, w.rn()) ^ v(cpu, w.rm()));
    set_v(cpu, w.rd(), joined(sum.map(|half| half.rotate_right(w.imm6()))));
}
