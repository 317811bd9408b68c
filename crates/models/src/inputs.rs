//! The inputs of the networks that look at loops, as vectors of numbers near 1.
//!
//! A *body* is the words of a loop from the target of its backward branch to the branch, both included. Networks see
//! bodies of at most [`BODY_WORDS_MAX`] words; they give no answer for longer ones.

mod fields;
mod iteration;
mod registers;
mod word;

pub use self::fields::{FIELDS, word_fields};
pub use self::iteration::{ITERATION_INPUTS, iteration_input};
pub use self::registers::{REGISTERS, register_values};
pub use self::word::{BODY_WORDS_MAX, WORD_BITS, is_body_length, word_bits};
