//! Encoding diagrams: bit patterns in the notation of the Arm manual, parsed at compile time.

/// A 32-bit encoding diagram: fixed bits, should-be bits and named fields, bit 31 first.
///
/// `0` and `1` are fixed bits. `-` and `+` are should-be bits, the manual's `(0)` and `(1)`. If one has the other
/// value, the word is CONSTRAINED UNPREDICTABLE; like every implementation known to us, the decoder ignores these
/// bits. A letter is a bit of a field. `.` is any bit.
///
/// ```
/// use kvrm_arm64::pattern::Pattern;
///
/// let nop = Pattern::parse("11010101000000110010000000011111");
/// assert!(nop.matches(0xd503_201f));
/// let add = Pattern::parse("10001011hh0mmmmmiiiiiinnnnnddddd");
/// assert_eq!(add.variable_bits(), 0x00df_ffff);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// The mask of the fixed bits.
    pub mask: u32,
    /// The values of the fixed bits; all others are 0.
    pub value: u32,
    /// The mask of the should-be bits, which are not compared.
    pub should_be_mask: u32,
    /// The values that should-be bits should have; an encoder writes them.
    pub should_be_value: u32,
    /// The diagram as written.
    text: &'static str,
}

impl Pattern {
    /// Parses a 32-character diagram.
    ///
    /// # Panics
    /// If the length is not 32, or at an unknown character. Patterns are constants, so this is a compile error.
    #[must_use]
    pub const fn parse(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        assert!(bytes.len() == 32, "an encoding diagram must have 32 characters");
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
                _ => panic!("an encoding diagram may contain only 0, 1, -, +, . and ASCII letters"),
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

    /// Returns the mask of the bits that are neither fixed nor should-be: the fields.
    #[must_use]
    pub const fn variable_bits(&self) -> u32 {
        !(self.mask | self.should_be_mask)
    }

    /// Returns the word whose fields are zero and whose should-be bits have the values that they should have.
    #[must_use]
    pub const fn canonical(&self) -> u32 {
        self.value | self.should_be_value
    }

    /// Returns the diagram as written.
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
