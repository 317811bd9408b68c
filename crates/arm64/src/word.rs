//! The word of an instruction and its fields, under the manual's names.

/// The 32 bits of an A64 instruction.
///
/// ```
/// use kvrm_arm64::Word;
///
/// let w = Word(0x8b02_0c20); // add x0, x1, x2, lsl #3
/// assert_eq!([w.rd(), w.rn(), w.rm(), w.imm6()], [0, 1, 2, 3]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word(pub u32);

impl core::fmt::Debug for Word {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Word({:#010x})", self.0)
    }
}

/// Defines accessors of unsigned fields: name, lowest bit, width, description.
macro_rules! fields { ($($name:ident $low:literal $width:literal $doc:literal;)*) => { $(
    #[doc = $doc]
    #[must_use]
    #[inline]
    pub const fn $name(self) -> u32 {
        self.bits($low, $width)
    }
)* } }

impl Word {
    /// Returns the `width` bits from bit `low` up.
    #[must_use]
    #[inline]
    pub const fn bits(self, low: u32, width: u32) -> u32 {
        (self.0 >> low) & ((1 << width) - 1)
    }

    /// Returns the `width` bits from bit `low` up as a two's complement number.
    #[must_use]
    #[inline]
    pub const fn signed(self, low: u32, width: u32) -> i64 {
        ((self.0 << (32 - low - width)) as i32 >> (32 - width)) as i64
    }

    fields! {
        rd 0 5 "Destination register.";
        rt 0 5 "Transfer register.";
        rn 5 5 "First source or base register.";
        ra 10 5 "Addend register.";
        rt2 10 5 "Second transfer register.";
        rm 16 5 "Second source or index register.";
        rs 16 5 "Status, comparand or operand register of exclusives and atomics.";
        imm12 10 12 "Unsigned immediate of add/subtract and scaled loads.";
        imm16 5 16 "Immediate of wide moves and exceptions.";
        imm6 10 6 "Shift amount.";
        imm5 16 5 "Immediate of conditional compares.";
        imm3 10 3 "Left shift of an extended register.";
        immr 16 6 "Rotation of bit fields and bit masks.";
        imms 10 6 "Top bit of bit fields, size and length of bit masks.";
        n 22 1 "N: bit 6 of a bit mask's size.";
        sh 22 1 "Whether the immediate is shifted left by 12.";
        hw 21 2 "Index of the halfword that a wide move writes.";
        shift 22 2 "Shift type.";
        option 13 3 "Extend type.";
        s 12 1 "Whether the index register is scaled by the access size.";
        cond 12 4 "Condition of selects and conditional compares.";
        cond_b 0 4 "Condition of B.cond.";
        nzcv 0 4 "Flags of a conditional compare.";
        op0 19 2 "System encoding: op0.";
        op1 16 3 "System encoding: op1.";
        crn 12 4 "System encoding: CRn.";
        crm 8 4 "System encoding: CRm.";
        op2 5 3 "System encoding: op2.";
        sysreg 5 15 "System register number: o0, op1, CRn, CRm, op2.";
        q 30 1 "Whether a vector has 128 bits rather than 64.";
        size 22 2 "Element size, as the binary logarithm of bytes.";
        immh 19 4 "Element size of shifts by immediates: the index of the highest set bit.";
        immhb 16 7 "immh:immb: the element size and the shift amount.";
        imm4 11 4 "Index of EXT, and of the source of INS.";
        imm8 13 8 "Floating-point immediate of eight bits.";
        scale 10 6 "64 minus the fraction bits of a fixed-point number.";
        cmode 12 4 "Kind of a modified immediate.";
        sysop 5 14 "System instruction number: op1, CRn, CRm, op2.";
    }

    /// Returns the signed byte offset of unscaled, pre- and post-indexed accesses.
    #[must_use]
    #[inline]
    pub const fn imm9(self) -> i64 {
        self.signed(12, 9)
    }

    /// Returns the signed byte offset of LDRAA and LDRAB.
    #[must_use]
    #[inline]
    pub const fn imm10(self) -> i64 {
        // S is the sign of the offset, above imm9.
        (((self.bits(22, 1) << 9 | self.bits(12, 9)) as i64) << 54) >> 51
    }

    /// Returns the signed offset of pairs, in units of the access size.
    #[must_use]
    #[inline]
    pub const fn imm7(self) -> i64 {
        self.signed(15, 7)
    }

    /// Returns the byte offset of B and BL.
    #[must_use]
    #[inline]
    pub const fn offset26(self) -> i64 {
        self.signed(0, 26) * 4
    }

    /// Returns the byte offset of B.cond, CBZ, CBNZ and literal loads.
    #[must_use]
    #[inline]
    pub const fn offset19(self) -> i64 {
        self.signed(5, 19) * 4
    }

    /// Returns the byte offset of TBZ and TBNZ.
    #[must_use]
    #[inline]
    pub const fn offset14(self) -> i64 {
        self.signed(5, 14) * 4
    }

    /// Returns immhi:immlo of ADR and ADRP, sign-extended.
    #[must_use]
    #[inline]
    pub const fn adr_imm(self) -> i64 {
        self.signed(5, 19) * 4 + self.bits(29, 2) as i64
    }

    /// Returns abcdefgh of a modified immediate.
    #[must_use]
    #[inline]
    pub const fn abcdefgh(self) -> u32 {
        self.bits(16, 3) << 5 | self.bits(5, 5)
    }

    /// Returns the number of the bit that TBZ and TBNZ test: b5:b40.
    #[must_use]
    #[inline]
    pub const fn test_bit(self) -> u32 {
        self.bits(31, 1) << 5 | self.bits(19, 5)
    }
}
