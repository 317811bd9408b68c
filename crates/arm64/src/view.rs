//! Views of SIMD&FP registers: as a scalar, or as a number of elements of some size.

use crate::Word;

/// The source of an element size. Sizes are binary logarithms of bytes: 0 is B, 4 is Q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// The parameter itself.
    Fixed(u32),
    /// The field size, bits 23 and 22, plus the parameter.
    Size(u32),
    /// The field sz, bit 22, plus the parameter.
    Sz(u32),
    /// The index of the highest set bit of immh, plus the parameter.
    Immh(u32),
    /// The index of the lowest set bit of imm5.
    Imm5,
    /// The field size of structure accesses, bits 11 and 10.
    StructureSize,
}

/// The part of a register that is in a view.
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
    /// 32 bits, or 64 if Q is set.
    HalfQ,
}

/// A view of a SIMD&FP register: the size and the number of its elements.
///
/// ```
/// use kvrm_arm64::Word;
/// use kvrm_arm64::view::T;
///
/// let add = Word(0x4ea2_8420); // add v0.4s, v1.4s, v2.4s
/// assert_eq!((T.size(add), T.lanes(add), T.bytes(add)), (2, 4, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The source of the element size.
    pub element: Element,
    /// The part of the register that the elements fill.
    pub width: Width,
}

/// The letters of element sizes, by the binary logarithm of bytes.
pub const LETTERS: [char; 5] = ['b', 'h', 's', 'd', 'q'];

pub(crate) const Q_BIT: u32 = 1 << 30;

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
    /// One element of the size in the field size.
    SIZE = Element::Size(0), Scalar;
    /// One element twice as large as the field size says.
    SIZE_LONG = Element::Size(1), Scalar;
    /// A number of single or double precision.
    SZ = Element::Sz(2), Scalar;
    /// One element of the size in immh.
    IMMH = Element::Immh(0), Scalar;
    /// One element twice as large as immh says.
    IMMH_LONG = Element::Immh(1), Scalar;
    /// One element of the size in imm5.
    IMM5 = Element::Imm5, Scalar;
    /// Elements of the size in the field size.
    T = Element::Size(0), Q;
    /// Elements twice as large as the field size says, in 128 bits.
    LONG = Element::Size(1), Full;
    /// Elements twice as large as the field size says, half as many as in [`T`].
    PAIRED = Element::Size(1), Q;
    /// Numbers of single or double precision.
    TF = Element::Sz(2), Q;
    /// Numbers half as large as sz says.
    TF_NARROW = Element::Sz(1), Q;
    /// Numbers of single or double precision, in 128 bits.
    TF_LONG = Element::Sz(2), Full;
    /// Two numbers of single or double precision.
    PAIR = Element::Sz(2), Pair;
    /// Two numbers of half precision.
    PAIR_HALVES = Element::Fixed(1), Pair;
    /// Elements of the size in immh.
    TI = Element::Immh(0), Q;
    /// Elements twice as large as immh says, in 128 bits.
    TI_LONG = Element::Immh(1), Full;
    /// Elements of the size in imm5.
    T5 = Element::Imm5, Q;
    /// Elements of structure accesses.
    TS = Element::StructureSize, Q;
    /// One element of a structure access.
    STRUCTURE = Element::StructureSize, Scalar;
    /// Bytes.
    BYTES = Element::Fixed(0), Q;
    /// Halfwords.
    HALVES = Element::Fixed(1), Q;
    /// Halfwords in half the register.
    HALVES_PART = Element::Fixed(1), HalfQ;
    /// Words.
    WORDS = Element::Fixed(2), Q;
    /// Sixteen bytes.
    V16B = Element::Fixed(0), Full;
    /// Eight halfwords.
    V8H = Element::Fixed(1), Full;
    /// Four words.
    V4S = Element::Fixed(2), Full;
    /// Two doublewords.
    V2D = Element::Fixed(3), Full;
}

impl View {
    /// Returns the binary logarithm of the bytes of an element.
    #[must_use]
    pub const fn size(self, w: Word) -> u32 {
        match self.element {
            Element::Fixed(size) => size,
            Element::Size(more) => w.size() + more,
            Element::Sz(more) => w.bits(22, 1) + more,
            // If immh or imm5 has no bit set, the word is in a hole, so any size will do.
            Element::Immh(more) => 31 - (w.immh() | 1).leading_zeros() + more,
            Element::Imm5 => (w.imm5() | 16).trailing_zeros(),
            Element::StructureSize => w.bits(10, 2),
        }
    }

    /// Returns the number of elements; 0 for a scalar.
    #[must_use]
    pub const fn lanes(self, w: Word) -> u32 {
        match self.width {
            Width::Scalar => 0,
            Width::Q => (8 << w.q()) >> self.size(w),
            Width::Full => 16 >> self.size(w),
            Width::Pair => 2,
            Width::HalfQ => (4 << w.q()) >> self.size(w),
        }
    }

    /// Returns the number of bytes in the view.
    #[must_use]
    pub const fn bytes(self, w: Word) -> u32 {
        match self.width {
            Width::Scalar => 1 << self.size(w),
            Width::Q => 8 << w.q(),
            Width::Full => 16,
            Width::Pair => 2 << self.size(w),
            Width::HalfQ => 4 << w.q(),
        }
    }

    /// Returns the mask of the word's bits that hold the element size and the width, except those of immh and imm5,
    /// which belong to another operand.
    #[must_use]
    pub const fn bits(self) -> u32 {
        let element = match self.element {
            Element::Size(_) => 3 << 22,
            Element::Sz(_) => 1 << 22,
            Element::StructureSize => 3 << 10,
            Element::Fixed(_) | Element::Immh(_) | Element::Imm5 => 0,
        };
        let width = match self.width {
            Width::Q | Width::HalfQ => Q_BIT,
            Width::Scalar | Width::Full | Width::Pair => 0,
        };
        element | width
    }

    /// Returns the values of these bits for `lanes` elements (0 for a scalar) of the size `size`, including the bit of
    /// immh or imm5 that encodes the size. `None` if the view cannot have this size or number of elements.
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
            Width::HalfQ if bytes == 4 => 0,
            Width::HalfQ => (bytes == 8).then_some(Q_BIT)?,
            Width::Q if bytes == 8 => 0,
            Width::Q => (bytes == 16).then_some(Q_BIT)?,
        };
        Some(element | width)
    }
}
