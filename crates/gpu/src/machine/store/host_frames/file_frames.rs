//! The contents of frames that are in a file.

use std::io;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::file_space::FileSpace;
use super::open_file::OpenFile;
use super::packed::{Packed, Packer};
use crate::device::error::Error;
use crate::machine::host_faults::HostFaults;
use crate::machine::host_file::HostFile;
use crate::machine::memory_limits::MemoryLimits;
use crate::machine::pages::{Words, ZEROES};

/// The size of a unit of space in bytes.
const UNIT: usize = 1 << 8;
/// The units of a part of the file from which on it is worth while to write there.
const RUN_UNITS: u32 = 1 << 8;
/// The largest number of bytes of a write or a read.
const TRANSFER_BYTES: usize = 1 << 20;
/// The largest number of units that are read although they are not wanted, because a second read takes longer.
const GAP_UNITS: u32 = 1 << 6;

/// The place of a frame in the file.
#[derive(Clone, Copy, Debug)]
struct Record {
    first_unit: u32,
    bytes: u16,
    checksum: u64,
}

impl Record {
    const fn units(self) -> u32 {
        units(self.bytes as usize)
    }
}

/// A file with the contents of frames. Numbers of records stand for the frames in it.
#[derive(Debug)]
pub(super) struct FileFrames {
    file: OpenFile,
    space: FileSpace,
    /// The largest number of frames that are not compressed.
    max: usize,
    records: Vec<Record>,
    /// The numbers of records without a frame.
    free: Vec<u32>,
    /// Why the last write failed.
    failure: Option<String>,
    /// Whether there was no space for any frame, and none has been removed since.
    is_full: bool,
}

impl FileFrames {
    /// Creates the file of a machine with limits.
    pub(super) fn create(file: &HostFile, limits: MemoryLimits, faults: HostFaults) -> Result<Self, Error> {
        let units = u32::try_from(file.bytes(limits) / UNIT as u64).unwrap_or(u32::MAX);
        let opened =
            OpenFile::create(file.path(), faults).map_err(|error| failed(file.path(), "created", &error))?;
        Ok(Self {
            file: opened,
            space: FileSpace::new(units),
            max: file.frames(limits) as usize,
            records: Vec::new(),
            free: Vec::new(),
            failure: None,
            is_full: false,
        })
    }

    /// Returns the largest number of frames that are not compressed.
    pub(super) const fn max(&self) -> usize {
        self.max
    }

    /// Writes the contents of frames. Returns the number of the record of each frame, or `None` if it is not in the file: there is no
    /// space for it, or a write has failed. After a failure nothing is written until [`Self::take_failure`].
    pub(super) fn write(&mut self, pages: &[&Words]) -> Vec<Option<u32>> {
        let mut records = vec![None; pages.len()];
        if pages.is_empty() || self.failure.is_some() || self.is_full {
            return records;
        }
        let packed: Vec<Packed<'_>> =
            pages.par_iter().map_init(Packer::new, |packer, page| packer.pack(page)).collect();
        let sizes: Vec<u32> = packed.iter().map(|page| units(page.bytes.len())).collect();
        let places = self.space.place(&sizes, RUN_UNITS);
        self.is_full = places.iter().all(Option::is_none);
        let file = &self.file;
        let write = |run: Range<usize>| {
            let mut bytes = Vec::with_capacity(TRANSFER_BYTES);
            for page in &packed[run.clone()] {
                bytes.extend_from_slice(&page.bytes);
                bytes.resize(bytes.len().next_multiple_of(UNIT), 0);
            }
            let first = places[run.start].map_or(0, position);
            (run, file.write_at(&bytes, first))
        };
        let written: Vec<(Range<usize>, io::Result<()>)> =
            write_runs(&places, &sizes).into_par_iter().map(write).collect();
        for (run, result) in written {
            if let Err(error) = &result {
                self.failure = Some(error.to_string());
            }
            for index in run {
                let Some(first_unit) = places[index] else { continue };
                if result.is_err() {
                    self.space.give(first_unit, sizes[index]);
                    continue;
                }
                let Packed { bytes, checksum } = &packed[index];
                let record = Record { first_unit, bytes: bytes.len() as u16, checksum: *checksum };
                records[index] = Some(self.add(record));
            }
        }
        records
    }

    /// Reads the contents of the frames of records.
    pub(super) fn read(&self, records: &[u32]) -> Result<Vec<Words>, Error> {
        let mut sorted: Vec<(usize, Record)> =
            records.iter().map(|record| self.records[*record as usize]).enumerate().collect();
        sorted.sort_unstable_by_key(|(_, record)| record.first_unit);
        let read = |run: Range<usize>| -> io::Result<Vec<(usize, Words)>> {
            let some = &sorted[run];
            let (first, last) = (some[0].1, some[some.len() - 1].1);
            let units = last.first_unit + last.units() - first.first_unit;
            let mut bytes = vec![0; units as usize * UNIT];
            self.file.read_at(&mut bytes, position(first.first_unit))?;
            let page = |&(index, record): &(usize, Record)| {
                let from = (record.first_unit - first.first_unit) as usize * UNIT;
                let bytes = &bytes[from..from + usize::from(record.bytes)];
                Packed { bytes: bytes.into(), checksum: record.checksum }.unpack().map(|words| (index, words))
            };
            some.iter().map(page).collect()
        };
        let read: io::Result<Vec<Vec<(usize, Words)>>> =
            read_runs(&sorted).into_par_iter().map(read).collect();
        let read = read.map_err(|error| failed(self.file.path(), "read", &error))?;
        let mut all = vec![ZEROES; records.len()];
        for (index, words) in read.into_iter().flatten() {
            all[index] = words;
        }
        Ok(all)
    }

    /// Removes the frame of a record.
    pub(super) fn remove(&mut self, number: u32) {
        let record = self.records[number as usize];
        self.space.give(record.first_unit, record.units());
        self.free.push(number);
        self.is_full = false;
    }

    /// Returns the error of the last write if it has failed, and lets frames be written again.
    pub(super) fn take_failure(&mut self) -> Option<Error> {
        let reason = self.failure.take()?;
        Some(Error::HostFile { path: self.file.path().to_owned(), done: "written", reason })
    }

    /// Adds a record, and returns its number.
    fn add(&mut self, record: Record) -> u32 {
        if let Some(number) = self.free.pop() {
            self.records[number as usize] = record;
            return number;
        }
        self.records.push(record);
        self.records.len() as u32 - 1
    }
}

/// Returns the number of units that so many bytes take.
const fn units(bytes: usize) -> u32 {
    bytes.div_ceil(UNIT) as u32
}

/// Returns the position of a unit in the file.
const fn position(unit: u32) -> u64 {
    unit as u64 * UNIT as u64
}

fn failed(path: &Path, done: &'static str, error: &io::Error) -> Error {
    Error::HostFile { path: path.to_owned(), done, reason: error.to_string() }
}

/// Returns the ranges of pieces that are one after the other in the file, so that one write is enough for each.
fn write_runs(places: &[Option<u32>], sizes: &[u32]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    // The unit after the last piece, and the units of the last range.
    let (mut end, mut length) = (None, 0);
    for (index, (&place, &size)) in places.iter().zip(sizes).enumerate() {
        let Some(first) = place else {
            end = None;
            continue;
        };
        match runs.last_mut() {
            Some(run) if end == place && (length + size) as usize * UNIT <= TRANSFER_BYTES => {
                run.end = index + 1;
                length += size;
            }
            _ => {
                runs.push(index..index + 1);
                length = size;
            }
        }
        end = Some(first + size);
    }
    runs
}

/// Returns the ranges of records, sorted by their places, that are near enough in the file for one read.
fn read_runs(sorted: &[(usize, Record)]) -> Vec<Range<usize>> {
    let is_near = |first: Record, last: Record, next: Record| {
        next.first_unit <= last.first_unit + last.units() + GAP_UNITS
            && (next.first_unit + next.units() - first.first_unit) as usize * UNIT <= TRANSFER_BYTES
    };
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, (_, record)) in sorted.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if is_near(sorted[run.start].1, sorted[index - 1].1, *record) => run.end = index + 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}
