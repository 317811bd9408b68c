//! `soak faults`: one script after the other, each with a subject, calls and faults that follow from seed and number.

use std::time::Duration;

use kvrm_testkit::random::Random;

use crate::report::Tally;
use crate::{args, bursts, faults, lanes, linux};

/// How a script ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All of it was played.
    Played,
    /// The state was lost, as it may be, and what comes after that was left out.
    StateLost,
}

/// Plays scripts until there were as many faults as wanted; says whether there were, and nothing was wrong.
pub(crate) fn run(wanted: &args::Faults) -> bool {
    let args::Faults { faults: count, seconds, seed, only } = *wanted;
    let mut tally = Tally::new();
    match faults::open() {
        Ok(device) => println!("{}, seed {seed}", device.info()),
        Err(why) => {
            println!("FAIL: {why}");
            return false;
        }
    }
    let mut number = only.unwrap_or(0);
    let mut failed = false;
    loop {
        if let Err(why) = play(seed, number, &mut tally) {
            println!(
                "script {number} of seed {seed} failed (`--seed {seed} --only {number}` plays it alone): {why}"
            );
            failed = true;
            break;
        }
        number += 1;
        tally.progress(|tally| format!("{number} scripts, faults: {}", tally.kinds()));
        if only.is_some() || tally.faults() >= count || tally.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    tally.print();
    let is_enough = only.is_some() || tally.faults() >= count;
    if !failed && !is_enough {
        println!("fewer than {count} faults were injected in {seconds} s");
    }
    let passed = !failed && is_enough;
    println!(
        "seed {seed}, {} scripts, {} faults, {:.1} s: {}",
        number - only.unwrap_or(0),
        tally.faults(),
        tally.elapsed().as_secs_f64(),
        if passed { "PASS" } else { "FAIL" }
    );
    passed
}

/// Plays one script.
fn play(seed: u64, number: u64, tally: &mut Tally) -> Result<(), String> {
    let mut mixed = Random::new(seed);
    let random = &mut Random::new(mixed.bits() ^ Random::new(number).bits());
    let end = match number % 4 {
        0 | 2 => lanes::play(random, tally),
        1 => linux::play(random, tally),
        _ => bursts::play(random, tally),
    };
    tally.outcome(match end? {
        End::Played => "scripts played to their end",
        End::StateLost => "scripts that ended with a lost state",
    });
    Ok(())
}
