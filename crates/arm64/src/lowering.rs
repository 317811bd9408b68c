//! Lowering: translates a word into a [`MicroOp`].
//!
//! Each row of the instruction table has a [`Template`]. It consists of the micro-op's parts that are the same for all
//! words of the row, and of a [`Shape`], which says where in the word the other parts are. The templates derive from
//! the table's last column: its paths are resolved in `templates` instead of in the semantics.
//!
//! WGSL twin: `machine/lowering.wgsl`, function by function.
//!
//! ```
//! use kvrm_arm64::Features;
//! use kvrm_arm64::lowering::lower;
//! use kvrm_arm64::micro_op::Handler;
//!
//! let op = lower(0x8b02_0c20, Features::BASE); // add x0, x1, x2, lsl #3
//! assert_eq!(op.handler(), Handler::ADD as u32);
//! assert_eq!([op.dst(), op.a(), op.b(), op.left()], [0, 1, 2, 3]);
//! ```

mod shapes;
mod templates;
mod vector_templates;

use crate::Class;
use crate::encoding::{ENCODINGS, HOLES};
use crate::features::{Feature, Features};
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

/// A row of the decode table, which the GPU searches. Rows of a class are adjacent, in the order of the instruction
/// table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The mask of the fixed bits.
    pub mask: u32,
    /// The values of the fixed bits.
    pub value: u32,
    /// The holes of the row: bit `n` stands for `HOLES[n]` (see [`HOLES`]).
    pub holes: u64,
    /// The architecture feature of the row.
    pub feature: Feature,
    /// The template by which the row's words are lowered.
    pub template: Template,
}

/// Returns the decode table and the index of each class's first row, by class number. The last index is the length of
/// the table.
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
            // The words of a row that need another feature get a separate row before it.
            rows.extend(encoding.op.exceptions().map(|exception| Row {
                mask: row.mask | exception.pattern.mask,
                value: row.value | exception.pattern.value,
                feature: exception.feature,
                ..row
            }));
            rows.push(row);
        }
        starts[class as usize + 1] = rows.len() as u32;
    }
    (rows, starts)
}

/// Lowers a word for a machine with `features`.
#[must_use]
pub fn lower(word: u32, features: Features) -> MicroOp {
    match crate::decode_for(word, features) {
        Some(op) => shape(&TEMPLATES[op as usize], word),
        None => MicroOp::undefined(word),
    }
}
