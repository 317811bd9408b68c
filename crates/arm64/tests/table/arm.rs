//! Arm's tables, read from the sources of the crate `aarchmrs-instructions`.
//!
//! The crate has a module of constants for every encoding but no list of the modules, so that its sources
//! are the only way to ask for all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// The parts of A64 outside SVE and SME.
const FOLDERS: [&str; 6] = ["control", "dpimm", "dpreg", "ldst", "reserved", "simd_dp"];

/// An encoding as Arm describes it.
#[derive(Debug)]
pub(crate) struct ArmEncoding {
    pub(crate) folder: &'static str,
    /// The instruction group, which is the name of the file.
    pub(crate) group: String,
    pub(crate) name: String,
    /// Bits that have a value, should-be bits included.
    pub(crate) mask: u32,
    /// Their values.
    pub(crate) value: u32,
    pub(crate) should_be_mask: u32,
}

/// All encodings by name.
pub(crate) fn by_name() -> &'static BTreeMap<String, ArmEncoding> {
    static ALL: LazyLock<BTreeMap<String, ArmEncoding>> =
        LazyLock::new(|| in_order().iter().map(|e| (e.name.clone(), parse_again(e))).collect());
    &ALL
}
