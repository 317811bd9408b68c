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

/// The number of tics between two checksums of a recording. The frame is that of the step in which the last of
/// them passes.
const CHECKED_TICS: u64 = 35;

/// A game that is played.
pub(super) struct Playthrough {
    session: Session,
    /// The number of tics that have passed.
    tic: u64,
    /// The tic of the last checksum that was recorded.
    checked: u64,
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
        Ok(Self { session, tic: 0, checked: 0, tics_max, replay, recorder, meter, engine })
    }

    /// Returns whether nothing follows: the game has ended, or as many tics have passed as were wanted.
    pub(super) fn is_over(&self) -> bool {
        self.session.stop().is_some()
            || self.tic >= self.tics_max
            || self.replay.as_ref().is_some_and(|replay| replay.is_over(self.tic))
    }

    /// Lets some tics pass and draws a frame, with an input of the player. If a recording is played back, its
    /// inputs and numbers of tics are used instead. Returns the number of tics.
    pub(super) fn step(&mut self, input: Input, tics: u32) -> Result<u32> {
        let (before, first) = (self.tic, self.tic + 1);
        if before == 0 {
            // The time up to here was for opening the window or the terminal.
            self.meter = Meter::new(Instant::now());
        }
        let (input, tics) = self.replay.as_mut().map_or((input, tics), |replay| replay.step(first));
        let left = u32::try_from(self.tics_max.saturating_sub(before)).unwrap_or(u32::MAX);
        // The frame after a part of a step is not in a recording.
        let (is_whole, tics) = (tics <= left, tics.min(left));
        if let Some(recorder) = &mut self.recorder {
            recorder.step(first, input, tics)?;
        }
        self.tic += u64::from(tics);
        let cost = self.session.step(&input, tics)?;
        self.meter.add(tics, cost, Instant::now());
        let has_stopped = self.session.stop().is_some();
        if let Some(replay) = self.replay.as_ref().filter(|_| is_whole) {
            replay.check_stop(self.tic, has_stopped)?;
            if !has_stopped && replay.has_frame(self.tic) {
                replay.check(self.tic, self.session.frame().checksum())?;
            }
        }
        if let Some(recorder) = &mut self.recorder
            && !has_stopped
            && self.tic / CHECKED_TICS > before / CHECKED_TICS
        {
            recorder.write(self.tic, &Event::Frame(self.session.frame().checksum()))?;
            self.checked = self.tic;
        }
        Ok(tics)
    }

    /// Ends the recording. Returns the reason that the game has stopped, if it has.
    pub(super) fn finish(&mut self) -> Result<Option<Stop>> {
        let stop = self.session.stop();
        if let Some(recorder) = &mut self.recorder {
            if stop.is_none() && self.tic > self.checked {
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
        let frames = recent.frames_a_second();
        format!("{} | {speed:.1} tics/s | {frames:.1} frames/s | {mips:.0} MIPS{slow}", self.engine)
    }
}
