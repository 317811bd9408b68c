//! Which class the rows for a word are searched in: the one the network says, once a word that is lowered.

import package::machine::checked_lowering::{lower_checked};
import package::machine::lowering::{MicroOp};
import package::networks::dispatch::{decide, load_weights};
import package::networks::tuple::{tuple_of};

/// Brings to workgroup memory what choosing needs: the weights.
fn load_choice(member: u32, members: u32) {
    load_weights(member, members);
    workgroupBarrier();
}

/// The micro-op of a word, which will lie at `place`.
fn lower_chosen(word: u32, place: u32) -> MicroOp {
    return lower_checked(decide(tuple_of(word)), word);
}
