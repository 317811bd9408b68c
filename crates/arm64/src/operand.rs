//! Operands: which fields of a word each assembly operand stands for.

use crate::Word;

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

    /// The bits of the word the operand is made of.
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
            _ => match self.register() {
                Some(field) => 0x1f << field.low,
                None => 0,
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
