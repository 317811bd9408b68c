//! Generators for tests and oracles, derived from the instruction table.

pub mod random;
pub mod words;
