//! The choice between ways to run lanes, by their measured speed.
//!
//! In a trial, the ways take turns in short slices, because the speed of a program changes while it runs. The fastest way
//! runs the program afterwards. Now and then there is another trial.

use std::time::Duration;

/// The number of turns of each way in a trial. The first is not counted: caches of the device are cold.
const TURNS: u32 = 4;
/// The duration of a turn, beside [`TURN_OF_LANE`], in seconds.
const TURN: f64 = 0.01;
/// The duration of a turn that is added for each lane, in seconds. At the beginning of a slice each lane looks up its
/// pages again, which should take a small part of a turn.
const TURN_OF_LANE: f64 = 0.8e-6;
/// The number of turns of a way in a trial that may be too short to be counted.
const SHORT_TURNS: u32 = 6;
/// The least time from one trial to the next, in seconds.
const PAUSE: f64 = 20.0;
/// The largest part of the time by which trials make a program slower.
const COST: f64 = 0.005;
/// The gain in speed for which a way takes the place of the chosen one.
const GAIN: f64 = 1.02;
/// A way drops out of a trial if it has less than this part of the speed of another.
const HOPELESS: f64 = 0.6;

/// A way in the current trial, or in the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    turns: u32,
    short_turns: u32,
    has_dropped_out: bool,
    /// The steps of all lanes together in the counted turns, and their time in seconds.
    steps: u64,
    seconds: f64,
    /// The largest number of steps of a lane in the next turn, once it is known.
    turn_steps: Option<u32>,
}

impl Candidate {
    /// Returns the speed in steps per second, of all lanes together; 0 if it is not known.
    fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }

    /// Whether the way has more turns in this trial.
    const fn is_waiting(&self) -> bool {
        self.turns < TURNS && !self.has_dropped_out
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
    candidates: Vec<Candidate>,
    chosen: usize,
    /// The duration of a turn in seconds.
    turn: f64,
    /// The time that the current trial has lost against the fastest way so far, in seconds.
    lost: f64,
    /// The time until the next trial, in seconds.
    pause: f64,
}

impl Tuner {
    /// Starts a trial of `ways` ways to run `lanes` lanes.
    pub(super) fn new(ways: usize, lanes: usize) -> Self {
        let candidates = vec![Candidate::default(); ways];
        Self { candidates, chosen: 0, turn: TURN + TURN_OF_LANE * lanes as f64, lost: 0.0, pause: 0.0 }
    }

    /// Returns the speed of a way in the last trial, in steps per second of all lanes together.
    pub(super) fn speed(&self, way: usize) -> Option<f64> {
        self.candidates.get(way).map(Candidate::speed).filter(|speed| *speed > 0.0)
    }

    /// Returns how to run the next slice.
    pub(super) fn turn(&self) -> Turn {
        let waiting = self.candidates.iter().enumerate().filter(|(_, candidate)| candidate.is_waiting());
        let next = waiting.min_by_key(|(_, candidate)| candidate.turns);
        next.map_or(Turn { way: self.chosen, is_trial: false }, |(way, _)| Turn { way, is_trial: true })
    }

    /// Returns the largest number of steps of a lane in a turn. `usual` is the number in usual slices, which take `target`.
    pub(super) fn turn_steps(&self, way: usize, usual: u32, target: Duration) -> u32 {
        let share = self.turn / target.as_secs_f64().max(1e-3);
        self.candidates[way].turn_steps.unwrap_or((f64::from(usual) * share) as u32).max(1)
    }

    /// Adds a slice of at most `limit` steps a lane, in which all lanes together took `steps` steps.
    pub(super) fn add(&mut self, turn: Turn, limit: u32, steps: u64, took: Duration) {
        let seconds = took.as_secs_f64().max(1e-6);
        if !turn.is_trial {
            self.pause -= seconds;
            if self.pause <= 0.0 {
                self.begin_trial();
            }
            return;
        }
        let candidate = &mut self.candidates[turn.way];
        let factor = self.turn / seconds;
        // A short turn shows what a dispatch costs, and not what the steps cost.
        let is_short = factor > 2.0 && candidate.short_turns < SHORT_TURNS;
        // The first turn may be long only because caches are cold.
        if candidate.turns > 0 || factor > 1.0 {
            candidate.turn_steps = Some(((f64::from(limit) * factor.clamp(0.25, 8.0)) as u32).max(1));
        }
        if is_short {
            candidate.short_turns += 1;
            return;
        }
        if candidate.turns > 0 {
            candidate.steps += steps;
            candidate.seconds += seconds;
        }
        candidate.turns += 1;
        let best = self.candidates.iter().map(Candidate::speed).fold(0.0, f64::max);
        let candidate = &mut self.candidates[turn.way];
        if candidate.turns > 1 {
            self.lost += seconds * (1.0 - candidate.speed() / best);
        }
        candidate.has_dropped_out = candidate.turns > 1 && candidate.speed() < HOPELESS * best;
        if !self.turn().is_trial {
            self.choose();
        }
    }

    /// Starts a trial.
    fn begin_trial(&mut self) {
        (self.lost, self.pause) = (0.0, PAUSE);
        if self.candidates.len() > 1 {
            for candidate in &mut self.candidates {
                *candidate = Candidate { turn_steps: candidate.turn_steps, ..Candidate::default() };
            }
        }
    }

    /// Chooses the fastest way. The chosen one remains if no other is clearly faster.
    fn choose(&mut self) {
        let speed = |way: usize| self.candidates[way].speed();
        let best = (0..self.candidates.len()).max_by(|a, b| speed(*a).total_cmp(&speed(*b)));
        let is_faster = |way: usize| speed(way) > GAIN * speed(self.chosen);
        if let Some(best) = best.filter(|way| is_faster(*way)) {
            self.chosen = best;
        }
        self.pause = (self.lost / COST).max(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_millis(100);

    /// Runs slices of ways with the given speeds, in steps per second. A dispatch takes 2 ms more. Returns the number of
    /// turns of each way in trials.
    fn run(tuner: &mut Tuner, slices: u32, speeds: &[f64]) -> Vec<u32> {
        let mut turns = vec![0; speeds.len()];
        for _ in 0..slices {
            let turn = tuner.turn();
            let limit = tuner.turn_steps(turn.way, 1 << 16, TARGET);
            let took = Duration::from_secs_f64(0.002 + f64::from(limit) / speeds[turn.way]);
            turns[turn.way] += u32::from(turn.is_trial);
            tuner.add(turn, limit, limit.into(), took);
        }
        turns
    }

    /// Runs slices until a trial ends.
    fn run_trial(tuner: &mut Tuner, speeds: &[f64]) -> Vec<u32> {
        let mut turns = vec![0; speeds.len()];
        while tuner.turn().is_trial {
            turns.iter_mut().zip(run(tuner, 1, speeds)).for_each(|(sum, turns)| *sum += turns);
        }
        turns
    }

    #[test]
    fn the_fastest_way_is_chosen() {
        for fastest in 0..3 {
            for speed in [1.1e6, 50e6] {
                let mut speeds = [1e6; 3];
                speeds[fastest] = speed;
                let mut tuner = Tuner::new(3, 1);
                run_trial(&mut tuner, &speeds);
                assert_eq!(tuner.turn(), Turn { way: fastest, is_trial: false }, "of {speeds:?}");
            }
        }
    }

    #[test]
    fn a_way_that_is_hardly_faster_is_not_chosen() {
        let mut tuner = Tuner::new(2, 1);
        run_trial(&mut tuner, &[1e6, 1.01e6]);
        assert_eq!(tuner.chosen, 0, "the difference may be noise");
    }

    #[test]
    fn a_hopeless_way_drops_out() {
        let mut tuner = Tuner::new(3, 1);
        let turns = run_trial(&mut tuner, &[1e6, 0.3e6, 0.9e6]);
        assert_eq!(turns, [TURNS, 2, TURNS], "one turn for the caches, and one that is counted");
    }

    #[test]
    fn the_choice_follows_the_program() {
        let mut tuner = Tuner::new(2, 1);
        run_trial(&mut tuner, &[1e6, 3e6]);
        assert_eq!(tuner.chosen, 1, "the translation");
        let mut seconds = 0.0;
        while !tuner.turn().is_trial {
            run(&mut tuner, 1, &[1e6, 0.5e6]);
            seconds += 0.002 + f64::from(tuner.turn_steps(1, 1 << 16, TARGET)) / 0.5e6;
        }
        assert!(seconds >= PAUSE, "the next trial came after {seconds} s");
        run_trial(&mut tuner, &[1e6, 0.5e6]);
        assert_eq!(tuner.chosen, 0, "after another trial");
    }

    #[test]
    fn a_single_way_needs_no_trial_again() {
        let mut tuner = Tuner::new(1, 1);
        run_trial(&mut tuner, &[1e6]);
        assert_eq!(run(&mut tuner, 10_000, &[1e6]), [0], "there is nothing to choose");
    }
}
