//! Writing of records.

use std::collections::BTreeMap;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::record::{Adapter, Figure, Kind, Record, SCHEMA, Value};
use crate::{Commit, Error, Host, date, read};

/// A row that a benchmark has measured. The [`Log`] adds the other fields of a [`Record`].
#[derive(Clone, Debug)]
pub struct MeasuredRow<'a> {
    /// The benchmark.
    pub kind: Kind,
    /// The GPU adapter, if one was measured.
    pub adapter: Option<Adapter>,
    /// The parameters that identify this row among the rows of its kind.
    pub parameters: BTreeMap<&'a str, Value>,
    /// The measured figures, by name.
    pub figures: BTreeMap<&'a str, Figure>,
}

/// A file to which this process appends records.
///
/// ```
/// use kvrm_records::{Figure, Kind, Log, MeasuredRow};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("records.jsonl");
/// let mut log = Log::open(&path, "kvrm", None)?;
/// let figures = [("mips", Figure::once("MIPS", 100.0))].into();
/// log.append(MeasuredRow { kind: Kind::Lanes, adapter: None, parameters: [("lanes", 1_u32.into())].into(), figures })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    date: String,
    host: Host,
    commit: Option<Commit>,
    command: String,
}

impl Log {
    /// Opens or creates a file. `program` is the command as a user types it, such as `cargo xtask`. The default of
    /// `commit` is the commit of the repository in the current directory.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or contains anything but records: a mistyped name must not damage another file.
    pub fn open(path: &Path, program: &str, commit: Option<Commit>) -> Result<Self, Error> {
        match read(path) {
            Err(Error::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            other => drop(other?),
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|source| Error::Write { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            file,
            date: date::now(),
            host: Host::here(),
            commit: commit.or_else(|| Commit::of(Path::new("."))),
            command: command_line(program, without_record_options(env::args().skip(1))),
        })
    }

    /// Appends a row. The row is in the file when this returns, so it is not lost if a later measurement fails.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    ///
    /// # Panics
    ///
    /// Never: a record is always valid JSON.
    pub fn append(&mut self, measured: MeasuredRow<'_>) -> Result<(), Error> {
        let MeasuredRow { kind, adapter, parameters, figures } = measured;
        let record = Record {
            schema: SCHEMA,
            kind,
            date: self.date.clone(),
            host: self.host.clone(),
            adapter,
            commit: self.commit.clone(),
            command: self.command.clone(),
            transcribed: false,
            note: None,
            parameters: parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            figures: figures.into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect(),
        };
        let mut line = serde_json::to_string(&record).expect("all keys of a record are text");
        line.push('\n');
        // One call for the whole line, so that lines of two commands that write at once do not mix.
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// Returns a command line that a shell splits into the same arguments.
#[must_use]
pub fn command_line(program: &str, arguments: impl IntoIterator<Item = String>) -> String {
    let mut text = program.to_owned();
    for argument in arguments {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=@%+{}".contains(&byte);
        text.push(' ');
        if !argument.is_empty() && argument.bytes().all(is_plain) {
            text.push_str(&argument);
        } else {
            text.push_str(&format!("'{}'", argument.replace('\'', r"'\''")));
        }
    }
    text
}

/// Returns the arguments without the options of [`RecordArgs`](crate::RecordArgs), which do not affect the measurement.
fn without_record_options(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    const OWN: [&str; 2] = ["--record", "--commit"];
    let mut kept = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let name = argument.split_once('=').map_or(argument.as_str(), |(name, _)| name);
        if !OWN.contains(&name) {
            kept.push(argument);
        } else if name == argument {
            arguments.next();
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_options_are_not_in_the_command_of_a_record() {
        let arguments = ["bench", "--record", "/a/b.jsonl", "--lanes", "1", "--commit=abc", "--seconds", "2"];
        let kept = without_record_options(arguments.map(str::to_owned));
        assert_eq!(
            kept,
            ["bench", "--lanes", "1", "--seconds", "2"],
            "the value is the next argument or follows `=`"
        );
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let arguments = ["bench", "--lanes", "1,128", "", "a b", "it's"].map(str::to_owned);
        assert_eq!(
            command_line("kvrm", arguments),
            r"kvrm bench --lanes 1,128 '' 'a b' 'it'\''s'",
            "quoted only where needed"
        );
    }
}
