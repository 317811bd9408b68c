//! `cargo xtask test`: runs all checks and tests that must pass before a commit, the cheapest first.

mod drivers;

use anyhow::Result;

use crate::steps::{self, Step};

const STEPS: &[Step] = &[
    Step { name: "tidiness and generated files", variables: &[], arguments: &["xtask", "tidy"] },
    Step {
        name: "tests",
        // Mesa's software driver spends most of the time on optimizing shaders that run for a moment.
        variables: &[("GALLIVM_PERF", "nopt")],
        arguments: &["test", "--workspace", "--all-features"],
    },
    Step {
        name: "tests of guests with optimized shaders",
        variables: &[],
        arguments: &["test", "--workspace", "--all-features", "--test", "machine", "guests"],
    },
    Step {
        name: "tests without optional formats",
        variables: &[],
        arguments: &["test", "--package", "kvrm-spiking-formats"],
    },
];

pub(crate) fn run() -> Result<()> {
    drivers::ensure()?;
    steps::run(STEPS)
}
