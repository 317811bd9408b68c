//! Third-party files for guest programs: packages of Debian, sources in crates, and the compiler for both.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::apt::{Apt, unpack};
use crate::folders::entries;
use crate::metadata;
use crate::root::root;
use crate::system::{self, COMPILER};

/// A crate with sources: its name and its version.
pub(crate) type Package = (&'static str, &'static str);

/// Returns the folder of the programs, and creates it.
pub(crate) fn folder() -> Result<PathBuf> {
    let folder = root().join("target/programs");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// The compiler of a program, and the file in `target/programs/` that it makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    /// The name of the program, which our sources have.
    pub(crate) program: &'static str,
    pub(crate) compiler: &'static str,
    pub(crate) file: &'static str,
}

impl Build {
    /// Returns the build of a program that KVRM runs.
    pub(crate) const fn guest(program: &'static str) -> Self {
        Self { program, compiler: COMPILER, file: program }
    }

    /// Returns whether the file exists and is not older than our sources and these files.
    pub(crate) fn is_current(self, others: &[PathBuf]) -> Result<bool> {
        let changed = |path: &Path| {
            let changed = fs::metadata(path).and_then(|data| data.modified());
            changed.with_context(|| format!("cannot read {}", path.display()))
        };
        let file = folder()?.join(self.file);
        if !file.exists() {
            return Ok(false);
        }
        let made = changed(&file)?;
        for source in own_files(self.program)?.iter().chain(others) {
            if changed(source)? > made {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Compiles our sources with third-party sources and their headers.
    pub(crate) fn compile(
        self,
        sources: &[PathBuf],
        headers: &Path,
        flags: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Result<()> {
        let Self { program, compiler, file } = self;
        // `-w`: warnings about third-party code do not help.
        let status = Command::new(compiler)
            .args(["-O2", "-static", "-w"])
            .args(flags)
            .arg("-I")
            .arg(headers)
            .args(own_files(program)?.iter().filter(|path| is_source(path)))
            .args(sources)
            .arg("-lm")
            .arg("-o")
            .arg(folder()?.join(file))
            .status()
            .with_context(|| format!("cannot run {compiler}"))?;
        ensure!(status.success(), "{compiler} could not compile {file}");
        Ok(())
    }
}

/// Returns the folder with the files of the packages that [`fetch_debian`] has unpacked.
pub(crate) fn debian_files() -> Result<PathBuf> {
    Ok(folder()?.join("apt/files"))
}

/// Unpacks a package of Debian for arm64, on any host architecture. Returns the folder of its files.
pub(crate) fn fetch_debian(package: &str) -> Result<PathBuf> {
    let archives = Apt::new(folder()?.join("apt"), "arm64")?.download(&[package])?;
    let files = debian_files()?;
    fs::create_dir_all(&files).with_context(|| format!("cannot create {}", files.display()))?;
    archives.iter().try_for_each(|archive| unpack(archive, &files, &[]))?;
    Ok(files)
}

/// Fetches crates with sources, without building them. Returns the output of `cargo metadata` for a package in
/// `target/programs/NAME` that depends on them, which has their paths.
pub(crate) fn fetch_crates(name: &str, packages: impl IntoIterator<Item = Package>) -> Result<Value> {
    let folder = folder()?.join(name);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut manifest =
        "[workspace]\n[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                        [lib]\npath = \"empty.rs\"\n[dependencies]\n"
            .to_owned();
    for (name, version) in packages {
        manifest += &format!("{name} = \"{version}\"\n");
    }
    fs::write(folder.join("empty.rs"), "").context("cannot write a source file")?;
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest).with_context(|| format!("cannot write {}", path.display()))?;
    metadata::read(&path, &[])
}

/// Returns the folder of a fetched crate.
pub(crate) fn crate_folder(metadata: &Value, name: &str) -> Result<PathBuf> {
    let package = metadata::list(metadata, "packages")?.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.with_context(|| format!("cargo metadata does not name {name}"))?;
    Ok(Path::new(manifest).parent().unwrap_or(Path::new("/")).to_owned())
}

/// Installs the compiler, if needed and possible.
pub(crate) fn ensure_compiler() -> Result<()> {
    system::ensure_packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])
}

/// Returns our files of a program: `guests/programs/NAME.c`, or all in the folder `guests/programs/NAME/`.
fn own_files(program: &str) -> Result<Vec<PathBuf>> {
    let place = root().join("guests/programs").join(program);
    if place.is_dir() { entries(&place) } else { Ok(vec![place.with_extension("c")]) }
}

/// Returns whether a file is a source in C.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}

/// Prints the size of a program.
pub(crate) fn announce(name: &str) -> Result<()> {
    let size = fs::metadata(folder()?.join(name)).with_context(|| format!("{name} was not made"))?.len();
    println!("target/programs/{name}: {size} bytes");
    Ok(())
}
