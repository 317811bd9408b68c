//! Long random tests that compare the GPU engines with their references.
//!
//! `soak faults` injects faults (a lost device, refused memory, too few frames, slices of one step) into lanes, Linux
//! programs and networks. `soak programs` runs random programs with random system calls. All random choices follow from
//! the seed. `docs/testing.md` has the commands.

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

    /// Runs both tests one after the other, as a fault in one of them would hit all users of the device.
    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_sample_of_faults_is_survived_and_programs_with_calls_end_as_on_the_reference() {
        let share = Share { seed: 1, only: None, jobs: 1, part: None };
        let faults = args::Faults { faults: 60, seconds: 600, share };
        assert!(scripts::run(&faults), "the output above has the error");
        let programs = args::Programs { programs: 8, lanes: 8, share };
        assert!(programs::run(&programs), "the output above has the error");
    }
}
