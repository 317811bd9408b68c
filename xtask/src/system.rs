//! Programs and packages of the host that tasks need besides the Rust toolchain.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// The C compiler for guest programs, from Debian's package `gcc-aarch64-linux-gnu`.
pub(crate) const COMPILER: &str = "aarch64-linux-gnu-gcc";

/// Makes sure that `program` is in PATH, by installing `debian_package` if needed and possible.
pub(crate) fn ensure_program(program: &str, debian_package: &str) -> Result<()> {
    if is_in_path(program) {
        return Ok(());
    }
    ensure_packages(&[debian_package]).with_context(|| format!("the program `{program}` is not in PATH"))?;
    ensure!(is_in_path(program), "{debian_package} is installed, yet `{program}` is not in PATH");
    Ok(())
}

/// Makes sure that Debian packages are installed. Root installs them; for other users the error is the command to type.
pub(crate) fn ensure_packages(debian_packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> =
        debian_packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !can_install() {
        bail!("{} must be installed; {}", missing.join(", "), advice(&missing));
    }
    println!("installing {}", missing.join(", "));
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(&missing);
    if apt_get(&install)? {
        return Ok(());
    }
    // A fresh system may not have a list of packages yet.
    ensure!(apt_get(&["update"])? && apt_get(&install)?, "apt-get could not install {}", missing.join(", "));
    Ok(())
}

/// Returns the path of a Python in a virtual environment that has `module`. Creates the environment under `target/`
/// with `packages` on first use.
pub(crate) fn python(folder: &str, module: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = crate::root::root().join("target").join(folder).join("venv");
    let python = folder.join("bin/python");
    let works = |python: &Path| {
        let mut probe = Command::new(python);
        probe.args(["-c", &format!("import {module}")]);
        let probe = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    };
    if !works(&python) {
        ensure_program("python3", "python3")?;
        let run = |command: &mut Command| -> Result<()> {
            println!("running {command:?}");
            ensure!(command.status()?.success(), "{command:?} failed");
            Ok(())
        };
        // In Debian, the part of venv that installs pip is a separate package.
        if run(Command::new("python3").args(["-m", "venv"]).arg(&folder)).is_err() {
            ensure_packages(&["python3-venv"])?;
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        }
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
        ensure!(works(&python), "Python in {} still has no {module}", folder.display());
    }
    Ok(python)
}

/// Returns whether this process may install Debian packages.
pub(crate) fn can_install() -> bool {
    is_root() && is_in_path("apt-get")
}

/// Returns the version of a Debian package, if it is installed.
pub(crate) fn installed_version(debian_package: &str) -> Option<String> {
    let query = Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status} ${Version}", debian_package])
        .output()
        .ok()?;
    let output = String::from_utf8(query.stdout).ok()?;
    output.strip_prefix("installed ").map(ToOwned::to_owned)
}

/// Returns advice on how to install `packages` on this system.
fn advice(packages: &[&str]) -> String {
    if is_in_path("apt-get") {
        format!("type: sudo apt-get install {}", packages.join(" "))
    } else {
        "this is the name in Debian; install the equivalent package of your system".to_owned()
    }
}

fn is_in_path(program: &str) -> bool {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(&file).is_file()))
}

fn is_installed(debian_package: &str) -> bool {
    installed_version(debian_package).is_some()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Runs apt-get and returns whether it succeeded.
pub(crate) fn apt_get(arguments: &[&str]) -> Result<bool> {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
    Ok(command.status().context("cannot run apt-get")?.success())
}
