//! Programs and packages of the host that a task needs beyond the Rust toolchain.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// Makes sure that `program` can be run: it is in PATH, or installing `debian_package` puts it there.
pub(crate) fn ensure_program(program: &str, debian_package: &str) -> Result<()> {
    if is_in_path(program) {
        return Ok(());
    }
    ensure_packages(&[debian_package]).with_context(|| format!("the program `{program}` is not in PATH"))?;
    ensure!(is_in_path(program), "{debian_package} is installed, yet `{program}` is not in PATH");
    Ok(())
}

/// Makes sure that Debian packages are installed. As root it installs them; others are told what to type.
pub(crate) fn ensure_packages(debian_packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> =
        debian_packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !can_install() {
        bail!("{} is needed and missing; {}", missing.join(", "), advice(&missing));
    }
    println!("installing {}", missing.join(", "));
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(&missing);
    if apt_get(&install)? {
        return Ok(());
    }
    // On a fresh system apt has no list of packages yet.
    ensure!(apt_get(&["update"])? && apt_get(&install)?, "apt-get could not install {}", missing.join(", "));
    Ok(())
}

/// Whether this process may install Debian packages.
pub(crate) fn can_install() -> bool {
    is_root() && is_in_path("apt-get")
}

/// The version of a Debian package that is installed.
pub(crate) fn installed_version(debian_package: &str) -> Option<String> {
    let query = Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status} ${Version}", debian_package])
        .output()
        .ok()?;
    let output = String::from_utf8(query.stdout).ok()?;
    output.strip_prefix("installed ").map(ToOwned::to_owned)
}

/// The command that installs `packages` on this system.
fn advice(packages: &[&str]) -> String {
    if is_in_path("apt-get") {
        format!("type: sudo apt-get install {}", packages.join(" "))
    } else {
        "that is its name in Debian: install what your system calls it".to_owned()
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

/// Whether apt-get succeeded.
pub(crate) fn apt_get(arguments: &[&str]) -> Result<bool> {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").args(arguments);
    Ok(command.status().context("cannot run apt-get")?.success())
}
