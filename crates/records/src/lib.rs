//! Benchmark records: measured figures with the machine, commit and command that produced them.
//!
//! A file of records has one JSON object per line, a [`Record`]. Benchmarks append to it through a [`Log`], which fills
//! in the fields that all records of a command share. `cargo xtask codegen` reads the files under `docs/records/` with
//! [`read`] and generates the tables of `docs/benchmarks.md`.
//!
//! ```
//! use kvrm_records::{Figure, Kind, Log, MeasuredRow, read};
//!
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("records.jsonl");
//! let mut log = Log::open(&path, "kvrm", None)?;
//! log.append(MeasuredRow {
//!     kind: Kind::Lanes,
//!     adapter: None,
//!     parameters: [("guest", "mix".into()), ("lanes", 1024_u64.into())].into(),
//!     figures: [("mips", Figure::of("MIPS", &[101.0, 99.5, 100.0]))].into(),
//! })?;
//! assert_eq!(read(&path)?[0].figures["mips"].median, 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod commit;
mod date;
mod file;
mod host;
mod log;
mod record;

pub use arguments::RecordArgs;
pub use commit::Commit;
pub use file::{Error, parse, read};
pub use host::Host;
pub use log::{Log, MeasuredRow, command_line};
pub use record::{Adapter, Figure, Kind, Record, SCHEMA, Value};

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
