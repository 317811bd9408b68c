//! Recorded streams as bytes.

use std::error::Error;
use std::fmt;

use crate::access::{PAGES, PageAccess};
use crate::builder::FILTER_PAGES;
use crate::recorded::RecordedAccess;

/// The first bytes of a file.
const MAGIC: [u8; 8] = *b"KVRMPAGE";
/// The version of the format.
const VERSION: u32 = 1;
/// The sizes of accesses that have a code of their own. Another size has a byte of its own.
const SIZES: [u8; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];
/// The code of other sizes.
const OTHER_SIZE: u8 = 15;
/// The bits of the head of an access.
const LOAD: u8 = 1;
const WRITTEN: u8 = 2;
const POINTED_TO: u8 = 4;
/// The place of the code of the size in the head.
const SIZE_SHIFT: u32 = 3;

/// The recorded stream of a lane, with its origin.
///
/// As bytes it has a header, the accesses and a checksum. Numbers are little-endian:
///
/// | bytes | contents |
/// | ---: | --- |
/// | 8 | `KVRMPAGE` |
/// | 4 | the version, 1 |
/// | 4 | the number of pages of the [filter](crate::StreamBuilder), 4 |
/// | 8 | the number of steps of the recorded run |
/// | 8 | the number of accesses |
/// | 1 + n | the name of the program: its length, and UTF-8 |
/// | 1 + n | the compiler and level of the program, or the arguments of the run |
/// | ... | the accesses |
/// | 8 | FNV-1a, 64 bits, of all bytes before |
///
/// Each access has a head, whose bits are from the lowest: load, written, pointed to, and four bits for the size in bytes: the place
/// in 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, or 15 and another byte with the size. Three numbers follow: the distances of page, pc
/// and step from those of the access before. They have seven bits in a byte, the lowest first, and
/// the highest bit of each byte but the last. The lowest bit of the first two numbers is the sign.
///
/// ```
/// use kvrm_prefetch::{AccessStream, PageAccess, RecordedAccess};
///
/// let access = PageAccess { page: 0x450, size: 8, load: true, pc: 0x40_0010, step: 77 };
/// let stream = AccessStream {
///     program: "chase".to_owned(),
///     level: "gcc-O2".to_owned(),
///     steps: 1_000_000,
///     accesses: vec![RecordedAccess { access, is_written: false, is_pointed_to: true }],
/// };
/// assert_eq!(AccessStream::from_bytes(&stream.to_bytes())?, stream);
/// # Ok::<(), kvrm_prefetch::StreamError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessStream {
    /// The name of the program. At most 255 bytes are kept in a file.
    pub program: String,
    /// The compiler with its level, such as `gcc-O2`, or the arguments of the run. At most 255 bytes are kept in a file.
    pub level: String,
    /// The number of steps of the recorded run.
    pub steps: u64,
    /// The accesses, with ascending steps.
    pub accesses: Vec<RecordedAccess>,
}

/// The bytes are no stream that [`AccessStream::to_bytes`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError(String);

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stream of accesses is damaged: {}", self.0)
    }
}

impl Error for StreamError {}

impl AccessStream {
    /// Returns the stream as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend((FILTER_PAGES as u32).to_le_bytes());
        out.extend(self.steps.to_le_bytes());
        out.extend((self.accesses.len() as u64).to_le_bytes());
        for text in [&self.program, &self.level] {
            let kept = &text[..text.floor_char_boundary(u8::MAX.into())];
            out.push(kept.len() as u8);
            out.extend(kept.as_bytes());
        }
        let mut last = PageAccess::default();
        for recorded in &self.accesses {
            write_access(recorded, &last, &mut out);
            last = recorded.access;
        }
        out.extend(checksum(&out).to_le_bytes());
        out
    }

    /// Reads a stream from all of the bytes.
    ///
    /// # Errors
    /// The bytes have another form, end too early, or do not match their checksum.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StreamError> {
        let mut reader = Reader { bytes, at: 0 };
        let magic = reader.take(MAGIC.len())?;
        if magic != MAGIC {
            return Err(reader.error(format!("it begins with {magic:x?}; expected {MAGIC:x?}")));
        }
        reader.expect("version", VERSION)?;
        reader.expect("number of pages of the filter", FILTER_PAGES as u32)?;
        let (content, end) = bytes.split_at(bytes.len() - 8);
        let (found, computed) =
            (u64::from_le_bytes(*end.first_chunk().unwrap_or(&[0; 8])), checksum(content));
        if found != computed {
            return Err(reader.error(format!("its checksum is {found:#x}; expected {computed:#x}")));
        }
        reader.bytes = content;
        let (steps, count) = (reader.number()?, reader.number()?);
        let (program, level) = (reader.text()?, reader.text()?);
        // A damaged count must not take memory: an access has at least four bytes.
        let room = (content.len() / 4).min(usize::try_from(count).unwrap_or(usize::MAX));
        let mut accesses = Vec::with_capacity(room);
        let mut last = PageAccess::default();
        for _ in 0..count {
            let recorded = reader.access(&last)?;
            last = recorded.access;
            accesses.push(recorded);
        }
        if reader.at != content.len() {
            return Err(reader.error(format!("{} bytes follow the accesses", content.len() - reader.at)));
        }
        Ok(Self { program, level, steps, accesses })
    }
}

/// Returns the FNV-1a hash of bytes (Fowler, Noll and Vo).
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn write_access(recorded: &RecordedAccess, last: &PageAccess, out: &mut Vec<u8>) {
    let RecordedAccess { access, is_written, is_pointed_to } = recorded;
    let code = SIZES.iter().position(|size| *size == access.size).map_or(OTHER_SIZE, |code| code as u8);
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    out.push(
        bit(access.load, LOAD)
            | bit(*is_written, WRITTEN)
            | bit(*is_pointed_to, POINTED_TO)
            | code << SIZE_SHIFT,
    );
    if code == OTHER_SIZE {
        out.push(access.size);
    }
    write_number(zigzag(access.page.wrapping_sub(last.page)), out);
    write_number(zigzag(access.pc.wrapping_sub(last.pc)), out);
    write_number(access.step.wrapping_sub(last.step), out);
}

/// Moves the sign to the lowest bit.
const fn zigzag(distance: u64) -> u64 {
    distance << 1 ^ (distance.cast_signed() >> 63).cast_unsigned()
}

const fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, problem: impl Into<String>) -> StreamError {
        StreamError(format!("{} at byte {}", problem.into(), self.at))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], StreamError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let taken = taken.ok_or_else(|| self.error(format!("it ends where {count} bytes are expected")))?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, StreamError> {
        Ok(self.take(1)?[0])
    }

    /// Reads 8 bytes.
    fn number(&mut self) -> Result<u64, StreamError> {
        Ok(u64::from_le_bytes(*self.take(8)?.first_chunk().unwrap_or(&[0; 8])))
    }

    /// Reads 4 bytes with a given value.
    fn expect(&mut self, name: &str, expected: u32) -> Result<(), StreamError> {
        let found = u32::from_le_bytes(*self.take(4)?.first_chunk().unwrap_or(&[0; 4]));
        if found != expected {
            return Err(self.error(format!("its {name} is {found}; expected {expected}")));
        }
        // The checksum follows in any case.
        if self.bytes.len() < self.at + 8 {
            return Err(self.error("it ends before its checksum"));
        }
        Ok(())
    }

    fn text(&mut self) -> Result<String, StreamError> {
        let length = self.byte()?;
        let bytes = self.take(length.into())?;
        let text = str::from_utf8(bytes).map_err(|_| self.error("a name that is not UTF-8"))?;
        Ok(text.to_owned())
    }

    /// Reads a number with seven bits in each byte.
    fn short_number(&mut self) -> Result<u64, StreamError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.error("a number of more than 64 bits"))
    }

    fn access(&mut self, last: &PageAccess) -> Result<RecordedAccess, StreamError> {
        let head = self.byte()?;
        let code = head >> SIZE_SHIFT;
        let size = match SIZES.get(usize::from(code)) {
            Some(size) => *size,
            None if code == OTHER_SIZE => self.byte()?,
            None => return Err(self.error(format!("a head of {head:#x}"))),
        };
        let page = last.page.wrapping_add(unzigzag(self.short_number()?));
        let pc = last.pc.wrapping_add(unzigzag(self.short_number()?));
        let step = last.step.checked_add(self.short_number()?);
        let step = step.ok_or_else(|| self.error("a step of more than 64 bits"))?;
        if page >= PAGES {
            return Err(self.error(format!("page {page:#x}; expected less than {PAGES:#x}")));
        }
        let access = PageAccess { page, size, load: head & LOAD != 0, pc, step };
        Ok(RecordedAccess { access, is_written: head & WRITTEN != 0, is_pointed_to: head & POINTED_TO != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> AccessStream {
        let access = |page, size, load, pc, step| PageAccess { page, size, load, pc, step };
        let recorded =
            |access, is_written, is_pointed_to| RecordedAccess { access, is_written, is_pointed_to };
        AccessStream {
            program: "näme".to_owned(),
            level: "clang-O1".to_owned(),
            steps: u64::MAX,
            accesses: vec![
                recorded(access(0x400, 8, true, 0x40_0000, 3), false, false),
                recorded(access(PAGES - 1, 64, false, u64::MAX, 3), true, true),
                recorded(access(0, 0, true, 0, 1 << 40), true, false),
                recorded(access(1, 255, false, 4, u64::MAX), false, true),
            ],
        }
    }

    #[test]
    fn a_stream_is_read_as_it_was_written() {
        assert_eq!(AccessStream::from_bytes(&stream().to_bytes()), Ok(stream()), "with extreme values");
        let empty = AccessStream::default();
        assert_eq!(AccessStream::from_bytes(&empty.to_bytes()), Ok(empty), "without accesses");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let long = AccessStream { program: "ä".repeat(200), ..stream() };
        let read = AccessStream::from_bytes(&long.to_bytes()).expect("the stream is whole");
        assert_eq!(read.program, "ä".repeat(127), "254 bytes");
    }

    #[test]
    fn the_format_is_the_documented_one() {
        let access = PageAccess { page: 0x401, size: 4, load: true, pc: 0x100, step: 130 };
        let accesses = vec![RecordedAccess { access, is_written: true, is_pointed_to: false }];
        let stream = AccessStream { program: "a".to_owned(), level: String::new(), steps: 9, accesses };
        let bytes = stream.to_bytes();
        let header = b"KVRMPAGE\x01\0\0\0\x04\0\0\0\x09\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01a\0";
        assert_eq!(bytes[..header.len()], header[..], "the header");
        // 4 bytes are the fourth size. The page is 2 * 0x401, and the pc 2 * 0x100.
        let access = [3 << 3 | 3, 0x82, 0x10, 0x80, 0x04, 0x82, 0x01];
        assert_eq!(bytes[header.len()..bytes.len() - 8], access, "the access");
    }

    #[test]
    fn each_damaged_byte_is_noticed() {
        let bytes = stream().to_bytes();
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            assert!(AccessStream::from_bytes(&damaged).is_err(), "byte {place}");
            assert!(AccessStream::from_bytes(&bytes[..place]).is_err(), "{place} bytes");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(AccessStream::from_bytes(&longer).is_err(), "a byte more");
    }

    /// Returns the message about bytes to which the right checksum is added.
    fn message(mut bytes: Vec<u8>) -> String {
        bytes.extend(checksum(&bytes).to_le_bytes());
        AccessStream::from_bytes(&bytes).expect_err("the bytes are wrong").to_string()
    }

    #[test]
    fn errors_name_the_value_and_the_place() {
        let whole = AccessStream { accesses: Vec::new(), ..stream() }.to_bytes();
        let content = &whole[..whole.len() - 8];
        let changed = |place: usize, value: u8| {
            let mut bytes = content.to_vec();
            bytes[place] = value;
            message(bytes)
        };
        let prefix = "the stream of accesses is damaged: ";
        assert_eq!(changed(8, 2), format!("{prefix}its version is 2; expected 1 at byte 12"), "version");
        assert!(changed(12, 9).contains("filter is 9; expected 4"), "filter");
        assert!(changed(24, 1).contains("it ends where 1 bytes are expected"), "number of accesses");
        assert!(changed(33, 0xff).contains("not UTF-8"), "name");
        assert!(message([content, &[0]].concat()).contains("1 bytes follow"), "too long");
        let with_access = |access: &[u8]| {
            let mut bytes = [content, access].concat();
            bytes[24] = 1;
            message(bytes)
        };
        assert!(with_access(&[12 << 3, 0, 0, 0]).contains("a head of 0x60"), "size");
        assert!(with_access(&[0, 1, 0, 0]).contains("page 0xffffffffffffffff"), "page");
        assert!(with_access(&[&[0][..], &[0xff; 9], &[2]].concat()).contains("more than 64 bits"), "number");
    }
}
