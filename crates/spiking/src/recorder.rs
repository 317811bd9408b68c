//! Spikes of a run.

use std::ops::Range;

use crate::Error;

/// A neuron has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spike {
    /// The step, counted from the network's beginning.
    pub step: u64,
    /// The neuron.
    pub neuron: u32,
}

/// How far a [`Recorder`] was, to come back to; see [`Recorder::rewind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    spikes: usize,
    lost: u64,
}

impl Position {
    /// How many spikes there were.
    #[must_use]
    pub const fn spikes(self) -> usize {
        self.spikes
    }
}

/// Keeps spikes, up to some number; what does not fit is counted.
#[derive(Clone, Debug)]
pub struct Recorder {
    capacity: usize,
    neurons: Range<u32>,
    spikes: Vec<Spike>,
    lost: u64,
}

impl Recorder {
    /// A recorder with room for some spikes of all neurons.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self { capacity, neurons: 0..u32::MAX, spikes: Vec::new(), lost: 0 }
    }

    /// Records these neurons only.
    #[must_use]
    pub const fn of(mut self, neurons: Range<u32>) -> Self {
        self.neurons = neurons;
        self
    }

    /// How many spikes there is room for.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Which neurons are recorded.
    #[must_use]
    pub const fn neurons(&self) -> &Range<u32> {
        &self.neurons
    }

    /// What has been recorded, sorted by step and neuron.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        &self.spikes
    }

    /// Takes what has been recorded, which makes room.
    pub fn take(&mut self) -> Vec<Spike> {
        self.lost = 0;
        std::mem::take(&mut self.spikes)
    }

    /// How many spikes were not recorded.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Records all spikes of a step, in the order of neurons; for engines. Steps are recorded completely or not at
    /// all, and after the first that does not fit none is.
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

    /// Counts spikes that are not there; for engines.
    pub const fn lose(&mut self, spikes: u64) {
        self.lost += spikes;
    }

    /// Where the recorder is now; for engines.
    #[must_use]
    pub const fn position(&self) -> Position {
        Position { spikes: self.spikes.len(), lost: self.lost }
    }

    /// Forgets what came after a position, so that it can be recorded again; for engines.
    pub fn rewind(&mut self, position: Position) {
        self.spikes.truncate(position.spikes);
        self.lost = position.lost;
    }

    /// Ends a run; for engines.
    ///
    /// # Errors
    /// [`Error::RecordingOverflow`], if spikes were lost.
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
    fn a_recorder_comes_back_to_a_position_although_spikes_were_lost() {
        let mut recorder = Recorder::new(3);
        recorder.record(0, [1, 2].into_iter());
        let before = recorder.position();
        recorder.record(1, [3, 4].into_iter());
        recorder.record(2, [5].into_iter());
        assert_eq!((recorder.spikes().len(), recorder.lost()), (2, 3), "there is no room for two");
        recorder.rewind(before);
        assert_eq!((recorder.position(), recorder.lost()), (before, 0), "as before");
        recorder.record(1, [5].into_iter());
        assert_eq!(recorder.spikes().last(), Some(&Spike { step: 1, neuron: 5 }), "there is room for one");
        recorder.finish().expect("nothing is lost");
    }
}
