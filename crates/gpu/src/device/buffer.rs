//! Storage buffers, with uploads, downloads and growth.

use std::cmp::Reverse;
use std::ops::Range;

use bytemuck::NoUninit;

use super::error::Error;
use super::logical::Device;

/// The alignment of offsets and sizes of copies in wgpu.
const WORD_BYTES: u64 = wgpu::COPY_BUFFER_ALIGNMENT;
/// The maximum size of a piece of an upload. Two pieces are in flight at a time.
const UPLOAD_BYTES: usize = 64 << 20;
/// The maximum number of bytes that one submission downloads, unless a single range is larger.
const DOWNLOAD_BYTES: u64 = 256 << 20;
/// The maximum size of a staging buffer that is kept for the next download.
const STAGING_KEPT_BYTES: u64 = 64 << 20;
/// The maximum number of staging buffers that are kept: while the host copies from one, the device fills
/// another.
const STAGING_KEPT: usize = 2;

const USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// A storage buffer on a device. Clones share its memory.
///
/// ```no_run
/// use kvrm_gpu::{Buffer, Device};
///
/// let device = Device::open(None)?;
/// let buffer = Buffer::with_contents(&device, "numbers", &[1_u32, 2, 3])?;
/// let bytes = device.download(&[(&buffer, 4..8)])?;
/// assert_eq!(bytes, [[2, 0, 0, 0]]);
/// # Ok::<(), kvrm_gpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Buffer {
    device: Device,
    label: String,
    raw: wgpu::Buffer,
}

impl Buffer {
    /// Makes a buffer filled with zeros. Its size is rounded up to whole words of 4 bytes and is at least one word.
    ///
    /// # Errors
    ///
    /// The buffer is larger than the device allows, memory is full, or the device is lost.
    pub fn zeroed(device: &Device, label: &str, bytes: u64) -> Result<Self, Error> {
        let max = device.limits().storage_bytes();
        let size = bytes.max(1).checked_next_multiple_of(WORD_BYTES).filter(|size| *size <= max);
        let size = size.ok_or_else(|| Error::TooLarge { label: label.to_owned(), bytes, max })?;
        let raw = create(device, label, size, USAGES)?;
        Ok(Self { device: device.clone(), label: label.to_owned(), raw })
    }

    /// Makes a buffer filled with zeros that can be bound as a storage or a uniform buffer. It has at most 16 KiB.
    ///
    /// # Errors
    ///
    /// The buffer is larger than 16 KiB, memory is full, or the device is lost.
    pub fn uniform(device: &Device, label: &str, bytes: u64) -> Result<Self, Error> {
        let max = 16 << 10;
        let size = bytes.max(1).next_multiple_of(16);
        if size > max {
            return Err(Error::TooLarge { label: label.to_owned(), bytes, max });
        }
        let raw = create(device, label, size, USAGES | wgpu::BufferUsages::UNIFORM)?;
        Ok(Self { device: device.clone(), label: label.to_owned(), raw })
    }

    /// Makes a buffer with these values.
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::zeroed`] and [`Buffer::upload`].
    pub fn with_contents<T: NoUninit>(device: &Device, label: &str, contents: &[T]) -> Result<Self, Error> {
        let buffer = Self::zeroed(device, label, size_of_val(contents) as u64)?;
        buffer.upload(0, contents)?;
        Ok(buffer)
    }

    /// Makes a buffer with these values. If the device shares the memory of the host, the values are written in place,
    /// without a copy.
    ///
    /// # Errors
    ///
    /// The errors of [`Buffer::with_contents`].
    pub fn in_host_memory<T: NoUninit>(device: &Device, label: &str, contents: &[T]) -> Result<Self, Error> {
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        let size = bytes.len() as u64;
        let fits = size > 0 && size.is_multiple_of(WORD_BYTES) && size <= device.limits().storage_bytes();
        if !fits || !device.raw().features().contains(wgpu::Features::MAPPABLE_PRIMARY_BUFFERS) {
            return Self::with_contents(device, label, contents);
        }
        let made = device.allocate("making a buffer that is filled in place", || {
            let raw = device.raw().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: USAGES | wgpu::BufferUsages::MAP_WRITE,
                mapped_at_creation: true,
            });
            let filled =
                raw.get_mapped_range_mut(..).map(|mut mapped| mapped.slice(..).copy_from_slice(bytes));
            raw.unmap();
            filled.map(|()| raw)
        });
        match made {
            Ok(Ok(raw)) => Ok(Self { device: device.clone(), label: label.to_owned(), raw }),
            Err(lost @ Error::DeviceLost { .. }) => Err(lost),
            // Memory that host and device share is not available or full.
            Ok(Err(_)) | Err(_) => Self::with_contents(device, label, contents),
        }
    }

    /// Returns the size of the buffer in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.raw.size()
    }

    /// Returns the name of the buffer in error messages.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the wgpu buffer.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Writes values from byte `offset` on. Later submissions see them.
    ///
    /// # Errors
    ///
    /// The values do not fit in the buffer, offset or size are not multiples of 4 bytes, memory is full, or the device
    /// is lost.
    pub fn upload<T: NoUninit>(&self, offset: u64, values: &[T]) -> Result<(), Error> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let end = offset.saturating_add(bytes.len() as u64);
        if end > self.bytes() || !offset.is_multiple_of(WORD_BYTES) || !end.is_multiple_of(WORD_BYTES) {
            return Err(self.range_error("written", offset..end));
        }
        let mut offset = offset;
        let mut before = None;
        let mut pieces = bytes.chunks(UPLOAD_BYTES).peekable();
        while let Some(piece) = pieces.next() {
            let queue = self.device.queue();
            self.device.catch("filling a buffer", || queue.write_buffer(&self.raw, offset, piece))?;
            offset += piece.len() as u64;
            // wgpu keeps the written bytes in the memory of the host until a later submission has ended.
            if pieces.peek().is_some() {
                let submission = self.device.submit("filling a buffer", |_| {})?;
                if let Some(before) = before.replace(submission) {
                    self.device.wait(&before)?;
                }
            }
        }
        Ok(())
    }

    /// Grows the buffer to at least `bytes` bytes. The new bytes are zero. Returns whether the buffer has grown: it is
    /// then a new wgpu buffer, and bind groups with the old one have to be made again.
    ///
    /// # Errors
    ///
    /// The buffer would be larger than the device allows, memory is full, or the device is lost. The buffer is
    /// unchanged then.
    pub fn grow(&mut self, bytes: u64) -> Result<bool, Error> {
        if bytes <= self.bytes() {
            return Ok(false);
        }
        let larger = Self::zeroed(&self.device, &self.label, bytes)?;
        self.device.submit("growing a buffer", |encoder| {
            encoder.copy_buffer_to_buffer(&self.raw, 0, &larger.raw, 0, self.raw.size());
        })?;
        *self = larger;
        Ok(true)
    }

    fn range_error(&self, done: &'static str, range: Range<u64>) -> Error {
        Error::Range {
            label: self.label.clone(),
            done,
            start: range.start,
            end: range.end,
            bytes: self.bytes(),
        }
    }
}

impl Device {
    /// Returns the contents of ranges of bytes, as they are after all earlier submissions. The ranges need not be whole
    /// words. Ranges of up to 256 MiB together take one submission and one wait.
    ///
    /// # Errors
    ///
    /// A range exceeds its buffer, memory is full, or the device is lost.
    pub fn download(&self, ranges: &[(&Buffer, Range<u64>)]) -> Result<Vec<Vec<u8>>, Error> {
        let mut contents = Vec::with_capacity(ranges.len());
        self.download_each(ranges, &mut |bytes| contents.push(bytes.to_vec()))?;
        Ok(contents)
    }

    /// Downloads ranges as [`Device::download`] does, and passes their contents to `take`, in their order and without
    /// another copy.
    pub(crate) fn download_each(
        &self,
        ranges: &[(&Buffer, Range<u64>)],
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        for (buffer, range) in ranges {
            if range.start > range.end || range.end > buffer.bytes() {
                return Err(buffer.range_error("read", range.clone()));
            }
        }
        let max = DOWNLOAD_BYTES.min(self.limits().buffer_bytes);
        let mut rest = ranges;
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(batch_len(rest, max));
            self.download_batch(batch, take)?;
            rest = others;
        }
        Ok(())
    }

    fn download_batch(
        &self,
        ranges: &[(&Buffer, Range<u64>)],
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Error> {
        let total: u64 = ranges.iter().map(|(_, range)| copied_bytes(range)).sum();
        if total == 0 {
            ranges.iter().for_each(|_| take(&[]));
            return Ok(());
        }
        let download = self.begin_download(ranges)?;
        self.end_download(download, |mapped| {
            let mut at = 0;
            for (_, range) in ranges {
                let words = words(range);
                let start = at + (range.start - words.start) as usize;
                take(&mapped[start..start + (range.end - range.start) as usize]);
                at += copied_bytes(range) as usize;
            }
        })
    }

    /// Begins a download of ranges, which are not all empty, to one staging buffer. Each range is widened to
    /// whole words of 4 bytes.
    pub(crate) fn begin_download(&self, ranges: &[(&Buffer, Range<u64>)]) -> Result<Download, Error> {
        let bytes: u64 = ranges.iter().map(|(_, range)| copied_bytes(range)).sum();
        // A download takes a kept staging buffer for itself; others make their own.
        let staging = match self.take_staging(bytes) {
            Some(kept) => kept,
            None => {
                let usages = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let size = bytes
                    .next_power_of_two()
                    .max(1 << 16)
                    .min(self.limits().buffer_bytes / WORD_BYTES * WORD_BYTES);
                create(self, "staging", size, usages)?
            }
        };
        let submission = self.submit("reading buffers", |encoder| {
            let mut at = 0;
            for (buffer, range) in ranges {
                let words = words(range);
                if !words.is_empty() {
                    let bytes = words.end - words.start;
                    encoder.copy_buffer_to_buffer(buffer.raw(), words.start, &staging, at, bytes);
                    at += bytes;
                }
            }
        })?;
        self.catch("reading buffers", || staging.map_async(wgpu::MapMode::Read, ..bytes, |_| {}))?;
        Ok(Download { staging, bytes, submission })
    }

    /// Waits for the end of a download, and passes its bytes to `take`.
    pub(crate) fn end_download(&self, download: Download, take: impl FnOnce(&[u8])) -> Result<(), Error> {
        let Download { staging, bytes, submission } = download;
        self.wait(&submission)?;
        let mapped = staging.get_mapped_range(..bytes).map_err(|error| Error::Refused {
            doing: "reading buffers".to_owned(),
            message: error.to_string(),
        })?;
        take(&mapped);
        drop(mapped);
        self.catch("reading buffers", || staging.unmap())?;
        if staging.size() <= STAGING_KEPT_BYTES {
            let mut kept = self.staging();
            kept.push(staging);
            kept.sort_unstable_by_key(|staging| Reverse(staging.size()));
            kept.truncate(STAGING_KEPT);
        }
        Ok(())
    }

    /// Takes the smallest kept staging buffer of at least `bytes` bytes.
    fn take_staging(&self, bytes: u64) -> Option<wgpu::Buffer> {
        let mut kept = self.staging();
        let place = kept.iter().rposition(|staging| staging.size() >= bytes)?;
        Some(kept.remove(place))
    }
}

/// A download that the device may not have ended.
#[derive(Debug)]
pub(crate) struct Download {
    staging: wgpu::Buffer,
    bytes: u64,
    submission: wgpu::SubmissionIndex,
}

/// Returns the number of leading ranges that have at most `max` bytes together, but at least one.
fn batch_len(ranges: &[(&Buffer, Range<u64>)], max: u64) -> usize {
    let mut total = 0;
    let fitting = ranges.iter().take_while(|(_, range)| {
        total += copied_bytes(range);
        total <= max
    });
    fitting.count().max(1)
}

/// Extends a range of bytes to whole words. An empty range stays empty.
fn words(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() {
        return range.start..range.start;
    }
    range.start / WORD_BYTES * WORD_BYTES..range.end.next_multiple_of(WORD_BYTES)
}

/// Returns the number of bytes that are copied for a range.
fn copied_bytes(range: &Range<u64>) -> u64 {
    let words = words(range);
    words.end - words.start
}

fn create(device: &Device, label: &str, size: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Error> {
    let doing = format!("making the buffer `{label}` of {size} bytes");
    device.allocate(&doing, || {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_widened_to_whole_words() {
        let cases = [(0..4, 0..4), (0..1, 0..4), (3..5, 0..8), (5..6, 4..8), (8..8, 8..8), (3..3, 3..3)];
        for (range, expected) in cases {
            assert_eq!(words(&range), expected, "of {range:?}");
        }
    }
}
