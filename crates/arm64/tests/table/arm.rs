//! Arm's tables, read from the sources of the crate `aarchmrs-instructions`.
//!
//! The crate has a module of constants for every encoding but no list of the modules. All of them can only be found in
//! its sources.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

/// The parts of A64 outside SVE and SME.
const FOLDERS: [&str; 6] = ["control", "dpimm", "dpreg", "ldst", "reserved", "simd_dp"];

/// An encoding as Arm describes it.
#[derive(Debug, Default)]
pub(crate) struct ArmEncoding {
    /// The instruction group, which is the name of the file.
    pub(crate) group: String,
    pub(crate) name: String,
    /// The bits that have a value, including should-be bits.
    pub(crate) mask: u32,
    /// The values of these bits.
    pub(crate) value: u32,
    pub(crate) should_be_mask: u32,
}

/// Returns all encodings, in Arm's order within each group.
pub(crate) fn encodings() -> &'static [ArmEncoding] {
    static ALL: LazyLock<Vec<ArmEncoding>> = LazyLock::new(|| {
        let root = sources();
        FOLDERS.iter().flat_map(|folder| read_folder(&root.join(folder))).collect()
    });
    &ALL
}

/// Returns all encodings by name.
pub(crate) fn by_name() -> &'static BTreeMap<&'static str, &'static ArmEncoding> {
    static ALL: LazyLock<BTreeMap<&'static str, &'static ArmEncoding>> =
        LazyLock::new(|| encodings().iter().map(|encoding| (encoding.name.as_str(), encoding)).collect());
    &ALL
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .expect("cargo can be run");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// Returns the folder of the crate's A64 modules.
fn sources() -> PathBuf {
    // Without a platform, cargo needs the dependencies for all platforms, which may not be downloaded.
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let metadata = cargo(&["metadata", "--format-version", "1", "--offline", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("cargo prints JSON");
    let package = metadata["packages"]
        .as_array()
        .expect("metadata lists packages")
        .iter()
        .find(|package| package["name"] == "aarchmrs-instructions")
        .expect("the crate is a dependency of these tests");
    let manifest = package["manifest_path"].as_str().expect("a package has a manifest");
    Path::new(manifest).with_file_name("src").join("A64")
}

fn read_folder(path: &Path) -> Vec<ArmEncoding> {
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort_unstable();
    files.iter().flat_map(|file| read_file(file)).collect()
}

fn read_file(path: &Path) -> Vec<ArmEncoding> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let group = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let mut encodings: Vec<ArmEncoding> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(" {")) {
            let (group, name) = (group.clone(), name.to_owned());
            encodings.push(ArmEncoding { group, name, ..ArmEncoding::default() });
        } else if let Some(encoding) = encodings.last_mut() {
            let constant = |name| constant(line, name);
            encoding.mask = constant("OPCODE_MASK").unwrap_or(encoding.mask);
            encoding.value = constant("OPCODE").unwrap_or(encoding.value);
            encoding.should_be_mask = constant("SHOULD_BE_MASK").unwrap_or(encoding.should_be_mask);
        }
    }
    encodings
}

/// Returns the value of the constant `name` if the line defines it: `pub const NAME: u32 = 0b...u32;`.
fn constant(line: &str, name: &str) -> Option<u32> {
    let (defined, value) = line.trim_start().strip_prefix("pub const ")?.split_once(": u32 = 0b")?;
    let digits = value.strip_suffix("u32;").filter(|digits| digits.len() == 32 && defined == name)?;
    u32::from_str_radix(digits, 2).ok()
}

#[test]
fn all_2243_encodings_of_arm_are_parsed() {
    // If the parser lost encodings, the tests that use it would pass without checking them.
    assert_eq!(encodings().len(), 2243, "encodings of {FOLDERS:?}");
    assert_eq!(by_name().len(), 2243, "names are unique");
    for arm in encodings() {
        assert!(arm.mask.count_ones() >= 6, "{arm:?} has too few fixed bits");
        assert_eq!(arm.value & !arm.mask, 0, "{arm:?} has values outside its mask");
        assert_eq!(arm.should_be_mask & !arm.mask, 0, "{arm:?} has should-be bits outside its mask");
    }
}
