//! A comparison of two engines: all results of all steps have to be the same.

use anyhow::{Result, ensure};
use kvrm::environments::{Batch, Environments};

use super::policy::Policy;
use crate::engine::OpenEngine;

/// Steps lanes on the engine and on another one. `begin` makes environments on an engine. Returns a line about what was
/// compared.
pub(super) fn run(
    begin: impl Fn(&OpenEngine) -> Result<Environments>,
    engine: &OpenEngine,
    lanes: usize,
    steps: u64,
) -> Result<String> {
    let other = engine.other();
    let (mut ours, mut theirs) = (begin(engine)?, begin(&other)?);
    let mut policy = Policy::new(lanes);
    let all: Vec<usize> = (0..lanes).collect();
    let (mut bytes, mut ends, mut rewards) = (0, 0, 0.0);
    for step in 0..steps {
        let actions = policy.actions(&all);
        let (ours, theirs) = (ours.step(&actions)?, theirs.step(&actions)?);
        if let Some(lane) = all.iter().find(|lane| !are_equal(&ours, &theirs, **lane)) {
            let (one, two) = (engine.name(), other.name());
            let place = ours.observations.iter().zip(theirs.observations).position(|(a, b)| a != b);
            let what = place.map_or("the results".into(), |byte| format!("byte {byte} of the observations"));
            ensure!(false, "step {step}, lane {lane}: {what} of {one} and {two} differ");
        }
        bytes += ours.observations.len();
        ends += ours.terminations.iter().filter(|end| **end).count();
        rewards += ours.rewards.iter().sum::<f64>();
    }
    Ok(format!(
        "{lanes} lanes, {steps} steps: {} and {} agree on {bytes} bytes of observations, rewards of {rewards} and \
         {ends} ends of episodes",
        engine.name(),
        other.name()
    ))
}

/// Whether the results of a lane are the same.
fn are_equal(ours: &Batch<'_>, theirs: &Batch<'_>, lane: usize) -> bool {
    let of = |batch: &Batch<'_>| {
        let (reward, stop) = (batch.rewards[lane].to_bits(), batch.stops[lane]);
        (reward, batch.terminations[lane], batch.truncations[lane], stop, batch.instructions[lane])
    };
    let row = |batch: &Batch<'_>, values: usize| {
        let size = values / batch.lanes.len();
        lane * size..(lane + 1) * size
    };
    of(ours) == of(theirs)
        && ours.observations[row(ours, ours.observations.len())]
            == theirs.observations[row(theirs, theirs.observations.len())]
        && ours.masks[row(ours, ours.masks.len())] == theirs.masks[row(theirs, theirs.masks.len())]
}
