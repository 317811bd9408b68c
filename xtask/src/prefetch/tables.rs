//! The tables of `docs/prefetch.md`: measures of prefetchers on recorded streams.

use std::fmt::Write as _;

use std::path::PathBuf;

use anyhow::Result;
use kvrm_prefetch::{
    AccessStream, Degree, Eviction, NoPrefetcher, OracleSettings, Outcome, Policy, Prefetcher as _,
    ReplaySettings, Start, belady, footprint, foresight, least_stall, replay,
};
use kvrm_train::oracle::Part;
use rayon::prelude::*;

use super::files::Choice;
use super::prefetchers::{POLICIES, Prefetchers};
use crate::markdown::{head, percent, replace_between, row};

/// The marks around the tables in the document.
const BEGIN: &str = "<!-- prefetch tables -->";
const END: &str = "<!-- end of prefetch tables -->";
const DOCUMENT: &str = "docs/prefetch.md";

/// The parts of the pages of a program that the pool holds, as divisors.
const DIVISORS: [usize; 3] = [1, 2, 5];
/// The degrees that are compared.
const DEGREES: [usize; 5] = [1, 2, 4, 8, 16];

/// Arguments of `cargo xtask prefetch replay`.
#[derive(clap::Args)]
pub(super) struct ReplayArgs {
    /// Replace the tables of docs/prefetch.md, for which the other options have to be the default.
    #[arg(long, conflicts_with_all = [
        "only", "part", "degree", "latency", "batch", "eviction", "fresh", "throttle", "weights", "least_confidence", "rounds",
    ])]
    write: bool,
    #[command(flatten)]
    choice: Choice,
    /// The number of pages that a prefetcher names at once.
    #[arg(long, default_value = "4")]
    degree: Degree,
    /// The steps from the request of a page to its arrival.
    #[arg(long, default_value_t = 10_000)]
    latency: u64,
    /// The number of pages that are on their way at a time.
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// The eviction: clock or lru.
    #[arg(long, default_value = "clock")]
    eviction: Eviction,
    /// Let pages be made by their first accesses, instead of all being away in the beginning.
    #[arg(long)]
    fresh: bool,
    /// Fetch few pages while most of them leave unused, as lanes on a GPU do.
    #[arg(long)]
    throttle: bool,
    /// The weights of the memory oracle: a .safetensors file [default: those that come with KVRM].
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// The confidence from which on the oracle names a page.
    #[arg(long, value_name = "0 TO 1", default_value_t = OracleSettings::default().least_confidence())]
    least_confidence: f32,
    /// How often the oracle predicts at an access, at most: 1 to 3.
    #[arg(long, value_name = "N", default_value_t = OracleSettings::default().rounds())]
    rounds: usize,
}

impl ReplayArgs {
    /// Returns the settings, for a pool of one page.
    const fn settings(&self) -> ReplaySettings {
        ReplaySettings {
            pages: 1,
            eviction: self.eviction,
            latency: self.latency,
            batch: self.batch,
            degree: self.degree,
            start: if self.fresh { Start::Fresh } else { Start::Away },
            is_throttled: self.throttle,
        }
    }
}

/// The results of a program with a part of its pages.
struct Case<'a> {
    stream: &'a AccessStream,
    divisor: usize,
    settings: ReplaySettings,
    none: Outcome,
    /// The outcomes of [`POLICIES`].
    outcomes: Vec<Outcome>,
    /// The bytes of the prefetchers after the replays.
    bytes: Vec<usize>,
    /// How often the network has predicted.
    inferences: u64,
    /// The misses without prefetching, with exact LRU, and the least number.
    lru: u64,
    least: u64,
    foresight: Outcome,
    least_stall: u64,
}

/// Prints the tables, and replaces those of the document if that is wanted.
pub(super) fn run(streams: &[AccessStream], args: &ReplayArgs) -> Result<()> {
    let chosen = args.choice.of(streams)?;
    let settings = args.settings();
    let oracle = OracleSettings::new(args.least_confidence, args.rounds)?;
    let prefetchers = Prefetchers::new(args.weights.as_deref(), oracle)?;
    let places = chosen.par_iter().flat_map_iter(|stream| DIVISORS.map(|divisor| (*stream, divisor)));
    let cases: Vec<Case<'_>> = places
        .map(|(stream, divisor)| Case::new(stream, divisor, &settings, &prefetchers))
        .collect::<Result<_>>()?;
    let mut out = String::new();
    parts(streams, &mut out);
    data(&chosen, &mut out);
    misses(&cases, &mut out);
    waits(&cases, &mut out);
    qualities(&cases, &mut out);
    moves(&cases, &mut out);
    triggers(&cases, &mut out);
    degrees(&chosen, &settings, &prefetchers, &mut out)?;
    states(&cases, &mut out);
    println!("{out}");
    if args.write {
        replace_between(DOCUMENT, BEGIN, END, &out)?;
    }
    Ok(())
}

impl<'a> Case<'a> {
    fn new(
        stream: &'a AccessStream,
        divisor: usize,
        settings: &ReplaySettings,
        prefetchers: &Prefetchers,
    ) -> Result<Self> {
        let accesses = &stream.accesses;
        let settings = ReplaySettings { pages: footprint(accesses).div_ceil(divisor), ..*settings };
        let lru = ReplaySettings { eviction: Eviction::Lru, ..settings };
        let (mut outcomes, mut bytes, mut inferences) = (Vec::new(), Vec::new(), 0);
        for policy in POLICIES {
            let mut prefetcher = prefetchers.of(policy);
            outcomes.push(replay(accesses, &settings, &mut prefetcher)?);
            bytes.push(prefetcher.bytes());
            inferences += prefetcher.inferences();
        }
        Ok(Self {
            stream,
            divisor,
            settings,
            none: replay(accesses, &settings, &mut NoPrefetcher)?,
            outcomes,
            bytes,
            inferences,
            lru: replay(accesses, &lru, &mut NoPrefetcher)?.misses,
            least: belady(accesses, &settings)?,
            foresight: foresight(accesses, &settings)?,
            least_stall: least_stall(accesses, &settings)?,
        })
    }

    /// Returns the first cells of a row.
    fn name(&self) -> [String; 2] {
        [self.stream.program.clone(), part_of_pages(self.divisor)]
    }

    /// Returns a cell for `none`, and one for each of [`POLICIES`].
    fn cells(&self, cell: impl Fn(&Outcome) -> String) -> Vec<String> {
        std::iter::once(&self.none).chain(&self.outcomes).map(cell).collect()
    }

    /// Returns how long the lane waits, relative to no prefetching.
    fn wait(&self, stall: u64) -> String {
        relative(stall, self.none.stall).map_or("-".to_owned(), percent)
    }
}

/// Returns the part of the pages that the pool holds.
fn part_of_pages(divisor: usize) -> String {
    if divisor == 1 { "1".to_owned() } else { format!("1/{divisor}") }
}

fn relative(stall: u64, none: u64) -> Option<f64> {
    (none > 0).then(|| stall as f64 / none as f64)
}

/// Appends the head of a table with a row for each case.
fn case_head(out: &mut String, title: &str, before: &[&str], policies: &[Policy], after: &[&str]) {
    let mut columns = vec!["program", "memory"];
    columns.extend(before);
    columns.extend(policies.iter().map(|policy| policy.name()));
    columns.extend(after);
    head(out, title, &columns);
}

/// Appends a table of all streams by their parts.
fn parts(streams: &[AccessStream], out: &mut String) {
    head(out, "Streams of all programs", &["part", "programs", "streams", "accesses", "names"]);
    for part in Part::ALL {
        let of_part: Vec<_> = streams.iter().filter(|stream| Part::of(&stream.program) == part).collect();
        let names: std::collections::BTreeSet<&str> =
            of_part.iter().map(|stream| &stream.program[..]).collect();
        let accesses: usize = of_part.iter().map(|stream| stream.accesses.len()).sum();
        let counts = [names.len(), of_part.len(), accesses].map(|count| count.to_string());
        let names = names.into_iter().collect::<Vec<_>>().join(" ");
        row(out, [part.name().to_owned()].into_iter().chain(counts).chain([names]));
    }
}

fn data(streams: &[&AccessStream], out: &mut String) {
    let columns = ["program", "steps", "accesses", "steps of an access", "pages", "written", "pointed to"];
    head(out, "Streams of the tables below", &columns);
    for stream in streams {
        let accesses = &stream.accesses;
        let share = |count: usize| percent(count as f64 / accesses.len() as f64);
        let written = accesses.iter().filter(|recorded| recorded.is_written).count();
        let pointed = accesses.iter().filter(|recorded| recorded.is_pointed_to).count();
        let step = |index: Option<usize>| index.map_or(0, |index| accesses[index].access.step);
        let steps = step(accesses.len().checked_sub(1)) - step((!accesses.is_empty()).then_some(0));
        row(
            out,
            [
                stream.program.clone(),
                steps.to_string(),
                accesses.len().to_string(),
                (steps / accesses.len().max(1) as u64).to_string(),
                footprint(accesses).to_string(),
                share(written),
                share(pointed),
            ],
        );
    }
}

fn misses(cases: &[Case<'_>], out: &mut String) {
    let columns = ["pages", "misses", "exact LRU", "Belady"];
    case_head(out, "Misses without prefetching", &columns, &[], &[]);
    for case in cases {
        let counts = [case.settings.pages as u64, case.none.misses, case.lru, case.least];
        row(out, case.name().into_iter().chain(counts.map(|count| count.to_string())));
    }
}

fn waits(cases: &[Case<'_>], out: &mut String) {
    let title = "Waiting, relative to that without prefetching";
    case_head(out, title, &["waiting of all time, without"], &POLICIES, &["foresight", "bound"]);
    for case in cases {
        let all = case.none.stall + case.none.steps;
        let share = relative(case.none.stall, all).map_or("-".to_owned(), percent);
        let waits = case.outcomes.iter().chain([&case.foresight]).map(|outcome| case.wait(outcome.stall));
        row(out, case.name().into_iter().chain([share]).chain(waits).chain([case.wait(case.least_stall)]));
    }
    for divisor in DIVISORS {
        let of_divisor = || cases.iter().filter(move |case| case.divisor == divisor);
        let mean = |stall: &dyn Fn(&Case<'_>) -> u64| {
            let waits: Option<Vec<f64>> = of_divisor()
                .map(|case| relative(stall(case), case.none.stall).filter(|wait| *wait > 0.0))
                .collect();
            waits.and_then(|waits| geometric_mean(&waits)).map_or("-".to_owned(), percent)
        };
        let policies = (0..POLICIES.len()).map(|policy| mean(&|case| case.outcomes[policy].stall));
        let means = policies.chain([mean(&|case| case.foresight.stall), mean(&|case| case.least_stall)]);
        let name = ["geometric mean".to_owned(), part_of_pages(divisor), String::new()];
        row(out, name.into_iter().chain(means));
    }
}

/// Returns the geometric mean of positive numbers, unless there are none.
fn geometric_mean(numbers: &[f64]) -> Option<f64> {
    let sum: f64 = numbers.iter().map(|number| number.ln()).sum();
    (!numbers.is_empty()).then(|| (sum / numbers.len() as f64).exp())
}

fn qualities(cases: &[Case<'_>], out: &mut String) {
    case_head(out, "Accuracy / coverage / timeliness, in percent", &[], &POLICIES, &["foresight"]);
    let number = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0}", 100.0 * share));
    for case in cases {
        let cells = case.outcomes.iter().chain([&case.foresight]).map(|outcome| {
            let measures = [outcome.accuracy(), outcome.coverage(), outcome.timeliness()];
            measures.map(number).join(" / ")
        });
        row(out, case.name().into_iter().chain(cells));
    }
}

fn moves(cases: &[Case<'_>], out: &mut String) {
    let title = "Pages moved in / out";
    case_head(out, title, &[Policy::None.name()], &POLICIES, &["foresight"]);
    let cell = |outcome: &Outcome| format!("{} / {}", outcome.moved_in(), outcome.moved_out);
    for case in cases {
        row(out, case.name().into_iter().chain(case.cells(cell)).chain([cell(&case.foresight)]));
    }
}

fn triggers(cases: &[Case<'_>], out: &mut String) {
    let title = "Accesses that a prefetcher hears of, for each 1,000 steps";
    case_head(out, title, &[Policy::None.name()], &POLICIES, &[]);
    let cell = |outcome: &Outcome| {
        outcome.triggers_per_1000_steps().map_or("-".to_owned(), |count| format!("{count:.3}"))
    };
    for case in cases {
        row(out, case.name().into_iter().chain(case.cells(cell)));
    }
}

/// Appends the means of the waiting with other degrees, with half of the memory.
fn degrees(
    streams: &[&AccessStream],
    settings: &ReplaySettings,
    prefetchers: &Prefetchers,
    out: &mut String,
) -> Result<()> {
    let mut columns = vec!["degree"];
    columns.extend(POLICIES.map(Policy::name));
    head(
        out,
        "Waiting relative to that without prefetching, with half of the memory, mean of the programs",
        &columns,
    );
    for degree in DEGREES {
        let settings = ReplaySettings { degree: Degree::new(degree)?, ..*settings };
        let waits = streams.par_iter().map(|stream| -> Result<Option<Vec<f64>>> {
            let pages = footprint(&stream.accesses).div_ceil(2);
            let settings = ReplaySettings { pages, ..settings };
            let none = replay(&stream.accesses, &settings, &mut NoPrefetcher)?.stall;
            let mut waits = Vec::new();
            for policy in POLICIES {
                let stall = replay(&stream.accesses, &settings, &mut prefetchers.of(policy))?.stall;
                waits.extend(relative(stall, none));
            }
            Ok((none > 0).then_some(waits))
        });
        let waits: Vec<Vec<f64>> = waits.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let mean = |policy: usize| {
            let sum: f64 = waits.iter().map(|waits| waits[policy]).sum();
            if waits.is_empty() { "-".to_owned() } else { percent(sum / waits.len() as f64) }
        };
        row(out, [degree.to_string()].into_iter().chain((0..POLICIES.len()).map(mean)));
    }
    Ok(())
}

/// Appends a sentence about the state of each prefetcher.
fn states(cases: &[Case<'_>], out: &mut String) {
    let bytes = POLICIES.iter().enumerate().map(|(index, policy)| {
        let most = cases.iter().map(|case| case.bytes[index]).max().unwrap_or(0);
        format!("{policy} {most}")
    });
    let bytes: Vec<String> = bytes.collect();
    // Writing to a string cannot fail.
    let _ =
        writeln!(out, "\nBytes of state for each lane, at the end of these replays: {}.", bytes.join(", "));
    let heard = |case: &Case<'_>| case.outcomes.last().map_or(0, |outcome| outcome.triggers);
    let (inferences, heard) =
        (cases.iter().map(|case| case.inferences).sum::<u64>(), cases.iter().map(heard).sum::<u64>());
    let _ = writeln!(
        out,
        "The oracle predicts {:.2} times for each access that it hears of, on average.",
        inferences as f64 / heard.max(1) as f64
    );
}
