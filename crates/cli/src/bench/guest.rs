//! The guests of `kvrm bench`.

use std::path::Path;

use anyhow::{Context as _, Result};
use kvrm::Program;

/// A program to measure.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) name: String,
    pub(crate) program: Program,
    /// The first argument, if the guest takes any.
    size: Option<&'static str>,
    /// Whether each lane has its own seed as the second argument.
    has_seeds: bool,
    /// The number of steps before the measured part: the start of the guest.
    pub(crate) begin: u64,
    /// The number of steps at which the measured part ends.
    pub(crate) end: u64,
}

/// The names of the guests that come with the command.
pub(crate) const NAMES: [&str; 4] = ["mix", "render", "sha256", "sieve"];

/// Returns the guest with this name, or the program in this file.
pub(crate) fn find(name: &str) -> Result<Guest> {
    // The ends of the measured parts were found with `kvrm run --budget`.
    let (size, begin, end) = match name {
        // So large that it never ends.
        "mix" => ("1000000000000", 2_000, u64::MAX),
        // The frames. The world is made before.
        "render" => ("1000000000000", 80_000, u64::MAX),
        // The hashing. The bytes to hash are generated before.
        "sha256" => ("16384", 400_000, 2_150_000),
        // The sieve itself, which ends before the primes are counted.
        "sieve" => ("300000", 2_000, 1_900_000),
        _ => return open(name),
    };
    let file =
        kvrm_guests::elf(name).with_context(|| format!("the crate kvrm-guests has no guest {name}"))?;
    let program = Program::from_elf(name, file)?;
    Ok(Guest {
        name: name.to_owned(),
        program,
        size: Some(size),
        has_seeds: ["mix", "render"].contains(&name),
        begin,
        end,
    })
}

fn open(path: &str) -> Result<Guest> {
    let program = Program::open(path).with_context(|| {
        format!("--guest '{path}': expected the file of a program, or one of {}", NAMES.join(", "))
    })?;
    let name =
        Path::new(path).file_stem().map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into());
    Ok(Guest { name, program, size: None, has_seeds: false, begin: 0, end: u64::MAX })
}

impl Guest {
    /// Returns the arguments of a lane.
    pub(crate) fn arguments(&self, lane: usize) -> Vec<String> {
        let seed = self.has_seeds.then(|| (lane + 1).to_string());
        self.size.map(str::to_owned).into_iter().chain(seed).collect()
    }
}
