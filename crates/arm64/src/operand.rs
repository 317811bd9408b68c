//! Operands: which fields of a word each assembly operand stands for.

use crate::Word;
use crate::view::{Element, View};

/// An operand of the assembly syntax. Names are those of the manual's assembler symbols.
///
/// `W` and `X` give the register size; `Sp` says that number 31 is the stack pointer and not zero.
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
    /// A register whose size is bit 31 of the word.
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
    /// imm12, shifted left by 12 if sh.
    AddSubImm,
    /// N:immr:imms as a bit mask of so many bits.
    LogicalImm(u32),
    /// imm16 in halfword hw.
    MoveWideImm,
    ImmR,
    ImmS,
    Imm5,
    Nzcv,
    Imm16,
    /// The immediate of UDF.
    UdfImm,
    /// CRm:op2 of HINT.
    HintImm,
    /// op2 of BTI: which branches may land here.
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
    /// b5:b40.
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
    /// Base plus imm12 times 2 to the parameter.
    ScaledOffset(u32),
    /// Base plus imm9.
    Offset,
    PreIndex,
    PostIndex,
    /// Base plus an extended register, times 2 to the parameter if S.
    RegisterOffset(u32),
    /// Base plus imm7 times 2 to the parameter.
    PairOffset(u32),
    PairPreIndex(u32),
    PairPostIndex(u32),
    /// A SIMD&FP register, as it is seen.
    Vd(View),
    Vn(View),
    Vm(View),
    Va(View),
    Vt(View),
    Vt2(View),
    /// A general register of the size that imm5 says: 64 bits for doublewords.
    RnImm5,
    /// Element imm5 of a register.
    VdLane,
    VnLane,
    /// Element imm4 of Vn, of the size that imm5 says.
    VnLane4,
    /// Element H:L:M of Vm, which has four bits if elements are halfwords; or H:L or H.
    VmLane(Element),
    /// The upper doubleword of a register.
    VdHigh,
    VnHigh,
    /// So many registers from Vt on.
    VtList(u32, View),
    /// An element of so many registers from Vt on, of this size.
    VtLane(u32, u32),
    /// A table of so many registers from Vn on.
    VnTable(u32),
    /// immh:immb as a shift to the right, or as fraction bits.
    ShiftRight,
    /// immh:immb as a shift to the left.
    ShiftLeft,
    /// The shift of SHLL, the size of an element.
    ShiftSize,
    /// scale as fraction bits.
    FractionBits,
    /// abcdefgh.
    Imm8,
    /// abcdefgh shifted left by 8 times so many bits of cmode, from bit 13 on.
    Imm8Shifted(u32),
    /// abcdefgh shifted left by 8 or 16, with ones behind.
    Imm8Ones,
    /// abcdefgh, each bit as a byte.
    Imm8Bytes,
    /// abcdefgh as a floating-point number.
    Imm8Float,
    /// imm8 as a floating-point number.
    FloatImm,
    /// imm4 of EXT.
    ExtIndex,
    /// Bits of imm5 above the one that is a size, where they are no index: no part of the syntax.
    Imm5Ignored,
    /// Bits of imm4 below the index: no part of the syntax.
    Imm4Ignored,
    /// Base, to which so many registers' worth of bytes is added afterwards.
    PostBytes(u32, View),
    /// Base, to which Xm is added afterwards.
    PostRegister,
    /// A fixed word of the syntax.
    Text(&'static str),

    // How aliases show fields; never in the table itself.
    /// Rm with a shift or extension, size by bit 31.
    ShiftedRm,
    ExtendedRm,
    /// The value of MOVZ, MOVN or a logical immediate as a number.
    MoveZeroed,
    MoveInverted,
    MoveBitMask,
    /// The shift of LSL (immediate).
    LslAmount,
    /// Where BFI puts its field, and how wide it is.
    InsertLsb,
    InsertWidth,
    /// How wide the field of BFXIL, SBFX, UBFX is.
    ExtractWidth,
    /// The inverse of the condition.
    InvertedCond,
    /// An unknown PSTATE field as a register number.
    PstateNumber,
    /// The name of a SYS instruction such as DC ZVA.
    SysOpName,
}

/// Where a register operand sits and how it is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterField {
    /// Lowest bit of the field.
    pub low: u32,
    /// Whether it is a 64-bit register; `None` if bit 31 of the word says.
    pub wide: Option<bool>,
    /// Whether number 31 is the stack pointer.
    pub sp: bool,
    /// Whether it stands for this register and the next.
    pub pair: bool,
}

const BASE: u32 = 0x1f << 5;
/// The fields abc and defgh.
const ABCDEFGH: u32 = 0x0007_03e0;

impl Operand {
    /// The register field, if the operand is a plain register or pair.
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

    /// The register field and the view, if the operand is a whole SIMD&FP register.
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

    /// Whether the operand is no part of the syntax: bits that an instruction ignores.
    #[must_use]
    pub const fn is_hidden(self) -> bool {
        matches!(self, Self::Imm5Ignored | Self::Imm4Ignored)
    }

    /// The bits of the word the operand is made of. Operands that have the size of elements in common share its bits.
    #[must_use]
    pub const fn bits(self, pattern_variable_bits: u32) -> u32 {
        let bits = match self {
            Self::ShiftedWm | Self::ShiftedXm => 0x00df_fc00,
            Self::ExtendedWm | Self::ExtendedXm => 0x001f_fc00,
            Self::AddSubImm => 0x007f_fc00,
            Self::LogicalImm(_) => 0x007f_fc00,
            Self::MoveWideImm => 0x007f_ffe0,
            Self::ImmR | Self::Imm5 => 0x003f_0000,
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
            Self::RegisterOffset(_) => 0x001f_f000 | BASE,
            Self::PairOffset(_) | Self::PairPreIndex(_) | Self::PairPostIndex(_) => 0x003f_8000 | BASE,
            Self::RnImm5 => 0x1f << 5,
            Self::VdLane => 0x001f_001f,
            Self::VnLane => 0x001f_03e0,
            Self::VnLane4 => 0x0000_7be0,
            Self::VmLane(Element::Size(_)) => 0x00ff_0800,
            Self::VmLane(_) => 0x007f_0800,
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

/// The names of the sixteen conditions.
pub const CONDITIONS: [&str; 16] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];

/// The names of the four shifts.
pub const SHIFTS: [&str; 4] = ["lsl", "lsr", "asr", "ror"];

/// The names of the eight extensions.
pub const EXTENDS: [&str; 8] = ["uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"];

/// The names of the sixteen barrier options; empty for reserved ones.
pub const BARRIERS: [&str; 16] = [
    "", "oshld", "oshst", "osh", "", "nshld", "nshst", "nsh", "", "ishld", "ishst", "ish", "", "ld", "st",
    "sy",
];

/// Whether bit 31 makes a width-neutral operand 64-bit.
pub(crate) const fn is_wide(field: RegisterField, w: Word) -> bool {
    match field.wide {
        Some(wide) => wide,
        None => w.bits(31, 1) == 1,
    }
}

/// The element that a `VmLane` names: register, binary logarithm of its bytes, index.
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

/// The index that a `VtLane` of elements of `size` has: Q:S:size, without the bits below an element.
#[must_use]
pub const fn vt_index(size: u32, w: Word) -> u32 {
    (w.q() << 3 | w.bits(12, 1) << 2 | w.bits(10, 2)) >> size
}
