//! Which class the rows for a word are searched in: the one the network said when it was asked for all tuples.

import package::machine::checked_lowering::{lower_checked};
import package::machine::decisions::{domain};
import package::machine::lowering::{MicroOp};
import package::networks::tuple::{tuple_of};

/// Brings to workgroup memory what choosing needs: nothing.
fn load_choice(member: u32, members: u32) {}

/// The micro-op of a word, which will lie at `place`.
fn lower_chosen(word: u32, place: u32) -> MicroOp {
    let tuple = tuple_of(word);
    return lower_checked((domain[tuple >> 2u] >> (8u * (tuple & 3u))) & 0xffu, word);
}
