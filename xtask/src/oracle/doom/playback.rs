//! The frames of a demo that one program has played back, and their comparison with those of another.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::process::{Command, Output};

use anyhow::{Context as _, Result};

/// The frames of a demo, as the program prints them, and how the program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Playback {
    /// A line for each frame: how many were drawn, and the checksum.
    frames: Vec<String>,
    /// The exit status, or `None` after a signal.
    status: Option<i32>,
    error_output: String,
}

/// The first difference between two playbacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// A frame, from 1, with both lines, or how a playback has ended before.
    Frame { number: usize, ours: String, theirs: String },
    /// The frames are the same, and one program failed after them.
    End { ours: String, theirs: String },
}

impl Playback {
    /// Runs a command that prints frames.
    pub(super) fn of(command: &mut Command) -> Result<Self> {
        let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
        Ok(Self::from(&output))
    }

    pub(super) const fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of different pictures.
    pub(super) fn pictures(&self) -> usize {
        let checksums = self.frames.iter().map(|line| line.split_once(' ').map_or(&line[..], |(_, sum)| sum));
        checksums.collect::<BTreeSet<_>>().len()
    }

    pub(super) const fn has_succeeded(&self) -> bool {
        matches!(self.status, Some(0))
    }

    /// Returns the first difference from a playback that is right.
    pub(super) fn difference(&self, right: &Self) -> Option<Difference> {
        let (ours, theirs) = (&self.frames, &right.frames);
        let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
        if same < ours.len().max(theirs.len()) {
            let [ours, theirs] = [self, right].map(|playback| playback.line(same));
            return Some(Difference::Frame { number: same + 1, ours, theirs });
        }
        (self.status != right.status).then(|| Difference::End { ours: self.end(), theirs: right.end() })
    }

    /// Returns the line of a frame, from 0, or how the program ended before.
    fn line(&self, frame: usize) -> String {
        self.frames.get(frame).map_or_else(|| format!("none, but {}", self.end()), |line| format!("'{line}'"))
    }

    /// Returns how the program ended, with its last message.
    pub(super) fn end(&self) -> String {
        let status = self.status.map_or("a signal".to_owned(), |status| format!("status {status}"));
        let message = self.error_output.lines().rev().find(|line| !line.trim().is_empty());
        message.map_or_else(|| status.clone(), |message| format!("{status}: {}", message.trim()))
    }
}

impl From<&Output> for Playback {
    fn from(output: &Output) -> Self {
        Self {
            frames: String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect(),
            status: output.status.code(),
            error_output: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Difference {
    /// Returns the place of the difference in a few words.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Frame { number, .. } => format!("frame {number}"),
            Self::End { .. } => "the end".to_owned(),
        }
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame { number, ours, theirs } => write!(f, "frame {number} is {ours}: expected {theirs}"),
            Self::End { ours, theirs } => write!(f, "it ended with {ours}: expected {theirs}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playback(lines: &str, status: i32) -> Playback {
        Playback {
            frames: lines.lines().map(str::to_owned).collect(),
            status: Some(status),
            error_output: "starting\ndemo9 not found\n\n".to_owned(),
        }
    }

    #[test]
    fn the_first_difference_is_found() {
        let right = playback("1 aa\n2 bb\n3 aa\n", 0);
        assert_eq!(right.difference(&right), None);
        let place = |lines: &str, status| {
            let difference = playback(lines, status).difference(&right).expect("it differs");
            (difference.place(), difference.to_string())
        };
        let expected = |place: &str, text: &str| (place.to_owned(), text.to_owned());
        assert_eq!(
            place("1 aa\n2 bc\n3 ab\n", 1),
            expected("frame 2", "frame 2 is '2 bc': expected '2 bb'"),
            "another picture"
        );
        assert_eq!(
            place("1 aa\n2 bb\n", 0),
            expected("frame 3", "frame 3 is none, but status 0: demo9 not found: expected '3 aa'"),
            "an early end"
        );
        assert_eq!(
            place("1 aa\n2 bb\n3 aa\n4 cc\n", 0),
            expected("frame 4", "frame 4 is '4 cc': expected none, but status 0: demo9 not found"),
            "a late end"
        );
        let text = "it ended with status 1: demo9 not found: expected status 0: demo9 not found";
        assert_eq!(place("1 aa\n2 bb\n3 aa\n", 1), expected("the end", text), "another end");
    }

    #[test]
    fn pictures_are_counted_by_their_checksums() {
        assert_eq!(playback("1 aa\n2 bb\n3 aa\n", 0).pictures(), 2);
        assert_eq!(playback("", 0).pictures(), 0);
    }
}
