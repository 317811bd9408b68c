//! The choice between ways to run lanes, by their measured speed.
//!
//! The ways take turns in short slices, several times, because the speed of a program changes while it runs. The fastest
//! way runs the program afterwards. Now and then they take turns again.

use std::time::Duration;

/// The number of turns of each way in a trial. The first is not counted: caches of the device are cold.
const TURNS: u32 = 4;
/// The number of slices of the chosen way from one trial to the next.
const SLICES: u32 = 128;
/// The duration of a turn.
const TURN: Duration = Duration::from_millis(10);
/// The gain in speed for which a way takes the place of the chosen one.
const GAIN: f64 = 1.02;

/// The measured speed of a way.
#[derive(Clone, Copy, Debug, Default)]
struct Speed {
    steps: u64,
    seconds: f64,
    /// The largest number of steps of a lane in the next slice, once it is known.
    slice_steps: Option<u32>,
}

impl Speed {
    /// Returns the speed in steps per second, of all lanes together; 0 if it is not known.
    fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }
}

/// The next slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The way to run it.
    pub(super) way: usize,
    /// Whether the slice is part of a trial.
    pub(super) is_trial: bool,
}

/// Chooses among ways by their numbers. Way 0 is the interpreter.
#[derive(Debug)]
pub(super) struct Tuner {
    speeds: Vec<Speed>,
    chosen: usize,
    /// The number of turns taken in the current trial, if there is one.
    trial: Option<u32>,
    /// The number of slices since the last trial.
    slices: u32,
}

impl Tuner {
    /// Starts a trial of `ways` ways.
    pub(super) fn new(ways: usize) -> Self {
        Self { speeds: vec![Speed::default(); ways], chosen: 0, trial: Some(0), slices: 0 }
    }

    /// Returns the speed of a way in the last trial, in steps per second of all lanes together.
    pub(super) fn speed(&self, way: usize) -> Option<f64> {
        self.speeds.get(way).map(Speed::rate).filter(|rate| *rate > 0.0)
    }

    /// Returns the way that was the fastest in the last trial.
    pub(super) const fn chosen(&self) -> usize {
        self.chosen
    }

    /// Returns how to run the next slice.
    pub(super) fn turn(&self) -> Turn {
        match self.trial {
            Some(taken) => Turn { way: taken as usize % self.speeds.len(), is_trial: true },
            None => Turn { way: self.chosen, is_trial: false },
        }
    }

    /// Returns the largest number of steps of a lane in a turn of a trial. `usual` is the number in usual slices, which
    /// take `target`.
    pub(super) fn trial_steps(&self, way: usize, usual: u32, target: Duration) -> u32 {
        let share = TURN.as_secs_f64() / target.as_secs_f64().max(1e-3);
        self.speeds[way].slice_steps.unwrap_or((f64::from(usual) * share) as u32).max(1)
    }

    /// Adds a slice of at most `limit` steps a lane, in which all lanes together took `steps` steps.
    pub(super) fn add(&mut self, turn: Turn, limit: u32, steps: u64, took: Duration) {
        let Some(taken) = self.trial.filter(|_| turn.is_trial) else {
            self.slices += 1;
            if self.slices >= SLICES {
                self.begin_trial();
            }
            return;
        };
        let seconds = took.as_secs_f64().max(1e-6);
        let factor = (TURN.as_secs_f64() / seconds).clamp(1.0 / 16.0, 16.0);
        let ways = self.speeds.len();
        let speed = &mut self.speeds[turn.way];
        speed.slice_steps = Some(((f64::from(limit) * factor) as u32).max(1));
        if taken as usize >= ways {
            speed.steps += steps;
            speed.seconds += seconds;
        }
        let taken = taken + 1;
        self.trial = Some(taken);
        if taken as usize >= ways * TURNS as usize {
            self.trial = None;
            self.choose();
        }
    }

    /// Starts a trial.
    fn begin_trial(&mut self) {
        self.trial = (self.speeds.len() > 1).then_some(0);
        self.slices = 0;
        for speed in &mut self.speeds {
            (speed.steps, speed.seconds) = (0, 0.0);
        }
    }

    /// Chooses the fastest way. The chosen one remains if no other is clearly faster.
    fn choose(&mut self) {
        let best =
            (0..self.speeds.len()).max_by(|a, b| self.speeds[*a].rate().total_cmp(&self.speeds[*b].rate()));
        let is_faster = |way: usize| self.speeds[way].rate() > GAIN * self.speeds[self.chosen].rate();
        if let Some(best) = best.filter(|way| is_faster(*way)) {
            self.chosen = best;
        }
        self.slices = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs slices of ways with the given speeds, in steps per second. Returns the number of turns of each way in trials.
    fn run(tuner: &mut Tuner, slices: u32, rates: &[f64]) -> Vec<u32> {
        let mut turns = vec![0; rates.len()];
        for _ in 0..slices {
            let turn = tuner.turn();
            let limit = tuner.trial_steps(turn.way, 1 << 20, Duration::from_millis(100));
            let took = Duration::from_secs_f64(f64::from(limit) / rates[turn.way]);
            turns[turn.way] += u32::from(turn.is_trial);
            tuner.add(turn, limit, limit.into(), took);
        }
        turns
    }

    #[test]
    fn the_fastest_way_is_chosen() {
        for fastest in 0..3 {
            let mut rates = [1e6; 3];
            rates[fastest] = 2e6;
            let mut tuner = Tuner::new(3);
            assert_eq!(run(&mut tuner, 3 * TURNS, &rates), [TURNS; 3], "all ways take turns");
            assert_eq!(tuner.turn(), Turn { way: fastest, is_trial: false }, "of {rates:?}");
        }
    }

    #[test]
    fn a_way_that_is_hardly_faster_is_not_chosen() {
        let mut tuner = Tuner::new(2);
        run(&mut tuner, 2 * TURNS, &[1e6, 1.01e6]);
        assert_eq!(tuner.chosen(), 0, "the difference may be noise");
    }

    #[test]
    fn the_choice_follows_the_program() {
        let mut tuner = Tuner::new(2);
        run(&mut tuner, 2 * TURNS, &[1e6, 3e6]);
        assert_eq!(tuner.chosen(), 1, "the translation");
        let turns = run(&mut tuner, SLICES + 2 * TURNS, &[1e6, 0.5e6]);
        assert_eq!((tuner.chosen(), turns), (0, vec![TURNS; 2]), "after another trial");
    }

    #[test]
    fn turns_approach_their_duration() {
        let mut tuner = Tuner::new(2);
        run(&mut tuner, 6, &[1e8, 1e5]);
        for (way, rate) in [1e8, 1e5].into_iter().enumerate() {
            let seconds = f64::from(tuner.trial_steps(way, 1 << 20, Duration::from_millis(100))) / rate;
            assert!((0.009..0.011).contains(&seconds), "way {way}: {seconds} s");
        }
    }
}
