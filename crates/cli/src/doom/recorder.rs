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
    /// The number of tics of a step.
    tics: u32,
}

impl Recorder {
    /// Makes the file, and writes its first line.
    pub(super) fn create(path: &Path, header: &str) -> Result<Self> {
        let file = File::create(path).with_context(|| format!("--record '{}'", path.display()))?;
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        let mut recorder = Self { path, file, input: Input::default(), tics: 1 };
        recorder.write_text(header)?;
        Ok(recorder)
    }

    /// Writes the input and the number of tics of a step that begins with a tic, if they are other ones than
    /// before.
    pub(super) fn step(&mut self, tic: u64, input: Input, tics: u32) -> Result<()> {
        if tics != self.tics {
            self.tics = tics;
            self.write(tic, &Event::Tics(tics))?;
        }
        if input != self.input {
            self.input = input;
            self.write(tic, &Event::Input(input))?;
        }
        Ok(())
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
