//! Class selection in `decode`: the network is evaluated for each word that is lowered.

import package::machine::checked_lowering::{lower_checked};
import package::machine::lowering::{MicroOp};
import package::networks::dispatch::{decide, load_weights};
import package::networks::tuple::{tuple_of};

/// Prepares workgroup memory for class selection: loads the weights.
fn load_class_source(member: u32, members: u32) {
    load_weights(member, members);
    workgroupBarrier();
}

/// Returns the micro-op of a word, which the caller will store at index `place` of `micro_ops`.
fn lower_selected(word: u32, place: u32) -> MicroOp {
    return lower_checked(decide(tuple_of(word)), word);
}
