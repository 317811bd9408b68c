//! Floating point and Advanced SIMD.
//!
//! Scalar and vector forms of an instruction, and forms whose second operand is one element, are the same function:
//! [`vector::Lanes`] and [`vector::Second`] read from the word which it is. Elements are held zero-extended in 64 bits;
//! arithmetic on integers is done in 128, where nothing overflows.

pub mod across;
pub mod compare;
pub mod convert;
pub mod copy;
pub mod crypto;
pub mod float;
pub mod immediate;
pub mod integer;
pub mod load_store;
pub mod long;
pub mod misc;
pub mod narrow;
pub mod pairwise;
pub mod permute;
pub mod polynomial;
pub mod saturate;
pub mod shift;
pub mod structure;
pub mod table;
pub mod vector;
