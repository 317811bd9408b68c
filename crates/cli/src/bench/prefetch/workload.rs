//! The programs of `kvrm bench prefetch`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kvrm::{Builder, Features, Program};

/// The largest number of 4 KiB pages that a lane may write.
pub(super) const FRAMES_MAX: usize = 1 << 14;
/// The files that large programs read.
const FILES: &str = "guests/programs";

/// A program that was not opened yet. With half of its memory, a lane takes a few seconds on a GPU, in which it goes through its pages
/// more than once.
struct Definition {
    name: &'static str,
    kind: Kind,
}

/// How a program is started, and how long it runs.
enum Kind {
    /// A program whose argument says how large its data is. It runs to its end.
    Small { size: u64 },
    /// A program with files, of which a part runs.
    Large { arguments: &'static [&'static str], input: Option<&'static str>, steps: u64 },
}

const fn small(name: &'static str, size: u64) -> Definition {
    Definition { name, kind: Kind::Small { size } }
}

const fn large(
    name: &'static str,
    arguments: &'static [&'static str],
    input: Option<&'static str>,
    steps: u64,
) -> Definition {
    Definition { name, kind: Kind::Large { arguments, input, steps } }
}

/// The programs, which `cargo xtask prefetch log` runs with more data and steps.
const DEFINITIONS: [Definition; 8] = [
    small("chase", 1024),
    small("join", 4096),
    large("lua", &["pages.lua"], None, 8_000_000),
    small("sort", 32_768),
    large("sqlite", &[], Some("pages.sql"), 8_000_000),
    small("stream", 32_768),
    small("stride", 128),
    large("zstandard", &["3"], None, 10_000_000),
];

/// A program to measure.
pub(super) struct Workload {
    /// The name of the program, and its size if it is not the usual one.
    pub(super) name: String,
    pub(super) program: Program,
    /// The largest number of steps of a lane, unless the user says another one.
    pub(super) steps: u64,
    /// Whether the program needs files and system calls.
    is_large: bool,
    arguments: Vec<String>,
    input: Vec<u8>,
}

/// Opens the programs with these names, or all if there are none. The small ones have data of `size`, if there is one.
pub(super) fn open(
    guests: &Path,
    programs: &Path,
    only: &[String],
    size: Option<u64>,
) -> Result<Vec<Workload>> {
    let names = DEFINITIONS.map(|definition| definition.name);
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--only '{unknown}': expected one of {}", names.join(", "));
    }
    let is_wanted =
        |definition: &&Definition| only.is_empty() || only.iter().any(|name| name == definition.name);
    DEFINITIONS.iter().filter(is_wanted).map(|definition| definition.open(guests, programs, size)).collect()
}

impl Definition {
    fn open(&self, guests: &Path, programs: &Path, size: Option<u64>) -> Result<Workload> {
        let open = |folder: &Path, made_by: &str| {
            Program::open(folder.join(self.name)).with_context(|| format!("`{made_by}` makes this program"))
        };
        match self.kind {
            Kind::Small { size: usual } => {
                let program = open(guests, "cargo xtask prefetch log")?;
                let name = size.map_or(self.name.to_owned(), |size| format!("{} {size}", self.name));
                let arguments = vec![size.unwrap_or(usual).to_string()];
                Ok(Workload { name, program, steps: u64::MAX, is_large: false, arguments, input: Vec::new() })
            }
            Kind::Large { arguments, input, steps } => {
                let program = open(programs, "cargo xtask guests --programs")?;
                let read = |file| {
                    let path = Path::new(FILES).join(file);
                    fs::read(&path).with_context(|| {
                        format!(
                            "cannot read {}; expected to be in the root of the repository",
                            path.display()
                        )
                    })
                };
                let input = input.map_or(Ok(Vec::new()), read)?;
                let arguments = arguments.iter().map(|text| (*text).to_owned()).collect();
                Ok(Workload { name: self.name.to_owned(), program, steps, is_large: true, arguments, input })
            }
        }
    }
}

impl Workload {
    /// Gives lanes their arguments and files.
    pub(super) fn prepare<'a>(&self, builder: Builder<'a>) -> Result<Builder<'a>> {
        let arguments = self.arguments.clone();
        let builder = builder.frames_max(FRAMES_MAX).arguments(move |_| arguments.clone());
        if !self.is_large {
            return Ok(builder.features(Features::ALL));
        }
        let input = self.input.clone();
        Ok(builder.input(move |_| input.clone()).copy(Path::new(FILES), "/data").current_directory("/data"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_program_is_named() {
        let error =
            open(Path::new(""), Path::new(""), &["vi".into()], None).err().expect("there is no such program");
        let expected =
            "--only 'vi': expected one of chase, join, lua, sort, sqlite, stream, stride, zstandard";
        assert_eq!(error.to_string(), expected, "the message");
    }

    #[test]
    fn a_missing_program_is_named_with_the_command_that_makes_it() {
        let error = open(Path::new("nowhere"), Path::new("none"), &["sort".into()], None).err();
        let text = format!("{:#}", error.expect("there is no such folder"));
        assert!(text.starts_with("`cargo xtask prefetch log` makes this program"), "{text}");
        assert!(text.contains("nowhere"), "the file is named: {text}");
    }
}
