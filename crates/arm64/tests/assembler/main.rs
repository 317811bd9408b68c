//! The assembler: it is the inverse of reading operands from words, and refuses invalid operands.

mod constants;
mod labels;
mod mnemonics;
mod refusals;
mod round_trip;
