//! A game from its start to its end: it is stepped with the inputs of a player or of a recording, and is
//! recorded.

use std::time::Instant;

use anyhow::Result;
use kvrm::Stop;

use super::frame::Frame;
use super::input::Input;
use super::meter::{Meter, TICS_A_SECOND};
use super::recorder::Recorder;
use super::recording::{End, Event};
use super::replay::Replay;
use super::session::Session;

/// The largest number of tics between two checksums of a recording.
const CHECKED_TICS: u64 = 35;

/// A game that is played.
pub(super) struct Playthrough {
    session: Session,
    /// The number of tics that have passed.
    tic: u64,
    /// The number of tics after which the player ends the game.
    tics_max: u64,
    replay: Option<Replay>,
    recorder: Option<Recorder>,
    meter: Meter,
    /// The name of the engine.
    engine: &'static str,
}

impl Playthrough {
    /// Begins with the first frame, after which no tic has passed.
    pub(super) fn new(
        session: Session,
        engine: &'static str,
        tics_max: Option<u64>,
        mut replay: Option<Replay>,
        mut recorder: Option<Recorder>,
    ) -> Result<Self> {
        let checksum = session.frame().checksum();
        if let Some(replay) = &mut replay {
            replay.check(0, checksum)?;
        }
        if let Some(recorder) = &mut recorder {
            recorder.write(0, &Event::Frame(checksum))?;
        }
        let (tics_max, meter) = (tics_max.unwrap_or(u64::MAX), Meter::new(Instant::now()));
        Ok(Self { session, tic: 0, tics_max, replay, recorder, meter, engine })
    }

    /// Returns whether nothing follows: the game has ended, or as many tics have passed as were wanted.
    pub(super) fn is_over(&self) -> bool {
        self.session.stop().is_some()
            || self.tic >= self.tics_max
            || self.replay.as_ref().is_some_and(|replay| replay.is_over(self.tic))
    }

    /// Lets a tic pass, with an input of the player unless a recording is played back.
    pub(super) fn step(&mut self, input: Input) -> Result<()> {
        self.tic += 1;
        let input = self.replay.as_mut().map_or(input, |replay| replay.input(self.tic));
        if let Some(recorder) = &mut self.recorder {
            recorder.input(self.tic, input)?;
        }
        let cost = self.session.step(&input)?;
        self.meter.add(cost.instructions, cost.time, Instant::now());
        let has_stopped = self.session.stop().is_some();
        if let Some(replay) = &mut self.replay {
            replay.check_stop(self.tic, has_stopped)?;
            if !has_stopped && replay.has_frame(self.tic) {
                replay.check(self.tic, self.session.frame().checksum())?;
            }
        }
        if let Some(recorder) = &mut self.recorder
            && !has_stopped
            && self.tic.is_multiple_of(CHECKED_TICS)
        {
            recorder.write(self.tic, &Event::Frame(self.session.frame().checksum()))?;
        }
        Ok(())
    }

    /// Ends the recording. Returns the reason that the game has stopped, if it has.
    pub(super) fn finish(&mut self) -> Result<Option<Stop>> {
        let stop = self.session.stop();
        if let Some(recorder) = &mut self.recorder {
            if stop.is_none() && !self.tic.is_multiple_of(CHECKED_TICS) {
                recorder.write(self.tic, &Event::Frame(self.session.frame().checksum()))?;
            }
            let end = if stop.is_some() { End::Stop } else { End::Player };
            recorder.write(self.tic, &Event::End(end))?;
            recorder.flush()?;
        }
        self.session.explain()?;
        Ok(stop)
    }

    /// Returns the last frame.
    pub(super) const fn frame(&self) -> &Frame {
        self.session.frame()
    }

    /// Returns lines on the engine and its speed: none if no tic has passed.
    pub(super) fn summary(&self) -> Vec<String> {
        let counts = self.meter.all();
        if counts.tics == 0 {
            return Vec::new();
        }
        let slow = counts.is_slow().then(|| {
            format!(
                "slower than real time: the engine reaches {:.1} of {TICS_A_SECOND} tics a second; --low-detail \
                 and a smaller number of --blocks draw less",
                counts.tics_a_second()
            )
        });
        [format!("{}: {counts}", self.engine)].into_iter().chain(slow).collect()
    }

    /// Returns a line on the engine and its present speed.
    #[cfg(any(feature = "window", feature = "terminal"))]
    pub(super) fn status(&self) -> String {
        let recent = self.meter.recent();
        let slow = if recent.is_slow() { " | slower than real time" } else { "" };
        let (speed, mips) = (recent.tics_a_second(), recent.mips());
        format!("{} | {speed:.1} tics/s | {mips:.0} MIPS{slow}", self.engine)
    }
}
