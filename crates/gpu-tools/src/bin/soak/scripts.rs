//! `soak faults`: plays numbered scripts. The subject, the calls and the faults of a script follow from the seed and
//! its number.

use std::time::{Duration, Instant};

use kvrm_testkit::random::Random;

use crate::report::{ScriptEnd, Tally};
use crate::{args, bursts, faults, lanes, linux};

/// The beginning of the line in which a process prints the number of its faults.
const FAULTS: &str = "faults in all: ";

/// Plays scripts until the wanted number of faults has happened. Returns whether it has, without a failure.
pub(crate) fn run(wanted: &args::Faults) -> bool {
    if wanted.share.is_divided() { run_in_processes(wanted) } else { run_here(wanted) }
}

/// Starts processes, each of which plays scripts until it has had its share of the faults.
fn run_in_processes(wanted: &args::Faults) -> bool {
    let begin = Instant::now();
    let mut faults = 0;
    let passed = wanted.share.start(|part, line| {
        println!("{part}: {line}");
        faults += line.strip_prefix(FAULTS).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    });
    let passed = match passed {
        Ok(passed) => passed && faults >= wanted.faults,
        Err(why) => {
            println!("the processes fail: {why}");
            false
        }
    };
    println!(
        "seed {}, {faults} faults in {} processes, {:.1} s: {}",
        wanted.share.seed,
        wanted.share.jobs,
        begin.elapsed().as_secs_f64(),
        if passed { "PASS" } else { "FAIL" }
    );
    passed
}

fn run_here(wanted: &args::Faults) -> bool {
    let args::Faults { faults, seconds, share } = *wanted;
    let (seed, only) = (share.seed, share.only);
    let count = faults.div_ceil(share.jobs);
    let mut tally = Tally::new();
    match faults::open() {
        Ok(device) => println!("{}, seed {seed}", device.info()),
        Err(why) => {
            println!("FAIL: {why}");
            return false;
        }
    }
    let mut played = 0;
    let mut failed = false;
    for number in (only.unwrap_or(0)..).filter(|number| share.includes(*number)) {
        if let Err(why) = play(seed, number, &mut tally) {
            println!(
                "script {number} of seed {seed} failed (`--seed {seed} --only {number}` plays it alone): {why}"
            );
            failed = true;
            break;
        }
        played += 1;
        tally.progress(|tally| format!("{played} scripts, faults: {}", tally.kinds()));
        if only.is_some() || tally.faults() >= count || tally.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    tally.print();
    let is_enough = only.is_some() || tally.faults() >= count;
    if !failed && !is_enough {
        println!("{} faults were injected in {seconds} s, but {count} are wanted", tally.faults());
    }
    let passed = !failed && is_enough;
    println!("{FAULTS}{}", tally.faults());
    println!(
        "seed {seed}, {played} scripts, {:.1} s: {}",
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
        ScriptEnd::Played => "scripts played to their end",
        ScriptEnd::StateLost => "scripts that ended with a lost state",
    });
    Ok(())
}
