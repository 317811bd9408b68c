//! The programs of `kvrm bench prefetch`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kvrm::{Builder, Features, Program};

/// The largest number of 4 KiB pages that a lane may write.
pub(super) const FRAMES_MAX: usize = 1 << 14;
/// The files that large programs read.
const FILES: &str = "guests/programs";

/// A program that was not opened yet.
struct Definition {
    name: &'static str,
    /// The arguments of a large program, and the file that is its standard input.
    large: Option<(&'static [&'static str], Option<&'static str>)>,
}

const fn small(name: &'static str) -> Definition {
    Definition { name, large: None }
}

/// The programs, as `cargo xtask prefetch log` runs them.
const DEFINITIONS: [Definition; 8] = [
    small("chase"),
    small("join"),
    Definition { name: "lua", large: Some((&["pages.lua"], None)) },
    small("sort"),
    Definition { name: "sqlite", large: Some((&[], Some("pages.sql"))) },
    small("stream"),
    small("stride"),
    Definition { name: "zstandard", large: Some((&["3"], None)) },
];

/// A program to measure.
pub(super) struct Workload {
    /// The name of the program, and its size if it is not the usual one.
    pub(super) name: String,
    pub(super) program: Program,
    /// Whether the program needs files and system calls.
    is_large: bool,
    arguments: Vec<String>,
    input: Vec<u8>,
}

/// Opens the programs with these names, or all if there are none. The small ones have `size` as their argument, if there is one.
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
    DEFINITIONS
        .iter()
        .filter(is_wanted)
        .map(|definition| definition.open(if definition.large.is_some() { programs } else { guests }, size))
        .collect()
}

impl Definition {
    fn open(&self, folder: &Path, size: Option<u64>) -> Result<Workload> {
        let made_by = match self.large {
            None => "cargo xtask prefetch log",
            Some(_) => "cargo xtask guests --programs",
        };
        let program = Program::open(folder.join(self.name))
            .with_context(|| format!("`{made_by}` makes this program"))?;
        let input = match self.large {
            Some((_, Some(file))) => {
                let path = Path::new(FILES).join(file);
                fs::read(&path).with_context(|| {
                    format!("cannot read {}; expected to be in the root of the repository", path.display())
                })?
            }
            _ => Vec::new(),
        };
        let arguments = match self.large {
            Some((arguments, _)) => arguments.iter().map(|text| (*text).to_owned()).collect(),
            None => size.map(|size| size.to_string()).into_iter().collect(),
        };
        let size = size.filter(|_| self.large.is_none());
        let name = size.map_or(self.name.to_owned(), |size| format!("{} {size}", self.name));
        Ok(Workload { name, program, is_large: self.large.is_some(), arguments, input })
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
