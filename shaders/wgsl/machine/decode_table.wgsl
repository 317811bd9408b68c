//! The decode table, and the micro-op of a word by it.

import package::arm64::class::{class_of};
import package::machine::layout::{CLASSES, ROW_WORDS};
import package::machine::lowering::{MicroOp, shape, undefined};
import package::machine::rows::{in_hole};

/// The decode table: the numbers of the rows at which those of each class begin, and at which the last end; then the
/// rows, those of a class together.
@group(1) @binding(0) var<storage, read> rows: array<u32>;

/// The micro-op of a word.
fn lower(word: u32, features: u32) -> MicroOp {
    return lower_as(class_of(word), word, features);
}

/// The micro-op of a word in a class: the class names the rows, and the row that matches is the check.
fn lower_as(class_number: u32, word: u32, features: u32) -> MicroOp {
    for (var row = rows[class_number]; row < rows[class_number + 1u]; row += 1u) {
        let at = CLASSES + 1u + row * ROW_WORDS;
        if (word & rows[at]) == rows[at + 1u] && !in_hole(word, rows[at + 2u]) {
            if ((features >> rows[at + 3u]) & 1u) == 0u {
                break;
            }
            return shape(rows[at + 4u], rows[at + 5u], rows[at + 6u], word);
        }
    }
    return undefined(word);
}
