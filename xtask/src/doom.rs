//! `cargo xtask guests --doom`: compiles DOOM with the levels of Freedoom for Linux, to `target/programs/doom`.
//!
//! The engine, doomgeneric, is under the GPL. So it is fetched and compiled on the user's machine: neither its source nor
//! the program is committed, and nothing of it is in KVRM's own binaries. `guests/programs/doom/` is its platform.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::root::root;
use crate::third_party::{self, Package};

const NAME: &str = "doom";
/// The crate with the engine.
const ENGINE: Package = ("doomgeneric", "=0.3.0");
/// The sources of the engine in the crate.
const SOURCES: &str = "doomgeneric/doomgeneric";
/// The package of Debian with the levels, and the folder of its WADs.
const LEVELS: (&str, &str) = ("freedoom", "usr/share/games/doom");
const WAD: &str = "freedoom1.wad";

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

/// The whole program is optimized at once, so that the compiler sees that pixels are no pointers: a frame takes a quarter
/// less steps than with `-O2`. Segments are separate, so that the WAD is not executable.
const FLAGS: [&str; 6] =
    ["-O3", "-flto", "-flto-partition=one", "-fipa-pta", "-funroll-loops", "-Wl,-z,separate-code"];

/// Fetches and compiles the program, if it is missing.
pub(crate) fn run() -> Result<()> {
    if !third_party::folder()?.join(NAME).exists() {
        make()?;
    }
    third_party::announce(NAME)
}

/// Returns the path of the WAD that is in the program.
pub(crate) fn wad() -> Result<PathBuf> {
    let path = third_party::debian_files()?.join(LEVELS.1).join(WAD);
    let advice = "remove target/programs/doom, so that `cargo xtask guests --doom` fetches it again";
    ensure!(path.is_file(), "there is no {}; {advice}", path.display());
    Ok(path)
}

fn make() -> Result<()> {
    third_party::ensure_compiler()?;
    let wads = third_party::fetch_debian(LEVELS.0)?.join(LEVELS.1);
    ensure!(wads.join(WAD).is_file(), "the package {} has no {WAD} in {}", LEVELS.0, wads.display());
    let metadata = third_party::fetch_crates("doom-crate", [ENGINE])?;
    let folder = third_party::crate_folder(&metadata, ENGINE.0)?.join(SOURCES);
    let sources: Vec<_> =
        third_party::entries(&folder)?.into_iter().filter(|path| is_compiled(path)).collect();
    println!("compiling {NAME} from {} {}", ENGINE.0, ENGINE.1);
    // The assembler searches the WAD in the folders of `-I`.
    let wads = wads.to_str().filter(|path| !path.contains(','));
    let wads = wads.context("the path of the repository contains a comma, or is not UTF-8")?;
    let interface = root().join("guests/environments");
    let flags = FLAGS.map(str::to_owned).into_iter();
    let flags = flags.chain([format!("-Wa,-I,{wads}"), format!("-I{}", interface.display())]);
    third_party::compile(NAME, &sources, &folder, flags)
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
