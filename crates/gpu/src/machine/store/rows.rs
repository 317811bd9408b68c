//! The rows of the decode table in the form that kernels read.

use kvrm_arm64::lowering::Row;
use kvrm_shaders::layout::ROW_WORDS;

/// Returns a row of the decode table in the form that `machine/decode.wgsl` reads.
pub(super) fn row_words(row: &Row) -> [u32; ROW_WORDS as usize] {
    let base = row.template.base;
    [
        row.mask,
        row.value,
        row.holes as u32,
        row.feature as u32,
        row.template.shape as u32,
        base.control,
        base.parameters,
        (row.holes >> 32) as u32,
    ]
}
