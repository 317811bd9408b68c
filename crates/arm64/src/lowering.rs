//! Lowering: a code word becomes a [`MicroOp`].
//!
//! A row of the instruction table gives a [`Template`]: the parts of the micro-op that all its words share,
//! and the [`Shape`] that says where in the word the others lie. The templates come from the table's last
//! column, resolved in `templates` instead of in the semantics.
//!
//! WGSL twin: `machine/lowering.wgsl`, function by function.

mod shapes;
mod templates;
mod vector_templates;

use crate::Class;
use crate::encoding::{ENCODINGS, Feature, Features, HOLES};
use crate::micro_op::MicroOp;

pub use shapes::{Shape, Template, shape};

macro_rules! define_templates { ($(
    $op:ident $mnemonic:literal $bits:literal $class:ident $feature:ident
    [$($operand:ident $(($($parameter:expr),+))?),*] [$($hole:ident),*] $kind:ident($semantics:expr)
)*) => {
    /// The templates, in the order of [`crate::Op`].
    static TEMPLATES: &[Template] = {
        use templates::scope::*;
        &[$($semantics()),*]
    };
} }
for_each_encoding!(define_templates);

/// A row of the decode table as the GPU searches it: rows of a class lie together, in the table's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The bits that are fixed.
    pub mask: u32,
    /// Their values.
    pub value: u32,
    /// The holes in the row: bit `n` is the `n`-th of [`HOLES`].
    pub holes: u32,
    /// The feature it belongs to.
    pub feature: Feature,
    /// How its words are lowered.
    pub template: Template,
}

/// The decode table, and where in it the rows of each class begin; the last entry is its end.
#[must_use]
pub fn decode_table() -> (alloc::vec::Vec<Row>, [u32; Class::ALL.len() + 1]) {
    let mut rows = alloc::vec::Vec::with_capacity(ENCODINGS.len());
    let mut starts = [0; Class::ALL.len() + 1];
    for class in Class::ALL {
        for encoding in ENCODINGS.iter().filter(|row| row.class == class) {
            let bit = |name| HOLES.iter().position(|hole| hole.name == name).map_or(0, |n| 1 << n);
            let row = Row {
                mask: encoding.pattern.mask,
                value: encoding.pattern.value,
                holes: encoding.holes.iter().map(|hole| bit(hole.name)).fold(0, |all, bit| all | bit),
                feature: encoding.feature,
                template: TEMPLATES[encoding.op as usize],
            };
            // Words of one row that belong to another feature are a row of their own, before it.
            let of_its_own = SIZE_D | row.value;
            let feature = encoding.op.feature_of(of_its_own);
            if feature != row.feature {
                rows.push(Row { mask: row.mask | SIZE_D, value: of_its_own, feature, ..row });
            }
            rows.push(row);
        }
        starts[class as usize + 1] = rows.len() as u32;
    }
    (rows, starts)
}

/// The field size where it says doublewords.
const SIZE_D: u32 = 0b11 << 22;

/// The micro-op of a word on a machine with `features`.
#[must_use]
pub fn lower(word: u32, features: Features) -> MicroOp {
    match crate::decode(word).filter(|op| features.has(op.feature_of(word))) {
        Some(op) => shape(&TEMPLATES[op as usize], word),
        None => MicroOp::undefined(word),
    }
}
