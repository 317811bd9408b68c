//! The workloads: programs, and what each lane gives them.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use kvrm::{Builder, Factory, Machine, Program};

use super::fork::ForkPoint;

/// The largest number of 4 KiB pages that a lane may write. The lanes share what the device has room for.
const FRAMES_MAX: usize = 1 << 12;
/// The commands that make the programs.
const MAKE: &str = "`cargo xtask guests --programs` makes the programs in target/programs, and \
                    `cargo xtask guests --doom` makes doom there";

/// A workload that was not opened yet.
struct Definition {
    name: &'static str,
    /// The file of the program.
    program: &'static str,
    /// The arguments, in which `{lane}` is replaced with the number of the lane.
    arguments: &'static [&'static str],
    input: Input,
}

/// The input of the lanes besides their arguments.
#[derive(Clone, Copy)]
enum Input {
    None,
    /// A standard input: a text in which `{lane}` is replaced with the number of the lane.
    Text(&'static str),
    /// A standard input: so many lines with a word and a number, which depend on the number of the lane.
    Lines(usize),
    /// The number of the lane, in a variable. The program has started in lane 0, of which all lanes are forks, because the
    /// start takes longer than the measured part.
    Fork(ForkPoint),
}

const DEFINITIONS: [Definition; 11] = [
    Definition { name: "deflate", program: "deflate", arguments: &["{lane}", "12"], input: Input::None },
    Definition { name: "zstandard", program: "zstandard", arguments: &["{lane}", "12"], input: Input::None },
    Definition { name: "json", program: "json", arguments: &["{lane}", "200"], input: Input::None },
    Definition { name: "regex", program: "regex", arguments: &["{lane}", "6"], input: Input::None },
    Definition {
        name: "sqlite",
        program: "sqlite",
        arguments: &[],
        input: Input::Text(include_str!("lanes.sql")),
    },
    Definition {
        name: "lua",
        program: "lua",
        arguments: &["-", "{lane}"],
        input: Input::Text(include_str!("lanes.lua")),
    },
    Definition {
        name: "quickjs",
        program: "quickjs",
        arguments: &["{lane}"],
        input: Input::Text(include_str!("lanes.js")),
    },
    Definition {
        name: "sh",
        program: "busybox",
        arguments: &["sh", "-c", include_str!("lanes.sh"), "sh", "{lane}"],
        input: Input::None,
    },
    Definition {
        name: "awk",
        program: "busybox",
        arguments: &["awk", "-v", "lane={lane}", include_str!("lanes.awk")],
        input: Input::None,
    },
    Definition {
        name: "sort",
        program: "busybox",
        arguments: &["sort", "-k2n", "-k1"],
        input: Input::Lines(1_000),
    },
    Definition {
        name: "doom",
        program: "doom",
        arguments: &["{lane}", "40"],
        input: Input::Fork(ForkPoint { function: "kvrm_started", variable: "kvrm_seed" }),
    },
];

/// A workload.
pub(in crate::bench) struct Workload {
    pub(in crate::bench) name: &'static str,
    /// The file of the program.
    pub(super) path: PathBuf,
    program: Program,
    arguments: &'static [&'static str],
    input: Input,
}

/// Opens the programs of the workloads with these names, or of all.
pub(super) fn open(folder: &Path, only: &[String]) -> Result<Vec<Workload>> {
    for name in only {
        if !DEFINITIONS.iter().any(|definition| definition.name == name) {
            let names: Vec<_> = DEFINITIONS.iter().map(|definition| definition.name).collect();
            bail!("--only '{name}': expected one of {}", names.join(", "));
        }
    }
    let is_wanted =
        |definition: &&Definition| only.is_empty() || only.iter().any(|name| name == definition.name);
    if !folder.is_dir() {
        bail!("--programs '{}': expected a directory; {MAKE}", folder.display());
    }
    DEFINITIONS
        .iter()
        .filter(is_wanted)
        .map(|&Definition { name, program, arguments, input }| {
            let path = folder.join(program);
            let program =
                Program::open(&path).with_context(|| format!("--programs '{}': {MAKE}", folder.display()))?;
            Ok(Workload { name, path, program, arguments, input })
        })
        .collect()
}

/// Opens the workloads whose programs are in a folder.
pub(in crate::bench) fn open_existing(folder: &Path) -> Result<Vec<Workload>> {
    let exist = DEFINITIONS.iter().filter(|definition| folder.join(definition.program).exists());
    let names: Vec<_> = exist.map(|definition| definition.name.to_owned()).collect();
    if names.is_empty() { Ok(Vec::new()) } else { open(folder, &names) }
}

impl Workload {
    /// Returns the arguments of a lane.
    pub(super) fn arguments(&self, lane: usize) -> Vec<String> {
        arguments(self.arguments, lane)
    }

    /// Returns the standard input of a lane.
    pub(super) fn input(&self, lane: usize) -> Vec<u8> {
        self.input.bytes(lane)
    }

    /// Returns a machine with so many lanes, each with its own input. It collects at most `output_max` bytes of the output
    /// of each.
    pub(super) fn machine(&self, lanes: usize, engine: impl Factory, output_max: usize) -> Result<Machine> {
        match self.input {
            Input::Fork(point) => point.machine(self.builder(1, output_max), lanes, engine),
            _ => Ok(self.builder(lanes, output_max).engine(engine).build()?),
        }
    }

    /// Returns a builder of a machine with so many lanes. A workload that is forked begins with its start.
    pub(in crate::bench) fn builder(&self, lanes: usize, output_max: usize) -> Builder<'static> {
        let &Self { arguments: templates, input, .. } = self;
        Machine::builder(self.program.clone())
            .lanes(lanes)
            .frames_max(FRAMES_MAX)
            .output_max(output_max)
            .arguments(move |lane| arguments(templates, lane))
            .input(move |lane| input.bytes(lane))
    }
}

fn arguments(templates: &[&str], lane: usize) -> Vec<String> {
    templates.iter().map(|template| template.replace("{lane}", &lane.to_string())).collect()
}

impl Input {
    fn bytes(self, lane: usize) -> Vec<u8> {
        match self {
            Self::None | Self::Fork(_) => Vec::new(),
            Self::Text(text) => text.replace("{lane}", &lane.to_string()).into(),
            Self::Lines(lines) => {
                let mut state = lane as u64;
                let mut random = || {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state >> 33
                };
                let mut text = String::new();
                for _ in 0..lines {
                    let word: String =
                        (0..=random() % 6).map(|_| char::from(b'a' + (random() % 26) as u8)).collect();
                    text += &format!("{word} {}\n", random() % 200);
                }
                text.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lanes_have_inputs_of_their_own() {
        for Definition { name, arguments: templates, input, .. } in DEFINITIONS {
            let inputs: BTreeSet<_> =
                (0..100).map(|lane| (arguments(templates, lane), input.bytes(lane))).collect();
            assert_eq!(inputs.len(), 100, "{name}");
        }
    }

    #[test]
    fn names_are_different() {
        let names: BTreeSet<_> = DEFINITIONS.iter().map(|definition| definition.name).collect();
        assert_eq!(names.len(), DEFINITIONS.len());
    }
}
