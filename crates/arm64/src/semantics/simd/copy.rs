//! Copies of elements between vectors, and between vectors and general registers.

use super::vector::{Lanes, elem, set_v, v};
use crate::semantics::bitmask::ones;
use crate::semantics::{sign_extend, truncate};
use crate::view::IMM5;
use crate::{Cpu, Word};

/// Returns the element size that imm5 encodes, in bits.
const fn esize(w: Word) -> u32 {
    8 << IMM5.size(w)
}

/// Returns the element of Vn whose size and index imm5 encodes.
fn source(cpu: &Cpu, w: Word) -> u64 {
    elem(v(cpu, w.rn()), w.imm5() >> (IMM5.size(w) + 1), esize(w))
}

/// Replaces the element of Vd whose size and index imm5 encodes.
fn insert(cpu: &mut Cpu, w: Word, value: u64) {
    let at = (w.imm5() >> (IMM5.size(w) + 1)) * esize(w);
    let mask = u128::from(ones(esize(w)));
    let kept = v(cpu, w.rd()) & !(mask << at);
    set_v(cpu, w.rd(), kept | (u128::from(value) & mask) << at);
}

/// DUP (element), also scalar.
pub fn dup_element(cpu: &mut Cpu, w: Word) {
    let value = source(cpu, w);
    set_v(cpu, w.rd(), Lanes::new(w, esize(w)).collect(|_| value));
}

/// DUP (general).
pub fn dup_general(cpu: &mut Cpu, w: Word) {
    let value = cpu.x(w.rn());
    set_v(cpu, w.rd(), Lanes::new(w, esize(w)).collect(|_| value));
}

/// INS (element).
pub fn ins_element(cpu: &mut Cpu, w: Word) {
    let value = elem(v(cpu, w.rn()), w.imm4() >> IMM5.size(w), esize(w));
    insert(cpu, w, value);
}

/// INS (general).
pub fn ins_general(cpu: &mut Cpu, w: Word) {
    insert(cpu, w, cpu.x(w.rn()));
}

/// UMOV.
pub fn umov(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), source(cpu, w));
}

/// SMOV.
pub fn smov<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), truncate(sign_extend(source(cpu, w), esize(w)), N));
}

/// FMOV from a general register to the lower part of a vector, with zeros above.
pub fn from_general<const N: u32>(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), (cpu.x(w.rn()) & ones(N)).into());
}

/// FMOV from the lower part of a vector to a general register.
pub fn to_general<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), v(cpu, w.rn()) as u64 & ones(N));
}

/// FMOV to the upper half of a vector. The lower half does not change.
pub fn from_general_high(cpu: &mut Cpu, w: Word) {
    let low = v(cpu, w.rd()) & u128::from(u64::MAX);
    set_v(cpu, w.rd(), low | u128::from(cpu.x(w.rn())) << 64);
}

/// FMOV from the upper half of a vector.
pub fn to_general_high(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), (v(cpu, w.rn()) >> 64) as u64);
}
