//! Preferred aliases: the usual names of special forms of an encoding, such as `mov` for an `orr` with zero.

use crate::Word;
use crate::operand::Operand::{self, *};
use crate::semantics::bitmask::decode_bit_masks;
use crate::semantics::truncate;
use crate::view::{BYTES, Element, IMM5, IMMH, Q_BIT, TI, TI_LONG, V4S, V8H};

/// An alias of the encodings with a given mnemonic in a given group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alias {
    /// The mnemonic of the encodings in the table.
    pub(crate) mnemonic: &'static str,
    /// The group of the encodings.
    pub(crate) group: &'static str,
    /// The preferred mnemonic.
    pub(crate) name: &'static str,
    /// The operands in the assembly text of the alias.
    pub(crate) operands: &'static [Operand],
    /// Whether a word with this mnemonic and group has the alias.
    pub(crate) when: fn(Word) -> bool,
    /// The bits that the operands leave out, of a word that has the bits of the operands.
    pub(crate) rest: fn(Word) -> u32,
}

impl Alias {
    /// Returns the alias with the bits that its operands leave out.
    const fn with(self, rest: fn(Word) -> u32) -> Self {
        Self { rest, ..self }
    }
}

/// Returns the preferred alias of a word with the given base mnemonic and group, if it has one.
#[must_use]
pub(crate) fn preferred(mnemonic: &str, group: &str, w: Word) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.group == group && alias.mnemonic == mnemonic && (alias.when)(w))
}

const fn row(
    mnemonic: &'static str,
    group: &'static str,
    name: &'static str,
    operands: &'static [Operand],
    when: fn(Word) -> bool,
) -> Alias {
    Alias { mnemonic, group, name, operands, when, rest: |_| 0 }
}

/// Returns all aliases that assembly text may have: those that the disassembler prints, and a few more.
pub(crate) fn all() -> impl Iterator<Item = &'static Alias> {
    ALIASES.iter().chain(UNPRINTED)
}

/// Returns the number of a named SYS instruction, as [`Word::sysop`] does.
#[must_use]
pub(crate) fn sys_instruction_number(name: &str) -> Option<u32> {
    SYS_INSTRUCTIONS.iter().find(|instruction| instruction.name == name).map(|instruction| instruction.number)
}

/// The register fields of a word, with the number 31.
const RD: u32 = 31;
const RN: u32 = 31 << 5;
const RA: u32 = 31 << 10;
const RM: u32 = 31 << 16;

/// The aliases in order of preference.
#[rustfmt::skip] // One alias a line.
static ALIASES: &[Alias] = &[
    row("add",    "addsub_imm",   "mov",    &[RdSp, RnSp],                    |w| (w.rd() == 31 || w.rn() == 31) && w.imm12() == 0 && w.sh() == 0),
    row("adds",   "addsub_imm",   "cmn",    &[RnSp, AddSubImm],               rd_is_31).with(|_| RD),
    row("subs",   "addsub_imm",   "cmp",    &[RnSp, AddSubImm],               rd_is_31).with(|_| RD),
    row("adds",   "addsub_shift", "cmn",    &[Rn, ShiftedRm],                 rd_is_31).with(|_| RD),
    row("subs",   "addsub_shift", "cmp",    &[Rn, ShiftedRm],                 rd_is_31).with(|_| RD),
    row("sub",    "addsub_shift", "neg",    &[Rd, ShiftedRm],                 rn_is_31).with(|_| RN),
    row("subs",   "addsub_shift", "negs",   &[Rd, ShiftedRm],                 rn_is_31).with(|_| RN),
    row("adds",   "addsub_ext",   "cmn",    &[RnSp, ExtendedRm],              rd_is_31).with(|_| RD),
    row("subs",   "addsub_ext",   "cmp",    &[RnSp, ExtendedRm],              rd_is_31).with(|_| RD),
    row("sbc",    "addsub_carry", "ngc",    &[Rd, Rm],                        rn_is_31).with(|_| RN),
    row("sbcs",   "addsub_carry", "ngcs",   &[Rd, Rm],                        rn_is_31).with(|_| RN),
    row("orr",    "log_imm",      "mov",    &[RdSp, MoveBitMask],             |w| rn_is_31(w) && !move_wide_preferred(w)).with(|_| RN),
    row("ands",   "log_imm",      "tst",    &[Rn, MoveBitMask],               rd_is_31).with(|_| RD),
    row("orr",    "log_shift",    "mov",    &[Rd, Rm],                        |w| rn_is_31(w) && w.shift() == 0 && w.imm6() == 0).with(|_| RN),
    row("orn",    "log_shift",    "mvn",    &[Rd, ShiftedRm],                 rn_is_31).with(|_| RN),
    row("ands",   "log_shift",    "tst",    &[Rn, ShiftedRm],                 rd_is_31).with(|_| RD),
    row("movz",   "movewide",     "mov",    &[Rd, MoveZeroed],                |w| w.imm16() != 0 || w.hw() == 0),
    row("movn",   "movewide",     "mov",    &[Rd, MoveInverted],              |w| (w.imm16() != 0 || w.hw() == 0) && (is_64(w) || w.imm16() != 0xffff)),
    row("sbfm",   "bitfield",     "asr",    &[Rd, Rn, ImmR],                  field_reaches_top).with(top_bit),
    row("sbfm",   "bitfield",     "sbfiz",  &[Rd, Rn, InsertLsb, InsertWidth], inserts),
    row("sbfm",   "bitfield",     "sxtb",   &[Rd, Wn],                        |w| w.immr() == 0 && w.imms() == 7).with(|_| 7 << 10),
    row("sbfm",   "bitfield",     "sxth",   &[Rd, Wn],                        |w| w.immr() == 0 && w.imms() == 15).with(|_| 15 << 10),
    row("sbfm",   "bitfield",     "sxtw",   &[Rd, Wn],                        |w| w.immr() == 0 && w.imms() == 31).with(|_| 31 << 10),
    row("sbfm",   "bitfield",     "sbfx",   &[Rd, Rn, ImmR, ExtractWidth],    always),
    row("bfm",    "bitfield",     "bfc",    &[Rd, InsertLsb, InsertWidth],    |w| rn_is_31(w) && inserts(w)).with(|_| RN),
    row("bfm",    "bitfield",     "bfi",    &[Rd, Rn, InsertLsb, InsertWidth], inserts),
    row("bfm",    "bitfield",     "bfxil",  &[Rd, Rn, ImmR, ExtractWidth],    always),
    row("ubfm",   "bitfield",     "lsr",    &[Rd, Rn, ImmR],                  field_reaches_top).with(top_bit),
    row("ubfm",   "bitfield",     "lsl",    &[Rd, Rn, LslAmount],             |w| w.imms() + 1 == w.immr()),
    row("ubfm",   "bitfield",     "ubfiz",  &[Rd, Rn, InsertLsb, InsertWidth], inserts),
    row("ubfm",   "bitfield",     "uxtb",   &[Rd, Rn],                        |w| !is_64(w) && w.immr() == 0 && w.imms() == 7).with(|_| 7 << 10),
    row("ubfm",   "bitfield",     "uxth",   &[Rd, Rn],                        |w| !is_64(w) && w.immr() == 0 && w.imms() == 15).with(|_| 15 << 10),
    row("ubfm",   "bitfield",     "ubfx",   &[Rd, Rn, ImmR, ExtractWidth],    always),
    row("extr",   "extract",      "ror",    &[Rd, Rn, ImmS],                  |w| w.rn() == w.rm()).with(rm_is_rn),
    row("madd",   "dp_3src",      "mul",    &[Rd, Rn, Rm],                    ra_is_31).with(|_| RA),
    row("msub",   "dp_3src",      "mneg",   &[Rd, Rn, Rm],                    ra_is_31).with(|_| RA),
    row("smaddl", "dp_3src",      "smull",  &[Xd, Wn, Wm],                    ra_is_31).with(|_| RA),
    row("smsubl", "dp_3src",      "smnegl", &[Xd, Wn, Wm],                    ra_is_31).with(|_| RA),
    row("umaddl", "dp_3src",      "umull",  &[Xd, Wn, Wm],                    ra_is_31).with(|_| RA),
    row("umsubl", "dp_3src",      "umnegl", &[Xd, Wn, Wm],                    ra_is_31).with(|_| RA),
    row("csinc",  "condsel",      "cset",   &[Rd, InvertedCond],              |w| rn_is_31(w) && conditional_on_itself(w)).with(|_| RN | RM),
    row("csinc",  "condsel",      "cinc",   &[Rd, Rn, InvertedCond],          conditional_on_itself).with(rm_is_rn),
    row("csinv",  "condsel",      "csetm",  &[Rd, InvertedCond],              |w| rn_is_31(w) && conditional_on_itself(w)).with(|_| RN | RM),
    row("csinv",  "condsel",      "cinv",   &[Rd, Rn, InvertedCond],          conditional_on_itself).with(rm_is_rn),
    row("csneg",  "condsel",      "cneg",   &[Rd, Rn, InvertedCond],          conditional_on_itself).with(rm_is_rn),
    row("ret",    "branch_reg",   "ret",    &[],                              |w| w.rn() == 30).with(|_| 30 << 5),
    row("dcps1",  "exception",    "dcps1",  &[],                              |w| w.imm16() == 0),
    row("dcps2",  "exception",    "dcps2",  &[],                              |w| w.imm16() == 0),
    row("dcps3",  "exception",    "dcps3",  &[],                              |w| w.imm16() == 0),
    row("bti",    "hints",        "bti",    &[],                              |w| w.bits(6, 2) == 0),
    row("msr",    "pstate",       "msr",    &[PstateNumber, Text("xzr")],     |w| pstate_field(w).is_none()),
    row("dsb",    "barriers",     "ssbb",   &[],                              |w| w.crm() == 0),
    row("dsb",    "barriers",     "pssbb",  &[],                              |w| w.crm() == 4).with(|_| 4 << 8),
    row("isb",    "barriers",     "isb",    &[],                              |w| w.crm() == 15).with(|_| 15 << 8),
    row("clrex",  "barriers",     "clrex",  &[],                              |w| w.crm() == 15).with(|_| 15 << 8),
    row("sys",    "systeminstrs", "",       &[SysOpName, Xt],                 |w| sys_instruction(w).is_some_and(|i| i.has_register)),
    row("sys",    "systeminstrs", "",       &[SysOpName],                     |w| sys_instruction(w).is_some() && w.rt() == 31).with(|_| RD),
    row("sys",    "systeminstrs", "sys",    &[SysOp],                         |w| w.rt() == 31).with(|_| RD),
    row("dup",    "asisdone",     "mov",    &[Vd(IMM5), VnLane],              always),
    row("ins",    "asimdins",     "mov",    &[VdLane, VnLane4],               is_from_element),
    row("ins",    "asimdins",     "mov",    &[VdLane, RnImm5],                always),
    row("umov",   "asimdins",     "mov",    &[Xd, VnLane],                    |w| IMM5.size(w) == 3),
    row("umov",   "asimdins",     "mov",    &[Wd, VnLane],                    |w| IMM5.size(w) == 2),
    row("orr",    "asimdsame",    "mov",    &[Vd(BYTES), Vn(BYTES)],          |w| w.rn() == w.rm()).with(rm_is_rn),
    row("bfmlal", "asimdsame2",   "bfmlalb", &[Vd(V4S), Vn(V8H), Vm(V8H)],    |w| w.q() == 0),
    row("bfmlal", "asimdsame2",   "bfmlalt", &[Vd(V4S), Vn(V8H), Vm(V8H)],    |w| w.q() == 1).with(|_| Q_BIT),
    row("bfmlal", "asimdelem",    "bfmlalb", &[Vd(V4S), Vn(V8H), VmLane(Element::Fixed(1))], |w| w.q() == 0),
    row("bfmlal", "asimdelem",    "bfmlalt", &[Vd(V4S), Vn(V8H), VmLane(Element::Fixed(1))], |w| w.q() == 1).with(|_| Q_BIT),
    row("not",    "asimdmisc",    "mvn",    &[Vd(BYTES), Vn(BYTES)],          always),
    row("sshll{2}", "asimdshf",   "sxtl{2}", &[Vd(TI_LONG), Vn(TI)],          has_no_shift),
    row("ushll{2}", "asimdshf",   "uxtl{2}", &[Vd(TI_LONG), Vn(TI)],          has_no_shift),
];

/// Aliases of special forms that have another name in the disassembly: shifts by zero, and fields from bit 0.
#[rustfmt::skip] // One alias a line.
static UNPRINTED: &[Alias] = &[
    row("ubfm", "bitfield", "lsl",   &[Rd, Rn, LslAmount],              |w| w.immr() == 0 && field_reaches_top(w)),
    row("sbfm", "bitfield", "sbfiz", &[Rd, Rn, InsertLsb, InsertWidth], |w| w.immr() == 0),
    row("bfm",  "bitfield", "bfc",   &[Rd, InsertLsb, InsertWidth],     |w| w.immr() == 0).with(|_| RN),
    row("bfm",  "bitfield", "bfi",   &[Rd, Rn, InsertLsb, InsertWidth], |w| w.immr() == 0),
    row("ubfm", "bitfield", "ubfiz", &[Rd, Rn, InsertLsb, InsertWidth], |w| w.immr() == 0),
];

/// The field imms of a shift to the right: the top bit of the register.
fn top_bit(w: Word) -> u32 {
    if is_64(w) { 63 << 10 } else { 31 << 10 }
}

/// The field Rm of an alias whose sources are the same register.
fn rm_is_rn(w: Word) -> u32 {
    w.rn() << 16
}

/// Whether the source of an INS is an element rather than a general register.
fn is_from_element(w: Word) -> bool {
    w.bits(29, 1) == 1
}

/// Whether the shift amount of a left shift is zero.
fn has_no_shift(w: Word) -> bool {
    w.immhb() == 8 << IMMH.size(w)
}

fn always(_: Word) -> bool {
    true
}

fn is_64(w: Word) -> bool {
    w.bits(31, 1) == 1
}

fn rd_is_31(w: Word) -> bool {
    w.rd() == 31
}

fn rn_is_31(w: Word) -> bool {
    w.rn() == 31
}

fn ra_is_31(w: Word) -> bool {
    w.ra() == 31
}

/// Whether a bit field ends at the top of the register, so that the instruction is a right shift.
fn field_reaches_top(w: Word) -> bool {
    w.imms() == if is_64(w) { 63 } else { 31 }
}

/// Whether an instruction inserts a field above bit 0 rather than extracting one.
fn inserts(w: Word) -> bool {
    w.imms() < w.immr()
}

/// Whether a select chooses between a register and a function of the same register, on a condition that can fail.
fn conditional_on_itself(w: Word) -> bool {
    w.rn() == w.rm() && w.cond() < 14
}

/// Whether a MOVZ or MOVN can make the value of a logical immediate. MOV then means that instruction, not this ORR.
/// Neither MOVZ nor MOVN can write SP.
///
/// This follows disassemblers: the manual's `MoveWidePreferred()` misses a few masks on which they agree.
fn move_wide_preferred(w: Word) -> bool {
    let datasize = if is_64(w) { 64 } else { 32 };
    let mask = decode_bit_masks(w.n(), w.imms(), w.immr(), true).unwrap_or_default().wmask;
    let fits_halfword = |value: u64| (0..64).step_by(16).any(|at| value & !(0xffff << at) == 0);
    w.rd() != 31 && (fits_halfword(truncate(mask, datasize)) || fits_halfword(truncate(!mask, datasize)))
}

/// Returns the name of the PSTATE field that an MSR (immediate) writes, if it is known.
pub(crate) fn pstate_field(w: Word) -> Option<&'static str> {
    Some(match (w.op1(), w.op2(), w.crm()) {
        (0, 3, 0..=1) => "uao",
        (0, 4, 0..=1) => "pan",
        (0, 5, 0..=1) => "spsel",
        (3, 1, 0..=1) => "ssbs",
        (3, 2, 0..=1) => "dit",
        (3, 4, 0..=1) => "tco",
        (3, 6, _) => "daifset",
        (3, 7, _) => "daifclr",
        _ => return None,
    })
}

/// A named SYS instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SysInstruction {
    /// op1, CRn, CRm and op2 in 14 bits, as [`Word::sysop`] returns them.
    number: u32,
    /// The name, such as `dc zva`.
    pub(crate) name: &'static str,
    /// Whether Xt is an operand.
    has_register: bool,
}

/// Returns the named instruction that a SYS word is, if it is in the table.
#[must_use]
pub(crate) fn sys_instruction(w: Word) -> Option<&'static SysInstruction> {
    SYS_INSTRUCTIONS.iter().find(|i| i.number == w.sysop())
}

/// The named SYS instructions (DDI 0487, C5.3 to C5.5): op1, CRn, CRm, op2, name, and whether Xt is an operand.
#[rustfmt::skip] // One instruction a line.
static SYS_INSTRUCTIONS: &[SysInstruction] = {
    const fn row([op1, crn, crm, op2]: [u32; 4], name: &'static str, has_register: bool) -> SysInstruction {
        SysInstruction { number: op1 << 11 | crn << 7 | crm << 3 | op2, name, has_register }
    }
    &[
        row([0,  7,  1, 0], "ic ialluis", false),
        row([0,  7,  5, 0], "ic iallu", false),
        row([0,  7,  6, 1], "dc ivac", true),
        row([0,  7,  6, 2], "dc isw", true),
        row([0,  7,  8, 0], "at s1e1r", true),
        row([0,  7,  8, 1], "at s1e1w", true),
        row([0,  7,  8, 2], "at s1e0r", true),
        row([0,  7,  8, 3], "at s1e0w", true),
        row([0,  7, 10, 2], "dc csw", true),
        row([0,  7, 14, 2], "dc cisw", true),
        row([0,  8,  3, 0], "tlbi vmalle1is", false),
        row([0,  8,  3, 1], "tlbi vae1is", true),
        row([0,  8,  3, 2], "tlbi aside1is", true),
        row([0,  8,  3, 3], "tlbi vaae1is", true),
        row([0,  8,  3, 5], "tlbi vale1is", true),
        row([0,  8,  3, 7], "tlbi vaale1is", true),
        row([0,  8,  7, 0], "tlbi vmalle1", false),
        row([0,  8,  7, 1], "tlbi vae1", true),
        row([0,  8,  7, 2], "tlbi aside1", true),
        row([0,  8,  7, 3], "tlbi vaae1", true),
        row([0,  8,  7, 5], "tlbi vale1", true),
        row([0,  8,  7, 7], "tlbi vaale1", true),
        row([3,  7,  4, 1], "dc zva", true),
        row([3,  7,  5, 1], "ic ivau", true),
        row([3,  7, 10, 1], "dc cvac", true),
        row([3,  7, 11, 1], "dc cvau", true),
        row([3,  7, 14, 1], "dc civac", true),
        row([4,  7,  8, 0], "at s1e2r", true),
        row([4,  7,  8, 1], "at s1e2w", true),
        row([4,  7,  8, 4], "at s12e1r", true),
        row([4,  7,  8, 5], "at s12e1w", true),
        row([4,  7,  8, 6], "at s12e0r", true),
        row([4,  7,  8, 7], "at s12e0w", true),
        row([4,  8,  0, 1], "tlbi ipas2e1is", true),
        row([4,  8,  0, 5], "tlbi ipas2le1is", true),
        row([4,  8,  3, 0], "tlbi alle2is", false),
        row([4,  8,  3, 1], "tlbi vae2is", true),
        row([4,  8,  3, 4], "tlbi alle1is", false),
        row([4,  8,  3, 5], "tlbi vale2is", true),
        row([4,  8,  3, 6], "tlbi vmalls12e1is", false),
        row([4,  8,  4, 1], "tlbi ipas2e1", true),
        row([4,  8,  4, 5], "tlbi ipas2le1", true),
        row([4,  8,  7, 0], "tlbi alle2", false),
        row([4,  8,  7, 1], "tlbi vae2", true),
        row([4,  8,  7, 4], "tlbi alle1", false),
        row([4,  8,  7, 5], "tlbi vale2", true),
        row([4,  8,  7, 6], "tlbi vmalls12e1", false),
        row([6,  7,  8, 0], "at s1e3r", true),
        row([6,  7,  8, 1], "at s1e3w", true),
        row([6,  7, 14, 1], "dc cipapa", true),
        row([6,  7, 14, 5], "dc cigdpapa", true),
        row([6,  8,  1, 4], "tlbi paallos", false),
        row([6,  8,  3, 0], "tlbi alle3is", false),
        row([6,  8,  3, 1], "tlbi vae3is", true),
        row([6,  8,  3, 5], "tlbi vale3is", true),
        row([6,  8,  4, 3], "tlbi rpaos", true),
        row([6,  8,  4, 7], "tlbi rpalos", true),
        row([6,  8,  7, 0], "tlbi alle3", false),
        row([6,  8,  7, 1], "tlbi vae3", true),
        row([6,  8,  7, 4], "tlbi paall", false),
        row([6,  8,  7, 5], "tlbi vale3", true),
    ]
};
