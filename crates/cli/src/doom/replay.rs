//! The inputs of a recording, step by step, and whether the game still does what it did when it was recorded.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::input::Input;
use super::recording::{End, Event};

/// The inputs of a recording, and what frames have to be.
pub(super) struct Replay {
    path: PathBuf,
    events: Vec<(u64, Event)>,
    /// The number of events that have been used.
    used: usize,
    input: Input,
    /// The number of tics of a step.
    tics: u32,
}

impl Replay {
    /// Plays back the events of a recording, which has this path in errors.
    pub(super) fn new(path: &Path, events: Vec<(u64, Event)>) -> Self {
        Self { path: path.to_owned(), events, used: 0, input: Input::default(), tics: 1 }
    }

    /// Returns the last event, which is the end.
    fn end(&self) -> Option<(u64, End)> {
        self.events.last().and_then(|(tic, event)| match event {
            Event::End(end) => Some((*tic, *end)),
            _ => None,
        })
    }

    /// Returns whether nothing follows this tic.
    pub(super) fn is_over(&self, tic: u64) -> bool {
        self.end().is_none_or(|(end, _)| tic >= end)
    }

    /// Returns the input of the step that begins with a tic, and its number of tics. Tics have to rise.
    pub(super) fn step(&mut self, tic: u64) -> (Input, u32) {
        while let Some((at, event)) = self.events.get(self.used).filter(|(at, _)| *at <= tic) {
            match event {
                Event::Input(input) => self.input = *input,
                Event::Tics(tics) => self.tics = *tics,
                // The frame of this tic is still to be checked.
                _ if *at == tic => break,
                _ => {}
            }
            self.used += 1;
        }
        (self.input, self.tics)
    }

    /// Returns the frames of a tic.
    fn frames(&self, tic: u64) -> impl Iterator<Item = u64> {
        let rest = self.events[self.used..].iter().take_while(move |(at, _)| *at <= tic);
        rest.filter_map(move |(at, event)| match event {
            Event::Frame(checksum) if *at == tic => Some(*checksum),
            _ => None,
        })
    }

    /// Returns whether the recording has a frame of this tic.
    pub(super) fn has_frame(&self, tic: u64) -> bool {
        self.frames(tic).next().is_some()
    }

    /// Checks a frame, if the recording has one of this tic.
    pub(super) fn check(&self, tic: u64, checksum: u64) -> Result<()> {
        if let Some(expected) = self.frames(tic).find(|expected| *expected != checksum) {
            bail!(
                "--replay '{}': tic {tic}: the frame has the checksum {checksum:016x}: \
                 expected {expected:016x}; the recording is of another program or WAD, or was changed",
                self.path.display()
            );
        }
        Ok(())
    }

    /// Checks that the game has stopped in this tic if the recording says so, and not otherwise.
    pub(super) fn check_stop(&self, tic: u64, has_stopped: bool) -> Result<()> {
        let path = self.path.display();
        match self.end() {
            Some((end, End::Stop)) if end == tic && !has_stopped => {
                bail!("--replay '{path}': tic {tic}: the game goes on: expected it to stop");
            }
            Some((end, how)) if has_stopped && (end != tic || how != End::Stop) => {
                bail!("--replay '{path}': tic {tic}: the game stopped: expected it to go on up to tic {end}");
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doom::input::Mouse;

    fn input(right: i32) -> Input {
        Input { mouse: Mouse { right, ..Mouse::default() }, ..Input::default() }
    }

    fn replay(end: End) -> Replay {
        let events = vec![
            (0, Event::Frame(1)),
            (2, Event::Input(input(5))),
            (3, Event::Frame(2)),
            (5, Event::Input(input(6))),
            (5, Event::Frame(3)),
            (6, Event::End(end)),
        ];
        Replay::new("r.txt".as_ref(), events)
    }

    #[test]
    fn an_input_holds_until_the_next() {
        let mut replay = replay(End::Player);
        let inputs: Vec<i32> = (1..=6).map(|tic| replay.step(tic).0.mouse.right).collect();
        assert_eq!(inputs, [0, 5, 5, 5, 6, 6]);
        assert!(!replay.is_over(5) && replay.is_over(6));
    }

    #[test]
    fn steps_have_their_tics() {
        let events = vec![
            (1, Event::Tics(3)),
            (1, Event::Input(input(5))),
            (6, Event::Frame(1)),
            (7, Event::Tics(1)),
            (7, Event::Frame(2)),
            (8, Event::Tics(2)),
            (8, Event::Input(input(6))),
            (9, Event::End(End::Player)),
        ];
        let mut replay = Replay::new("r.txt".as_ref(), events);
        let (mut tic, mut steps) = (0, Vec::new());
        while !replay.is_over(tic) {
            let (input, tics) = replay.step(tic + 1);
            tic += u64::from(tics);
            steps.push((tics, input.mouse.right, replay.has_frame(tic)));
        }
        assert_eq!(steps, [(3, 5, false), (3, 5, true), (1, 5, true), (2, 6, false)]);
        assert_eq!(tic, 9);
    }

    #[test]
    fn frames_are_compared() {
        let mut replay = replay(End::Player);
        replay.check(0, 1).expect("the first frame");
        assert!(replay.check(0, 2).is_err(), "another first frame");
        for (tic, frame) in [(1, None), (2, None), (3, Some(2)), (4, None), (5, Some(3)), (6, None)] {
            replay.step(tic);
            assert_eq!(replay.has_frame(tic), frame.is_some(), "tic {tic}");
            replay.check(tic, frame.unwrap_or(77)).expect("the frame is right");
            assert_eq!(replay.check(tic, 78).is_err(), frame.is_some(), "tic {tic}");
        }
        let error = self::replay(End::Player).check(0, 16).expect_err("another frame").to_string();
        let expected = "tic 0: the frame has the checksum 0000000000000010: expected 0000000000000001; ";
        assert!(error.starts_with("--replay 'r.txt': ") && error.contains(expected), "{error}");
    }

    #[test]
    fn the_game_has_to_stop_where_it_did() {
        let (player, stop) = (replay(End::Player), replay(End::Stop));
        assert!(player.check_stop(6, false).is_ok() && stop.check_stop(6, true).is_ok());
        assert!(player.check_stop(5, false).is_ok() && stop.check_stop(5, false).is_ok());
        let message =
            |replay: &Replay, tic, has_stopped| replay.check_stop(tic, has_stopped).unwrap_err().to_string();
        assert!(
            message(&player, 6, true).contains("tic 6: the game stopped: expected it to go on up to tic 6")
        );
        assert!(
            message(&stop, 4, true).contains("tic 4: the game stopped: expected it to go on up to tic 6")
        );
        assert!(message(&stop, 6, false).contains("tic 6: the game goes on: expected it to stop"));
    }
}
