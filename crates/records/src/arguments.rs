//! The command-line options of benchmarks that write records.

use std::path::PathBuf;

use crate::{Commit, Error, Log};

/// The options `--record` and `--commit`.
///
/// ```
/// use clap::Parser as _;
/// use kvrm_records::RecordArgs;
///
/// #[derive(clap::Parser)]
/// struct Args {
///     #[command(flatten)]
///     record: RecordArgs,
/// }
///
/// let args = Args::parse_from(["benchmark"]);
/// assert!(args.record.open("benchmark")?.is_none(), "without --record, nothing is recorded");
/// # Ok::<(), kvrm_records::Error>(())
/// ```
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RecordArgs {
    /// Append the results to a file of benchmark records: one line of JSON per row, with machine, driver, commit and
    /// this command line (without --record and --commit).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The measured commit, followed by -dirty if files were changed. By default the commit of the repository in the
    /// current directory, if there is one.
    #[arg(long, value_name = "HASH", requires = "record")]
    commit: Option<Commit>,
}

impl RecordArgs {
    /// Opens the file given by `--record`, if any. Call it before measuring, so that a file that cannot be written is
    /// an error before the work, not after. `program` is the command as a user types it, such as `cargo xtask`.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or contains anything but records.
    pub fn open(&self, program: &str) -> Result<Option<Log>, Error> {
        self.record.as_ref().map(|path| Log::open(path, program, self.commit.clone())).transpose()
    }
}
