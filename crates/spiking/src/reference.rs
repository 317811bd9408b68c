//! [`Reference`]: a direct implementation of a step, neuron by neuron and synapse by synapse.

use std::sync::Arc;

use crate::model::{self, Clock, Neuron, feagi};
use crate::plasticity::PackedRow;
use crate::state::bit_words;
use crate::{ChangeSummary, Error, Executor, Input, Network, Recorder, State, fixed};

/// The simple engine, which is the specification of all other engines.
///
/// ```
/// use std::sync::Arc;
///
/// use kvrm_spiking::{Builder, Executor, Feagi, Input, Model, Reference};
///
/// let mut builder = Builder::new(1.0);
/// builder.population("area", 10, &Model::Feagi(Feagi::default()))?;
/// let mut engine = Reference::new(Arc::new(builder.build()?));
/// engine.run(5, &Input::default(), None)?;
/// assert_eq!(engine.state()?.step, 5);
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Debug)]
pub struct Reference {
    network: Arc<Network>,
    state: State,
    /// The slot of `state.ring` and `state.marks` for the next step. It moves instead of the contents.
    next: usize,
}

impl Reference {
    /// Returns an engine with the initial state of a network.
    #[must_use]
    pub fn new(network: Arc<Network>) -> Self {
        Self { state: State::initial(&network), network, next: 0 }
    }

    fn step(&mut self, offset: u64, input: &Input) {
        let fired = self.update(offset, input);
        self.learn();
        self.deliver(&fired);
        self.state.step += 1;
    }

    /// Updates all neurons. Returns those that fire, with their postsynaptic potentials.
    fn update(&mut self, offset: u64, input: &Input) -> Vec<(u32, u32)> {
        let (parts, state) = (self.network.parts(), &mut self.state);
        let (neurons, ports) = (self.network.neurons() as usize, parts.ports as usize);
        let clock = Clock::new(parts.seed, state.step);
        let mut injections = input.at(offset).iter().peekable();
        let mut fired = Vec::new();
        state.fired.fill(0);
        for neuron in 0..neurons {
            let injection = injections.next_if(|injection| injection.neuron as usize == neuron);
            let injected = injection.map(|injection| injection.amount);
            let arrival = state.arrival(&self.network, self.next, neuron as u32, injected);
            let number = neuron as u32;
            let from = Neuron { number, record: self.network.record(number), tables: &parts.tables };
            let mut words = state.words(neuron as u32);
            if let Some(psp) = model::update(&from, &clock, arrival, &mut words) {
                fired.push((neuron as u32, psp));
                state.fired[neuron / 32] |= 1 << (neuron % 32);
            }
            for (index, word) in words.into_iter().enumerate() {
                state.columns[index * neurons + neuron] = word;
            }
        }
        state.ring[self.next * ports * neurons..][..ports * neurons].fill(0);
        if let Some(marks) = state.marks.chunks_mut(bit_words(neurons).max(1)).nth(self.next) {
            marks.fill(0);
        }
        fired
    }

    /// Applies the plasticity rules.
    fn learn(&mut self) {
        let (network, state) = (&self.network, &mut self.state);
        for (neuron, history) in state.history.iter_mut().enumerate() {
            *history = *history << 1 | u64::from(state.fired[neuron / 32] >> (neuron % 32) & 1);
        }
        let parts = network.parts();
        for rule in &parts.plasticity {
            let targets = &parts.populations[rule.target as usize].neurons;
            for source in parts.populations[rule.source as usize].neurons.clone() {
                let history = state.history[source as usize];
                if rule.rule.visits(history) {
                    let words = &mut state.weights[parts.synapses.range(source)];
                    let row = PackedRow { packing: &parts.synapses.packing, words };
                    rule.learn(row, targets, history, &state.history);
                }
            }
        }
    }

    /// Adds the contributions of spikes to the ring.
    fn deliver(&mut self, fired: &[(u32, u32)]) {
        let (parts, state) = (self.network.parts(), &mut self.state);
        let (neurons, ports, slots) =
            (self.network.neurons() as usize, parts.ports as usize, self.network.slots());
        let synapses = &parts.synapses;
        let words = if self.network.is_plastic() { &state.weights } else { &synapses.words };
        for &(source, psp) in fired {
            let fan_out = synapses.lengths[source as usize];
            let scale = fixed::scale(psp, feagi::is_divided(self.network.record(source)), fan_out);
            let row = &words[synapses.range(source)];
            for index in 0..fan_out as usize {
                let synapse = synapses.packing.unpack(synapses.packing.read(row, index));
                let target = synapse.target as usize;
                let slot = (self.next + synapse.delay as usize) % slots;
                let port = if synapse.weight < 0 { ports - 1 } else { 0 };
                let sum = &mut state.ring[(slot * ports + port) * neurons + target];
                *sum += fixed::contribution(synapse.weight, scale);
                if *sum == 0
                    && let Some(word) = state.marks.get_mut(slot * bit_words(neurons) + target / 32)
                {
                    *word |= 1 << (target % 32);
                }
            }
        }
        self.next = (self.next + 1) % slots;
    }
}

impl Executor for Reference {
    fn name(&self) -> String {
        "reference".to_owned()
    }

    fn run(&mut self, steps: u64, input: &Input, mut recorder: Option<&mut Recorder>) -> Result<(), Error> {
        input.check(&self.network, steps)?;
        for offset in 0..steps {
            let step = self.state.step;
            self.step(offset, input);
            if let Some(recorder) = &mut recorder {
                recorder.record(step, self.state.fired());
            }
        }
        recorder.map_or(Ok(()), |recorder| recorder.finish())
    }

    fn state(&mut self) -> Result<State, Error> {
        let mut state = self.state.clone();
        state.rotate(self.next, &self.network);
        Ok(state)
    }

    fn set_state(&mut self, state: &State) -> Result<(), Error> {
        state.check(&self.network)?;
        (self.state, self.next) = (state.clone(), 0);
        Ok(())
    }

    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error> {
        self.state.set_drive(&self.network, population, amount)
    }

    fn change(&mut self, network: &Arc<Network>, changed: &ChangeSummary) -> Result<(), Error> {
        let state = self.state()?.after(network, changed);
        state.check(network)?;
        *self = Self { network: Arc::clone(network), state, next: 0 };
        Ok(())
    }
}
