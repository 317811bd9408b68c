//! A recording that is written while a player plays.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::input::Input;
use super::recording::{self, Event};

/// A recording that is written.
pub(super) struct Recorder {
    path: PathBuf,
    file: BufWriter<File>,
    input: Input,
}

impl Recorder {
    /// Makes the file, and writes its first line.
    pub(super) fn create(path: &Path, header: &str) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("--record '{}'", path.display()))?;
        let mut recorder =
            Self { path: path.to_owned(), file: BufWriter::new(file), input: Input::default() };
        recorder.write_text(header)?;
        Ok(recorder)
    }

    /// Writes the input of a tic if it is another one than before.
    pub(super) fn input(&mut self, tic: u64, input: Input) -> Result<()> {
        if input == self.input {
            return Ok(());
        }
        self.input = input;
        self.write(tic, &Event::Input(input))
    }

    /// Writes what happens in a tic.
    pub(super) fn write(&mut self, tic: u64, event: &Event) -> Result<()> {
        self.write_text(&recording::line(tic, event))
    }

    fn write_text(&mut self, text: &str) -> Result<()> {
        self.file.write_all(text.as_bytes()).with_context(|| format!("--record '{}'", self.path.display()))
    }

    /// Writes everything to the file, at the end.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.file.flush().with_context(|| format!("--record '{}'", self.path.display()))
    }
}
