//! The options of commands that write records.

use std::path::PathBuf;

use crate::{Commit, Error, Log};

/// Where records go.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RecordArgs {
    /// Append what is measured to a file of benchmark records, a line of JSON a row, with machine, driver, commit and
    /// this command line without the two options for records.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The commit that is measured, with -dirty behind it if files were changed; that of the repository in the current
    /// directory unless said, and none where there is no repository.
    #[arg(long, value_name = "HASH", requires = "record")]
    commit: Option<Commit>,
}

impl RecordArgs {
    /// Opens the file, if one is asked for. Do so before anything is measured: a file that cannot be written is an
    /// error then, not afterwards.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or holds something else than records.
    pub fn open(&self, program: &str) -> Result<Option<Log>, Error> {
        self.record.as_ref().map(|path| Log::open(path, program, self.commit.clone())).transpose()
    }
}
