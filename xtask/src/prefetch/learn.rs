//! The table of `docs/learning.md`: a memory oracle that learns while it is used, on recorded streams.

use std::num::NonZeroUsize;
use std::time::Instant;

use anyhow::{Result, ensure};
use kvrm_learn::oracle::Accuracy;
use kvrm_learn::{Learned, Learning};
use kvrm_prefetch::{
    AccessStream, Candidates, NoPrefetcher, OraclePrefetcher, OracleSettings, Outcome, PageAccess,
    Prefetcher, ReplaySettings, Trigger, footprint, replay,
};

use super::files::Choice;
use super::prefetchers::Prefetchers;
use crate::markdown::{head, percent, replace_between, row};

/// The marks around the table in the document.
const BEGIN: &str = "<!-- learning table -->";
const END: &str = "<!-- end of learning table -->";
const DOCUMENT: &str = "docs/learning.md";

/// Arguments of `cargo xtask prefetch learn`.
#[derive(clap::Args)]
pub(super) struct LearnArgs {
    /// Replace the table of docs/learning.md, for which the other options have to be the default.
    #[arg(long, conflicts_with_all = ["only", "part", "divisor", "seed"])]
    write: bool,
    #[command(flatten)]
    choice: Choice,
    /// The pool holds one page of so many.
    #[arg(long, value_name = "N", default_value = "2")]
    divisor: NonZeroUsize,
    /// The seed of the learning.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A memory oracle that learns from what it hears.
struct Learner {
    prefetcher: OraclePrefetcher,
    learning: Learning,
}

impl Prefetcher for Learner {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        if let Some(network) = self.learning.hear([(0, *access)]) {
            self.prefetcher.set_network(network);
        }
        self.prefetcher.observe(access, trigger, candidates);
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        self.prefetcher.arrived(page, is_prefetched);
    }

    fn bytes(&self) -> usize {
        self.prefetcher.bytes()
    }
}

/// Prints the table, and replaces that of the document if that is wanted.
pub(super) fn run(streams: &[AccessStream], args: &LearnArgs) -> Result<()> {
    let chosen = args.choice.of(streams)?;
    let prefetchers = Prefetchers::new(None, OracleSettings::default())?;
    let mut out = String::new();
    head(
        &mut out,
        "Learning",
        &[
            "program",
            "heard",
            "rounds",
            "adopted",
            "next page",
            "learned",
            "used",
            "learned",
            "waiting",
            "learned",
        ],
    );
    for stream in chosen {
        let start = Instant::now();
        let pages = footprint(&stream.accesses).div_ceil(args.divisor.get());
        let settings = ReplaySettings::new(pages);
        let none = replay(&stream.accesses, &settings, &mut NoPrefetcher)?;
        let prefetcher = || OraclePrefetcher::new(prefetchers.network.clone(), prefetchers.settings);
        let fixed = replay(&stream.accesses, &settings, &mut prefetcher())?;
        let learning = Learning::new(args.seed);
        ensure!(learning.begin_oracle(&prefetchers.network), "the learning is new");
        let mut learner = Learner { prefetcher: prefetcher(), learning: learning.clone() };
        let learned = replay(&stream.accesses, &settings, &mut learner)?;
        let found = learning.oracle().unwrap_or_default();
        line(&mut out, stream, &found, [&none, &fixed, &learned]);
        eprintln!("{} {}: {:.1} s", stream.program, stream.level, start.elapsed().as_secs_f64());
    }
    println!("{out}");
    if args.write {
        replace_between(DOCUMENT, BEGIN, END, &out)?;
    }
    Ok(())
}

/// Appends the row of a program.
fn line(
    out: &mut String,
    stream: &AccessStream,
    found: &Learned<Accuracy>,
    [none, fixed, learned]: [&Outcome; 3],
) {
    // What was learned early is of use late.
    let [before, after] = found.of_last(found.history.len().div_ceil(2));
    let measured = |share: f64| if after.windows == 0 { "-".to_owned() } else { percent(share) };
    let waiting = |outcome: &Outcome| percent(outcome.stall as f64 / none.stall.max(1) as f64);
    let cells = [
        stream.program.clone(),
        found.heard.to_string(),
        found.rounds.to_string(),
        found.adopted.to_string(),
        measured(before.next_share()),
        measured(after.next_share()),
        measured(before.used_share()),
        measured(after.used_share()),
        waiting(fixed),
        waiting(learned),
    ];
    row(out, cells);
}
