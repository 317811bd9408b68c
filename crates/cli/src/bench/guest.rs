//! What `kvrm bench` runs.

use std::path::Path;

use anyhow::{Context as _, Result};
use kvrm::Program;

/// A program to measure.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) name: String,
    pub(crate) program: Program,
    /// Its first argument, if it has any.
    size: Option<&'static str>,
    /// Whether each lane has a seed of its own.
    has_seeds: bool,
    /// The steps before the part that is measured, such as asking for the command line.
    pub(crate) begin: u64,
    /// The steps at which that part ends.
    pub(crate) end: u64,
}

/// The guests that come with the command.
pub(crate) const NAMES: [&str; 3] = ["mix", "sha256", "sieve"];

/// Embeds a guest of the repository.
macro_rules! guest {
    ($name:literal) => {
        include_bytes!(concat!("../../../../guests/bin/", $name, ".elf"))
    };
}

/// The guest of a name, or the program in a file.
pub(crate) fn find(name: &str) -> Result<Guest> {
    // Where the parts begin and end was found with `kvrm run --budget`.
    let (file, size, begin, end): (&[u8], _, _, _) = match name {
        // For ever, in effect.
        "mix" => (guest!("mix"), "1000000000000", 2_000, u64::MAX),
        // The hash of bytes that have been made by then.
        "sha256" => (guest!("sha256"), "16384", 400_000, 2_150_000),
        // The sieve itself, before primes are counted.
        "sieve" => (guest!("sieve"), "300000", 2_000, 1_900_000),
        _ => return open(name),
    };
    let program = Program::from_elf(name, file)?;
    Ok(Guest { name: name.to_owned(), program, size: Some(size), has_seeds: name == "mix", begin, end })
}

fn open(path: &str) -> Result<Guest> {
    let program = Program::open(path)
        .with_context(|| format!("--guest '{path}' is no file, nor one of {}", NAMES.join(", ")))?;
    let name =
        Path::new(path).file_stem().map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into());
    Ok(Guest { name, program, size: None, has_seeds: false, begin: 0, end: u64::MAX })
}

impl Guest {
    /// The arguments of a lane.
    pub(crate) fn arguments(&self, lane: usize) -> Vec<String> {
        let seed = self.has_seeds.then(|| (lane + 1).to_string());
        self.size.map(str::to_owned).into_iter().chain(seed).collect()
    }
}
