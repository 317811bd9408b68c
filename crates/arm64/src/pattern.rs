//! Bit patterns in the notation of the Arm manual's encoding diagrams, parsed at compile time.

/// A 32-bit encoding diagram: fixed bits, should-be bits and named fields, bit 31 first.
///
/// `0` and `1` are fixed. `-` and `+` are the manual's `(0)` and `(1)`: they should hold that value, and a
/// word where they do not is CONSTRAINED UNPREDICTABLE; like every implementation we know of, the decoder
/// ignores them. A letter names a field. `.` is a bit the pattern says nothing about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Bits that decide whether a word matches.
    pub mask: u32,
    /// The value of the bits in `mask`.
    pub value: u32,
    /// Bits that should hold the value in `should_be_value` but are not compared.
    pub should_be_mask: u32,
    /// The value the should-be bits ought to have; an encoder writes it.
    pub should_be_value: u32,
    text: &'static str,
}

impl Pattern {
    /// Parses a 32-character diagram.
    ///
    /// # Panics
    /// On any other length or character. Patterns are constants, so this is a compile error.
    #[must_use]
    pub const fn parse(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        assert!(bytes.len() == 32, "an encoding diagram has 32 characters");
        let mut pattern = Self { mask: 0, value: 0, should_be_mask: 0, should_be_value: 0, text };
        let mut i = 0;
        while i < 32 {
            let bit = 1 << (31 - i);
            match bytes[i] {
                b'0' => pattern.mask |= bit,
                b'1' => {
                    pattern.mask |= bit;
                    pattern.value |= bit;
                }
                b'-' => pattern.should_be_mask |= bit,
                b'+' => {
                    pattern.should_be_mask |= bit;
                    pattern.should_be_value |= bit;
                }
                b'.' | b'a'..=b'z' | b'A'..=b'Z' => {}
                _ => panic!("a diagram consists of 0, 1, -, +, . and letters"),
            }
            i += 1;
        }
        pattern
    }

    /// Whether `word` has every fixed bit of the pattern.
    #[must_use]
    pub const fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value
    }

    /// The bits left to fields: neither fixed nor should-be.
    #[must_use]
    pub const fn variable_bits(&self) -> u32 {
        !(self.mask | self.should_be_mask)
    }

    /// The word with all fields zero and all should-be bits as they should be.
    #[must_use]
    pub const fn canonical(&self) -> u32 {
        self.value | self.should_be_value
    }

    /// The diagram as written.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }
}

impl core::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Pattern({})", self.text)
    }
}
