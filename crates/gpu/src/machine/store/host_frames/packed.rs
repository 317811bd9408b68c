//! The contents of a frame as they are in a file: compressed, if that saves space.

use std::borrow::Cow;
use std::io;

use kvrm_machine::PAGE_BYTES;
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};

use super::checksum::checksum;
use crate::machine::pages::{Words, ZEROES};

/// The largest number of bytes of compressed contents. If more were left, the contents are not compressed.
const COMPRESSED_MAX: usize = PAGE_BYTES / 8 * 7;

/// The contents of a frame, and their checksum.
#[derive(Debug)]
pub(super) struct Packed<'a> {
    /// The contents themselves if these are `PAGE_BYTES` bytes, else compressed ones in the format LZ4.
    pub(super) bytes: Cow<'a, [u8]>,
    /// The checksum of the contents that are not compressed.
    pub(super) checksum: u64,
}

/// The memory of a compressor, which many frames use one after the other.
pub(super) struct Packer {
    table: CompressTable,
    room: Vec<u8>,
}

impl Packer {
    pub(super) fn new() -> Self {
        Self { table: CompressTable::small(), room: vec![0; get_maximum_output_size(PAGE_BYTES)] }
    }

    /// Packs the contents of a frame.
    pub(super) fn pack<'a>(&mut self, words: &'a Words) -> Packed<'a> {
        let bytes = bytemuck::bytes_of(words);
        let compressed = compress_into_with_table(bytes, &mut self.room, &mut self.table);
        let bytes = match compressed {
            Ok(length) if length <= COMPRESSED_MAX => Cow::Owned(self.room[..length].to_vec()),
            _ => Cow::Borrowed(bytes),
        };
        Packed { bytes, checksum: checksum(words) }
    }
}

impl Packed<'_> {
    /// Returns the contents of the frame. If they do not have the checksum, that is an error.
    pub(super) fn unpack(&self) -> io::Result<Words> {
        let mut words = ZEROES;
        let bytes = bytemuck::bytes_of_mut(&mut words);
        if self.bytes.len() == PAGE_BYTES {
            bytes.copy_from_slice(&self.bytes);
        } else if decompress_into(&self.bytes, bytes).ok() != Some(PAGE_BYTES) {
            return Err(damaged());
        }
        if checksum(&words) == self.checksum { Ok(words) } else { Err(damaged()) }
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the contents of a page have changed there")
}

#[cfg(test)]
mod tests {
    use kvrm_testkit::random::Random;

    use super::*;

    /// Returns contents with `changed` random words.
    fn words(random: &mut Random, changed: usize) -> Words {
        let mut words: Words = std::array::from_fn(|index| index as u64 / 16);
        for word in &mut words[..changed] {
            *word = random.bits();
        }
        words
    }

    #[test]
    fn contents_come_back_whatever_they_are() {
        let (mut random, mut packer) = (Random::new(1), Packer::new());
        for changed in [0, 1, 7, 200, 400, 460, 511, 512] {
            let words = words(&mut random, changed);
            let packed = packer.pack(&words);
            let is_compressed = packed.bytes.len() < PAGE_BYTES;
            assert_eq!(
                is_compressed,
                changed < 430,
                "{changed} random words in {} bytes",
                packed.bytes.len()
            );
            assert!(packed.unpack().expect("they are whole") == words, "{changed} random words");
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let (mut random, mut packer) = (Random::new(2), Packer::new());
        for changed in [3, 512] {
            let words = words(&mut random, changed);
            let Packed { bytes, checksum } = packer.pack(&words);
            for index in 0..bytes.len() {
                let mut damaged = bytes.to_vec();
                damaged[index] ^= 1 << random.below(8);
                // Other compressed bytes may stand for the same contents.
                let unpacked = Packed { bytes: damaged.into(), checksum }.unpack();
                assert!(unpacked.is_err() || unpacked.ok() == Some(words), "byte {index} has changed");
            }
            let shorter = Packed { bytes: bytes[..bytes.len() - 1].into(), checksum };
            assert!(shorter.unpack().is_err(), "a byte is missing");
        }
    }
}
