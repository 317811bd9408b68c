//! `cargo xtask test`: runs all checks and tests that must pass before a commit, the cheapest first.

mod drivers;

use anyhow::Result;

use crate::steps::{self, Step};

/// Variables with which Mesa's software driver compiles shaders faster. Otherwise it spends most of the time on optimizing
/// shaders that run for a moment. The interpreters of Linux programs take half as long for vectors of 128 bits as for 256, and
/// nearly all tests have few lanes.
pub(crate) const QUICK_SHADERS: &[(&str, &str)] =
    &[("GALLIVM_PERF", "nopt"), ("LP_NATIVE_VECTOR_WIDTH", "128")];

const STEPS: &[Step] = &[
    Step { name: "tidiness and generated files", variables: &[], arguments: &["xtask", "tidy"] },
    Step { name: "tests", variables: QUICK_SHADERS, arguments: &["test", "--workspace", "--all-features"] },
    Step {
        name: "tests of guests with optimized shaders",
        variables: &[],
        arguments: &["test", "--workspace", "--all-features", "--test", "machine", "guests::"],
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
