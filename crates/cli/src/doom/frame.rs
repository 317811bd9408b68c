//! A picture of the game.

/// A picture of red, green and blue bytes, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) rgb: Vec<u8>,
}

impl Frame {
    /// Returns the colour of a pixel.
    #[cfg(any(feature = "window", feature = "terminal", feature = "screenshots"))]
    pub(super) fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width + x);
        [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]]
    }

    /// Returns the 64-bit FNV-1a hash of the bytes.
    pub(super) fn checksum(&self) -> u64 {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        self.rgb.iter().fold(0xcbf2_9ce4_8422_2325, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_fnv() {
        let checksum = |text: &str| Frame { rgb: text.into(), ..Frame::default() }.checksum();
        assert_eq!(checksum(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(checksum("foobar"), 0x8594_4171_f739_67e8, "of the published test vectors");
    }
}
