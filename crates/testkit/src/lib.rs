//! Generators for tests and oracles: programs, derived from the instruction table, system calls and networks; and what
//! engines are compared by.

pub mod calls;
pub mod float;
pub mod guests;
pub mod images;
pub mod inputs;
pub mod lanes;
pub mod linux_programs;
pub mod networks;
pub mod numbers;
pub mod plays;
pub mod programs;
pub mod random;
mod simd;
pub mod spiking;
pub mod words;
