//! Our test programs in C, Rust and Go, in `xtask/userland/programs/`: each becomes a program in `/opt/tests`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, bail, ensure};

use super::places::SOURCES;
use crate::apt::{Apt, unpack};
use crate::folders::{entries, recreate};
use crate::root::root;
use crate::system::{COMPILER, ensure_packages};

/// The folder of headers for the programs in C, relative to [`SOURCES`].
const HEADERS: &str = "include";
/// The name of the machine of guests for the Rust compiler.
const RUST_TARGET: &str = "aarch64-unknown-linux-gnu";
/// The package of the Go compiler in Debian, without dependencies that it needs here.
const GO_PACKAGES: [&str; 2] = ["golang-1.19-go", "golang-1.19-src"];

/// Compiles the programs that are older than their sources, and returns their folder.
pub(super) fn make() -> Result<PathBuf> {
    let folder = root().join("target/userland/tests");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let headers = entries(&root().join(SOURCES).join(HEADERS))?;
    for source in entries(&root().join(SOURCES).join("programs"))? {
        let name = source.file_stem().with_context(|| format!("{} has no name", source.display()))?;
        let program = folder.join(name);
        let is_c = source.extension().is_some_and(|extension| extension == "c");
        let included = headers.iter().filter(|_| is_c);
        if is_current(&program, included.chain([&source]))? {
            continue;
        }
        println!("compiling {}", source.display());
        let mut command = match source.extension().and_then(|extension| extension.to_str()) {
            Some("c") => c_compiler()?,
            Some("rs") => rust_compiler()?,
            Some("go") => go_compiler()?,
            _ => bail!("{} is in no known language", source.display()),
        };
        let status = command.arg("-o").arg(&program).arg(&source).status();
        let status = status.with_context(|| format!("cannot run {command:?}"))?;
        ensure!(status.success(), "{} cannot be compiled", source.display());
    }
    Ok(folder)
}

/// Returns whether a program exists and is not older than any of the files that it is made of.
fn is_current<'a>(program: &Path, mut sources: impl Iterator<Item = &'a PathBuf>) -> Result<bool> {
    let changed = |path: &Path| {
        let changed = fs::metadata(path).and_then(|data| data.modified());
        changed.with_context(|| format!("cannot read {}", path.display()))
    };
    if !program.exists() {
        return Ok(false);
    }
    let made = changed(program)?;
    sources.try_fold(true, |is_current, source| Ok(is_current && made >= changed(source)?))
}

fn c_compiler() -> Result<Command> {
    ensure_packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])?;
    let mut command = Command::new(COMPILER);
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-fopenmp"]);
    command.arg("-I").arg(root().join(SOURCES).join(HEADERS));
    Ok(command)
}

fn rust_compiler() -> Result<Command> {
    // The workspace's toolchain is not on each machine complete for this target.
    let added = Command::new("rustup").args(["target", "add", RUST_TARGET]).current_dir(root()).status();
    ensure!(
        added.is_ok_and(|status| status.success()),
        "the Rust library for {RUST_TARGET} is missing; type: rustup target add {RUST_TARGET}"
    );
    let mut command = Command::new("rustc");
    command.current_dir(root()).args(["--edition=2024", "-O", "--target", RUST_TARGET]);
    command.args([
        "-C",
        "target-feature=+crt-static",
        "-C",
        &format!("linker={COMPILER}"),
        "-C",
        "strip=symbols",
    ]);
    Ok(command)
}

/// Returns the Go compiler in PATH, or Debian's, which it fetches.
fn go_compiler() -> Result<Command> {
    let folder = root().join("target/userland/go");
    let debian = folder.join("files/usr/lib/go-1.19/bin/go");
    let has_go =
        env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|path| path.join("go").is_file()));
    if !has_go && !debian.exists() {
        let host = Command::new("dpkg").arg("--print-architecture").output().context("cannot run dpkg")?;
        let host = String::from_utf8(host.stdout).context("dpkg prints no text")?;
        let files = folder.join("files");
        recreate(&files)?;
        for archive in Apt::new(folder.join("apt"), host.trim())?.download(&GO_PACKAGES)? {
            unpack(&archive, &files, &[])?;
        }
    }
    let mut command = if has_go {
        Command::new("go")
    } else {
        let mut command = Command::new(debian);
        command.env("GOROOT", folder.join("files/usr/lib/go-1.19"));
        command
    };
    command.env("GOOS", "linux").env("GOARCH", "arm64").env("CGO_ENABLED", "0").env("GO111MODULE", "off");
    command.env("GOCACHE", folder.join("cache")).args(["build", "-trimpath", "-ldflags=-s -w"]);
    Ok(command)
}
