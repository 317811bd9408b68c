//! Which class the rows for a word are searched in: here, the one that the table of classes says.
//!
//! The modules that take the place of this one ask a network.

import package::machine::bindings::{parameters};
import package::machine::decode_table::{lower};
import package::machine::lowering::{MicroOp};

/// Brings to workgroup memory what choosing needs: nothing.
fn load_choice(member: u32, members: u32) {}

/// The micro-op of a word, which will lie at `place`.
fn lower_chosen(word: u32, place: u32) -> MicroOp {
    return lower(word, parameters.features);
}
