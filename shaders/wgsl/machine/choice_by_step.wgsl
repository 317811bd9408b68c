//! Which class the rows for a word are searched in, where the network is asked in each step.
//!
//! The rows of all classes are searched here, once and for all: no word has rows in two classes, so one micro-op and
//! its class is all that a search in each step could find. A step whose class is another one finds nothing.

import package::arm64::class::{class_of};
import package::machine::bindings::{parameters};
import package::machine::decisions::{words};
import package::machine::decode_table::{lower_as};
import package::machine::lowering::{MicroOp};

/// Brings to workgroup memory what choosing needs: nothing.
fn load_choice(member: u32, members: u32) {}

/// The micro-op of a word, which will lie at `place`.
fn lower_chosen(word: u32, place: u32) -> MicroOp {
    let class_number = class_of(word);
    words[place] = vec2<u32>(word, class_number);
    return lower_as(class_number, word, parameters.features);
}
