//! Transfers of the state of a network to the device and back.

use kvrm_shaders::interface::spiking::SpikingGroup;
use kvrm_spiking::{Network, Record, State};

use super::store::Store;
use crate::device::error::Error;

/// The size of the history of a neuron on the device, in bytes. It begins with the history of a [`State`].
const HISTORY_BYTES: u64 = SpikingGroup::<()>::HISTORIES_STRIDE;

impl Store {
    /// Uploads records together with the drives of their populations. `first` is the number of the first record.
    pub(super) fn upload_records(
        &self,
        first: usize,
        records: &[Record],
        drives: &[i32],
    ) -> Result<(), Error> {
        let driven = records.iter().map(|record| {
            let mut record = *record;
            record.words[Record::DRIVE] = drives[record.words[Record::POPULATION] as usize] as u32;
            record
        });
        self.buffers.records.upload((first * size_of::<Record>()) as u64, &driven.collect::<Vec<_>>())
    }

    /// Uploads a state. The ring then begins with its first slot.
    pub(super) fn upload_state(&self, network: &Network, state: &State) -> Result<(), Error> {
        let buffers = &self.buffers;
        buffers.columns.upload(0, &state.columns)?;
        buffers.ring.upload(0, &state.ring)?;
        buffers.marks.upload(0, &state.marks)?;
        buffers.fired.upload(0, &state.fired)?;
        // The device does not use the other words of a history before it has written them.
        let words = |&history: &u64| [history as u32, (history >> 32) as u32, 0, 0];
        buffers.histories.upload(0, &state.history.iter().map(words).collect::<Vec<_>>())?;
        if network.is_plastic() {
            for (part, buffer) in self.parts.iter().zip(&buffers.synapses) {
                buffer.upload(0, &state.weights[part.start as usize..part.end as usize])?;
            }
        }
        self.upload_records(0, &network.parts().records, &state.drives)
    }

    /// Downloads the state. Its ring may begin with any slot; step and drives have their initial values, as the device
    /// does not hold them.
    pub(super) fn download_state(&self, network: &Network) -> Result<State, Error> {
        let mut state = State::initial(network);
        let buffers = &self.buffers;
        let mut ranges = vec![
            (&buffers.columns, 0..size_of_val(&state.columns[..]) as u64),
            (&buffers.ring, 0..size_of_val(&state.ring[..]) as u64),
            (&buffers.marks, 0..size_of_val(&state.marks[..]) as u64),
            (&buffers.fired, 0..size_of_val(&state.fired[..]) as u64),
            (&buffers.histories, 0..HISTORY_BYTES * state.history.len() as u64),
        ];
        if network.is_plastic() {
            let bytes = self.parts.iter().map(|part| 0..4 * (part.end - part.start));
            ranges.extend(buffers.synapses.iter().zip(bytes));
        }
        let mut taken = 0;
        let mut parts = self.parts.iter();
        self.device.download_each(&ranges, &mut |bytes| {
            let number = taken;
            taken += 1;
            let to: &mut [u8] = match number {
                0 => bytemuck::cast_slice_mut(&mut state.columns),
                1 => bytemuck::cast_slice_mut(&mut state.ring),
                2 => bytemuck::cast_slice_mut(&mut state.marks),
                3 => bytemuck::cast_slice_mut(&mut state.fired),
                4 => {
                    let elements = bytes.chunks_exact(HISTORY_BYTES as usize);
                    for (history, words) in state.history.iter_mut().zip(elements) {
                        *history = bytemuck::pod_read_unaligned(&words[..size_of::<u64>()]);
                    }
                    return;
                }
                _ => {
                    let part = parts.next().map_or(0..0, |part| part.start as usize..part.end as usize);
                    bytemuck::cast_slice_mut(&mut state.weights[part])
                }
            };
            to.copy_from_slice(bytes);
        })?;
        Ok(state)
    }
}
