//! Terms: values of an iteration, as functions of the registers at its beginning.
//!
//! A term is a constant plus a sum of multiples of *atoms*, modulo 2^64. An atom is a value that is not such a sum. Equal
//! terms of one [`Atoms`](crate::Atoms) are equal values, so additions, subtractions, shifts to the left and moves cancel out.

use alloc::vec;
use alloc::vec::Vec;

/// The number of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AtomId(pub(crate) u32);

/// A constant plus multiples of atoms, modulo 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    constant: u64,
    /// In the order of atoms. No factor is 0.
    parts: Vec<(AtomId, u64)>,
}

impl Term {
    /// Returns a constant.
    #[must_use]
    pub const fn constant(constant: u64) -> Self {
        Self { constant, parts: Vec::new() }
    }

    /// Returns an atom.
    #[must_use]
    pub fn atom(id: AtomId) -> Self {
        Self { constant: 0, parts: vec![(id, 1)] }
    }

    /// Returns the value of the term if it is constant.
    #[must_use]
    pub fn as_constant(&self) -> Option<u64> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// Returns the constant that is added to the multiples of atoms.
    #[must_use]
    pub const fn addend(&self) -> u64 {
        self.constant
    }

    /// Returns the atoms and their factors.
    #[must_use]
    pub fn parts(&self) -> &[(AtomId, u64)] {
        &self.parts
    }

    /// Returns the sum of two terms.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = Self::constant(self.constant.wrapping_add(other.constant));
        let (mut left, mut right) = (self.parts.as_slice(), other.parts.as_slice());
        loop {
            let (atom, factor) = match (left, right) {
                ([], []) => break sum,
                ([(a, x), ..], [(b, y), ..]) if a == b => {
                    (left, right) = (&left[1..], &right[1..]);
                    (*a, x.wrapping_add(*y))
                }
                ([(a, x), ..], rest) if rest.first().is_none_or(|(b, _)| a < b) => {
                    left = &left[1..];
                    (*a, *x)
                }
                _ => {
                    let first = right[0];
                    right = &right[1..];
                    first
                }
            };
            if factor != 0 {
                sum.parts.push((atom, factor));
            }
        }
    }

    /// Returns a multiple of the term.
    #[must_use]
    pub fn times(&self, factor: u64) -> Self {
        let parts = self.parts.iter().map(|(atom, part)| (*atom, part.wrapping_mul(factor)));
        Self {
            constant: self.constant.wrapping_mul(factor),
            parts: parts.filter(|(_, part)| *part != 0).collect(),
        }
    }

    /// Returns the difference of two terms.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(u64::MAX))
    }

    /// Returns the bitwise complement of the term, which is -1 minus the term.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self::constant(u64::MAX).minus(self)
    }

    /// Returns a term that is the same modulo 2^32, with the constant and the factors modulo 2^32.
    pub(crate) fn of_words(&self) -> Self {
        let word = |number: u64| number & u64::from(u32::MAX);
        let parts = self.parts.iter().map(|(atom, factor)| (*atom, word(*factor)));
        Self { constant: word(self.constant), parts: parts.filter(|(_, factor)| *factor != 0).collect() }
    }
}
