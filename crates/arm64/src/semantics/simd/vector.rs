//! Access to SIMD&FP registers and their elements, and the number of elements that an instruction handles.

use crate::semantics::bitmask::ones;
use crate::semantics::sign_extend;
use crate::view::IMMH;
use crate::{Cpu, Word};

/// `Elem[]`: returns an element of a vector, zero-extended.
#[must_use]
#[inline]
pub const fn elem(vector: u128, index: u32, esize: u32) -> u64 {
    (vector >> (index * esize)) as u64 & ones(esize)
}

/// Returns a vector of `count` elements, which `element` returns for each index.
#[inline]
pub fn collect(esize: u32, count: u32, mut element: impl FnMut(u32) -> u64) -> u128 {
    let mut vector = 0;
    for e in 0..count {
        vector |= u128::from(element(e) & ones(esize)) << (e * esize);
    }
    vector
}

/// Returns an element as a signed integer.
#[must_use]
#[inline]
pub const fn signed(element: u64, esize: u32) -> i128 {
    sign_extend(element, esize) as i64 as i128
}

/// `Int()`: returns an element as an integer.
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

/// Returns the number of bits of the floating-point numbers of an instruction: by the field sz, if it is not one of half
/// precision.
#[must_use]
#[inline]
pub const fn precision(w: Word) -> u32 {
    // With a condition instead of a shift, compilers choose the code for the precision once.
    if is_half(w) {
        16
    } else if w.bits(22, 1) == 1 {
        64
    } else {
        32
    }
}

/// Whether an instruction on floating-point numbers has half precision (`FEAT_FP16`).
#[must_use]
#[inline]
pub const fn is_half(w: Word) -> bool {
    if w.bits(28, 1) == 1 && w.bits(30, 1) == 0 {
        // Scalar floating point: the field ptype.
        return w.bits(22, 2) == 0b11;
    }
    if w.bits(24, 1) == 1 {
        // By element: the field size.
        return w.bits(10, 1) == 0 && w.bits(23, 1) == 0;
    }
    match (w.bits(10, 1), w.bits(17, 5)) {
        // Three registers.
        (1, _) => w.bits(21, 1) == 0,
        // Two registers.
        (_, 0b1_1100) => true,
        // Pairs, and across lanes: the field U.
        (_, 0b1_1000) => w.bits(29, 1) == 0,
        _ => false,
    }
}

/// The elements that an instruction handles: their size and number.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    /// The size of an element in bits.
    pub esize: u32,
    /// The number of elements; 1 in scalar forms.
    pub count: u32,
}

impl Lanes {
    /// Returns the elements of `esize` bits.
    #[must_use]
    #[inline]
    pub const fn new(w: Word, esize: u32) -> Self {
        // Conditions and constants, which compilers can follow into the functions for each shape.
        let count = if w.q() == 1 { 128 / esize } else { 64 / esize };
        Self { esize, count: if is_scalar(w) { 1 } else { count } }
    }

    /// Returns the elements of the size in the field size.
    #[must_use]
    #[inline]
    pub const fn of_size(w: Word) -> Self {
        Self::new(w, 8 << w.size())
    }

    /// Returns the numbers of the precision that a word names.
    #[must_use]
    #[inline]
    pub const fn of_sz(w: Word) -> Self {
        Self::new(w, precision(w))
    }

    /// Returns the elements of the size in immh.
    #[must_use]
    #[inline]
    pub const fn of_immh(w: Word) -> Self {
        Self::new(w, 8 << IMMH.size(w))
    }

    /// Returns the elements of `esize` bits in half a vector, or in a scalar: the operands of long instructions and the
    /// results of narrowing ones.
    #[must_use]
    #[inline]
    pub const fn narrow(w: Word, esize: u32) -> Self {
        Self { esize, count: if is_scalar(w) { 1 } else { 64 / esize } }
    }

    /// Returns a vector of these elements, which `element` returns for each index.
    #[inline]
    pub fn collect(self, element: impl FnMut(u32) -> u64) -> u128 {
        collect(self.esize, self.count, element)
    }
}

/// Returns all 128 bits of `V[n]`.
#[must_use]
#[inline]
pub const fn v(cpu: &Cpu, n: u32) -> u128 {
    cpu.v[(n & 31) as usize]
}

/// Writes all 128 bits of `V[d]`.
#[inline]
pub const fn set_v(cpu: &mut Cpu, d: u32, value: u128) {
    cpu.v[(d & 31) as usize] = value;
}

/// `Vpart[n, Q]`: returns the lower half of a register or, in instructions with the suffix 2, the upper half. Scalars
/// are in the lower half.
#[must_use]
#[inline]
pub const fn v_part(cpu: &Cpu, w: Word, n: u32) -> u128 {
    if w.q() == 1 && !is_scalar(w) { v(cpu, n) >> 64 } else { v(cpu, n) & u64::MAX as u128 }
}

/// Writes `Vpart[d, Q]`: the lower half, which clears the upper one, or only the upper half.
#[inline]
pub const fn set_v_part(cpu: &mut Cpu, w: Word, value: u128) {
    let low = v(cpu, w.rd()) & u64::MAX as u128;
    set_v(cpu, w.rd(), if w.q() == 1 && !is_scalar(w) { low | value << 64 } else { value });
}

/// The second operand: the elements of Vm or, in forms by element, one of them for all elements of Vn.
#[derive(Clone, Copy, Debug)]
pub struct Second {
    vector: u128,
    esize: u32,
    /// The index of the only element, in forms by element.
    index: Option<u32>,
}

impl Second {
    /// Returns the second operand with elements of `esize` bits. `vector` is Vm, or the half of it that the instruction
    /// reads; forms by element ignore it.
    #[must_use]
    #[inline]
    pub const fn new(cpu: &Cpu, w: Word, esize: u32, vector: u128) -> Self {
        if !Self::is_element(w) {
            return Self { vector, esize, index: None };
        }
        let (h, l, m) = (w.bits(11, 1), w.bits(21, 1), w.bits(20, 1));
        let (register, index) = match esize {
            16 => (w.bits(16, 4), h << 2 | l << 1 | m),
            32 => (w.rm(), h << 1 | l),
            _ => (w.rm(), h),
        };
        Self { vector: v(cpu, register), esize, index: Some(index) }
    }

    /// Returns whether the second operand of an instruction is one element.
    #[must_use]
    #[inline]
    pub const fn is_element(w: Word) -> bool {
        w.bits(24, 1) == 1 && w.bits(10, 1) == 0
    }

    /// Returns the second operand for element `e` of the first.
    #[must_use]
    #[inline]
    pub fn elem(self, e: u32) -> u64 {
        elem(self.vector, self.index.unwrap_or(e), self.esize)
    }
}
