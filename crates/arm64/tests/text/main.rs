//! The text assembler: the inverse of the disassembler, its syntax, and its errors.

mod directives;
mod hostile;
mod labels;
mod refusals;
mod round_trip;
mod syntax;
