//! `cargo xtask guests --programs`: fetches or compiles third-party programs for Linux into `target/programs/`. They
//! are never committed.
//!
//! BusyBox is a package of Debian. The others are C sources inside crates, which cargo fetches and verifies. The `main`
//! function of each is in `guests/programs/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::metadata;
use crate::root::root;
use crate::system::{self, COMPILER};

/// A program that is compiled from the sources of a library in a crate.
struct Library {
    name: &'static str,
    /// The name of the crate and its version.
    package: (&'static str, &'static str),
    /// The folder of the headers in the crate.
    headers: &'static str,
    /// The sources in the crate: files or folders.
    sources: &'static [&'static str],
    flags: &'static [&'static str],
}

const LIBRARIES: [Library; 7] = [
    Library {
        name: "lua",
        package: ("lua-src", "=547.0.0"),
        headers: "lua-5.4.7",
        sources: &["lua-5.4.7"],
        flags: &["-DLUA_USE_POSIX"],
    },
    Library {
        name: "sqlite",
        package: ("libsqlite3-sys", "=0.30.1"),
        headers: "sqlite3",
        sources: &["sqlite3/sqlite3.c"],
        flags: &["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
    },
    Library {
        name: "deflate",
        package: ("libz-sys", "=1.1.20"),
        headers: "src/zlib",
        sources: &["src/zlib"],
        flags: &["-DHAVE_UNISTD_H"],
    },
    Library {
        name: "zstandard",
        package: ("zstd-sys", "=2.0.13"),
        headers: "zstd/lib",
        sources: &["zstd/lib/common", "zstd/lib/compress", "zstd/lib/decompress"],
        flags: &["-DZSTD_DISABLE_ASM"],
    },
    Library {
        name: "quickjs",
        package: ("rquickjs-sys", "=0.9.0"),
        headers: "quickjs",
        sources: &[
            "quickjs/quickjs.c",
            "quickjs/cutils.c",
            "quickjs/libbf.c",
            "quickjs/libregexp.c",
            "quickjs/libunicode.c",
        ],
        flags: &["-D_GNU_SOURCE"],
    },
    Library {
        name: "json",
        package: ("yyjson-sys", "=0.1.0"),
        headers: "yyjson/src",
        sources: &["yyjson/src/yyjson.c"],
        flags: &[],
    },
    Library {
        name: "regex",
        package: ("pcre2-sys", "=0.2.10"),
        headers: "upstream/include",
        sources: &[
            "upstream/src/pcre2_auto_possess.c",
            "upstream/src/pcre2_chartables.c",
            "upstream/src/pcre2_chkdint.c",
            "upstream/src/pcre2_compile.c",
            "upstream/src/pcre2_compile_class.c",
            "upstream/src/pcre2_context.c",
            "upstream/src/pcre2_error.c",
            "upstream/src/pcre2_extuni.c",
            "upstream/src/pcre2_find_bracket.c",
            "upstream/src/pcre2_match.c",
            "upstream/src/pcre2_match_data.c",
            "upstream/src/pcre2_newline.c",
            "upstream/src/pcre2_ord2utf.c",
            "upstream/src/pcre2_script_run.c",
            "upstream/src/pcre2_string_utils.c",
            "upstream/src/pcre2_study.c",
            "upstream/src/pcre2_tables.c",
            "upstream/src/pcre2_ucd.c",
            "upstream/src/pcre2_valid_utf.c",
            "upstream/src/pcre2_xclass.c",
        ],
        flags: &[
            "-DPCRE2_CODE_UNIT_WIDTH=8",
            "-DHAVE_CONFIG_H",
            "-DPCRE2_STATIC",
            "-DSUPPORT_PCRE2_8",
            "-DSUPPORT_UNICODE",
        ],
    },
];

/// The program that comes from Debian.
const BUSYBOX: &str = "busybox";

/// Returns the folder of the programs.
pub(crate) fn folder() -> PathBuf {
    root().join("target/programs")
}

/// Returns the names of all programs.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(BUSYBOX).chain(LIBRARIES.iter().map(|library| library.name))
}

/// Fetches or compiles the missing programs.
pub(crate) fn run() -> Result<()> {
    let folder = folder();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    if !folder.join(BUSYBOX).exists() {
        fetch_busybox(&folder)?;
    }
    let missing: Vec<&Library> =
        LIBRARIES.iter().filter(|library| !folder.join(library.name).exists()).collect();
    if !missing.is_empty() {
        system::ensure_packages(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])?;
        let packages = fetch_crates(&folder.join("crates"))?;
        for library in missing {
            library.compile(&packages, &folder)?;
        }
    }
    for name in names() {
        let size = fs::metadata(folder.join(name)).with_context(|| format!("{name} was not made"))?.len();
        println!("target/programs/{name}: {size} bytes");
    }
    Ok(())
}

/// Extracts BusyBox from Debian's package for arm64, on any host architecture.
fn fetch_busybox(folder: &Path) -> Result<()> {
    let apt = folder.join("apt");
    for part in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(apt.join(part)).with_context(|| format!("cannot create {}", apt.display()))?;
    }
    // Separate folders, so that the system's own package lists do not change.
    let run = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new("apt-get");
        command.current_dir(&apt).args(["-o", "APT::Architecture=arm64", "-o", "APT::Architectures=arm64"]);
        command.arg("-o").arg(format!("Dir::State::lists={}", apt.join("lists").display()));
        command.arg("-o").arg(format!("Dir::Cache={}", apt.join("cache").display()));
        let status = command
            .args(arguments)
            .status()
            .context("cannot run apt-get, which is needed to download BusyBox")?;
        ensure!(status.success(), "apt-get {} failed", arguments.join(" "));
        Ok(())
    };
    run(&["update"])?;
    run(&["download", "busybox-static:arm64"])?;
    let package = entries(&apt)?.into_iter().find(|path| path.extension().is_some_and(|end| end == "deb"));
    let package = package.context("apt-get downloaded no .deb file")?;
    let status = Command::new("dpkg").arg("-x").arg(&package).arg(apt.join("files")).status();
    ensure!(status.context("cannot run dpkg")?.success(), "dpkg cannot unpack {}", package.display());
    let program = apt.join("files/bin").join(BUSYBOX);
    fs::copy(&program, folder.join(BUSYBOX)).with_context(|| format!("cannot copy {}", program.display()))?;
    Ok(())
}

/// Returns the paths of the entries of a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Fetches the crates with sources. Returns the output of `cargo metadata` for a package in `folder` that depends on
/// them, which has their paths.
fn fetch_crates(folder: &Path) -> Result<serde_json::Value> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut manifest =
        "[workspace]\n[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                        [lib]\npath = \"empty.rs\"\n[dependencies]\n"
            .to_owned();
    for Library { package: (name, version), .. } in &LIBRARIES {
        manifest += &format!("{name} = \"{version}\"\n");
    }
    fs::write(folder.join("empty.rs"), "").context("cannot write a source file")?;
    let path = folder.join("Cargo.toml");
    fs::write(&path, manifest).with_context(|| format!("cannot write {}", path.display()))?;
    metadata::read(&path, &[])
}

impl Library {
    /// Returns the folder of the library's crate.
    fn folder(&self, metadata: &serde_json::Value) -> Result<PathBuf> {
        let package =
            metadata::list(metadata, "packages")?.iter().find(|package| package["name"] == self.package.0);
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let manifest =
            manifest.with_context(|| format!("cargo metadata does not name {}", self.package.0))?;
        Ok(Path::new(manifest).parent().unwrap_or(Path::new("/")).to_owned())
    }

    fn compile(&self, metadata: &serde_json::Value, folder: &Path) -> Result<()> {
        let package = self.folder(metadata)?;
        let mut sources = vec![root().join("guests/programs").join(self.name).with_extension("c")];
        for source in self.sources {
            let path = package.join(source);
            let files = if path.is_dir() { entries(&path)? } else { vec![path] };
            sources.extend(files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "c")));
        }
        println!("compiling {} from {} {}", self.name, self.package.0, self.package.1);
        // `-w`: warnings about third-party code do not help.
        let status = Command::new(COMPILER)
            .args(["-O2", "-static", "-w"])
            .args(self.flags)
            .arg("-I")
            .arg(package.join(self.headers))
            .args(&sources)
            .arg("-lm")
            .arg("-o")
            .arg(folder.join(self.name))
            .status()
            .with_context(|| format!("cannot run {COMPILER}"))?;
        ensure!(status.success(), "{COMPILER} could not compile {}", self.name);
        Ok(())
    }
}
