//! `cargo xtask guests`: compiles the guest programs of `guests/` into `guests/bin/`, or checks that those there
//! are what the sources give.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{root, system};

const COMPILER: &str = "aarch64-linux-gnu-gcc";

/// A program that uses the integer instructions of Armv8.0 and nothing else, and a file that holds nothing of the
/// place and time it was made at: paths are relative to `guests/`.
const FLAGS: &[&str] = &[
    "-O2",
    "-march=armv8-a",
    "-mgeneral-regs-only",
    "-mno-outline-atomics",
    "-ffreestanding",
    "-fno-tree-vectorize",
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
    "-Truntime/guest.ld",
    "-Iruntime",
    "runtime/start.S",
    "runtime/runtime.c",
];

const FIXED: &[&str] = &["-fno-pie", "-static"];
const POSITION_INDEPENDENT: &[&str] = &["-fpie", "-static-pie", "-Wl,-Ttext-segment=0"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Changes nothing and fails if guests/bin/ does not hold what the sources give.
    #[arg(long)]
    check: bool,
    /// The guests to compile; without any, all.
    guests: Vec<String>,
}

/// A guest is a file `NAME.c`, or `NAME.pie.c` when it is position independent.
struct Guest {
    name: String,
    source: String,
    kind: &'static [&'static str],
}

impl Guest {
    fn from_source(source: &str) -> Option<Self> {
        let stem = source.strip_suffix(".c")?;
        let (name, kind) = match stem.strip_suffix(".pie") {
            Some(name) => (name, POSITION_INDEPENDENT),
            None => (stem, FIXED),
        };
        Some(Self { name: name.to_owned(), source: source.to_owned(), kind })
    }

    fn file(&self) -> String {
        format!("{}.elf", self.name)
    }

    fn compile(&self, sources: &Path, output: &Path) -> Result<()> {
        let status = Command::new(COMPILER)
            .current_dir(sources)
            .args(FLAGS)
            .args(self.kind)
            .arg(&self.source)
            .arg("-o")
            .arg(output)
            .status()
            .with_context(|| format!("cannot run {COMPILER}"))?;
        ensure!(status.success(), "{COMPILER} could not compile guests/{}", self.source);
        Ok(())
    }
}

/// The names in a folder, sorted.
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
    Ok(listing(&root().join("guests"))?.iter().filter_map(|source| Guest::from_source(source)).collect())
}

/// The names of all guests, sorted.
pub(crate) fn names() -> Result<Vec<String>> {
    Ok(all()?.into_iter().map(|guest| guest.name).collect())
}

/// Compiles the guests that `args` names, or all of them, and with `--check` changes nothing in `guests/bin/`.
pub(crate) fn run(Args { check, guests: wanted }: &Args) -> Result<()> {
    let guests = all()?;
    for name in wanted {
        ensure!(
            guests.iter().any(|guest| guest.name == *name),
            "`{name}` is no guest; the guests are {}",
            names()?.join(", ")
        );
    }
    system::ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;

    let sources = root().join("guests");
    let prebuilt = sources.join("bin");
    let built = root().join("target").join("guests");
    fs::create_dir_all(&built).with_context(|| format!("cannot create {}", built.display()))?;
    fs::create_dir_all(&prebuilt).with_context(|| format!("cannot create {}", prebuilt.display()))?;

    let mut wrong = Vec::new();
    for guest in guests.iter().filter(|guest| wanted.is_empty() || wanted.contains(&guest.name)) {
        let file = guest.file();
        let (new, old) = (built.join(&file), prebuilt.join(&file));
        guest.compile(&sources, &new)?;
        if !*check {
            let size = fs::copy(&new, &old).with_context(|| format!("cannot write {}", old.display()))?;
            println!("guests/bin/{file}: {size} bytes");
        } else if !old.exists() {
            wrong.push(format!("guests/bin/{file} is missing"));
        } else if fs::read(&new)? != fs::read(&old)? {
            wrong.push(format!("guests/bin/{file} differs from target/guests/{file}"));
        }
    }
    if *check && wanted.is_empty() {
        for file in listing(&prebuilt)? {
            if !guests.iter().any(|guest| guest.file() == file) {
                wrong.push(format!("guests/bin/{file} has no source"));
            }
        }
    }
    if !wrong.is_empty() {
        bail!(
            "{}\nRun `cargo xtask guests` and commit what it changes. Another version of {COMPILER} makes other files; \
             `readelf -p .comment` shows which one made a file.",
            wrong.join("\n")
        );
    }
    Ok(())
}
