//! `cargo xtask codegen`: writes the files that are generated from tables and records, and committed.

mod banner;
mod bindings_wgsl;
mod interface;
mod isa_md;
mod linux_md;
mod micro_op_wgsl;
mod networks_wgsl;
mod shaders;
mod syntax;
mod wgsl;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use self::banner::BANNER;
use crate::records;
use crate::root::root;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Change nothing, and fail if a generated file is not up to date.
    #[arg(long)]
    check: bool,
}

/// The path of a generated file, and the function that returns its text.
type Generated = (&'static str, fn() -> Result<String>);

const FILES: &[Generated] = &[
    ("docs/isa.md", isa_md::text),
    ("docs/linux.md", linux_md::text),
    ("shaders/wgsl/arm64/class_ids.wgsl", shaders::class_ids),
    ("shaders/wgsl/arm64/constants.wgsl", shaders::constants),
    ("shaders/wgsl/arm64/float/constants.wgsl", shaders::float_constants),
    ("shaders/wgsl/arm64/operations.wgsl", shaders::operations),
    ("shaders/wgsl/machine/frames.wgsl", bindings_wgsl::frames::<1>),
    ("shaders/wgsl/machine/frames_16.wgsl", bindings_wgsl::frames::<16>),
    ("shaders/wgsl/machine/frames_2.wgsl", bindings_wgsl::frames::<2>),
    ("shaders/wgsl/machine/frames_32.wgsl", bindings_wgsl::frames::<32>),
    ("shaders/wgsl/machine/frames_4.wgsl", bindings_wgsl::frames::<4>),
    ("shaders/wgsl/machine/frames_64.wgsl", bindings_wgsl::frames::<64>),
    ("shaders/wgsl/machine/frames_8.wgsl", bindings_wgsl::frames::<8>),
    ("shaders/wgsl/machine/frames_array.wgsl", bindings_wgsl::frames_array),
    ("shaders/wgsl/machine/layout.wgsl", micro_op_wgsl::layout),
    ("shaders/wgsl/machine/linux/numbers.wgsl", micro_op_wgsl::system_calls),
    ("shaders/wgsl/machine/micro_op.wgsl", micro_op_wgsl::text),
    ("shaders/wgsl/machine/rows.wgsl", micro_op_wgsl::rows),
    ("shaders/wgsl/machine/semihosting.wgsl", micro_op_wgsl::semihosting),
    ("shaders/wgsl/machine/vector_op.wgsl", micro_op_wgsl::vector_ops),
    ("shaders/wgsl/networks/layout.wgsl", networks_wgsl::layout),
    ("shaders/wgsl/spiking/layout.wgsl", micro_op_wgsl::spiking_layout),
    ("shaders/wgsl/spiking/record_words.wgsl", micro_op_wgsl::record_words),
    ("shaders/wgsl/spiking/synapses.wgsl", bindings_wgsl::synapses::<1>),
    ("shaders/wgsl/spiking/synapses_2.wgsl", bindings_wgsl::synapses::<2>),
    ("shaders/wgsl/spiking/synapses_4.wgsl", bindings_wgsl::synapses::<4>),
    ("shaders/wgsl/spiking/synapses_8.wgsl", bindings_wgsl::synapses::<8>),
    // Generated from all modules, including the generated ones above, so these come last.
    ("shaders/src/interface/machine.rs", interface::machine),
    ("shaders/src/interface/networks.rs", interface::networks),
    ("shaders/src/interface/spiking.rs", interface::spiking),
    ("shaders/src/modules.rs", interface::modules),
];

/// Files with generated parts between markers.
const PARTS: &[Generated] = &[(records::DOCUMENT, records::document)];

/// Returns the paths of all completely generated files.
pub(crate) fn paths() -> Vec<&'static str> {
    FILES.iter().map(|(path, _)| *path).collect()
}

/// Returns the paths of completely generated files that are not up to date.
pub(crate) fn stale() -> Result<Vec<&'static str>> {
    stale_of(FILES.iter())
}

fn stale_of(files: impl Iterator<Item = &'static Generated>) -> Result<Vec<&'static str>> {
    let mut paths = Vec::new();
    for (path, text) in files {
        if !is_current(&root().join(path), &generate(path, *text)?) {
            paths.push(*path);
        }
    }
    Ok(paths)
}

fn generate(path: &str, text: fn() -> Result<String>) -> Result<String> {
    text().with_context(|| format!("cannot generate {path}"))
}

/// Returns whether a file has this text. A file that cannot be read counts as outdated; writing it reports the reason.
fn is_current(file: &Path, text: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|current| current == text)
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if args.check {
        let stale = stale_of(FILES.iter().chain(PARTS))?;
        if !stale.is_empty() {
            bail!("{} is not up to date; run `cargo xtask codegen` and commit", stale.join(", "));
        }
        return Ok(());
    }
    for (path, text) in FILES.iter().chain(PARTS) {
        let text = generate(path, *text)?;
        let file = root().join(path);
        if !is_current(&file, &text) {
            fs::write(&file, text).with_context(|| format!("cannot write {path}"))?;
            println!("{path}: written");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_what_codegen_writes_is_stale() {
        let folder = tempfile::tempdir().expect("temporary files can be made");
        let file = folder.path().join("a.md");
        assert!(!is_current(&file, "text"), "there is no file");
        fs::write(&file, "text").expect("temporary files can be made");
        assert!(is_current(&file, "text"), "the same");
        assert!(!is_current(&file, "another"), "not the same");
    }
}
