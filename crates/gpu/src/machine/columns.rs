//! The columns of lane state, and the host's copies of them, which are fetched on demand.

use std::ops::Range;

use kvrm_machine::pick;
use kvrm_shaders::layout::{
    COLUMN_HEAD, COLUMN_HEAP_END, COLUMN_ROOT, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL,
    COLUMN_TLB, COLUMN_WINDOW, COLUMNS,
};
use rayon::prelude::*;

use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The columns that the host reads between runs. They are fetched together, because each transfer takes time.
pub(crate) const BETWEEN_RUNS: [u32; 6] =
    [COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_HEAP_END, COLUMN_TAIL, COLUMN_HEAD];

/// The host's copy of a column.
#[derive(Clone, Debug, Default)]
struct Column {
    values: Vec<u64>,
    /// Whether the device may have changed the column since the copy was fetched.
    stale: bool,
    /// Whether the host has changed the copy and not uploaded it.
    changed: bool,
}

/// The columns of one word per lane on the device, and the host's copies of columns that it has used.
#[derive(Debug)]
pub(crate) struct Columns {
    device: Device,
    pub(crate) buffer: Buffer,
    lanes: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// Creates columns of zeros.
    pub(crate) fn new(device: &Device, lanes: usize) -> Result<Self, Error> {
        let buffer = Buffer::zeroed(device, "state of lanes", u64::from(COLUMNS) * lanes as u64 * 8)?;
        let column = Column { values: Vec::new(), stale: true, changed: false };
        Ok(Self { device: device.clone(), buffer, lanes, columns: vec![column; COLUMNS as usize] })
    }

    /// Fetches the given columns that are stale, in one transfer. If one of them is in [`BETWEEN_RUNS`], the transfer has all stale
    /// columns of that list.
    pub(crate) fn fetch(&mut self, columns: impl IntoIterator<Item = u32>) -> Result<(), Error> {
        self.fetch_with(columns, &[]).map(drop)
    }

    /// Fetches columns as [`Self::fetch`] does, and ranges of buffers in the same transfer, and returns the bytes of these.
    pub(crate) fn fetch_with(
        &mut self,
        columns: impl IntoIterator<Item = u32>,
        others: &[(&Buffer, Range<u64>)],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let bytes = 8 * self.lanes as u64;
        let is_stale = |column: &u32| self.columns[*column as usize].stale;
        let mut missing: Vec<u32> = columns.into_iter().filter(is_stale).collect();
        if missing.iter().any(|column| BETWEEN_RUNS.contains(column)) {
            missing.extend(BETWEEN_RUNS.into_iter().filter(is_stale));
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() && others.is_empty() {
            return Ok(Vec::new());
        }
        let ranges: Vec<_> = missing
            .iter()
            .map(|column| (&self.buffer, u64::from(*column) * bytes..u64::from(*column + 1) * bytes))
            .chain(others.iter().cloned())
            .collect();
        let (columns, mut fetched, mut of_others) = (&mut self.columns, missing.iter(), Vec::new());
        self.device.download_each(&ranges, &mut |bytes| {
            let Some(column) = fetched.next() else {
                of_others.push(bytes.to_vec());
                return;
            };
            let column = &mut columns[*column as usize];
            // In most cases the vector has its length already.
            column.values.resize(bytes.len() / 8, 0);
            bytemuck::cast_slice_mut(&mut column.values).copy_from_slice(bytes);
            column.stale = false;
        })?;
        Ok(of_others)
    }

    /// Returns a column. Fetches it if it is stale.
    pub(crate) fn get(&mut self, column: u32) -> Result<&[u64], Error> {
        self.fetch([column])?;
        Ok(&self.columns[column as usize].values)
    }

    /// Returns the copy of a column that was fetched before.
    pub(crate) fn cached(&self, column: u32) -> &[u64] {
        &self.columns[column as usize].values
    }

    /// Returns a column for changing. Fetches it if it is stale.
    pub(crate) fn get_mut(&mut self, column: u32) -> Result<&mut [u64], Error> {
        self.fetch([column])?;
        let column = &mut self.columns[column as usize];
        column.changed = true;
        Ok(&mut column.values)
    }

    /// Returns the word of a lane in a column.
    pub(crate) fn word(&mut self, column: u32, lane: usize) -> Result<u64, Error> {
        Ok(self.get(column)?[lane])
    }

    /// Changes the word of a lane in a column.
    pub(crate) fn set(&mut self, column: u32, lane: usize, value: u64) -> Result<(), Error> {
        if self.get(column)?[lane] != value {
            self.get_mut(column)?[lane] = value;
        }
        Ok(())
    }

    /// Replaces the words of a column, without fetching them.
    pub(crate) fn replace(&mut self, column: u32, values: &[u64]) {
        let column = &mut self.columns[column as usize];
        if column.stale || column.values != values {
            column.values.clear();
            column.values.extend_from_slice(values);
            (column.stale, column.changed) = (false, true);
        }
    }

    /// Sets the words of all lanes in a column to the same value, without fetching them.
    pub(crate) fn fill(&mut self, column: u32, value: u64) {
        let column = &mut self.columns[column as usize];
        column.values.clear();
        column.values.resize(self.lanes, value);
        (column.stale, column.changed) = (false, true);
    }

    /// Calls `change` with the number and the words of each given column, in parallel.
    pub(crate) fn change(
        &mut self,
        columns: impl IntoIterator<Item = u32>,
        change: impl Fn(u32, &mut [u64]) + Sync,
    ) -> Result<(), Error> {
        let numbers: Vec<u32> = columns.into_iter().collect();
        self.fetch(numbers.iter().copied())?;
        let indices: Vec<usize> = numbers.iter().map(|column| *column as usize).collect();
        pick(&mut self.columns, &indices).into_par_iter().zip(numbers).for_each(|(column, number)| {
            column.changed = true;
            change(number, &mut column.values);
        });
        Ok(())
    }

    /// Makes lanes empty their TLBs, because page tables, frames or code may have changed.
    pub(crate) fn forget_pages(&mut self) {
        self.fill(COLUMN_TLB, 0);
    }

    /// Uploads the columns that the host has changed.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        if [COLUMN_ROOT, COLUMN_WINDOW].into_iter().any(|column| self.columns[column as usize].changed) {
            self.forget_pages();
        }
        for (number, column) in (0..).zip(&mut self.columns) {
            if column.changed {
                self.buffer.upload(number * 8 * self.lanes as u64, &column.values)?;
                column.changed = false;
            }
        }
        Ok(())
    }

    /// Marks all columns as stale, because the device may have changed them.
    pub(crate) fn invalidate(&mut self) {
        self.invalidate_some(0..COLUMNS);
    }

    /// Marks some columns as stale, because the device may have changed them.
    pub(crate) fn invalidate_some(&mut self, columns: impl IntoIterator<Item = u32>) {
        columns.into_iter().for_each(|column| self.columns[column as usize].stale = true);
    }

    /// Returns the copies of words that differ from the device: the column, the lane, the word on the device, and the copy. All
    /// changes have to be uploaded before.
    pub(crate) fn wrong_copies(&self) -> Result<Vec<(u32, usize, u64, u64)>, Error> {
        let bytes = 8 * self.lanes as u64;
        let fetched = || (0..).zip(&self.columns).filter(|(_, column)| !column.stale);
        let ranges: Vec<_> =
            fetched().map(|(number, _)| (&self.buffer, number * bytes..(number + 1) * bytes)).collect();
        let mut wrong = Vec::new();
        let mut columns = fetched();
        self.device.download_each(&ranges, &mut |bytes| {
            let Some((number, column)) = columns.next() else { return };
            let words = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned::<u64>).zip(&column.values);
            let differing = words.enumerate().filter(|(_, (is, copy))| is != *copy);
            wrong.extend(differing.map(|(lane, (is, copy))| (number as u32, lane, is, *copy)));
        })?;
        Ok(wrong)
    }

    /// Replaces the copy of a word, but not the word on the device. Tests damage copies with it. Returns the previous copy.
    pub(crate) fn exchange_copy(&mut self, column: u32, lane: usize, value: u64) -> Result<u64, Error> {
        self.fetch([column])?;
        Ok(std::mem::replace(&mut self.columns[column as usize].values[lane], value))
    }

    /// Copies all columns to a buffer on the device, for later resets.
    pub(crate) fn copy(&mut self, to: &Buffer) -> Result<(), Error> {
        self.flush()?;
        self.device.submit("taking a snapshot", |encoder| {
            encoder.copy_buffer_to_buffer(self.buffer.raw(), 0, to.raw(), 0, self.buffer.bytes());
        })?;
        Ok(())
    }
}
