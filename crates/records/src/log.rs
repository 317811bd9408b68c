//! Writing records.

use std::collections::BTreeMap;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::record::{Adapter, Figure, Kind, Record, SCHEMA, Value};
use crate::{Commit, Error, Machine, date, read};

/// What a benchmark knows of a row it has measured. The rest of a [`Record`] is known to the [`Log`].
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// What kind of benchmark it is.
    pub kind: Kind,
    /// The GPU adapter, if one was measured.
    pub adapter: Option<Adapter>,
    /// What tells this row from the others of its kind.
    pub parameters: BTreeMap<&'a str, Value>,
    /// What was measured, by name.
    pub figures: BTreeMap<&'a str, Figure>,
}

/// A file that records of this process are appended to.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    date: String,
    machine: Machine,
    commit: Option<Commit>,
    command: String,
}

impl Log {
    /// Opens a file, or makes it. `program` is how a user calls this program, such as `cargo xtask`. Unless a commit is
    /// given, it is that of the repository in the current directory.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or it holds something else than records, which a mistaken name must not damage.
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
            machine: Machine::here(),
            commit: commit.or_else(|| Commit::of(Path::new("."))),
            command: command_line(program, measuring(env::args().skip(1))),
        })
    }

    /// Appends a row. It is in the file when this returns, so rows are kept if a later one cannot be measured.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    ///
    /// # Panics
    ///
    /// Never: a record is always valid JSON.
    pub fn append(&mut self, measured: Measured<'_>) -> Result<(), Error> {
        let Measured { kind, adapter, parameters, figures } = measured;
        let record = Record {
            schema: SCHEMA,
            kind,
            date: self.date.clone(),
            machine: self.machine.clone(),
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
        // In one call, so that no half line stays if two commands write at once.
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// A command line that a shell takes apart into the same arguments.
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

/// The arguments that say what is measured: all but those of [`RecordArgs`](crate::RecordArgs).
fn measuring(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
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
    fn a_record_does_not_say_where_it_was_written_to() {
        let arguments = ["bench", "--record", "/a/b.jsonl", "--lanes", "1", "--commit=abc", "--seconds", "2"];
        let kept = measuring(arguments.map(str::to_owned));
        assert_eq!(kept, ["bench", "--lanes", "1", "--seconds", "2"], "with a value behind it or in it");
    }

    #[test]
    fn a_shell_would_take_the_command_line_apart_again() {
        let arguments = ["bench", "--lanes", "1,128", "", "a b", "it's"].map(str::to_owned);
        assert_eq!(
            command_line("kvrm", arguments),
            r"kvrm bench --lanes 1,128 '' 'a b' 'it'\''s'",
            "quoted where it has to be"
        );
    }
}
