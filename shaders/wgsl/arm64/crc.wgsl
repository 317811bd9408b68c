//! CRC32 and CRC32C.

/// Returns a checksum, continued over the low `bits` bits of `value`, least significant byte first.
///
/// Twin: `kvrm_arm64::semantics::crc::checksum`.
fn checksum(accumulator: u32, value: u64, bits: u32, polynomial: u32) -> u32 {
    var crc = accumulator;
    var done = 0u;
    while done < bits {
        crc ^= u32(value >> done) & 0xffu;
        var i = 0u;
        while i < 8u {
            crc = (crc >> 1u) ^ (polynomial * (crc & 1u));
            i += 1u;
        }
        done += 8u;
    }
    return crc;
}
