//! The measurement of lanes that play the game.

use std::time::Instant;

use anyhow::Result;
use kvrm::environments::Environments;
use kvrm::{Report, TranslationReport};

use super::policy::Policy;
use crate::bench::measure::REPETITIONS;

/// The options of a measurement.
pub(super) struct Plan {
    /// The steps at the beginning of the game, without pictures, in which lanes get to different places.
    pub(super) skip: u64,
    /// The time in which the engine chooses how it runs lanes, in seconds. Then the game begins again.
    pub(super) warm_up: f64,
    /// The approximate time of a repetition, in seconds.
    pub(super) seconds: f64,
    /// The number of lanes that are waited for.
    pub(super) wanted: usize,
    /// Whether pictures are drawn.
    pub(super) draws: bool,
}

/// The counts of one repetition of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repetition {
    pub(super) steps: u64,
    instructions: u64,
    pub(super) seconds: f64,
}

impl Repetition {
    /// Returns steps of the environment per second, of all lanes together.
    pub(super) fn rate(&self) -> f64 {
        self.steps as f64 / self.seconds
    }

    /// Returns million instructions per second.
    pub(super) fn mips(&self) -> f64 {
        self.instructions as f64 / self.seconds / 1e6
    }

    /// Returns the instructions of a step.
    pub(super) fn instructions_a_step(&self) -> f64 {
        self.instructions as f64 / self.steps as f64
    }
}

/// A measurement.
pub(super) struct Measured {
    /// The repetitions, the slowest first.
    pub(super) all: Vec<Repetition>,
    /// The 4 KiB pages that a lane owns at the end, on average.
    pub(super) pages: f64,
    /// The share of the instructions that were executed in translated code, if the engine translates.
    pub(super) translated: Option<f64>,
    /// The share of the instructions whose iterations of loops were executed at once, if loops are accelerated.
    pub(super) at_once: Option<f64>,
    /// The choice of the engine, if it translates.
    pub(super) translation: Option<TranslationReport>,
}

impl Measured {
    pub(super) fn median(&self) -> &Repetition {
        &self.all[self.all.len() / 2]
    }
}

/// Lanes that play the game, each with its next action as soon as it has taken its step.
struct Players<'a> {
    environments: Environments,
    policy: Policy,
    /// The lanes that wait for an action.
    waiting: Vec<usize>,
    plan: &'a Plan,
}

impl Players<'_> {
    /// Begins the game again in all lanes.
    fn begin_again(&mut self) -> Result<()> {
        let lanes = self.environments.lanes();
        self.environments.receive(lanes - self.waiting.len())?;
        self.environments.reset(..)?;
        self.waiting = (0..lanes).collect();
        Ok(())
    }

    /// Takes the steps at the beginning of the game. All lanes wait for an action.
    fn skip(&mut self) -> Result<()> {
        self.environments.set_observing(false);
        for _ in 0..self.plan.skip {
            self.environments.step(&self.policy.actions(&self.waiting))?;
        }
        self.environments.set_observing(self.plan.draws);
        Ok(())
    }

    /// Plays for about so many seconds.
    fn play(&mut self, seconds: f64) -> Result<Repetition> {
        let begin = Instant::now();
        let mut measured = Repetition::default();
        while measured.seconds < seconds {
            self.environments.send(&self.waiting, &self.policy.actions(&self.waiting))?;
            let batch = self.environments.receive(self.plan.wanted)?;
            self.waiting.clear();
            self.waiting.extend(batch.lanes);
            measured.steps += batch.lanes.len() as u64;
            measured.instructions += batch.instructions.iter().sum::<u64>();
            measured.seconds = begin.elapsed().as_secs_f64();
        }
        Ok(measured)
    }

    /// Returns the counts since the machine was built.
    fn report(&mut self) -> Result<Report> {
        // A run without a budget moves no lane.
        Ok(self.environments.machine_mut().run(0)?)
    }
}

/// Measures environments whose lanes have begun an episode.
pub(super) fn measure(environments: Environments, plan: &Plan) -> Result<Measured> {
    let lanes = environments.lanes();
    let mut players =
        Players { environments, policy: Policy::new(lanes), waiting: (0..lanes).collect(), plan };
    players.skip()?;
    players.play(plan.warm_up)?;
    // Steps get longer as monsters wake up. So that all rows measure the same part of the game, it begins again after the warm-up.
    players.begin_again()?;
    players.skip()?;
    players.play(plan.seconds)?;
    let before = players.report()?;
    let mut all = Vec::with_capacity(REPETITIONS);
    for _ in 0..REPETITIONS {
        all.push(players.play(plan.seconds)?);
    }
    let after = players.report()?;
    let instructions = all.iter().map(|repetition| repetition.instructions).sum::<u64>() as f64;
    // Lanes may be within a step at both ends of the measurement, so a share is an estimate.
    let share = |count: fn(&Report) -> Option<u64>| {
        let difference = count(&after)?.saturating_sub(count(&before).unwrap_or(0));
        Some((difference as f64 / instructions).min(1.0))
    };
    all.sort_unstable_by(|a, b| a.rate().total_cmp(&b.rate()));
    Ok(Measured {
        all,
        pages: after.frames as f64 / lanes as f64,
        translated: share(|report| Some(report.translation.as_ref()?.steps)),
        at_once: share(|report| Some(report.loops.as_ref()?.credited_steps)),
        translation: after.translation,
    })
}
