//! Checkpoints: copies of a machine's state on the host, from which another device can go on.

use kvrm_machine::PageMap;
use kvrm_shaders::layout::{INFO_NODE, INFO_PAGE_HIGH};

use super::lanes::{GpuExecutor, Snapshot};
use super::words::PAGE;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The state of all lanes except their images. Lowered code is not part of it, because it can be lowered again.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    /// The columns.
    state: Vec<u8>,
    /// The frames after those of the images, in pieces.
    frames: Vec<Vec<u8>>,
    info: Vec<u8>,
    has_simd: bool,
    maps: Vec<PageMap>,
    heap_ends: Vec<u64>,
    snapshot: Option<SavedSnapshot>,
    /// Console output that waits for the host.
    console: Vec<u8>,
    printing_calls: u64,
    served_calls: u64,
    frames_used: u32,
    frames_max: u32,
}

/// The columns, page maps and heap ends of a snapshot.
type SavedSnapshot = (Vec<u8>, Vec<PageMap>, Vec<u64>);

impl GpuExecutor {
    /// Returns the size of a checkpoint in bytes.
    pub(crate) fn state_bytes(&self) -> u64 {
        let columns = self.store.columns.buffer.bytes() * (1 + u64::from(self.snapshot.is_some()));
        columns
            + u64::from(self.frames - self.frames_shared) * (crate::machine::store::limits::INFO_BYTES + PAGE)
    }

    /// Copies the state to the host.
    pub(crate) fn checkpoint(&mut self) -> Result<Checkpoint, Error> {
        self.flush_memory()?;
        self.store.columns.flush()?;
        let own = self.frames_shared..self.frames;
        let mut ranges = vec![
            (&self.store.columns.buffer, 0..self.store.columns.buffer.bytes()),
            (&self.store.info, self.store.info_places(&own)),
        ];
        if let Some(snapshot) = &self.snapshot {
            ranges.push((&snapshot.state, 0..snapshot.state.bytes()));
        }
        let mut contents = self.store.device.download(&ranges)?.into_iter();
        let (state, info) = (contents.next().unwrap_or_default(), contents.next().unwrap_or_default());
        let snapshot = contents.next().zip(self.snapshot.as_ref());
        let snapshot = snapshot.map(|(state, there)| (state, there.maps.clone(), there.heap_ends.clone()));
        let frames = self.store.save_frames(own)?;
        Ok(Checkpoint {
            state,
            frames,
            info,
            has_simd: self.has_simd,
            maps: self.maps.clone(),
            heap_ends: self.heap_ends.clone(),
            snapshot,
            console: self.download_console()?,
            printing_calls: self.printing_calls,
            served_calls: self.served_calls,
            frames_used: self.frames,
            frames_max: self.frames_max,
        })
    }

    /// Replaces the state by a checkpoint of the same lanes. Returns false if there is no room for its frames.
    pub(crate) fn restore(&mut self, from: &Checkpoint) -> Result<bool, Error> {
        if from.frames_used > self.store.capacity()
            && self.store.grow_frames(from.frames_used)? < from.frames_used
        {
            return Ok(false);
        }
        let own = self.frames_shared..from.frames_used;
        // Changed columns must not be sent after the state, so they are sent first.
        self.store.columns.flush()?;
        self.store.columns.invalidate();
        self.store.columns.buffer.upload(0, &from.state)?;
        self.store.columns.forget_pages();
        let mut info: Vec<[u32; 4]> = bytemuck::pod_collect_to_vec(&from.info);
        for [_, high, _, code] in &mut info {
            *high &= INFO_NODE | INFO_PAGE_HIGH;
            // No code of these frames is lowered on this device yet.
            *code = 0;
        }
        if !self.store.restore_frames(own.clone(), &from.frames, &mut info)? {
            return Ok(false);
        }
        self.store.info.upload(self.store.info_places(&own).start, info.as_flattened())?;
        if let Some((state, maps, heap_ends)) = &from.snapshot {
            let state = Buffer::with_contents(&self.store.device, "snapshot", state)?;
            self.snapshot = Some(Snapshot { state, maps: maps.clone(), heap_ends: heap_ends.clone() });
        }
        self.store.console.upload(0, &from.console)?;
        (self.served_calls, self.printing_calls) = (from.served_calls, from.printing_calls);
        self.has_simd = from.has_simd;
        self.maps.clone_from(&from.maps);
        self.heap_ends.clone_from(&from.heap_ends);
        self.frames = from.frames_used;
        self.frames_max = from.frames_max;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.restart(self.store.lanes);
        }
        self.cache.forget();
        Ok(true)
    }
}
