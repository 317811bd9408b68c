//! `soak programs`: random programs with random system calls, each in many lanes, compared with the reference.

use std::collections::BTreeMap;
use std::time::Instant;

use kvrm_gpu::GpuEngine;
use kvrm_machine::{Error, Machine, Report};
use kvrm_testkit::lanes::of_machine;
use kvrm_testkit::linux_programs::{self, LinuxProgramCase};
use kvrm_testkit::random::Random;

use crate::args;
use crate::compare::{check_audit, compare_lane};
use crate::digest::Digest;
use crate::faults::open;
use crate::jobs::Share;
use crate::report::Tally;

/// The beginning of the line in which a process prints the number and the digest of a program.
const PROGRAM: &str = "program ";
/// The maximum number of steps of a run.
const STEPS: u64 = 500;
/// The maximum number of pages that a lane may write.
const FRAMES_MAX: usize = 64;

/// Runs programs. Returns whether all had the same results as on the reference.
pub(crate) fn run(wanted: &args::Programs) -> bool {
    let args::Programs { programs, lanes, share } = *wanted;
    let Share { seed, only, part, .. } = share;
    let begin = Instant::now();
    let mut digests: BTreeMap<u64, u64> = BTreeMap::new();
    let ran = if share.is_divided() {
        let started = share.start(|part, line| match parse_line(line) {
            Some((number, digest)) => drop(digests.insert(number, digest)),
            None => println!("{part}: {line}"),
        });
        started.map_err(|why| format!("the processes fail: {why}"))
    } else {
        let numbers = only.map_or(0..programs, |number| number..number + 1);
        run_here(seed, lanes, numbers.filter(|number| share.includes(*number)), |number, digest| {
            digests.insert(number, digest);
            if part.is_some() {
                println!("{PROGRAM}{number}: {digest:016x}");
            }
        })
        .map(|()| true)
    };
    let all = ran.unwrap_or_else(|why| {
        println!("{why}");
        false
    });
    let is_part = part.is_some() || only.is_some();
    let passed = all && (is_part || digests.len() as u64 == programs);
    let mut digest = Digest::new();
    digests.values().for_each(|digest_of_program| digest.word(*digest_of_program));
    println!(
        "seed {seed}, {} programs of {lanes} lanes, digest {:016x}, {:.1} s: {}",
        digests.len(),
        digest.0,
        begin.elapsed().as_secs_f64(),
        if passed { "PASS" } else { "FAIL" }
    );
    passed
}

/// Parses a line that a process printed. Returns the number of a program and the digest of its states.
fn parse_line(line: &str) -> Option<(u64, u64)> {
    let (number, digest) = line.strip_prefix(PROGRAM)?.split_once(": ")?;
    Some((number.parse().ok()?, u64::from_str_radix(digest, 16).ok()?))
}

/// Runs programs in this process.
fn run_here(
    seed: u64,
    lanes: usize,
    numbers: impl Iterator<Item = u64>,
    mut each: impl FnMut(u64, u64),
) -> Result<(), String> {
    println!("{}, seed {seed}", open()?.info());
    let (mut tally, mut done) = (Tally::new(), 0);
    for number in numbers {
        let digest = compare(seed, number, lanes).map_err(|why| {
            format!("program {number} of seed {seed} failed (`--seed {seed} --only {number}` runs it alone): {why}")
        })?;
        each(number, digest.0);
        done += 1;
        tally.progress(|_| format!("{done} programs"));
    }
    Ok(())
}

/// Runs a program on both engines. Returns the digest of its states; the error is the first difference.
fn compare(seed: u64, number: u64, lanes: usize) -> Result<Digest, String> {
    let random = &mut Random::new(seed.wrapping_mul(1 << 20) ^ number);
    let case = linux_programs::random(random.bits());
    let plan = Plan { lanes, start: random.bits(), steps: [0; 3].map(|_| random.below(STEPS)) };
    let gpu = GpuEngine::open(None).map_err(|error| error.to_string())?;
    let builder =
        || Machine::builder(case.program.clone()).features(case.features).lanes(lanes).frames_max(FRAMES_MAX);
    let failed = |error: Error| format!("{error}: {:?}", std::error::Error::source(&error));
    let mut gpu = builder().engine(gpu).build().map_err(failed)?;
    let mut reference = builder().build().map_err(failed)?;
    let mut digest = Digest::new();
    for part in 0..3 {
        let reports = [&mut gpu, &mut reference].map(|machine| plan.play(&case, machine, part));
        let [found, expected] = reports.map(|report| report.map_err(failed));
        let (found, expected) = (found?, expected?);
        let what = |report: &Report| {
            let calls = [&report.unknown_calls, &report.refused_calls].map(Clone::clone);
            (report.steps, report.stops.clone(), report.services, calls, report.frames)
        };
        if what(&found) != what(&expected) {
            return Err(format!(
                "part {part}: {:?} on the GPU, {:?} on the reference",
                what(&found),
                what(&expected)
            ));
        }
        let violations = gpu.audit().map_err(failed)?;
        check_audit(&violations).map_err(|why| format!("part {part}: {why}"))?;
        let (found, expected) =
            (of_machine(&mut gpu).map_err(failed)?, of_machine(&mut reference).map_err(failed)?);
        for (lane, (found, expected)) in found.iter().zip(&expected).enumerate() {
            compare_lane(lane, &found.0, &expected.0).map_err(|why| format!("part {part}: {why}"))?;
            if found.1 != expected.1 {
                return Err(format!("part {part}: the output of lane {lane} differs"));
            }
            digest.lane(&found.0, &found.1);
        }
    }
    Ok(digest)
}

/// The runs of a program.
struct Plan {
    lanes: usize,
    start: u64,
    steps: [u64; 3],
}

impl Plan {
    /// Runs one of three parts: part 0 from the beginning of the program, part 1 after a snapshot, and part 2 after
    /// some lanes were reset to that snapshot.
    fn play(&self, case: &LinuxProgramCase, machine: &mut Machine, part: usize) -> Result<Report, Error> {
        match part {
            0 => case.start(machine, self.start)?,
            1 => machine.snapshot()?,
            _ => machine.reset(&(0..self.lanes).filter(|lane| lane % 3 != 0).collect::<Vec<_>>())?,
        }
        machine.run(self.steps[part])
    }
}
