//! Operands of the assembly syntax, and the fields of a word that each consists of.

use crate::Word;
use crate::view::{Element, View};

/// An operand of the assembly syntax, named after the manual's assembler symbols.
///
/// `W` and `X` are the register size. `Sp` means that number 31 is the stack pointer and not the zero register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "register operands are named by size and field")]
pub enum Operand {
    Wd,
    Wn,
    Wm,
    Wa,
    Wt,
    Wt2,
    Ws,
    WdSp,
    WnSp,
    Xd,
    Xn,
    Xm,
    Xa,
    Xt,
    Xt2,
    Xs,
    XdSp,
    XnSp,
    XmSp,
    /// A general register whose size is bit 31 of the word.
    Rd,
    Rn,
    Rm,
    Rt,
    RdSp,
    RnSp,
    /// Ws and the next register.
    WsPair,
    WtPair,
    XsPair,
    XtPair,
    /// Rm with a shift by imm6.
    ShiftedWm,
    ShiftedXm,
    /// Rm extended by option and shifted by imm3.
    ExtendedWm,
    ExtendedXm,
    /// imm12, shifted left by 12 if sh is set.
    AddSubImm,
    /// N:immr:imms as a bit mask; the parameter is its width in bits.
    LogicalImm(u32),
    /// imm16, shifted left by 16 times hw.
    MoveWideImm,
    ImmR,
    ImmS,
    Imm5,
    /// imm6 of RMIF.
    FlagRotation,
    /// mask of RMIF.
    FlagMask,
    Nzcv,
    Imm16,
    /// The immediate of UDF.
    UdfImm,
    /// CRm:op2 of HINT.
    HintImm,
    /// op2 of BTI: the kinds of branches that may have this instruction as target.
    BtiTarget,
    /// CRm of ISB and CLREX.
    CrmOption,
    /// CRm of DMB and DSB.
    Barrier,
    /// op1:op2 of MSR (immediate).
    PstateField,
    /// CRm of MSR (immediate).
    CrmImm,
    /// op1, CRn, CRm, op2 of SYS and SYSL.
    SysOp,
    /// o0, op1, CRn, CRm, op2 of MRS and MSR.
    SysReg,
    /// The condition of B.cond, part of its mnemonic.
    BranchCond,
    Cond,
    /// b5:b40 of TBZ and TBNZ: the number of the tested bit.
    TestBit,
    Label14,
    Label19,
    Label26,
    /// The address of ADR.
    PcRel,
    /// The page of ADRP.
    PcRelPage,
    /// The operation of PRFM.
    Prfop,
    /// `[Xn|SP]`.
    Base,
    /// Base plus imm12 shifted left by the parameter.
    ScaledOffset(u32),
    /// Base plus imm9.
    Offset,
    PreIndex,
    PostIndex,
    /// Base plus S:imm9 times 8, of LDRAA and LDRAB.
    PointerOffset,
    PointerPreIndex,
    /// Base plus an extended register, which is shifted left by the parameter if S is set.
    RegisterOffset(u32),
    /// Base plus imm7 shifted left by the parameter.
    PairOffset(u32),
    PairPreIndex(u32),
    PairPostIndex(u32),
    /// A SIMD&FP register in a view.
    Vd(View),
    Vn(View),
    Vm(View),
    Va(View),
    Vt(View),
    Vt2(View),
    /// A general register: Xn if imm5 encodes doublewords, else Wn.
    RnImm5,
    /// An element of a register; imm5 encodes its size and index.
    VdLane,
    VnLane,
    /// An element of Vn; imm5 encodes its size, imm4 its index.
    VnLane4,
    /// An element of Vm. The index is H:L:M for halfwords (where Vm has four bits), H:L for words, H for doublewords.
    VmLane(Element),
    /// 32 bits of Vm as several elements, whose size in bytes has the parameter as its binary logarithm. The index is H:L.
    VmGroup(u32),
    /// A pair of elements of Vm, whose size is in the field size. The index is H:L for halfwords, H for words.
    VmPair,
    /// A word of Vm; the index is the field imm2.
    VmWord,
    /// A multiple of 90 degrees: the lowest bit and the width of its field. A field of one bit is 90 or 270 degrees.
    Rotation(u32, u32),
    /// Q of BFMLALB and BFMLALT.
    BottomTop,
    /// The upper doubleword of a register.
    VdHigh,
    VnHigh,
    /// A list of consecutive registers from Vt: their number and view.
    VtList(u32, View),
    /// An element of each of several consecutive registers from Vt: their number, and the binary logarithm of the
    /// element's bytes.
    VtLane(u32, u32),
    /// A table of consecutive registers from Vn: their number.
    VnTable(u32),
    /// immh:immb as the amount of a right shift, or as fraction bits.
    ShiftRight,
    /// immh:immb as the amount of a left shift.
    ShiftLeft,
    /// The shift amount of SHLL, which is the element size.
    ShiftSize,
    /// scale as fraction bits.
    FractionBits,
    /// abcdefgh.
    Imm8,
    /// abcdefgh shifted left by 8 times the bits of cmode from bit 13 of the word; the parameter is their number.
    Imm8Shifted(u32),
    /// abcdefgh shifted left by 8 or 16, with ones shifted in.
    Imm8Ones,
    /// abcdefgh, each bit expanded to a byte.
    Imm8Bytes,
    /// abcdefgh as a floating-point number.
    Imm8Float,
    /// imm8 as a floating-point number.
    FloatImm,
    /// imm4 of EXT.
    ExtIndex,
    /// The bits of imm5 above the size bit, in encodings that ignore them. Not part of the syntax.
    Imm5Ignored,
    /// The bits of imm4 below the index, which are ignored. Not part of the syntax.
    Imm4Ignored,
    /// Post-indexed: base; the bytes of that many registers in that view are added to the base register afterwards.
    PostBytes(u32, View),
    /// Post-indexed: base; Xm is added to the base register afterwards.
    PostRegister,
    /// Fixed text.
    Text(&'static str),

    // Operands of aliases, which the table does not contain.
    /// Rm with a shift or extension; its size is bit 31 of the word.
    ShiftedRm,
    ExtendedRm,
    /// The value of MOVZ, MOVN or a logical immediate as a number.
    MoveZeroed,
    MoveInverted,
    MoveBitMask,
    /// The shift of LSL (immediate).
    LslAmount,
    /// The lowest bit and the width of the field that BFC, BFI, SBFIZ and UBFIZ insert.
    InsertLsb,
    InsertWidth,
    /// The width of the field of BFXIL, SBFX and UBFX.
    ExtractWidth,
    /// The inverse of the condition.
    InvertedCond,
    /// An unknown PSTATE field as a register number.
    PstateNumber,
    /// The name of a SYS instruction such as DC ZVA.
    SysOpName,
}

/// The field of a general register operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterField {
    /// The lowest of the field's five bits.
    pub low: u32,
    /// Whether the register has 64 bits; `None` if bit 31 of the word decides.
    pub wide: Option<bool>,
    /// Whether number 31 is the stack pointer.
    pub sp: bool,
    /// Whether the operand is this register and the next.
    pub pair: bool,
}

/// The mask of the base register, the field Rn.
const BASE: u32 = 0x1f << 5;
/// The mask of the fields abc and defgh.
const ABCDEFGH: u32 = 0x0007_03e0;

impl Operand {
    /// Returns the register field, if the operand is a general register or a pair of them.
    #[must_use]
    pub const fn register(self) -> Option<RegisterField> {
        let (low, wide, sp, pair) = match self {
            Self::Wd | Self::Wt => (0, Some(false), false, false),
            Self::Xd | Self::Xt => (0, Some(true), false, false),
            Self::Rd | Self::Rt => (0, None, false, false),
            Self::WdSp => (0, Some(false), true, false),
            Self::XdSp => (0, Some(true), true, false),
            Self::RdSp => (0, None, true, false),
            Self::Wn => (5, Some(false), false, false),
            Self::Xn => (5, Some(true), false, false),
            Self::Rn => (5, None, false, false),
            Self::WnSp => (5, Some(false), true, false),
            Self::XnSp => (5, Some(true), true, false),
            Self::XmSp => (16, Some(true), true, false),
            Self::RnSp => (5, None, true, false),
            Self::Wm | Self::Ws => (16, Some(false), false, false),
            Self::Xm | Self::Xs => (16, Some(true), false, false),
            Self::Rm => (16, None, false, false),
            Self::Wa | Self::Wt2 => (10, Some(false), false, false),
            Self::Xa | Self::Xt2 => (10, Some(true), false, false),
            Self::WtPair => (0, Some(false), false, true),
            Self::XtPair => (0, Some(true), false, true),
            Self::WsPair => (16, Some(false), false, true),
            Self::XsPair => (16, Some(true), false, true),
            _ => return None,
        };
        Some(RegisterField { low, wide, sp, pair })
    }

    /// Returns the lowest bit of the register field and the view, if the operand is a whole SIMD&FP register.
    #[must_use]
    pub const fn simd(self) -> Option<(u32, View)> {
        Some(match self {
            Self::Vd(view) | Self::Vt(view) => (0, view),
            Self::Vn(view) => (5, view),
            Self::Va(view) | Self::Vt2(view) => (10, view),
            Self::Vm(view) => (16, view),
            _ => return None,
        })
    }

    /// Whether the operand consists of bits that the instruction ignores. It is not part of the syntax.
    #[must_use]
    pub const fn is_hidden(self) -> bool {
        matches!(self, Self::Imm5Ignored | Self::Imm4Ignored)
    }

    /// Returns the mask of the bits of which the operand consists, as far as they are in `pattern_variable_bits`. The
    /// bits of an element size belong to all operands of that size.
    #[must_use]
    pub const fn bits(self, pattern_variable_bits: u32) -> u32 {
        let bits = match self {
            Self::ShiftedWm | Self::ShiftedXm => 0x00df_fc00,
            Self::ExtendedWm | Self::ExtendedXm => 0x001f_fc00,
            Self::AddSubImm => 0x007f_fc00,
            Self::LogicalImm(_) => 0x007f_fc00,
            Self::MoveWideImm => 0x007f_ffe0,
            Self::ImmR | Self::Imm5 => 0x003f_0000,
            Self::FlagRotation => 0x001f_8000,
            Self::FlagMask => 0xf,
            Self::ImmS => 0x0000_fc00,
            Self::Nzcv | Self::BranchCond => 0xf,
            Self::Imm16 => 0x001f_ffe0,
            Self::UdfImm => 0xffff,
            Self::HintImm => 0x0fe0,
            Self::BtiTarget => 0x00c0,
            Self::CrmOption | Self::Barrier | Self::CrmImm => 0x0f00,
            Self::PstateField => 0x0007_00e0,
            Self::SysOp => 0x0007_ffe0,
            Self::SysReg => 0x000f_ffe0,
            Self::Cond => 0xf000,
            Self::TestBit => 0x80f8_0000,
            Self::Label14 => 0x0007_ffe0,
            Self::Label19 => 0x00ff_ffe0,
            Self::Label26 => 0x03ff_ffff,
            Self::PcRel | Self::PcRelPage => 0x60ff_ffe0,
            Self::Prfop => 0x1f,
            Self::Base => BASE,
            Self::ScaledOffset(_) => 0x003f_fc00 | BASE,
            Self::Offset | Self::PreIndex | Self::PostIndex => 0x001f_f000 | BASE,
            Self::PointerOffset | Self::PointerPreIndex => 0x005f_f000 | BASE,
            Self::RegisterOffset(_) => 0x001f_f000 | BASE,
            Self::PairOffset(_) | Self::PairPreIndex(_) | Self::PairPostIndex(_) => 0x003f_8000 | BASE,
            Self::RnImm5 => 0x1f << 5,
            Self::VdLane => 0x001f_001f,
            Self::VnLane => 0x001f_03e0,
            Self::VnLane4 => 0x0000_7be0,
            Self::VmLane(Element::Size(_)) => 0x00ff_0800,
            Self::VmLane(_) => 0x007f_0800,
            Self::VmGroup(_) => 0x003f_0800,
            Self::VmPair => 0x00ff_0800,
            Self::VmWord => 0x001f_3000,
            Self::Rotation(low, width) => ((1 << width) - 1) << low,
            Self::BottomTop => 1 << 30,
            Self::VdHigh => 0x1f,
            Self::VnHigh | Self::VnTable(_) => 0x1f << 5,
            Self::VtList(_, view) => 0x1f | view.bits(),
            Self::VtLane(..) => 0x4000_1c1f,
            Self::ShiftRight | Self::ShiftLeft => 0x007f_0000,
            Self::FractionBits => 0xfc00,
            Self::Imm8 | Self::Imm8Bytes | Self::Imm8Float => ABCDEFGH,
            Self::Imm8Shifted(bits) => ABCDEFGH | ((1 << bits) - 1) << 13,
            Self::Imm8Ones => ABCDEFGH | 1 << 12,
            Self::FloatImm => 0x001f_e000,
            Self::ExtIndex => 0x7800,
            Self::Imm5Ignored => 0x001f_0000,
            Self::Imm4Ignored => 0x7800,
            Self::PostBytes(..) => BASE,
            Self::PostRegister => BASE | 0x001f_0000,
            _ => match (self.register(), self.simd()) {
                (Some(field), _) => 0x1f << field.low,
                (None, Some((low, view))) => 0x1f << low | view.bits(),
                (None, None) => 0,
            },
        };
        bits & pattern_variable_bits
    }
}

/// The names of the sixteen conditions, by number.
pub const CONDITIONS: [&str; 16] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];

/// The names of the four shift types, by number.
pub const SHIFTS: [&str; 4] = ["lsl", "lsr", "asr", "ror"];

/// The names of the eight extensions, by the field option.
pub const EXTENDS: [&str; 8] = ["uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"];

/// The names of the sixteen barrier options, by CRm; empty for reserved ones.
pub const BARRIERS: [&str; 16] = [
    "", "oshld", "oshst", "osh", "", "nshld", "nshst", "nsh", "", "ishld", "ishst", "ish", "", "ld", "st",
    "sy",
];

/// Whether a general register operand of a word has 64 bits.
pub(crate) const fn is_wide(field: RegisterField, w: Word) -> bool {
    match field.wide {
        Some(wide) => wide,
        None => w.bits(31, 1) == 1,
    }
}

/// Returns the element of Vm that a [`Operand::VmLane`] is: register number, binary logarithm of the element's bytes,
/// index.
#[must_use]
pub const fn vm_lane(element: Element, w: Word) -> (u32, u32, u32) {
    let size = View { element, width: crate::view::Width::Scalar }.size(w);
    let (h, l, m) = (w.bits(11, 1), w.bits(21, 1), w.bits(20, 1));
    match size {
        1 => (w.bits(16, 4), size, h << 2 | l << 1 | m),
        2 => (w.rm(), size, h << 1 | l),
        // L must be 0.
        _ => (w.rm(), size, l << 1 | h),
    }
}

/// Returns the pair of elements of Vm that a [`Operand::VmPair`] is: register number, binary logarithm of the element's
/// bytes, index.
#[must_use]
pub const fn vm_pair(w: Word) -> (u32, u32, u32) {
    let (h, l) = (w.bits(11, 1), w.bits(21, 1));
    // L of words must be 0.
    (w.rm(), w.size(), if w.size() == 1 { h << 1 | l } else { l << 1 | h })
}

/// Returns the degrees of a [`Operand::Rotation`].
#[must_use]
pub const fn degrees(low: u32, width: u32, w: Word) -> u32 {
    let field = w.bits(low, width);
    if width == 1 { 90 + 180 * field } else { 90 * field }
}

/// Returns the index of a [`Operand::VtLane`]: Q:S:size without the low `size` bits, where the parameter `size` is the
/// binary logarithm of the element's bytes.
#[must_use]
pub const fn vt_index(size: u32, w: Word) -> u32 {
    (w.q() << 3 | w.bits(12, 1) << 2 | w.bits(10, 2)) >> size
}
