//! `cargo xtask records`: the benchmark records under `docs/records/`, from which the tables of `docs/benchmarks.md` are
//! made.
//!
//! - `tables.toml` defines the tables, and which code each kind of benchmark measures ([`mod@definition`]).
//! - A cell shows the last record of a file that matches its row and column ([`mod@table`]).
//! - `cargo xtask codegen` writes the tables between markers of the document ([`mod@document`]).

mod adapter;
mod book;
mod criterion;
mod definition;
mod document;
mod number;
mod places;
mod stale;
mod table;
mod timed;

use std::fs;

use anyhow::{Context as _, Result};

pub(crate) use self::adapter::gpu_adapter;
use self::book::Book;
pub(crate) use self::document::Problem;
use self::places::FOLDER;
pub(crate) use self::places::{DOCUMENT, PROGRAM};
use crate::root::root;

/// Arguments of `cargo xtask records`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Lists the rows of the tables that are older than the code they measure.
    Stale(stale::Args),
    /// Runs `cargo bench` and records what Criterion measured.
    Bench(criterion::Args),
    /// Records how long a command takes, for what has no benchmark of its own.
    Time(timed::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::Stale(args) => stale::run(args),
        Command::Bench(args) => criterion::run(args),
        Command::Time(args) => timed::run(args),
    }
}

/// The document with the tables that the records give.
pub(crate) fn document() -> Result<String> {
    let text =
        fs::read_to_string(root().join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    document::render(&text, &tables()?).map_err(|problem| problem.at(DOCUMENT))
}

/// What is wrong with the tables in `text`, which is the document.
pub(crate) fn check(text: &str) -> Result<Vec<Problem>> {
    Ok(document::check(text, &tables()?))
}

/// The names of all tables, and their texts.
fn tables() -> Result<Vec<(String, String)>> {
    let root = root();
    let book = Book::load(&root.join(FOLDER))?;
    book.check_paths(&root)?;
    book.render()
}
