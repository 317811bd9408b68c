//! Class selection in `decode`: the class of a word is that of the table of classes.
//!
//! The modules `class_source_by_*` take the place of this one if a network selects classes.

import package::machine::bindings::{parameters};
import package::machine::decode_table::{lower};
import package::machine::lowering::{MicroOp};

/// Prepares workgroup memory for class selection. The table needs none.
fn load_class_source(member: u32, members: u32) {}

/// Returns the micro-op of a word, which the caller will store at index `place` of `micro_ops`.
fn lower_selected(word: u32, place: u32) -> MicroOp {
    return lower(word, parameters.features);
}
