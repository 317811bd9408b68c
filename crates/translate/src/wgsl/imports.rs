//! The items of other modules that translated text uses.

use std::fmt::Write as _;

/// The items of shader modules that translated text may use, by module.
pub const IMPORTS: &[(&str, &[&str])] = &[
    ("arm64::bitfield", &["window"]),
    ("arm64::bits", &["count_leading_sign_bits", "count_leading_zero_bits", "reverse_bits", "reverse_bytes"]),
    ("arm64::constants", &["CRC32C_POLYNOMIAL", "CRC32_POLYNOMIAL", "FPCR_MASK", "FPSR_MASK", "FPSR_QC"]),
    ("arm64::crc", &["checksum"]),
    ("arm64::divide", &["divide"]),
    ("arm64::flags", &["cv", "nz"]),
    ("arm64::load_store", &["extend_loaded"]),
    ("arm64::multiply", &["long_product", "multiply_high"]),
    ("arm64::numbers", &["sign_extend"]),
    ("arm64::operand", &["rotate_right", "shift_reg"]),
    ("machine::frames", &["frame_load", "frame_store"]),
    ("machine::left_region", &["LeftRegion"]),
    ("machine::markers", &["is_at_hand"]),
    ("machine::layout", &["COLUMN_FPCR", "COLUMN_TPIDR", "COLUMN_TPIDRRO"]),
    ("machine::memory", &["get_state", "joined", "set_state"]),
    (
        "machine::region_access",
        &[
            "find_place",
            "is_exhausted",
            "load_aligned",
            "load_any",
            "load_pair",
            "store_aligned",
            "store_any",
            "store_pair",
        ],
    ),
    ("machine::registers", &["x"]),
    ("machine::simd::crypto", &["crypto"]),
    ("machine::simd::floats", &["floats"]),
    ("machine::simd::integers", &["integers"]),
    ("machine::simd::moves", &["looked_up", "moved", "permuted"]),
    (
        "machine::simd::packed",
        &[
            "packed_add",
            "packed_at_least",
            "packed_extremum",
            "packed_is_zero",
            "packed_mask",
            "packed_narrow",
            "packed_subtract",
            "packed_widen",
        ],
    ),
    ("machine::simd::registers", &["Vector", "get_v", "set_v"]),
];

/// Returns the imports of what a text uses.
pub(super) fn imports(text: &str) -> String {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.sort_unstable();
    let mut imports = String::from("//! Regions of a guest, translated.\n\n");
    for (module, items) in IMPORTS {
        let used: Vec<&str> =
            items.iter().copied().filter(|item| words.binary_search(item).is_ok()).collect();
        if !used.is_empty() {
            let _ = writeln!(imports, "import package::{module}::{{{}}};", used.join(", "));
        }
    }
    imports
}
