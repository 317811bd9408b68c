//! [`State`]: the state of a network between two steps.

use crate::memory::MemoryNeed;
use crate::model::{Arrival, Words};
use crate::record::STATE_WORDS;
use crate::{ChangeSummary, Error, Network, Record, bound, check};

/// Everything that changes during a run; the same on every engine, bit by bit.
///
/// ```
/// use std::sync::Arc;
///
/// use kvrm_spiking::{Builder, Executor, Feagi, Input, Model, Parallel, Reference};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// builder.population("area", 10, &Model::Feagi(Feagi { drive: 1.0, ..Feagi::default() }))?;
/// let network = Arc::new(builder.build()?);
/// let mut reference = Reference::new(Arc::clone(&network));
/// reference.run(5, &Input::default(), None)?;
/// let state = reference.state()?;
/// assert_eq!(state.fired().count(), 10, "neurons that fired in the last step");
/// // Another engine continues from the state.
/// let mut parallel = Parallel::new(network);
/// parallel.set_state(&state)?;
/// assert_eq!(parallel.state()?, state);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The number of steps executed.
    pub step: u64,
    /// The state words of all neurons, column by column: word w of neuron n is at `w * neurons + n`.
    pub columns: Vec<u32>,
    /// The ring of pending inputs, in weight units, by slot, port and neuron. Slot 0 is for the next step.
    pub ring: Vec<i32>,
    /// The marks of inputs that add up to zero, by slot: a bit for each neuron, set if it has input but the sums of all
    /// its ports are zero. Empty if there are no FEAGI neurons.
    pub marks: Vec<u32>,
    /// The neurons that fired in the last step, a bit each.
    pub fired: Vec<u32>,
    /// The spike history of each neuron: bit k is a spike k steps before the last step. Empty if no weights learn.
    pub history: Vec<u64>,
    /// The words of all synapses. Empty if no weights learn.
    pub weights: Vec<u32>,
    /// The drive of each population, in weight units.
    pub drives: Vec<i32>,
}

impl Network {
    /// Returns the size of a state of this network in bytes.
    #[must_use]
    pub fn state_bytes(&self) -> u64 {
        let (parts, neurons) = (self.parts(), self.neurons() as usize);
        let marks = if self.has_marks() { self.slots() * bit_words(neurons) } else { 0 };
        let learned = if self.is_plastic() { 2 * neurons + parts.synapses.words.len() } else { 0 };
        let ring = self.slots() * parts.ports as usize * neurons;
        let words =
            STATE_WORDS * neurons + ring + marks + bit_words(neurons) + learned + parts.populations.len();
        4 * words as u64
    }

    /// Checks that the host has the memory for a state of this network, which every engine needs.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if it certainly has not.
    ///
    /// ```
    /// # fn main() -> Result<(), kvrm_spiking::Error> {
    /// let network = kvrm_spiking::networks::feagi(1000, 10, 1)?;
    /// assert!(network.state_bytes() > 1000 * 16);
    /// network.check_memory()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_memory(&self) -> Result<(), Error> {
        let (neurons, synapses) = (self.neurons().into(), self.synapses().count());
        MemoryNeed { neurons, synapses, bytes: self.state_bytes() }.check()
    }
}

impl State {
    /// Returns the initial state of a network.
    #[must_use]
    pub fn initial(network: &Network) -> Self {
        let parts = network.parts();
        let neurons = network.neurons() as usize;
        let mut drives = vec![0; parts.populations.len()];
        for record in &parts.records {
            drives[record.words[Record::POPULATION] as usize] = record.signed(Record::DRIVE);
        }
        let plastic = |length: usize| if network.is_plastic() { length } else { 0 };
        Self {
            step: 0,
            columns: parts.columns.clone(),
            ring: vec![0; network.slots() * parts.ports as usize * neurons],
            marks: vec![0; if network.has_marks() { network.slots() * bit_words(neurons) } else { 0 }],
            fired: vec![0; bit_words(neurons)],
            history: vec![0; plastic(neurons)],
            weights: parts.synapses.words[..plastic(parts.synapses.words.len())].to_vec(),
            drives,
        }
    }

    /// Checks that the state matches a network, and that pending and possible new input of each neuron cannot overflow.
    /// Engines call it before they use a state.
    ///
    /// # Errors
    /// [`Error::StateShape`], [`Error::State`], [`Error::AccumulatorBound`], or a drive exceeds the injection limit.
    pub fn check(&self, network: &Network) -> Result<(), Error> {
        let parts = network.parts();
        let neurons = network.neurons() as usize;
        let marks = if network.has_marks() { network.slots() * bit_words(neurons) } else { 0 };
        let plastic = |length: usize| if network.is_plastic() { length } else { 0 };
        let shapes = [
            ("columns", self.columns.len(), STATE_WORDS * neurons),
            ("ring", self.ring.len(), network.slots() * parts.ports as usize * neurons),
            ("marks", self.marks.len(), marks),
            ("fired", self.fired.len(), bit_words(neurons)),
            ("history", self.history.len(), plastic(neurons)),
            ("weights", self.weights.len(), plastic(parts.synapses.words.len())),
            ("drives", self.drives.len(), parts.populations.len()),
        ];
        if let Some((what, found, expected)) =
            shapes.into_iter().find(|(_, found, expected)| found != expected)
        {
            return Err(Error::StateShape { what, found, expected });
        }
        // Step numbers must not overflow later.
        if self.step > u64::MAX / 2 {
            return Err(Error::state(format!("its step is {}, expected at most 2^63 - 1", self.step)));
        }
        if let Some(neuron) = self.fired().find(|&neuron| neuron as usize >= neurons) {
            return Err(Error::state(format!("neuron {neuron} has fired, but there are {neurons} neurons")));
        }
        self.drives.iter().try_for_each(|&drive| bound::check_drive(drive, parts.injection_limit))?;
        if network.is_plastic() {
            check::weights(parts, &self.weights)?;
        }
        bound::check_ring(parts, &network.survey, &self.ring)
    }

    /// Sets the drive of a population. For engines.
    ///
    /// # Errors
    /// There is no such population, or the magnitude exceeds the injection limit.
    pub fn set_drive(&mut self, network: &Network, population: u32, amount: i32) -> Result<(), Error> {
        bound::check_drive(amount, network.parts().injection_limit)?;
        let populations = self.drives.len() as u64;
        let drive = self.drives.get_mut(population as usize);
        *drive.ok_or(Error::NoSuchPopulation { population: population.into(), populations })? = amount;
        Ok(())
    }

    /// Rotates the ring so that slot `next` becomes slot 0, and clears marks of sums that are not zero. For engines
    /// that move a slot number instead of the contents of the ring.
    pub fn rotate(&mut self, next: usize, network: &Network) {
        let (neurons, ports) = (network.neurons() as usize, network.parts().ports as usize);
        self.ring.rotate_left(next * ports * neurons);
        if self.marks.is_empty() {
            return;
        }
        self.marks.rotate_left(next * bit_words(neurons));
        for (slot, marks) in self.marks.chunks_mut(bit_words(neurons)).enumerate() {
            for port in 0..ports {
                let sums = &self.ring[(slot * ports + port) * neurons..][..neurons];
                for (mark, sums) in marks.iter_mut().zip(sums.chunks(32)) {
                    let is_zero = |(bit, sum): (usize, &i32)| u32::from(*sum == 0) << bit;
                    *mark &= sums.iter().enumerate().map(is_zero).sum::<u32>();
                }
            }
        }
    }

    /// Returns the state after a change: the old state, and the initial state of everything new. Pending input stays at
    /// its port, even if the network now has two ports.
    ///
    /// The result may fail [`State::check`], because input from removed synapses may be pending.
    #[must_use]
    pub fn after(&self, network: &Network, changed: &ChangeSummary) -> Self {
        let mut state = Self { step: self.step, ..Self::initial(network) };
        let (old, new) = (changed.neurons as usize, network.neurons() as usize);
        let copy = |from: &[u32], to: &mut [u32]| to[..from.len()].copy_from_slice(from);
        for word in 0..STATE_WORDS {
            copy(&self.columns[word * old..][..old], &mut state.columns[word * new..]);
        }
        let ports = network.parts().ports as usize;
        for slot in 0..changed.slots {
            for port in 0..changed.ports as usize {
                let from = &self.ring[(slot * changed.ports as usize + port) * old..][..old];
                state.ring[(slot * ports + port) * new..][..old].copy_from_slice(from);
            }
            if let Some(marks) = self.marks.get(slot * bit_words(old)..(slot + 1) * bit_words(old)) {
                copy(marks, &mut state.marks[slot * bit_words(new)..]);
            }
        }
        copy(&self.fired, &mut state.fired);
        state.history[..self.history.len()].copy_from_slice(&self.history);
        state.drives[..self.drives.len()].copy_from_slice(&self.drives);
        state
    }

    /// Returns the state words of a neuron.
    pub(crate) fn words(&self, neuron: u32) -> Words {
        let neurons = self.columns.len() / STATE_WORDS;
        std::array::from_fn(|word| self.columns[word * neurons + neuron as usize])
    }

    /// Returns the total input of a neuron: from this slot of the ring, from injections, and from the drive.
    pub(crate) fn arrival(
        &self,
        network: &Network,
        slot: usize,
        neuron: u32,
        injected: Option<i32>,
    ) -> Arrival {
        let (neurons, ports) = (network.neurons() as usize, network.parts().ports as usize);
        let index = neuron as usize;
        let mut arrival = Arrival::default();
        for port in 0..ports {
            let sum = self.ring[(slot * ports + port) * neurons + index];
            arrival.is_input |= sum != 0;
            arrival.ports[port] = sum;
        }
        if let Some(word) = self.marks.get(slot * bit_words(neurons) + index / 32) {
            arrival.is_input |= word >> (index % 32) & 1 != 0;
        }
        if let Some(amount) = injected {
            arrival.give(amount, ports);
        }
        let drive = self.drives[network.record(neuron).words[Record::POPULATION] as usize];
        if drive != 0 {
            arrival.give(drive, ports);
        }
        arrival
    }

    /// Returns the neurons that fired in the last step, in order.
    pub fn fired(&self) -> impl Iterator<Item = u32> + '_ {
        set_bits(&self.fired)
    }
}

/// Returns the number of 32-bit words for `bits` bits.
#[must_use]
pub const fn bit_words(bits: usize) -> usize {
    bits.div_ceil(32)
}

/// Returns the positions of the set bits, in order.
pub fn set_bits(words: &[u32]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(32 * index as u32 + bit)
        })
    })
}
