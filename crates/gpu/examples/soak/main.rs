//! Long random tests of the GPU engines beside their references.
//!
//! `soak faults` injects faults (a lost device, refused memory, too few frames, slices of one step) into lanes, Linux
//! programs and networks. `soak programs` runs random programs with random system calls. Everything that is random
//! follows from the seed. `docs/testing.md` has the commands.

#![allow(clippy::print_stdout, reason = "it is a program")]

mod args;
mod bursts;
mod compare;
mod digest;
mod faults;
mod jobs;
mod lanes;
mod linux;
mod programs;
mod report;
mod scripts;

use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser as _;

fn main() -> ExitCode {
    let passed = match Args::parse().command {
        Command::Faults(wanted) => scripts::run(&wanted),
        Command::Programs(wanted) => programs::run(&wanted),
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Share;

    /// One after the other: faults of one would be those of all on the device.
    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_sample_of_faults_is_survived_and_programs_with_calls_end_as_on_the_reference() {
        let share = Share { seed: 1, only: None, jobs: 1, part: None };
        let faults = args::Faults { faults: 60, seconds: 600, share };
        assert!(scripts::run(&faults), "what is printed above says what is wrong");
        let programs = args::Programs { programs: 8, lanes: 8, share };
        assert!(programs::run(&programs), "what is printed above says what is wrong");
    }
}
