//! `cargo xtask lint`: checks formatting, clippy, documentation and packages, and that `kvrm-arm64` builds without `std`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::root::root;
use crate::steps::{self, Step};

const STEPS: &[Step] = &[
    Step { name: "formatting", variables: &[], arguments: &["fmt", "--all", "--check"] },
    Step {
        name: "clippy",
        variables: &[],
        arguments: &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"],
    },
    Step {
        name: "clippy without optional features",
        variables: &[],
        arguments: &[
            "clippy",
            "--package",
            "kvrm-spiking-formats",
            "--package",
            "kvrm-cli",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    },
    Step {
        name: "documentation",
        variables: &[("RUSTDOCFLAGS", "-D warnings")],
        arguments: &["doc", "--workspace", "--no-deps", "--all-features"],
    },
    Step { name: "packages", variables: &[], arguments: &["xtask", "package"] },
];

/// A target without `std`, for which only `no_std` crates compile.
const BARE_TARGET: &str = "aarch64-unknown-none";

const BARE: Step = Step {
    name: "no_std",
    variables: &[],
    arguments: &["build", "--package", "kvrm-arm64", "--package", "kvrm-loops", "--target", BARE_TARGET],
};

pub(crate) fn run() -> Result<()> {
    steps::run(STEPS)?;
    if is_installed(BARE_TARGET)? {
        steps::run(&[BARE])
    } else {
        println!(
            "==> {}: skipped; `rustup target add {BARE_TARGET}` installs the target that it needs",
            BARE.name
        );
        Ok(())
    }
}

/// Returns whether the toolchain has the libraries of `target`.
fn is_installed(target: &str) -> Result<bool> {
    let output = Command::new("rustc")
        .current_dir(root())
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .context("cannot run rustc")?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
