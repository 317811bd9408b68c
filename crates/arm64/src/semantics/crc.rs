//! CRC32 and CRC32C.

use crate::{Cpu, Word};

/// The bit-reversed polynomial 0x04C11DB7.
pub const CRC32_POLYNOMIAL: u32 = 0xedb8_8320;
/// The bit-reversed polynomial 0x1EDC6F41 (Castagnoli).
pub const CRC32C_POLYNOMIAL: u32 = 0x82f6_3b78;

/// CRC32B, CRC32H, CRC32W, CRC32X.
#[inline(always)]
pub fn crc32<const BITS: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), u64::from(checksum(cpu.x(w.rn()) as u32, cpu.x(w.rm()), BITS, CRC32_POLYNOMIAL)));
}

/// CRC32CB, CRC32CH, CRC32CW, CRC32CX.
#[inline(always)]
pub fn crc32c<const BITS: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), u64::from(checksum(cpu.x(w.rn()) as u32, cpu.x(w.rm()), BITS, CRC32C_POLYNOMIAL)));
}

/// Continues a checksum over the low `bits` bits of `value`, least significant byte first.
///
/// The manual reverses accumulator and value, divides, and reverses the remainder. Dividing by the reversed polynomial
/// from the other end gives the same result.
#[must_use]
pub const fn checksum(accumulator: u32, value: u64, bits: u32, polynomial: u32) -> u32 {
    let mut crc = accumulator;
    let mut done = 0;
    while done < bits {
        crc ^= (value >> done) as u32 & 0xff;
        let mut i = 0;
        while i < 8 {
            crc = (crc >> 1) ^ (polynomial * (crc & 1));
            i += 1;
        }
        done += 8;
    }
    crc
}
