//! `cargo xtask guests --programs`: fetches or compiles third-party programs for Linux into `target/programs/`. They
//! are never committed.
//!
//! BusyBox is a package of Debian. The others are C sources inside crates, which cargo fetches and verifies. The `main`
//! function of each is in `guests/programs/`. DOOM, which is larger, is a task of its own (`doom.rs`).

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::folders;
use crate::third_party::{self, Build, Package};

/// A program that is compiled from the sources of a library in a crate.
struct Library {
    name: &'static str,
    package: Package,
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
/// Its package.
const BUSYBOX_PACKAGE: &str = "busybox-static";

/// Returns the names of all programs.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(BUSYBOX).chain(LIBRARIES.iter().map(|library| library.name))
}

/// Fetches or compiles the missing programs.
pub(crate) fn run() -> Result<()> {
    let folder = third_party::folder()?;
    if !folder.join(BUSYBOX).exists() {
        let program = third_party::fetch_debian(BUSYBOX_PACKAGE)?.join("bin").join(BUSYBOX);
        fs::copy(&program, folder.join(BUSYBOX))
            .with_context(|| format!("cannot copy {}", program.display()))?;
    }
    let missing: Vec<&Library> =
        LIBRARIES.iter().filter(|library| !folder.join(library.name).exists()).collect();
    if !missing.is_empty() {
        third_party::ensure_compiler()?;
        let packages = LIBRARIES.iter().map(|library| library.package);
        let metadata = third_party::fetch_crates("crates", packages)?;
        for library in missing {
            library.compile(&metadata)?;
        }
    }
    names().try_for_each(third_party::announce)
}

impl Library {
    fn compile(&self, metadata: &Value) -> Result<()> {
        let package = third_party::crate_folder(metadata, self.package.0)?;
        let mut sources = Vec::new();
        for source in self.sources {
            let path = package.join(source);
            let files = if path.is_dir() { folders::entries(&path)? } else { vec![path] };
            sources.extend(files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "c")));
        }
        println!("compiling {} from {} {}", self.name, self.package.0, self.package.1);
        Build::guest(self.name).compile(&sources, &package.join(self.headers), self.flags)
    }
}
