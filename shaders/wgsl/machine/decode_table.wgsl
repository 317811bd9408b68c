//! The decode table, and the search of a word's row in it.

import package::arm64::class::{class_of};
import package::machine::layout::{CLASSES, ROW_WORDS};
import package::machine::lowering::{MicroOp, shape, undefined};
import package::machine::rows::{in_hole};

/// The decode table: the number of the first row of each class, the number of rows, and then the rows, grouped by
/// class.
@group(1) @binding(0) var<storage, read> rows: array<u32>;

/// The bits that all hints have.
const HINT = 0xd503201fu;
/// The mask of these bits.
const HINT_MASK = 0xfffff01fu;

/// Returns the micro-op of a word.
fn lower(word: u32, features: u32) -> MicroOp {
    return lower_as(class_of(word), word, features);
}

/// Returns the micro-op of a word if it has a row in a class, and else that of an undefined word. So a wrong class
/// never leads to another instruction.
fn lower_as(class_number: u32, word: u32, features: u32) -> MicroOp {
    for (var row = rows[class_number]; row < rows[class_number + 1u]; row += 1u) {
        let at = CLASSES + 1u + row * ROW_WORDS;
        if (word & rows[at]) == rows[at + 1u] && !in_hole(word, vec2<u32>(rows[at + 2u], rows[at + 7u])) {
            if ((features >> rows[at + 3u]) & 1u) == 0u {
                if (word & HINT_MASK) == HINT {
                    // A hint of a missing feature is a NOP: a later row has all hints.
                    continue;
                }
                break;
            }
            return shape(rows[at + 4u], rows[at + 5u], rows[at + 6u], word);
        }
    }
    return undefined(word);
}
