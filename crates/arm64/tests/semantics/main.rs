//! The semantics, compared with definitions that are written differently: bit by bit, on strings, in wide integers.
//!
//! Random words of every row on general registers that computes, branches, loads, stores or is atomic are executed on
//! random registers. The whole state is compared with the one that the definition of the mnemonic gives.

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
mod pauth;
mod shifts;
mod transfers;
