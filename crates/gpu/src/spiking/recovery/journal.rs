//! The journal of the changes to a network since the last checkpoint, and its replay.

use std::ops::Range;

use kvrm_spiking::{Injection, Input, Recorder, Spike, State};

use super::super::digest::digest;
use super::super::executor::DeviceExecutor;
use crate::device::error::Error;

/// A checkpoint and the changes since then.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The state before the entries. `None` for the initial state of the network, or, in the journal of the call in
    /// progress, for the state after the journal of the completed calls.
    pub(super) base: Option<State>,
    entries: Vec<Entry>,
    /// The size of the entries in bytes, injections included.
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
    /// The recorded spikes; `None` without a recorder, or if the recorder was full.
    recorded: Option<SpikeDigest>,
}

/// The number and a digest of recorded spikes. A replay has to record the same ones, as the caller may have used them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SpikeDigest {
    neurons: Range<u32>,
    count: usize,
    digest: u64,
}

impl SpikeDigest {
    fn of(neurons: Range<u32>, spikes: &[Spike]) -> Self {
        Self { neurons, count: 0, digest: 0 }.extended_by(spikes)
    }

    fn extended_by(self, spikes: &[Spike]) -> Self {
        let words = spikes.iter().flat_map(|spike| [spike.step, spike.neuron.into()]);
        Self { count: self.count + spikes.len(), digest: digest(self.digest, words), ..self }
    }
}

/// The results of a part of a run, which a replay has to reproduce.
#[derive(Debug)]
pub(super) struct PartOutcome<'a> {
    /// A digest of the neurons that fired in the last step.
    pub(super) fired: u64,
    /// The range of recorded neurons and their spikes; `None` without a recorder, or if it lost spikes.
    pub(super) recorded: Option<(Range<u32>, &'a [Spike])>,
}

impl Journal {
    /// Returns an empty journal that begins with a checkpoint.
    pub(super) fn begin(base: State) -> Self {
        Self { base: Some(base), ..Self::default() }
    }

    /// Returns whether the journal has neither a checkpoint nor entries.
    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.base.is_none()
    }

    /// Returns the size of the entries in bytes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Records that the drive of a population was set.
    pub(super) fn record_drive(&mut self, population: u32, amount: i32) {
        match self.entries.last_mut() {
            // No step was done with the previous value.
            Some(Entry::Drive { population: last, amount: before }) if *last == population => {
                *before = amount;
            }
            _ => self.push(Entry::Drive { population, amount }),
        }
    }

    /// Records a part of a run.
    pub(super) fn record_run(&mut self, steps: Range<u64>, input: &Input, outcome: PartOutcome<'_>) {
        let PartOutcome { fired, recorded } = outcome;
        let injections = input.injections();
        let is_due = |injection: &Injection| steps.contains(&injection.step);
        let first = injections.partition_point(|injection| injection.step < steps.start);
        let has_no_input = !injections.get(first).is_some_and(is_due);
        // Consecutive runs without input become one entry, as callers often run single steps.
        if let (true, Some(Entry::Run(last))) = (has_no_input, self.entries.last_mut())
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
                    last.recorded.take().zip(recorded).map(|(last, (_, spikes))| last.extended_by(spikes));
                return;
            }
        }
        let recorded = recorded.map(|(neurons, spikes)| SpikeDigest::of(neurons, spikes));
        let (steps, input) = match has_no_input {
            true => (0..steps.end - steps.start, Input::default()),
            false => (steps, input.clone()),
        };
        self.push(Entry::Run(Run { steps, input, fired, recorded }));
    }

    /// Appends a journal of later changes, or is replaced by it if that begins with a checkpoint.
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

    /// Replays the entries on a network in the state before them.
    ///
    /// # Errors
    ///
    /// [`Error::StateLost`] if a run has other results than before; or the device fails.
    pub(super) fn replay(&self, executor: &mut DeviceExecutor) -> Result<(), Error> {
        self.entries.iter().try_for_each(|entry| match entry {
            Entry::Drive { population, amount } => executor.set_drive(*population, *amount),
            Entry::Run(run) => run.replay(executor),
        })
    }

    /// Corrupts the recorded results of the last run, to test that a replay detects it. Returns false if there is no run since
    /// the checkpoint.
    #[cfg(test)]
    pub(super) fn corrupt(&mut self, what: &str) -> bool {
        let Some(Entry::Run(run)) = self.entries.last_mut() else { return false };
        match (what, &mut run.recorded) {
            ("fired", _) => run.fired ^= 1,
            ("spikes", Some(recorded)) => recorded.digest ^= 1,
            (_, Some(recorded)) => recorded.count -= 1,
            _ => return false,
        }
        true
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
            Some(SpikeDigest { neurons, count, .. }) => {
                let mut recorder = Recorder::new(*count).for_neurons(neurons.clone());
                executor.run_part(self.steps.clone(), &self.input, Some(&mut recorder))?;
                (recorder.lost() == 0).then(|| SpikeDigest::of(neurons.clone(), recorder.spikes()))
            }
        };
        if executor.fired_digest != self.fired || recorded != self.recorded {
            let reason =
                format!("in the replay, steps {first} to {} have other spikes than before", executor.step);
            return Err(Error::StateLost { reason });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SPIKES: PartOutcome<'_> = PartOutcome { fired: 0, recorded: None };

    fn input(steps: &[u64]) -> Input {
        let injections = steps.iter().map(|&step| Injection { step, neuron: 0, amount: 1 });
        Input::new(injections.collect()).expect("amounts are small")
    }

    #[test]
    fn runs_without_input_become_one() {
        let mut journal = Journal::default();
        for _ in 0..1000 {
            journal.record_run(0..1, &Input::default(), NO_SPIKES);
        }
        // No injection is within the part.
        journal.record_run(50..60, &input(&[49, 60]), NO_SPIKES);
        let [Entry::Run(run)] = &journal.entries[..] else { panic!("{journal:?}") };
        assert_eq!(run.steps, 0..1010, "all steps");
        journal.record_drive(0, 5);
        journal.record_drive(0, 6);
        assert!(matches!(journal.entries.last(), Some(Entry::Drive { amount: 6, .. })), "{journal:?}");
        journal.record_run(0..1, &Input::default(), NO_SPIKES);
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }

    #[test]
    fn injections_that_parts_share_count_once() {
        let (mut journal, input) = (Journal::default(), input(&[1, 11, 21]));
        for part in [0..10, 10..20, 20..30] {
            journal.record_run(part, &input, NO_SPIKES);
        }
        assert_eq!(journal.bytes(), 3 * (size_of::<Entry>() + size_of::<Injection>()) as u64, "bytes");
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }

    #[test]
    fn digests_of_recorded_runs_go_on_if_the_neurons_are_the_same() {
        let spikes = [1, 5, 9].map(|step| Spike { step, neuron: 3 });
        let recorded =
            |neurons: Range<u32>, spikes| PartOutcome { fired: 0, recorded: Some((neurons, spikes)) };
        let mut journal = Journal::default();
        journal.record_run(0..5, &Input::default(), recorded(0..4, &spikes[..1]));
        journal.record_run(0..5, &Input::default(), recorded(0..4, &spikes[1..]));
        let [Entry::Run(run)] = &journal.entries[..] else { panic!("{journal:?}") };
        assert_eq!(run.recorded, Some(SpikeDigest::of(0..4, &spikes)), "of both");
        journal.record_run(0..5, &Input::default(), recorded(0..5, &[]));
        journal.record_run(0..5, &Input::default(), NO_SPIKES);
        assert_eq!(journal.entries.len(), 3, "{journal:?}");
    }
}
