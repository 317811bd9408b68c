//! `cargo xtask records`: the benchmark records under `docs/records/`, and the tables of `docs/benchmarks.md` made from
//! them.
//!
//! - `tables.toml` defines the tables, and the code that each kind of benchmark measures ([`mod@definition`]).
//! - A cell shows the last record that matches its row and column ([`mod@table`]).
//! - `cargo xtask codegen` writes the tables between markers in the document ([`mod@document`]).

mod adapter;
mod book;
mod criterion;
mod definition;
mod document;
mod number;
mod paths;
mod stale;
mod table;
mod timed;

use std::fs;

use anyhow::{Context as _, Result};

pub(crate) use self::adapter::{gpu_adapter, gpu_adapter_of};
use self::book::Book;
pub(crate) use self::document::Problem;
use self::paths::FOLDER;
pub(crate) use self::paths::{DOCUMENT, PROGRAM};
use crate::root::root;

/// Arguments of `cargo xtask records`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Lists the table rows that are older than the code they measured.
    Stale(stale::Args),
    /// Runs `cargo bench` and records Criterion's results.
    Bench(criterion::Args),
    /// Measures and records the duration of a command that has no benchmark.
    Time(timed::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::Stale(args) => stale::run(args),
        Command::Bench(args) => criterion::run(args),
        Command::Time(args) => timed::run(args),
    }
}

/// Returns the document with up-to-date tables.
pub(crate) fn document() -> Result<String> {
    let text =
        fs::read_to_string(root().join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    document::render(&text, &tables()?).map_err(|problem| problem.at(DOCUMENT))
}

/// Returns the problems with the tables in `text`, the text of the document.
pub(crate) fn check(text: &str) -> Result<Vec<Problem>> {
    Ok(document::check(text, &tables()?))
}

/// Returns the names and texts of all tables.
fn tables() -> Result<Vec<(String, String)>> {
    let root = root();
    let book = Book::load(&root.join(FOLDER))?;
    book.check_paths(&root)?;
    book.render()
}
