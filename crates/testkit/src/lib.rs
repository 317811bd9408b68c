//! Generators for tests and oracles, derived from the instruction table.

pub mod float;
pub mod guests;
pub mod inputs;
pub mod programs;
pub mod random;
mod simd;
pub mod words;
