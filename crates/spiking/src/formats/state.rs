//! Files of states.

use std::collections::BTreeMap;
use std::path::Path;

use super::FileError;
use super::container::{self, Reader, Tensor};
use crate::memory::MemoryNeed;
use crate::{Network, STATE_WORDS, State, bit_words};

const FORMAT: &str = "kvrm-spiking-state";
const VERSION: u32 = 1;

const TENSORS: [&str; 7] = ["columns", "ring", "marks", "fired", "history", "weights", "drives"];

impl State {
    /// Writes the state to a safetensors file. The same state always gives the same bytes.
    ///
    /// # Errors
    /// The file cannot be written. A file that existed before is unchanged then.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let metadata = BTreeMap::from([
            ("format", FORMAT.to_owned()),
            ("format_version", VERSION.to_string()),
            ("step", self.step.to_string()),
        ]);
        let Self { step: _, columns, ring, marks, fired, history, weights, drives } = self;
        let tensors = [
            Tensor::new("columns", &[columns.len()], columns),
            Tensor::new("ring", &[ring.len()], ring),
            Tensor::new("marks", &[marks.len()], marks),
            Tensor::new("fired", &[fired.len()], fired),
            Tensor::new("history", &[history.len()], history),
            Tensor::new("weights", &[weights.len()], weights),
            Tensor::new("drives", &[drives.len()], drives),
        ];
        container::write(path, &metadata, &tensors)
    }

    /// Reads a state and checks that it matches the network.
    ///
    /// # Errors
    /// The file cannot be read, or contains no valid state of this network.
    pub fn load(path: &Path, network: &Network) -> Result<Self, FileError> {
        let (name, file) = container::open(path)?;
        let mut reader = Reader::new(&name, file)?;
        reader.check(FORMAT, VERSION, &TENSORS)?;
        let synapses = network.synapses().count();
        let need = MemoryNeed { neurons: network.neurons().into(), synapses, bytes: reader.data_bytes() };
        need.check().map_err(|source| FileError::network(&name, "state", source))?;
        let neurons = network.neurons() as usize;
        let state = Self {
            step: reader.number("step")?,
            columns: reader.take("columns", &[Some(STATE_WORDS * neurons)])?,
            ring: reader.take("ring", &[None])?,
            marks: reader.take("marks", &[None])?,
            fired: reader.take("fired", &[Some(bit_words(neurons))])?,
            history: reader.take("history", &[None])?,
            weights: reader.take("weights", &[None])?,
            drives: reader.take("drives", &[Some(network.populations().len())])?,
        };
        state.check(network).map_err(|source| FileError::network(&name, "state", source))?;
        Ok(state)
    }
}
