//! Elements of registers, and how many of them an instruction handles.

use crate::semantics::bitmask::ones;
use crate::semantics::sign_extend;
use crate::view::IMMH;
use crate::{Cpu, Word};

/// `Elem[]`: an element of a vector.
#[must_use]
#[inline]
pub const fn elem(vector: u128, index: u32, esize: u32) -> u64 {
    (vector >> (index * esize)) as u64 & ones(esize)
}

/// The vector of `count` elements that a function gives.
#[inline]
pub fn collect(esize: u32, count: u32, mut element: impl FnMut(u32) -> u64) -> u128 {
    let mut vector = 0;
    for e in 0..count {
        vector |= u128::from(element(e) & ones(esize)) << (e * esize);
    }
    vector
}

/// An element as a signed integer.
#[must_use]
#[inline]
pub const fn signed(element: u64, esize: u32) -> i128 {
    sign_extend(element, esize) as i64 as i128
}

/// `Int()`: an element as an integer.
#[must_use]
#[inline]
pub const fn int(element: u64, esize: u32, unsigned: bool) -> i128 {
    if unsigned { element as i128 } else { signed(element, esize) }
}

/// Whether the instruction is a scalar form.
#[must_use]
#[inline]
pub const fn is_scalar(w: Word) -> bool {
    w.bits(28, 1) == 1
}

/// The elements an instruction handles.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// The bits of each.
    pub esize: u32,
    /// How many there are; 1 in scalar forms.
    pub count: u32,
}

impl Lanes {
    /// Of elements of `esize` bits.
    #[must_use]
    #[inline]
    pub const fn new(w: Word, esize: u32) -> Self {
        Self { esize, count: if is_scalar(w) { 1 } else { (64 << w.q()) / esize } }
    }

    /// Of elements of the size that the field size says.
    #[must_use]
    #[inline]
    pub const fn of_size(w: Word) -> Self {
        Self::new(w, 8 << w.size())
    }

    /// Of numbers of single or double precision.
    #[must_use]
    #[inline]
    pub const fn of_sz(w: Word) -> Self {
        Self::new(w, 32 << w.bits(22, 1))
    }

    /// Of elements of the size that immh says.
    #[must_use]
    #[inline]
    pub const fn of_immh(w: Word) -> Self {
        Self::new(w, 8 << IMMH.size(w))
    }

    /// Elements half as large as those of a vector of 128 bits, or as a scalar: what is lengthened and narrowed.
    #[must_use]
    #[inline]
    pub const fn narrow(w: Word, esize: u32) -> Self {
        Self { esize, count: if is_scalar(w) { 1 } else { 64 / esize } }
    }

    /// The vector of what a function gives for each element.
    #[inline]
    pub fn collect(self, element: impl FnMut(u32) -> u64) -> u128 {
        collect(self.esize, self.count, element)
    }
}

/// `V[n]`, of which the caller looks at as much as it needs.
#[must_use]
#[inline]
pub const fn v(cpu: &Cpu, n: u32) -> u128 {
    cpu.v[(n & 31) as usize]
}

/// Writes `V[d]`; what is above the value becomes zero.
#[inline]
pub const fn set_v(cpu: &mut Cpu, d: u32, value: u128) {
    cpu.v[(d & 31) as usize] = value;
}

/// `Vpart[n, Q]`: the lower half of a register or, in the form with a 2, the upper one. Scalars are in the lower.
#[must_use]
#[inline]
pub const fn v_part(cpu: &Cpu, w: Word, n: u32) -> u128 {
    if w.q() == 1 && !is_scalar(w) { v(cpu, n) >> 64 } else { v(cpu, n) & u64::MAX as u128 }
}

/// Writes `Vpart[d, Q]`: the lower half, with zeros above it, or the upper one.
#[inline]
pub const fn set_v_part(cpu: &mut Cpu, w: Word, value: u128) {
    let low = v(cpu, w.rd()) & u64::MAX as u128;
    set_v(cpu, w.rd(), if w.q() == 1 && !is_scalar(w) { low | value << 64 } else { value });
}

/// The second operand: the elements of Vm or, in forms by element, one of them for all lanes.
#[derive(Clone, Copy, Debug)]
pub struct Second {
    vector: u128,
    esize: u32,
    chosen: Option<u32>,
}

impl Second {
    /// Of elements of `esize` bits; `vector` is Vm, or the half of it that counts where it is no form by element.
    #[must_use]
    #[inline]
    pub const fn new(cpu: &Cpu, w: Word, esize: u32, vector: u128) -> Self {
        if w.bits(24, 1) == 0 || w.bits(10, 1) == 1 {
            return Self { vector, esize, chosen: None };
        }
        let (h, l, m) = (w.bits(11, 1), w.bits(21, 1), w.bits(20, 1));
        let (register, index) = match esize {
            16 => (w.bits(16, 4), h << 2 | l << 1 | m),
            32 => (w.rm(), h << 1 | l),
            _ => (w.rm(), h),
        };
        Self { vector: v(cpu, register), esize, chosen: Some(index) }
    }

    /// What lane `e` takes.
    #[must_use]
    #[inline]
    pub fn elem(self, e: u32) -> u64 {
        elem(self.vector, self.chosen.unwrap_or(e), self.esize)
    }
}
