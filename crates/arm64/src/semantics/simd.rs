//! Floating point and Advanced SIMD.
//!
//! One function executes the scalar and vector forms of an instruction, and its forms whose second operand is one
//! element: [`vector::Lanes`] and [`vector::Second`] read the form from the word. Elements are zero-extended to 64
//! bits. Arithmetic on integers has 128 bits, so that it never overflows.

pub mod across;
pub mod bfloat;
pub mod compare;
pub mod complex;
pub mod convert;
pub mod copy;
pub mod crypto;
pub mod dot;
pub mod float;
pub mod half_long;
pub mod hash;
mod host;
pub mod immediate;
pub mod integer;
pub mod javascript;
pub mod load_store;
pub mod long;
pub mod misc;
pub mod narrow;
pub mod pairwise;
pub mod permute;
pub mod polynomial;
pub mod saturate;
pub mod shift;
pub mod sm;
pub mod structure;
pub mod table;
pub mod vector;
