//! The assembler: the inverse of taking words apart, and nothing that it should refuse.

#[path = "../support/flat.rs"]
mod flat;

mod constants;
mod labels;
mod mnemonics;
mod refusals;
mod round_trip;
