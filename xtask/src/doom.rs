//! `cargo xtask guests --doom`: compiles DOOM with the levels of Freedoom for Linux, to `target/programs/doom`, and for the
//! host, to `target/programs/doom-native`, with which `cargo xtask oracle doom` compares it.
//!
//! The engine, doomgeneric, is under the GPL. So it is fetched and compiled on the user's machine: neither its source nor
//! the program is committed, and nothing of it is in KVRM's own binaries. `guests/programs/doom/` is its platform.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::folders;
use crate::root::root;
use crate::system;
use crate::third_party::{self, Build, Package};

/// The program that KVRM runs.
pub(crate) const GUEST: Build = Build::guest("doom");
/// The same program for the host.
pub(crate) const NATIVE: Build = Build { compiler: "cc", file: "doom-native", ..GUEST };

/// The crate with the engine.
const ENGINE: Package = ("doomgeneric", "=0.3.0");
/// The sources of the engine in the crate.
const SOURCES: &str = "doomgeneric/doomgeneric";
/// The package of Debian with the levels, and the folder of its WADs.
const LEVELS: (&str, &str) = ("freedoom", "usr/share/games/doom");
/// The WAD that is a part of the program.
pub(crate) const WAD: &str = "freedoom1.wad";
/// The header of environments.
const INTERFACE: &str = "guests/environments/environment.h";

/// Files of the engine that are not compiled: without a use, or replaced in `guests/programs/doom/`.
const OMITTED: [&str; 10] = [
    "doomdef.c",
    "doomgeneric.c",
    "icon.c",
    "d_iwad.c",
    "f_wipe.c",
    "i_input.c",
    "i_timer.c",
    "i_video.c",
    "w_file.c",
    "w_file_stdc.c",
];
/// Parts of the names of files for other platforms.
const PLATFORMS: [&str; 3] = ["doomgeneric_", "_allegro", "_sdl"];

/// The flags of the guest. The whole program is optimized at once, so that the compiler sees that pixels are no pointers: a
/// frame takes a quarter less steps than with `-O2`. More inlining saves another fortieth. Segments are separate, so that the
/// WAD is not executable.
const GUEST_FLAGS: &[&str] = &[
    "-O3",
    "-flto",
    "-flto-partition=one",
    "-fipa-pta",
    "-funroll-loops",
    "--param=early-inlining-insns=50",
    "--param=inline-unit-growth=200",
    "--param=max-inline-insns-auto=100",
    "--param=max-inline-insns-single=1000",
    "-Wl,-z,separate-code",
];
/// The flags of the program for the host: none, so that it shares as little as possible with the guest.
const NATIVE_FLAGS: &[&str] = &[];

/// Fetches and compiles the program for KVRM and for the host, where it is missing or older than our sources.
pub(crate) fn run() -> Result<()> {
    for (build, flags) in [(GUEST, GUEST_FLAGS), (NATIVE, NATIVE_FLAGS)] {
        if !build.is_current(&[root().join(INTERFACE)])? {
            make(build, flags)?;
        }
        third_party::announce(build.file)?;
    }
    Ok(())
}

/// Returns the path of the WAD that is in the program.
pub(crate) fn wad() -> Result<PathBuf> {
    Ok(wads()?.join(WAD))
}

/// Returns the folder with the WADs of Freedoom, which are fetched if they are missing.
pub(crate) fn wads() -> Result<PathBuf> {
    let (package, folder) = LEVELS;
    let wads = third_party::debian_files()?.join(folder);
    if !wads.join(WAD).is_file() {
        third_party::fetch_debian(package)?;
    }
    ensure!(wads.join(WAD).is_file(), "the package {package} has no {WAD} in {}", wads.display());
    Ok(wads)
}

fn make(build: Build, flags: &[&str]) -> Result<()> {
    if build.compiler == NATIVE.compiler {
        system::ensure_program(build.compiler, "gcc")?;
    } else {
        third_party::ensure_compiler()?;
    }
    let wads = wads()?;
    let metadata = third_party::fetch_crates("doom-crate", [ENGINE])?;
    let folder = third_party::crate_folder(&metadata, ENGINE.0)?.join(SOURCES);
    let sources: Vec<_> = folders::entries(&folder)?.into_iter().filter(|path| is_compiled(path)).collect();
    println!("compiling {} from {} {}", build.file, ENGINE.0, ENGINE.1);
    // The assembler searches the WAD in the folders of `-I`.
    let wads = wads.to_str().filter(|path| !path.contains(','));
    let wads = wads.context("the path of the repository contains a comma, or is not UTF-8")?;
    let interface = root().join(INTERFACE);
    let interface = interface.parent().context("the header is in a folder")?;
    let flags = flags.iter().map(|flag| (*flag).to_owned());
    let flags = flags.chain([format!("-Wa,-I,{wads}"), format!("-I{}", interface.display())]);
    build.compile(&sources, &folder, flags)
}

/// Returns whether a file of the engine is a part of the program.
fn is_compiled(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    third_party::is_source(path)
        && !OMITTED.contains(&name)
        && !PLATFORMS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_compiled_without_platforms_and_replaced_files() {
        let compiled = ["d_main.c", "w_wad.c", "i_sound.c", "r_draw.c"];
        let others =
            ["w_file.c", "i_video.c", "w_wad.h", "doomgeneric_sdl.c", "i_sdlsound.c", "i_allegromusic.c"];
        for name in compiled {
            assert!(is_compiled(Path::new(name)), "{name}");
        }
        for name in others {
            assert!(!is_compiled(Path::new(name)), "{name}");
        }
    }
}
