//! Generators for tests and oracles: programs, derived from the instruction table, and networks.

pub mod float;
pub mod guests;
pub mod inputs;
pub mod programs;
pub mod random;
mod simd;
pub mod spiking;
pub mod words;
