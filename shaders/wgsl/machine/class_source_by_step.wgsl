//! Class selection in `decode` for interpreters that evaluate the network in each step.
//!
//! `decode` lowers a word once, in its right class, and stores the word and the class in `words`. No word has rows in
//! two classes, so a search of the rows in each step would find this micro-op if the network chose the same class, and
//! none otherwise.

import package::arm64::class::{class_of};
import package::machine::bindings::{parameters};
import package::machine::decisions::{words};
import package::machine::decode_table::{lower_as};
import package::machine::lowering::{MicroOp};

/// Prepares workgroup memory for class selection. The table needs none.
fn load_class_source(member: u32, members: u32) {}

/// Returns the micro-op of a word, which the caller will store at index `place` of `micro_ops`.
fn lower_selected(word: u32, place: u32) -> MicroOp {
    let class_number = class_of(word);
    words[place] = vec2<u32>(word, class_number);
    return lower_as(class_number, word, parameters.features);
}
