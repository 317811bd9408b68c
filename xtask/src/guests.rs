//! `cargo xtask guests`: compiles the bare-metal guests of `guests/` into `guests/bin/`, the Linux guests of `guests/linux/`
//! into `guests/linux/bin/` and the environments of `guests/environments/` into `guests/environments/bin/`, or checks that
//! the compiled files match the sources.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::root::root;
use crate::system::COMPILER;
use crate::{doom, programs, system};

/// Compiler flags for an Armv8.0 program whose bytes depend on neither the folder nor the time of the build. Paths are
/// relative to the folder that has the runtime.
const FLAGS: &[&str] = &[
    "-march=armv8-a",
    "-mno-outline-atomics",
    "-ffreestanding",
    "-fno-tree-loop-distribute-patterns",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-Wall",
    "-Wextra",
    "-Wno-missing-field-initializers",
    "-Werror",
    "-nostdlib",
    "-Wl,--fatal-warnings,--build-id=none,--no-eh-frame-hdr",
    "-Wl,-z,separate-code,-z,max-page-size=4096,-z,norelro",
    "-Iruntime",
    "runtime/start.S",
    "runtime/runtime.c",
];

/// Flags for a program that uses integer instructions only.
const INTEGERS: &[&str] = &["-O2", "-mgeneral-regs-only", "-fno-tree-vectorize"];

/// Flags for a program that uses floating point and vectors. The compiler may not contract operations, so that two ways
/// to write a loop give the same results.
const FLOATING_POINT: &[&str] = &["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"];

/// Flags for bare-metal programs only.
const BARE_METAL: &[&str] = &["-Truntime/guest.ld"];

const FIXED: &[&str] = &["-fno-pie", "-static"];
const POSITION_INDEPENDENT: &[&str] = &["-fpie", "-static-pie", "-Wl,-Ttext-segment=0"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Change nothing, and fail if a compiled guest does not match its source.
    #[arg(long)]
    check: bool,
    /// Fetch and compile third-party programs into target/programs/ instead: BusyBox, Lua, SQLite, zlib, zstd, QuickJS,
    /// yyjson and PCRE2.
    #[arg(long, conflicts_with_all = ["check", "guests"])]
    programs: bool,
    /// Fetch DOOM's engine, which is under the GPL, and the levels of Freedoom, and compile target/programs/doom instead.
    #[arg(long, conflicts_with_all = ["check", "guests"])]
    doom: bool,
    /// Fetch packages of Debian for arm64 and what they depend on, and unpack them into target/sysroot/ instead.
    #[arg(long, conflicts_with_all = ["check", "guests"])]
    sysroot: bool,
    /// The guests to compile [default: all].
    guests: Vec<String>,
}

/// A folder of sources. Each has compiled guests in `bin/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    BareMetal,
    Linux,
    Environments,
}

impl Folder {
    const ALL: [Self; 3] = [Self::BareMetal, Self::Linux, Self::Environments];

    /// Returns the path of the folder, relative to the root of the repository.
    const fn path(self) -> &'static str {
        match self {
            Self::BareMetal => "guests",
            Self::Linux => "guests/linux",
            Self::Environments => "guests/environments",
        }
    }

    /// Returns the path of the folder whose `runtime/` has the shared sources, and the path of a source relative to it.
    fn source(self, name: &str) -> (&'static str, String) {
        match self {
            Self::BareMetal | Self::Linux => (self.path(), name.to_owned()),
            Self::Environments => ("guests", format!("environments/{name}")),
        }
    }

    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::BareMetal | Self::Environments => BARE_METAL,
            Self::Linux => &[],
        }
    }
}

/// A guest program. Its source is `NAME.c`, `NAME.pie.c` if it is position independent, or `NAME.fp.c` if it uses
/// floating point and vectors.
struct Guest {
    name: String,
    source: String,
    kind: &'static [&'static str],
    instructions: &'static [&'static str],
    folder: Folder,
}

impl Guest {
    fn from_source(folder: Folder, source: &str) -> Option<Self> {
        let stem = source.strip_suffix(".c")?;
        let (name, kind, instructions) = match stem.split_once('.') {
            None => (stem, FIXED, INTEGERS),
            Some((name, "pie")) => (name, POSITION_INDEPENDENT, INTEGERS),
            Some((name, "fp")) => (name, FIXED, FLOATING_POINT),
            Some(_) => return None,
        };
        Some(Self { name: name.to_owned(), source: source.to_owned(), kind, instructions, folder })
    }

    /// Returns the path of the compiled guest, relative to the root of the repository.
    fn file(&self) -> String {
        format!("{}/bin/{}.elf", self.folder.path(), self.name)
    }

    fn compile(&self, output: &Path) -> Result<()> {
        let (folder, source) = self.folder.source(&self.source);
        let status = Command::new(COMPILER)
            .current_dir(root().join(folder))
            .args(self.instructions)
            .args(FLAGS)
            .args(self.folder.flags())
            .args(self.kind)
            .arg(&source)
            .arg("-o")
            .arg(output)
            .status()
            .with_context(|| format!("cannot run {COMPILER}"))?;
        ensure!(status.success(), "{COMPILER} could not compile {folder}/{source}");
        Ok(())
    }
}

/// Returns the names in a folder, sorted.
fn listing(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

fn all() -> Result<Vec<Guest>> {
    let mut guests = Vec::new();
    for folder in Folder::ALL {
        let sources = listing(&root().join(folder.path()))?;
        guests.extend(sources.iter().filter_map(|source| Guest::from_source(folder, source)));
    }
    Ok(guests)
}

/// Returns the names of the guests of a folder, sorted.
pub(crate) fn names(folder: Folder) -> Result<Vec<String>> {
    let guests = all()?.into_iter().filter(|guest| guest.folder == folder);
    Ok(guests.map(|guest| guest.name).collect())
}

/// Returns the paths of all compiled guests, relative to the root of the repository.
pub(crate) fn files() -> Result<Vec<String>> {
    Ok(all()?.iter().map(Guest::file).collect())
}

/// Compiles the guests named in the arguments, or all. With `--check`, compares the results with the committed files.
pub(crate) fn run(Args { check, programs, doom, sysroot, guests: wanted }: &Args) -> Result<()> {
    if *programs {
        programs::run()?;
    }
    if *doom {
        doom::run()?;
    }
    if *sysroot {
        println!("{}", crate::sysroot::make()?.display());
    }
    if *programs || *doom || *sysroot {
        return Ok(());
    }
    let guests = all()?;
    for name in wanted {
        ensure!(
            guests.iter().any(|guest| guest.name == *name),
            "unknown guest `{name}`; the guests are {}",
            guests.iter().map(|guest| &guest.name[..]).collect::<Vec<_>>().join(", ")
        );
    }
    system::ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;

    let target = root().join("target");

    let mut wrong = Vec::new();
    for guest in guests.iter().filter(|guest| wanted.is_empty() || wanted.contains(&guest.name)) {
        let file = guest.file();
        let (new, old) = (target.join(&file), root().join(&file));
        for folder in [&new, &old].into_iter().filter_map(|path| path.parent()) {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        guest.compile(&new)?;
        if !*check {
            let size = fs::copy(&new, &old).with_context(|| format!("cannot write {}", old.display()))?;
            println!("{file}: {size} bytes");
        } else if !old.exists() {
            wrong.push(format!("{file} is missing"));
        } else if fs::read(&new)? != fs::read(&old)? {
            wrong.push(format!("{file} differs from target/{file}"));
        }
    }
    if *check && wanted.is_empty() {
        for folder in Folder::ALL {
            let prebuilt = format!("{}/bin", folder.path());
            for file in listing(&root().join(&prebuilt))? {
                let file = format!("{prebuilt}/{file}");
                if !guests.iter().any(|guest| guest.file() == file) {
                    wrong.push(format!("{file} has no source"));
                }
            }
        }
    }
    if !wrong.is_empty() {
        bail!(
            "{}\nRun `cargo xtask guests` and commit the changes. Other versions of {COMPILER} produce other bytes; \
             `readelf -p .comment` shows the version that compiled a file.",
            wrong.join("\n")
        );
    }
    Ok(())
}
