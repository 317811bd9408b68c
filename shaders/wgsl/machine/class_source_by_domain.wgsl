//! Class selection in `decode`: the class of a word is the network's answer in the table `domain` of all tuples.

import package::machine::checked_lowering::{lower_checked};
import package::machine::decisions::{domain};
import package::machine::lowering::{MicroOp};
import package::networks::tuple::{tuple_of};

/// Prepares workgroup memory for class selection. The table needs none.
fn load_class_source(member: u32, members: u32) {}

/// Returns the micro-op of a word, which the caller will store at index `place` of `micro_ops`.
fn lower_selected(word: u32, place: u32) -> MicroOp {
    let tuple = tuple_of(word);
    return lower_checked((domain[tuple >> 2u] >> (8u * (tuple & 3u))) & 0xffu, word);
}
