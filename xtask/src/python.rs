//! `cargo xtask python`: builds the wheel of the Python package, and tests it in an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Subcommand;

use crate::root::root;
use crate::system::python;
use crate::test::QUICK_SHADERS;
use crate::third_party;

/// What builds wheels.
const MATURIN: &str = "maturin==1.16.0";
/// What the tests need besides the wheel.
const TEST_PACKAGES: [&str; 12] = [
    "pytest==9.2.0",
    "mypy==2.4.1",
    "gymnasium==1.4.0",
    "tqdm==4.70.1",
    "types-tqdm==4.70.0.20261106",
    "ipykernel==7.4.0",
    "nbclient==0.11.0",
    "nbformat==5.11.1",
    "nir==1.0.8",
    "psutil==7.2.2",
    "ray[data]==2.60.0",
    "matplotlib==3.11.2",
];
/// The stub of the native module, in the package.
const STUB: &str = "crates/python/python/kvrm/_native.pyi";
/// What stands above the stub that maturin makes: it does not know the modules of the types that we name.
const STUB_HEAD: &str = "\
# Made by `cargo xtask python stubs` from the Rust sources.

import collections.abc
import typing

import numpy
from numpy.typing import NDArray

";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Builds the wheel, installs it in a new environment, and runs its tests and type checks. This is the default.
    Test,
    /// Builds an optimized wheel into target/python/wheels.
    Wheel,
    /// Writes the type stubs of the native module.
    Stubs,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let task = args.task.as_ref().unwrap_or(&Task::Test);
    let tools = python("python", "maturin", &[MATURIN])?;
    match task {
        Task::Test => test(&tools),
        Task::Wheel => {
            println!("{}", build(&tools, "release")?.display());
            Ok(())
        }
        Task::Stubs => {
            fs::write(root().join(STUB), stubs(&tools)?).with_context(|| format!("cannot write {STUB}"))
        }
    }
}

/// Runs all tests of the package.
fn test(tools: &Path) -> Result<()> {
    let wheel = build(tools, "dev")?;
    let written = fs::read_to_string(root().join(STUB)).with_context(|| format!("cannot read {STUB}"))?;
    if written != stubs(tools)? {
        bail!("{STUB} does not describe the native module; `cargo xtask python stubs` writes it");
    }
    let folder = root().join("target/python/test");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    run_of(command(tools, &["-m", "venv"]).arg(&folder))?;
    let python = folder.join(if cfg!(windows) { "Scripts/python" } else { "bin/python" });
    let mut install = command(&python, &["-m", "pip", "install", "--quiet"]);
    run_of(install.arg(&wheel).args(TEST_PACKAGES))?;
    // If somebody has made the game, it is tested, too.
    let game = third_party::folder()?.join("doom");
    let mut pytest = command(&python, &["-m", "pytest"]);
    run_of(pytest.envs(QUICK_SHADERS.iter().copied()).env("KVRM_DOOM", game))?;
    run_of(&mut command(&python, &["-m", "mypy", "python", "tests", "examples", "benchmarks"]))
}

/// Builds the wheel with a profile of cargo. Returns its path.
fn build(tools: &Path, profile: &str) -> Result<PathBuf> {
    let folder = root().join("target/python/wheels").join(profile);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut maturin = command(tools, &["-m", "maturin", "build", "--locked", "--profile", profile]);
    run_of(maturin.arg("--interpreter").arg(tools).arg("--out").arg(&folder))?;
    let mut wheels = fs::read_dir(&folder)?.map(|entry| entry.map(|entry| entry.path()));
    wheels
        .next()
        .with_context(|| format!("maturin has put no wheel into {}", folder.display()))?
        .map_err(Into::into)
}

/// Returns the stubs of the native module.
fn stubs(tools: &Path) -> Result<String> {
    let folder = root().join("target/python/stubs");
    run_of(command(tools, &["-m", "maturin", "generate-stubs", "--quiet", "--out"]).arg(&folder))?;
    let path = folder.join("kvrm/_native.pyi");
    let stub = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("{STUB_HEAD}{stub}"))
}

/// Returns a command of a Python in the folder of the package.
fn command(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root().join("crates/python")).args(arguments);
    command
}

fn run_of(command: &mut Command) -> Result<()> {
    println!("running {command:?}");
    ensure!(
        command.status().with_context(|| format!("cannot run {command:?}"))?.success(),
        "{command:?} failed"
    );
    Ok(())
}
