//! The inputs of the networks that look at loops, and of the memory oracle, as vectors of numbers near 1.
//!
//! A *body* is the words of a loop from the target of its backward branch to the branch, both included. Networks see
//! bodies of at most [`BODY_WORDS_MAX`] words; they give no answer for longer ones.
//!
//! A *window* is the last accesses to memory of a lane, oldest first. The memory oracle sees windows of at most
//! [`WINDOW_ACCESSES_MAX`] accesses.

mod access;
mod fields;
mod iteration;
mod registers;
mod word;

use crate::elementary::log2;

pub use self::access::{
    ACCESS_FEATURES, Access, WINDOW_ACCESSES_MAX, access_features, decoded_delta, encoded_delta,
    is_window_length,
};
pub use self::fields::{FIELDS, word_fields};
pub use self::iteration::{ITERATION_INPUTS, iteration_input};
pub use self::registers::{REGISTERS, register_values};
pub use self::word::{BODY_WORDS_MAX, WORD_BITS, is_body_length, word_bits};

/// Returns log2(|value| + 1).
fn magnitude(value: i64) -> f32 {
    log2((value.unsigned_abs() + 1) as f32)
}

/// Returns 1 or 0.
fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
