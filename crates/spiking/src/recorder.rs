//! [`Recorder`], which stores the spikes of runs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A spike of a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Spike {
    /// The step, counted from the initial state of the network.
    pub step: u64,
    /// The neuron.
    pub neuron: u32,
}

/// A position of a [`Recorder`], to which [`Recorder::rewind`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderPosition {
    spikes: usize,
    lost: u64,
}

impl RecorderPosition {
    /// Returns the number of recorded spikes at this position.
    #[must_use]
    pub const fn spikes(self) -> usize {
        self.spikes
    }
}

/// A store of spikes with a fixed capacity. Spikes beyond it are only counted.
///
/// ```
/// use kvrm_spiking::Recorder;
///
/// let mut recorder = Recorder::new(2).for_neurons(0..50);
/// recorder.record(7, [3, 60].into_iter()); // the neurons that fire in step 7
/// assert_eq!(recorder.spikes().len(), 1, "neuron 60 is not among the first 50");
/// assert_eq!((recorder.spikes()[0].step, recorder.spikes()[0].neuron, recorder.lost()), (7, 3, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    capacity: usize,
    neurons: Range<u32>,
    spikes: Vec<Spike>,
    lost: u64,
}

impl Recorder {
    /// Returns a recorder with room for `capacity` spikes of all neurons.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self { capacity, neurons: 0..u32::MAX, spikes: Vec::new(), lost: 0 }
    }

    /// Restricts the recorder to these neurons.
    #[must_use]
    pub const fn for_neurons(mut self, neurons: Range<u32>) -> Self {
        self.neurons = neurons;
        self
    }

    /// Returns the capacity, in spikes.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the range of neurons that are recorded.
    #[must_use]
    pub const fn neurons(&self) -> &Range<u32> {
        &self.neurons
    }

    /// Returns the recorded spikes, sorted by step and neuron.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        &self.spikes
    }

    /// Returns the recorded spikes and empties the recorder. The count of lost spikes restarts at 0.
    pub fn take(&mut self) -> Vec<Spike> {
        self.lost = 0;
        std::mem::take(&mut self.spikes)
    }

    /// Returns the number of spikes that were not recorded.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Records all spikes of a step, in the order of neurons. A step is recorded completely or not at all, and after
    /// the first step that does not fit, no step is recorded. For engines.
    pub fn record(&mut self, step: u64, fired: impl Iterator<Item = u32>) {
        let before = self.spikes.len();
        let room = if self.lost == 0 { self.capacity - before } else { 0 };
        let mut count = 0;
        for neuron in fired.filter(|neuron| self.neurons.contains(neuron)) {
            count += 1;
            if count <= room {
                self.spikes.push(Spike { step, neuron });
            }
        }
        self.lose(if count > room { count as u64 } else { 0 });
        if count > room {
            self.spikes.truncate(before);
        }
    }

    /// Counts spikes as lost. For engines.
    pub const fn lose(&mut self, spikes: u64) {
        self.lost += spikes;
    }

    /// Returns the current position. For engines.
    #[must_use]
    pub const fn position(&self) -> RecorderPosition {
        RecorderPosition { spikes: self.spikes.len(), lost: self.lost }
    }

    /// Drops the spikes recorded after a position, so that they can be recorded again. For engines.
    pub fn rewind(&mut self, position: RecorderPosition) {
        self.spikes.truncate(position.spikes);
        self.lost = position.lost;
    }

    /// Ends a run. For engines.
    ///
    /// # Errors
    /// [`Error::RecordingOverflow`] if spikes were lost.
    pub fn finish(&self) -> Result<(), Error> {
        match self.lost {
            0 => Ok(()),
            lost => Err(Error::RecordingOverflow {
                recorded: self.spikes.len() as u64,
                lost,
                capacity: self.capacity as u64,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_rewinds_to_a_position_after_losing_spikes() {
        let mut recorder = Recorder::new(3);
        recorder.record(0, [1, 2].into_iter());
        let before = recorder.position();
        recorder.record(1, [3, 4].into_iter());
        recorder.record(2, [5].into_iter());
        assert_eq!(
            (recorder.spikes().len(), recorder.lost()),
            (2, 3),
            "there is no room for a step of two spikes"
        );
        recorder.rewind(before);
        assert_eq!((recorder.position(), recorder.lost()), (before, 0), "the recorder is at the position");
        recorder.record(1, [5].into_iter());
        assert_eq!(
            recorder.spikes().last(),
            Some(&Spike { step: 1, neuron: 5 }),
            "there is room for a step of one spike"
        );
        recorder.finish().expect("no spike is lost");
    }
}
