//! The choice between ways to run lanes, by their measured speed.
//!
//! In a trial, the ways take turns in short slices, because the speed of a program changes while it runs. The fastest way
//! runs the program afterwards. Now and then there is another trial. A way that joins later has a trial with the chosen
//! one and the interpreter.

use std::time::Duration;

/// The number of turns of each way in a trial. The first is not counted: caches of the device are cold. The others are
/// spread over a second or more, because each part of a round of a program has a speed of its own.
const TURNS: u32 = 12;
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

/// A way, and its last trial.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    /// Whether it takes part in the current trial, or took part in the last one.
    takes_part: bool,
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
        self.takes_part && self.turns < TURNS && !self.has_dropped_out
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
    /// The time that the last trial of all ways, and those of ways that joined since, have lost against the fastest way, in
    /// seconds.
    lost: f64,
    /// The time until the next trial, in seconds.
    pause: f64,
}

impl Tuner {
    /// Runs `lanes` lanes with way 0.
    pub(super) fn new(lanes: usize) -> Self {
        let turn = TURN + TURN_OF_LANE * lanes as f64;
        Self { candidates: vec![Candidate::default()], chosen: 0, turn, lost: 0.0, pause: 0.0 }
    }

    /// Adds a way behind the others, and starts a trial of it. Ways whose trial has not ended take part.
    pub(super) fn add_way(&mut self) {
        let (added, is_trying) = (self.candidates.len(), self.turn().is_trial);
        self.candidates.push(Candidate::default());
        let chosen = self.chosen;
        self.start_trial(|way, candidate| {
            let is_tried = is_trying && candidate.takes_part && !candidate.has_dropped_out;
            [0, chosen, added].contains(&way) || is_tried
        });
    }

    /// Removes a way other than the chosen one. The ways behind it move up.
    pub(super) fn remove_way(&mut self, way: usize) {
        self.candidates.remove(way);
        self.chosen -= usize::from(self.chosen > way);
    }

    /// Returns the chosen way.
    pub(super) const fn chosen(&self) -> usize {
        self.chosen
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
            if self.pause <= 0.0 && self.candidates.len() > 1 {
                self.lost = 0.0;
                self.start_trial(|_, _| true);
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
        let best = self.trial().map(|(_, candidate)| candidate.speed()).fold(0.0, f64::max);
        let candidate = &mut self.candidates[turn.way];
        if candidate.turns > 1 && best > 0.0 {
            self.lost += seconds * (1.0 - candidate.speed() / best);
        }
        candidate.has_dropped_out = candidate.turns > 1 && candidate.speed() < HOPELESS * best;
        if !self.turn().is_trial {
            self.choose();
        }
    }

    /// Starts a trial of some ways. The others keep the results of the last one.
    fn start_trial(&mut self, takes_part: impl Fn(usize, &Candidate) -> bool) {
        for (way, candidate) in self.candidates.iter_mut().enumerate() {
            if takes_part(way, candidate) {
                let turn_steps = candidate.turn_steps;
                *candidate = Candidate { takes_part: true, turn_steps, ..Candidate::default() };
            } else {
                candidate.takes_part = false;
            }
        }
    }

    /// Returns the ways of the trial.
    fn trial(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        self.candidates.iter().enumerate().filter(|(_, candidate)| candidate.takes_part)
    }

    /// Chooses the fastest way. The chosen one remains if no other is clearly faster.
    fn choose(&mut self) {
        let best = self.trial().max_by(|(_, a), (_, b)| a.speed().total_cmp(&b.speed()));
        if let Some((way, best)) = best
            && best.speed() > GAIN * self.candidates[self.chosen].speed()
        {
            self.chosen = way;
        }
        self.pause = (self.lost / COST).max(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_millis(100);

    /// Starts a trial of several ways at once.
    fn of(ways: usize) -> Tuner {
        let mut tuner = Tuner::new(1);
        (1..ways).for_each(|_| tuner.add_way());
        tuner
    }

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
                let mut tuner = of(3);
                run_trial(&mut tuner, &speeds);
                assert_eq!(tuner.turn(), Turn { way: fastest, is_trial: false }, "of {speeds:?}");
            }
        }
    }

    #[test]
    fn a_way_that_is_hardly_faster_is_not_chosen() {
        let mut tuner = of(2);
        run_trial(&mut tuner, &[1e6, 1.01e6]);
        assert_eq!(tuner.chosen, 0, "the difference may be noise");
    }

    #[test]
    fn a_hopeless_way_drops_out() {
        let mut tuner = of(3);
        let turns = run_trial(&mut tuner, &[1e6, 0.3e6, 0.9e6]);
        assert_eq!(turns, [TURNS, 2, TURNS], "one turn for the caches, and one that is counted");
    }

    #[test]
    fn the_choice_follows_the_program() {
        let mut tuner = of(2);
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
        let mut tuner = of(1);
        run_trial(&mut tuner, &[1e6]);
        assert_eq!(run(&mut tuner, 10_000, &[1e6]), [0], "there is nothing to choose");
    }

    #[test]
    fn a_late_way_is_tried_against_the_chosen_one_and_the_interpreter() {
        let mut tuner = of(3);
        run_trial(&mut tuner, &[1e6, 2e6, 3e6]);
        assert_eq!(tuner.chosen, 2, "the fastest so far");
        tuner.add_way();
        let turns = run_trial(&mut tuner, &[1e6, 9e6, 3e6, 4e6]);
        assert!(turns[1] == 0 && turns[0] < turns[2].min(turns[3]), "{turns:?} turns");
        assert_eq!(tuner.chosen, 3, "the late way is faster; way 1 was slow when it was tried");
        tuner.add_way();
        run_trial(&mut tuner, &[1e6, 2e6, 3e6, 4e6, 3.5e6]);
        assert_eq!(tuner.chosen, 3, "the late way is slower");
        assert!((1..5).all(|way| tuner.speed(way).is_some()), "the speeds of all ways are known");
    }

    #[test]
    fn a_way_may_join_while_others_are_tried() {
        let speeds = [1e6, 2e6, 3e6];
        for slices in 0..10 {
            let mut tuner = of(2);
            run(&mut tuner, slices, &speeds);
            tuner.add_way();
            run_trial(&mut tuner, &speeds);
            assert_eq!(tuner.chosen, 2, "it joins after {slices} slices");
        }
    }

    #[test]
    fn the_choice_remains_if_another_way_is_removed() {
        let mut tuner = of(4);
        run_trial(&mut tuner, &[1e6, 2e6, 9e6, 3e6]);
        tuner.remove_way(1);
        assert_eq!((tuner.chosen, tuner.candidates.len()), (1, 3), "the chosen way has moved up");
        tuner.remove_way(2);
        assert_eq!((tuner.chosen, tuner.candidates.len()), (1, 2), "the other was behind it");
        assert!(!tuner.turn().is_trial, "no trial begins");
    }
}
