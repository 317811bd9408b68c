//! The decode table as kernels read it.

use kvrm_arm64::lowering::Row;
use kvrm_shaders::layout::ROW_WORDS;

/// A row of the decode table as `machine/decode.wgsl` reads it.
pub(super) fn row_words(row: &Row) -> [u32; ROW_WORDS as usize] {
    let base = row.template.base;
    [
        row.mask,
        row.value,
        row.holes,
        row.feature as u32,
        row.template.shape as u32,
        base.control,
        base.parameters,
        0,
    ]
}
