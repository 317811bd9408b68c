//! Generators for tests and oracles (programs and inputs derived from the instruction table, system calls,
//! views, spiking networks), the observable state with which engines are compared, and what regions are
//! compared with.

pub mod batches;
pub mod burst_session;
pub mod calls;
pub mod executor_calls;
pub mod flat;
pub mod float;
pub mod forks;
pub mod guests;
pub mod images;
pub mod inputs;
pub mod lanes;
#[cfg(feature = "shaders")]
pub mod languages;
pub mod linux_programs;
pub mod loops;
pub mod networks;
pub mod numbers;
pub mod pair;
pub mod program_cases;
pub mod programs;
pub mod random;
pub mod regions;
pub mod saved;
mod simd;
mod simplest;
pub mod spiking;
pub mod thread_calls;
pub mod views;
pub mod words;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
