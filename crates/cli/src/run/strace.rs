//! The trace of the system calls of a Linux program.

use std::fs::File;
use std::io::{self, Write, stderr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;
use kvrm::Builder;

/// The options of the trace.
#[derive(clap::Args)]
pub(super) struct StraceArgs {
    /// Print the system calls of a Linux program as strace does, with signals and the ends of processes, on standard error. With
    /// =LANES only those of some lanes, such as --strace=0,3-5. All calls are then served by the host, which takes longer, but
    /// changes nothing else.
    #[arg(
        long,
        value_name = "LANES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_parser = lanes
    )]
    strace: Option<Lanes>,
    /// Write the system calls into this file instead. With {lane} in the name, each lane has a file of its own.
    #[arg(long, value_name = "FILE", requires = "strace")]
    strace_output: Option<String>,
}

/// A set of lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lanes {
    All,
    /// From a first to a last lane each.
    Some(Vec<(usize, usize)>),
}

impl Lanes {
    fn contains(&self, lane: usize) -> bool {
        match self {
            Self::All => true,
            Self::Some(spans) => spans.iter().any(|(first, last)| (*first..=*last).contains(&lane)),
        }
    }
}

/// Parses the value of `--strace`.
fn lanes(text: &str) -> Result<Lanes, String> {
    if text == "all" {
        return Ok(Lanes::All);
    }
    let number = |text: &str| text.parse::<usize>().ok();
    let span = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last)
    };
    let spans: Option<Vec<_>> = text.split(',').map(span).collect();
    spans.map(Lanes::Some).ok_or_else(|| "expected lanes such as 0,3-5, or all".to_owned())
}

/// The destination of the trace.
enum Destination {
    StandardError(ProgressBar),
    File(File),
    /// A file for each lane.
    Files(Vec<Option<File>>),
}

/// The first failure to write the trace.
#[derive(Clone, Default)]
pub(super) struct TraceFailure(Arc<Mutex<Option<io::Error>>>);

impl TraceFailure {
    /// Returns the failure, if there was one.
    pub(super) fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn note(&self, written: io::Result<()>) {
        if let Err(error) = written {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

impl StraceArgs {
    /// Adds the trace to a machine of `lanes` lanes. `bar` is on standard error, too.
    pub(super) fn add_to<'a>(
        &self,
        builder: Builder<'a>,
        lanes: usize,
        bar: &ProgressBar,
    ) -> Result<(Builder<'a>, TraceFailure)> {
        let failure = TraceFailure::default();
        let Some(traced) = self.strace.clone() else { return Ok((builder, failure)) };
        if let Lanes::Some(spans) = &traced
            && let Some((_, last)) = spans.iter().find(|(_, last)| *last >= lanes)
        {
            bail!("--strace: there is no lane {last}; lanes have the numbers from 0 to {}", lanes - 1);
        }
        let mut destination = self.destination(&traced, lanes, bar)?;
        let names_lanes = lanes > 1;
        let noted = failure.clone();
        let builder = builder.trace(
            move |lane| traced.contains(lane),
            move |lane, text| noted.note(destination.write(lane, text, names_lanes)),
        );
        Ok((builder, failure))
    }

    fn destination(&self, traced: &Lanes, lanes: usize, bar: &ProgressBar) -> Result<Destination> {
        let create = |path: &str| {
            File::create(Path::new(path)).with_context(|| format!("--strace-output: cannot create '{path}'"))
        };
        Ok(match &self.strace_output {
            None => Destination::StandardError(bar.clone()),
            Some(template) if template.contains("{lane}") => {
                let file = |lane: usize| {
                    let path = template.replace("{lane}", &lane.to_string());
                    traced.contains(lane).then(|| create(&path)).transpose()
                };
                Destination::Files((0..lanes).map(file).collect::<Result<_>>()?)
            }
            Some(path) => Destination::File(create(path)?),
        })
    }
}

impl Destination {
    /// Writes lines of a lane, which have its number if several lanes write to one place.
    fn write(&mut self, lane: usize, text: &str, names_lanes: bool) -> io::Result<()> {
        let named = || -> String {
            if !names_lanes {
                return text.to_owned();
            }
            text.lines().map(|line| format!("[{lane}] {line}\n")).collect()
        };
        match self {
            Self::StandardError(bar) => {
                // As for all messages, a failure could not be reported anywhere.
                bar.suspend(|| drop(stderr().write_all(named().as_bytes())));
                Ok(())
            }
            Self::File(file) => file.write_all(named().as_bytes()),
            Self::Files(files) => match files.get_mut(lane) {
                Some(Some(file)) => file.write_all(text.as_bytes()),
                _ => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_numbers_and_spans() {
        assert_eq!(lanes("all"), Ok(Lanes::All), "all lanes");
        assert_eq!(lanes("0,3-5"), Ok(Lanes::Some(vec![(0, 0), (3, 5)])), "some lanes");
        let some = lanes("0,3-5").expect("these are lanes");
        assert_eq!(
            [0, 1, 3, 5, 6].map(|lane| some.contains(lane)),
            [true, false, true, true, false],
            "of them"
        );
        for text in ["", "x", "5-3", "1,", "-1"] {
            assert!(lanes(text).is_err(), "{text} names no lanes");
        }
    }
}
