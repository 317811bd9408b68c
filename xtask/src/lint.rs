//! `cargo xtask lint`: formatting, clippy, documentation, and that the reference needs no `std`.

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
];

/// A target that has no `std`, so that only a `no_std` crate compiles for it.
const BARE_TARGET: &str = "aarch64-unknown-none";

const BARE: Step = Step {
    name: "no_std",
    variables: &[],
    arguments: &["build", "--package", "kvrm-arm64", "--target", BARE_TARGET],
};

pub(crate) fn run() -> Result<()> {
    steps::run(STEPS)?;
    if is_installed(BARE_TARGET)? {
        steps::run(&[BARE])
    } else {
        println!("==> {}: left out; `rustup target add {BARE_TARGET}` adds what it needs", BARE.name);
        Ok(())
    }
}

/// Whether the toolchain has the libraries of `target`.
fn is_installed(target: &str) -> Result<bool> {
    let output = Command::new("rustc")
        .current_dir(root())
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .context("cannot run rustc")?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}
