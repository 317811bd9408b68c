//! Random loops that are entered many times in each mode of the acceleration of loops, compared with stepping.
//!
//! The modes are networks with trained, random and zero weights, the opposite of what the trained ones say, and the checker alone.
//! No result may depend on them. `docs/testing.md` has the command.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use kvrm_gpu::Error;
use kvrm_gpu::loop_advice::NetworkAdvisor;
use kvrm_machine::Loops;
use kvrm_testkit::loops::entries::{Count, compare};

/// Enters random loops in all modes of their acceleration.
#[derive(Debug, Parser)]
struct Args {
    /// The number of entries in each mode.
    #[arg(long, default_value = "1000000")]
    entries: u64,
    /// The seed of loops, registers and random weights.
    #[arg(long, default_value = "1")]
    seed: u64,
}

/// The names of the modes.
const MODES: [&str; 5] = ["checker", "networks", "random", "zero", "adversarial"];

/// Returns the counts of each mode.
fn counts(args: &Args) -> Result<Vec<Count>, Error> {
    let [networks, random, zero, adversarial] = [
        NetworkAdvisor::builtin()?,
        NetworkAdvisor::random(args.seed)?,
        NetworkAdvisor::zero()?,
        NetworkAdvisor::builtin()?.adversarial(),
    ]
    .map(|advisor| Arc::new(advisor.asked_after(0)));
    let with = |advisor: &Arc<NetworkAdvisor>| {
        let advisor = Arc::clone(advisor);
        move || Loops::advised_at_once("test", Arc::clone(&advisor))
    };
    let [networks, random, zero, adversarial] = [networks, random, zero, adversarial].map(|of| with(&of));
    let all: [&dyn Fn() -> Loops; 5] = [&Loops::checker, &networks, &random, &zero, &adversarial];
    let modes: Vec<_> = MODES.into_iter().zip(all).collect();
    Ok(compare(args.seed, args.entries, &modes))
}

fn main() -> ExitCode {
    let args = Args::parse();
    let begin = Instant::now();
    let counts = match counts(&args) {
        Ok(counts) => counts,
        Err(error) => {
            println!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("mode         entries  differences  candidates  proposed  disagreed        steps  at once");
    for (name, count) in MODES.into_iter().zip(&counts) {
        let Count { entries, differences, candidates, proposed, disagreed, steps, credited_steps, .. } =
            count;
        let share = 100.0 * *credited_steps as f64 / (*steps).max(1) as f64;
        println!(
            "{name:<11} {entries:>8}  {differences:>11}  {candidates:>10}  {proposed:>8}  {disagreed:>9}  \
             {steps:>11}  {share:>5.1} %"
        );
        if let Some(first) = &count.first {
            println!("  the first difference: {first}");
        }
    }
    println!("{:.1} s", begin.elapsed().as_secs_f64());
    if counts.iter().all(|count| count.differences == 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_result_depends_on_weights() {
        let counts = counts(&Args { entries: 20_000, seed: 1 }).expect("the weights are there");
        for (name, count) in MODES.into_iter().zip(&counts) {
            assert_eq!(count.differences, 0, "{name}: {:?}", count.first);
            assert_eq!(count.entries, 20_000, "{name}");
        }
        let [checker, networks, _, _, adversarial] = &counts[..] else { panic!("five modes") };
        assert!(checker.credited_steps > checker.steps / 10, "{checker:?}");
        assert!(networks.proposed < checker.proposed, "the networks do not propose all: {networks:?}");
        assert!(networks.credited_steps > 0 && adversarial.credited_steps > 0, "each proposes some");
        assert!(adversarial.disagreed > 0, "wrong claims are found: {adversarial:?}");
    }
}
