//! The output of several lanes: line by line, in groups, or in files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use kvrm::{Machine, Stop, Stream};

use crate::output::{Output, note};

/// Shows the output of each lane, line by line.
pub(super) fn show_lanes(machine: &Machine) -> Result<()> {
    let mut out = Output::new();
    for lane in 0..machine.lanes() {
        for line in String::from_utf8_lossy(machine.output(lane, Stream::Output)?).lines() {
            writeln!(out, "[{lane}] {line}")?;
        }
        let errors = machine.output(lane, Stream::Error)?;
        if !errors.is_empty() {
            // Keeps the two streams in order on a terminal.
            out.flush()?;
        }
        for line in String::from_utf8_lossy(errors).lines() {
            note(format_args!("[{lane}] {line}"));
        }
        if machine.output_truncated(lane)? {
            note_truncation(lane);
        }
    }
    Ok(out.flush()?)
}

/// The stop of a lane, and its output on both streams.
type Ending = (Option<Stop>, Vec<u8>, Vec<u8>);

/// Shows each different output once with the numbers of its lanes, outputs of most lanes first.
pub(super) fn show_groups(machine: &mut Machine) -> Result<()> {
    // `Stop` is not ordered, so its text is the key.
    let mut groups: BTreeMap<(String, Vec<u8>, Vec<u8>), Vec<usize>> = BTreeMap::new();
    for lane in 0..machine.lanes() {
        let (stop, output, errors) = ending(machine, lane)?;
        let stop = stop.map_or_else(|| "not run".to_owned(), |stop| stop.to_string());
        groups.entry((stop, output, errors)).or_default().push(lane);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, lanes)| (std::cmp::Reverse(lanes.len()), lanes[0]));
    let mut out = Output::new();
    for ((stop, output, errors), lanes) in groups {
        writeln!(out, "[{}] {stop}", spans(&lanes))?;
        for text in [output, errors] {
            for line in String::from_utf8_lossy(&text).lines() {
                writeln!(out, "  {line}")?;
            }
        }
    }
    Ok(out.flush()?)
}

fn ending(machine: &mut Machine, lane: usize) -> Result<Ending> {
    let stop = machine.stop(lane)?;
    let stream = |stream| machine.output(lane, stream).map(<[u8]>::to_vec);
    Ok((stop, stream(Stream::Output)?, stream(Stream::Error)?))
}

/// Formats sorted numbers as spans: `0-3, 7`.
fn spans(numbers: &[usize]) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let texts = spans.iter().map(
        |(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        },
    );
    texts.collect::<Vec<_>>().join(", ")
}

/// Makes the folder for the outputs. Called before the run, so that a wrong path is an error before the work.
pub(super) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("--output-dir: cannot create {}", folder.display()))
}

/// Writes the output of each lane to two files in an existing folder.
pub(super) fn write(machine: &Machine, folder: &Path) -> Result<()> {
    for lane in 0..machine.lanes() {
        for (stream, ending) in [(Stream::Output, "out"), (Stream::Error, "err")] {
            let path = folder.join(format!("{lane}.{ending}"));
            let bytes = machine.output(lane, stream)?;
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        }
        if machine.output_truncated(lane)? {
            note_truncation(lane);
        }
    }
    Ok(())
}

/// Prints that the output of a lane is not complete.
fn note_truncation(lane: usize) {
    note(format_args!("[{lane}] printed more than 1 MiB, of which only the first 1 MiB is kept"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_numbers_are_a_span() {
        assert_eq!(spans(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8", "three spans");
    }
}
