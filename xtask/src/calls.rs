//! `cargo xtask calls`: makes random system calls from several threads, and checks what the lanes do.

use std::time::Instant;

use anyhow::Result;
use clap::Parser;
use kvrm_testkit::random::Random;
use kvrm_testkit::thread_calls::{self, Root};

/// The lanes of a machine.
const LANES: usize = 32;

#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// The number of calls.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// The seed of the calls.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let folder = tempfile::tempdir()?;
    let root = Root::create(folder.path())?;
    let random = &mut Random::new(args.seed);
    let (mut calls, mut lanes, mut reported) = (0, 0, 0);
    while calls < args.calls {
        calls += root.check(&thread_calls::inputs(random, LANES));
        lanes += LANES;
        if calls - reported >= args.calls / 10 {
            reported = calls;
            println!("{calls} calls in {lanes} lanes after {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    println!("{calls} calls of threads in {lanes} lanes: no failure");
    Ok(())
}
