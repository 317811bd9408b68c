//! Storage buffers: made, filled, grown, read back.

use std::ops::Range;

use bytemuck::NoUninit;

use super::error::Error;
use super::logical::Device;

/// What wgpu counts copies in.
const WORD_BYTES: u64 = wgpu::COPY_BUFFER_ALIGNMENT;
/// The most bytes on their way to the GPU in one piece; two pieces are under way at a time.
const UPLOAD_BYTES: usize = 64 << 20;
/// The most bytes brought back in one submission, but for single ranges that are larger.
const DOWNLOAD_BYTES: u64 = 256 << 20;
/// The largest staging buffer that is kept for the next download.
const STAGING_KEPT_BYTES: u64 = 64 << 20;

const USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// A storage buffer. Clones are the same memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    device: Device,
    label: String,
    raw: wgpu::Buffer,
}

impl Buffer {
    /// A buffer full of zeros. Its size is rounded up to whole words of 4 bytes, and is one word at least.
    ///
    /// # Errors
    ///
    /// It is larger than the device allows, or memory is full.
    pub fn zeroed(device: &Device, label: &str, bytes: u64) -> Result<Self, Error> {
        let max = device.limits().storage_bytes();
        let size = bytes.max(1).checked_next_multiple_of(WORD_BYTES).filter(|size| *size <= max);
        let size = size.ok_or_else(|| Error::TooLarge { label: label.to_owned(), bytes, max })?;
        let raw = create(device, label, size, USAGES)?;
        Ok(Self { device: device.clone(), label: label.to_owned(), raw })
    }

    /// A buffer full of zeros that can be a uniform one, too, of at most 16 KiB.
    ///
    /// # Errors
    ///
    /// Memory is full.
    pub fn uniform(device: &Device, label: &str, bytes: u64) -> Result<Self, Error> {
        let max = 16 << 10;
        let size = bytes.max(1).next_multiple_of(16);
        if size > max {
            return Err(Error::TooLarge { label: label.to_owned(), bytes, max });
        }
        let raw = create(device, label, size, USAGES | wgpu::BufferUsages::UNIFORM)?;
        Ok(Self { device: device.clone(), label: label.to_owned(), raw })
    }

    /// A buffer with these values in it.
    ///
    /// # Errors
    ///
    /// Those of [`Buffer::zeroed`] and [`Buffer::upload`].
    pub fn with_contents<T: NoUninit>(device: &Device, label: &str, contents: &[T]) -> Result<Self, Error> {
        let buffer = Self::zeroed(device, label, size_of_val(contents) as u64)?;
        buffer.upload(0, contents)?;
        Ok(buffer)
    }

    /// A buffer with these values in it, written where they stay if the device shares the memory of the host.
    ///
    /// # Errors
    ///
    /// Those of [`Buffer::with_contents`].
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
            // There is no such memory, or no more of it.
            Ok(Err(_)) | Err(_) => Self::with_contents(device, label, contents),
        }
    }

    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.raw.size()
    }

    /// What it is called in errors.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// wgpu's own buffer.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// Writes values from byte `offset` on, before whatever is submitted next.
    ///
    /// # Errors
    ///
    /// They do not lie in the buffer, offset or size are not whole words, memory is full, or the device is lost.
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
            // What is written stays in the memory of the host until a submission after it is done.
            if pieces.peek().is_some() {
                let submission = self.device.submit("filling a buffer", |_| {})?;
                if let Some(before) = before.replace(submission) {
                    self.device.wait(&before)?;
                }
            }
        }
        Ok(())
    }

    /// Makes it at least `bytes` large, with zeros behind what it holds. Then it is other memory: what binds it
    /// has to bind it again. Says whether that is so.
    ///
    /// # Errors
    ///
    /// It would be larger than the device allows, or memory is full. Then it is as it was.
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
    /// Brings bytes of buffers back, as they are after all that was submitted before; any bytes, not only whole
    /// words. All ranges together are one submission and one wait, up to 256 MiB.
    ///
    /// # Errors
    ///
    /// A range is not in its buffer, memory is full, or the device is lost.
    pub fn download(&self, ranges: &[(&Buffer, Range<u64>)]) -> Result<Vec<Vec<u8>>, Error> {
        let mut contents = Vec::with_capacity(ranges.len());
        self.download_each(ranges, &mut |bytes| contents.push(bytes.to_vec()))?;
        Ok(contents)
    }

    /// The same, where `take` gets the contents of the ranges, in their order. Nothing is copied for that.
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
        let total: u64 = ranges.iter().map(|(_, range)| copied(range)).sum();
        if total == 0 {
            ranges.iter().for_each(|_| take(&[]));
            return Ok(());
        }
        // One thread at a time has the buffer that is kept; another makes its own.
        let kept = self.staging().take().filter(|kept| kept.size() >= total);
        let staging = match kept {
            Some(kept) => kept,
            None => {
                let usages = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let size = total
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
        self.catch("reading buffers", || staging.map_async(wgpu::MapMode::Read, ..total, |_| {}))?;
        self.wait(&submission)?;
        let mapped = staging.get_mapped_range(..total).map_err(|error| Error::Refused {
            doing: "reading buffers".to_owned(),
            message: error.to_string(),
        })?;
        let mut at = 0;
        for (_, range) in ranges {
            let words = words(range);
            let start = at + (range.start - words.start) as usize;
            take(&mapped[start..start + (range.end - range.start) as usize]);
            at += copied(range) as usize;
        }
        drop(mapped);
        self.catch("reading buffers", || staging.unmap())?;
        if staging.size() <= STAGING_KEPT_BYTES {
            *self.staging() = Some(staging);
        }
        Ok(())
    }
}

/// How many of the first ranges are at most `max` bytes together; one at least.
fn batch_len(ranges: &[(&Buffer, Range<u64>)], max: u64) -> usize {
    let mut total = 0;
    let fitting = ranges.iter().take_while(|(_, range)| {
        total += copied(range);
        total <= max
    });
    fitting.count().max(1)
}

/// The whole words that a range of bytes lies in; none for an empty range.
fn words(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() {
        return range.start..range.start;
    }
    range.start / WORD_BYTES * WORD_BYTES..range.end.next_multiple_of(WORD_BYTES)
}

/// The bytes copied for a range.
fn copied(range: &Range<u64>) -> u64 {
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
