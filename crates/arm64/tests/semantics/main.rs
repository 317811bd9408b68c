//! The semantics against definitions written another way: bit by bit, on strings, in wide integers.
//!
//! Every row of the table that computes, branches, loads, stores or is atomic is executed on random registers
//! and compared as a whole state with what such a definition, going by the mnemonic, makes of it.

#[path = "../support/flat.rs"]
mod flat;

mod add_sub;
mod atomic;
mod bit_masks;
mod bitfields;
mod bits;
mod branches;
mod conditional;
mod conditions;
mod crc;
mod divide;
mod harness;
mod logical;
mod moves;
mod multiply;
mod numbers;
mod operands;
mod shifts;
mod transfers;
