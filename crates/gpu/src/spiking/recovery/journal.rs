//! What was done to a network since its state was last copied to the host, and how it is done again.

use std::ops::Range;

use kvrm_spiking::{Injection, Input, Recorder, Spike, State};

use super::super::digest::digest;
use super::super::executor::DeviceExecutor;
use crate::device::error::Error;

/// How a network came to be what it is: from a state by the entries.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The state that the entries begin from; without one, that before the journal.
    pub(super) base: Option<State>,
    entries: Vec<Entry>,
    /// Bytes that the entries take, injections included.
    bytes: u64,
}

#[derive(Debug)]
enum Entry {
    Run(Run),
    Drive { population: u32, amount: i32 },
}

/// A part of a run.
#[derive(Debug)]
struct Run {
    steps: Range<u64>,
    input: Input,
    /// A digest of the neurons that fired in the last step.
    fired: u64,
    /// What was recorded, if all of it was.
    recorded: Option<Recorded>,
}

/// Spikes that somebody may have seen.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recorded {
    neurons: Range<u32>,
    count: usize,
    digest: u64,
}

impl Recorded {
    fn of(neurons: Range<u32>, spikes: &[Spike]) -> Self {
        Self { neurons, count: 0, digest: 0 }.and(spikes)
    }

    fn and(self, spikes: &[Spike]) -> Self {
        let words = spikes.iter().flat_map(|spike| [spike.step, spike.neuron.into()]);
        Self { count: self.count + spikes.len(), digest: digest(self.digest, words), ..self }
    }
}

/// What a part of a run left behind, to compare with when it is made again.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// A digest of the neurons that fired in the last step.
    pub(super) fired: u64,
    /// The neurons that were recorded, and their spikes, if none were lost.
    pub(super) recorded: Option<(Range<u32>, &'a [Spike])>,
}

impl Journal {
    /// A journal that begins from a state.
    pub(super) fn begin(base: State) -> Self {
        Self { base: Some(base), ..Self::default() }
    }

    /// Whether nothing was done.
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.base.is_none()
    }

    /// How many bytes the entries take.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The drive of a population was set.
    pub(super) fn drive(&mut self, population: u32, amount: i32) {
        match self.entries.last_mut() {
            // The one before had no time to have an effect.
            Some(Entry::Drive { population: last, amount: before }) if *last == population => {
                *before = amount;
            }
            _ => self.push(Entry::Drive { population, amount }),
        }
    }

    /// A part of a run was made.
    pub(super) fn run(&mut self, steps: Range<u64>, input: &Input, outcome: Outcome<'_>) {
        let Outcome { fired, recorded } = outcome;
        let injections = input.injections();
        let is_due = |injection: &Injection| steps.contains(&injection.step);
        let first = injections.partition_point(|injection| injection.step < steps.start);
        let gets_nothing = !injections.get(first).is_some_and(is_due);
        // Runs without input become one, as steps are often made one by one.
        if let (true, Some(Entry::Run(last))) = (gets_nothing, self.entries.last_mut())
            && last.input.injections().is_empty()
        {
            let is_same = match (&last.recorded, &recorded) {
                (Some(last), Some((neurons, _))) => last.neurons == *neurons,
                (None, None) => true,
                _ => false,
            };
            if is_same {
                last.steps.end += steps.end - steps.start;
                last.fired = fired;
                last.recorded =
                    last.recorded.take().zip(recorded).map(|(last, (_, spikes))| last.and(spikes));
                return;
            }
        }
        let recorded = recorded.map(|(neurons, spikes)| Recorded::of(neurons, spikes));
        let (steps, input) = match gets_nothing {
            true => (0..steps.end - steps.start, Input::default()),
            false => (steps, input.clone()),
        };
        self.push(Entry::Run(Run { steps, input, fired, recorded }));
    }

    /// What was done after all that is in the journal.
    pub(super) fn append(&mut self, mut later: Self) {
        if later.base.is_some() {
            *self = later;
            return;
        }
        self.entries.append(&mut later.entries);
        self.bytes += later.bytes;
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += size_of::<Entry>() as u64;
        if let Entry::Run(Run { input, .. }) = &entry {
            let shares = |before: &Entry| match before {
                Entry::Run(run) => std::ptr::eq(run.input.injections(), input.injections()),
                Entry::Drive { .. } => false,
            };
            if !self.entries.last().is_some_and(shares) {
                self.bytes += size_of_val(input.injections()) as u64;
            }
        }
        self.entries.push(entry);
    }

    /// Does all of it again, to a network in the state that the entries begin from.
    ///
    /// # Errors
    ///
    /// [`Error::StateLost`], if it has other results than it had; or the device fails.
    pub(super) fn replay(&self, executor: &mut DeviceExecutor) -> Result<(), Error> {
        self.entries.iter().try_for_each(|entry| match entry {
            Entry::Drive { population, amount } => executor.set_drive(*population, *amount),
            Entry::Run(run) => run.replay(executor),
        })
    }

    /// Makes what was noted of the last run wrong, to test that this is noticed.
    #[cfg(test)]
    pub(super) fn spoil(&mut self, what: &str) {
        let Some(Entry::Run(run)) = self.entries.last_mut() else { return };
        match (what, &mut run.recorded) {
            ("fired", _) => run.fired ^= 1,
            ("spikes", Some(recorded)) => recorded.digest ^= 1,
            (_, Some(recorded)) => recorded.count -= 1,
            _ => {}
        }
    }
}

impl Run {
    fn replay(&self, executor: &mut DeviceExecutor) -> Result<(), Error> {
        let first = executor.step;
        let recorded = match &self.recorded {
            None => {
                executor.run_part(self.steps.clone(), &self.input, None)?;
                None
            }
            Some(Recorded { neurons, count, .. }) => {
                let mut recorder = Recorder::new(*count).of(neurons.clone());
                executor.run_part(self.steps.clone(), &self.input, Some(&mut recorder))?;
                (recorder.lost() == 0).then(|| Recorded::of(neurons.clone(), recorder.spikes()))
            }
        };
        if executor.fired_digest != self.fired || recorded != self.recorded {
            let what =
                format!("steps {first} to {} have other spikes when they are made again", executor.step);
            return Err(Error::StateLost { reason: what });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Outcome<'_> = Outcome { fired: 0, recorded: None };

    fn input(steps: &[u64]) -> Input {
        let injections = steps.iter().map(|&step| Injection { step, neuron: 0, amount: 1 });
        Input::new(injections.collect()).expect("amounts are small")
    }

    #[test]
    fn runs_without_input_become_one() {
        let mut journal = Journal::default();
        for _ in 0..1000 {
            journal.run(0..1, &Input::default(), NOTHING);
        }
        // The input is over when the part begins.
        journal.run(50..60, &input(&[49, 60]), NOTHING);
        let [Entry::Run(run)] = &journal.entries[..] else { panic!("{journal:?}") };
        assert_eq!(run.steps, 0..1010, "all steps");
        journal.drive(0, 5);
        journal.drive(0, 6);
        assert!(matches!(journal.entries.last(), Some(Entry::Drive { amount: 6, .. })), "{journal:?}");
        journal.run(0..1, &Input::default(), NOTHING);
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }

    #[test]
    fn injections_that_parts_share_count_once() {
        let (mut journal, input) = (Journal::default(), input(&[1, 11, 21]));
        for part in [0..10, 10..20, 20..30] {
            journal.run(part, &input, NOTHING);
        }
        assert_eq!(journal.bytes(), 3 * (size_of::<Entry>() + size_of::<Injection>()) as u64, "bytes");
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }

    #[test]
    fn digests_of_recorded_runs_go_on_if_the_neurons_are_the_same() {
        let spikes = [1, 5, 9].map(|step| Spike { step, neuron: 3 });
        let recorded = |neurons: Range<u32>, spikes| Outcome { fired: 0, recorded: Some((neurons, spikes)) };
        let mut journal = Journal::default();
        journal.run(0..5, &Input::default(), recorded(0..4, &spikes[..1]));
        journal.run(0..5, &Input::default(), recorded(0..4, &spikes[1..]));
        let [Entry::Run(run)] = &journal.entries[..] else { panic!("{journal:?}") };
        assert_eq!(run.recorded, Some(Recorded::of(0..4, &spikes)), "of both");
        journal.run(0..5, &Input::default(), recorded(0..5, &[]));
        journal.run(0..5, &Input::default(), NOTHING);
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }
}
