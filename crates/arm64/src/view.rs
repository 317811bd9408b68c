//! How an instruction sees a SIMD&FP register: as one number, or as lanes of some size.

use crate::Word;

/// Where a word says how large an element is. Sizes are binary logarithms of bytes: 0 is B, 4 is Q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Nowhere: it is this size.
    Fixed(u32),
    /// The field size, bits 23 and 22, plus so much.
    Size(u32),
    /// The field sz, bit 22, plus so much.
    Sz(u32),
    /// The highest bit that is set in immh, plus so much.
    Immh(u32),
    /// The lowest bit that is set in imm5.
    Imm5,
    /// The field size of structure accesses, bits 11 and 10.
    StructureSize,
}

/// How much of a register is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One element.
    Scalar,
    /// 64 bits, or 128 if Q is set.
    Q,
    /// 128 bits.
    Full,
    /// Two elements.
    Pair,
}

/// A view of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The elements.
    pub element: Element,
    /// How many of them there are.
    pub width: Width,
}

/// The letters of element sizes.
pub const LETTERS: [char; 5] = ['b', 'h', 's', 'd', 'q'];

const Q_BIT: u32 = 1 << 30;

macro_rules! views { ($($(#[doc = $doc:literal])* $name:ident = $element:expr, $width:ident;)*) => { $(
    $(#[doc = $doc])*
    pub const $name: View = View { element: $element, width: Width::$width };
)* } }
views! {
    /// A byte.
    B = Element::Fixed(0), Scalar;
    /// A halfword, or a number of half precision.
    H = Element::Fixed(1), Scalar;
    /// A word, or a number of single precision.
    S = Element::Fixed(2), Scalar;
    /// A doubleword, or a number of double precision.
    D = Element::Fixed(3), Scalar;
    /// All 128 bits.
    Q = Element::Fixed(4), Scalar;
    /// One element of size.
    SIZE = Element::Size(0), Scalar;
    /// One element twice as large as size.
    SIZE_LONG = Element::Size(1), Scalar;
    /// A number of single or double precision.
    SZ = Element::Sz(2), Scalar;
    /// One element of immh.
    IMMH = Element::Immh(0), Scalar;
    /// One element twice as large as immh.
    IMMH_LONG = Element::Immh(1), Scalar;
    /// One element of imm5.
    IMM5 = Element::Imm5, Scalar;
    /// Lanes of size.
    T = Element::Size(0), Q;
    /// Lanes twice as large as size, of 128 bits.
    LONG = Element::Size(1), Full;
    /// Lanes twice as large as size, and half as many.
    PAIRED = Element::Size(1), Q;
    /// Lanes of single or double precision.
    TF = Element::Sz(2), Q;
    /// Lanes of half the size of sz.
    TF_NARROW = Element::Sz(1), Q;
    /// Lanes of single or double precision, of 128 bits.
    TF_LONG = Element::Sz(2), Full;
    /// Two numbers of single or double precision.
    PAIR = Element::Sz(2), Pair;
    /// Lanes of immh.
    TI = Element::Immh(0), Q;
    /// Lanes twice as large as immh, of 128 bits.
    TI_LONG = Element::Immh(1), Full;
    /// Lanes of imm5.
    T5 = Element::Imm5, Q;
    /// Lanes of structure accesses.
    TS = Element::StructureSize, Q;
    /// One element of structure accesses.
    STRUCTURE = Element::StructureSize, Scalar;
    /// Bytes.
    BYTES = Element::Fixed(0), Q;
    /// Halfwords.
    HALVES = Element::Fixed(1), Q;
    /// Words.
    WORDS = Element::Fixed(2), Q;
    /// Sixteen bytes.
    V16B = Element::Fixed(0), Full;
    /// Four words.
    V4S = Element::Fixed(2), Full;
    /// Two doublewords.
    V2D = Element::Fixed(3), Full;
}

impl View {
    /// Binary logarithm of the bytes of an element.
    #[must_use]
    pub const fn size(self, w: Word) -> u32 {
        match self.element {
            Element::Fixed(size) => size,
            Element::Size(more) => w.size() + more,
            Element::Sz(more) => w.bits(22, 1) + more,
            // Where immh or imm5 has no bit set the word is a hole.
            Element::Immh(more) => 31 - (w.immh() | 1).leading_zeros() + more,
            Element::Imm5 => (w.imm5() | 16).trailing_zeros(),
            Element::StructureSize => w.bits(10, 2),
        }
    }

    /// How many elements there are; 0 if the register is a scalar.
    #[must_use]
    pub const fn lanes(self, w: Word) -> u32 {
        match self.width {
            Width::Scalar => 0,
            Width::Q => (8 << w.q()) >> self.size(w),
            Width::Full => 16 >> self.size(w),
            Width::Pair => 2,
        }
    }

    /// The bytes of the register that are seen.
    #[must_use]
    pub const fn bytes(self, w: Word) -> u32 {
        match self.width {
            Width::Scalar => 1 << self.size(w),
            Width::Q => 8 << w.q(),
            Width::Full => 16,
            Width::Pair => 2 << self.size(w),
        }
    }

    /// The bits of a word that say how large elements are and how much is seen. Those of immh and imm5 belong to
    /// the operand that shares them.
    #[must_use]
    pub const fn bits(self) -> u32 {
        let element = match self.element {
            Element::Size(_) => 3 << 22,
            Element::Sz(_) => 1 << 22,
            Element::StructureSize => 3 << 10,
            Element::Fixed(_) | Element::Immh(_) | Element::Imm5 => 0,
        };
        let width = match self.width {
            Width::Q => Q_BIT,
            Width::Scalar | Width::Full | Width::Pair => 0,
        };
        element | width
    }

    /// The same bits for elements of `size`, of which there are `lanes`; with the bit of immh or imm5 that stands for
    /// the size. `None` if there is no such view.
    #[must_use]
    pub fn encode(self, size: u32, lanes: u32) -> Option<u32> {
        let field = |more: u32, most: u32| size.checked_sub(more).filter(|size| *size <= most);
        let element = match self.element {
            Element::Fixed(fixed) => (fixed == size).then_some(0)?,
            Element::Size(more) => field(more, 3)? << 22,
            Element::Sz(more) => field(more, 1)? << 22,
            Element::Immh(more) => 1 << (19 + field(more, 3)?),
            Element::Imm5 => 1 << (16 + field(0, 3)?),
            Element::StructureSize => field(0, 3)? << 10,
        };
        let bytes = lanes << size;
        let width = match self.width {
            Width::Scalar => (lanes == 0).then_some(0)?,
            Width::Full => (bytes == 16).then_some(0)?,
            Width::Pair => (lanes == 2).then_some(0)?,
            Width::Q if bytes == 8 => 0,
            Width::Q => (bytes == 16).then_some(Q_BIT)?,
        };
        Some(element | width)
    }
}
