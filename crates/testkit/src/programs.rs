//! Random programs, as test vectors without outputs, on which all engines have to agree.
//!
//! Most instructions follow a convention, because a program would end at its first load otherwise: registers from X20
//! to X28 are pointers, X16 to X19 are small indices, and the others are for results. A few instructions break it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kvrm_arm64::asm::{Arg, Assembler, X0, X1, X2, X3};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::sysreg::{REGISTERS, number};
use kvrm_arm64::{Class, Encoding, Feature, Features, Op, Word, decode};
use kvrm_machine::vectors::{Bytes, Hex, Number, State, Vector};

use crate::inputs::matching_load;
use crate::numbers::EDGES;
use crate::random::Random;
use crate::simd::Pool;
use crate::words;

/// The first page of code. Code begins in this page and may extend to the next.
const CODE: u64 = 0x1_0000;
/// The address of two pages of data. The pages around them are not mapped.
const DATA: u64 = 0x3_0000;
/// The size of a page in bytes.
const PAGE: u64 = 0x1000;
/// The addresses of a possible third page of data: near, far, and at the end of the address space.
const OTHERS: [u64; 3] = [0x44_5000, 0x12_3456_7000, 0xffff_ffff_f000];

/// Rows of the instruction table by class and group of encodings. More than half of the loads and stores of general
/// registers are atomics, so a group is picked first and then a row, to give all groups the same chance.
type Groups = [Vec<Vec<&'static Encoding>>; Class::ALL.len()];

/// The rows for general registers.
static GENERAL: LazyLock<Groups> = LazyLock::new(|| groups(Features::GENERAL));
/// All rows.
static ALL: LazyLock<Groups> = LazyLock::new(|| groups(Features::ALL));

fn groups(features: Features) -> Groups {
    Class::ALL.map(|class| {
        let mut groups: Vec<Vec<&Encoding>> = Vec::new();
        for row in ENCODINGS.iter().filter(|row| row.class == class && features.has(row.feature)) {
            match groups.last_mut() {
                Some(group) if group[0].group() == row.group() => group.push(row),
                _ => groups.push(vec![row]),
            }
        }
        groups
    })
}

/// The registers with small numbers, for indices and shifts.
const INDICES: std::ops::RangeInclusive<u32> = 16..=19;
/// The registers with pointers to data.
const POINTERS: std::ops::RangeInclusive<u32> = 20..=27;
/// The register with a pointer to code.
const CODE_POINTER: u32 = 28;
/// System registers that EL0 may write.
const WRITABLE: [&str; 4] = ["nzcv", "fpcr", "fpsr", "tpidr_el0"];
/// System registers that EL0 may read.
const READABLE: [&str; 9] =
    ["nzcv", "fpcr", "fpsr", "tpidr_el0", "tpidrro_el0", "ctr_el0", "dczid_el0", "cntfrq_el0", "cntvct_el0"];
/// The registers that hold words of instructions, so that storing them creates code.
const WORDS: std::ops::RangeInclusive<u32> = 12..=15;

/// Returns a random program of up to `length` instructions with a budget of up to `steps` steps. On average, one of
/// four programs is for a machine without optional features, one for a machine with the general features, and two for
/// a machine with all features, including SIMD registers.
pub fn random(name: &str, length: usize, steps: u64, random: &mut Random) -> Vector {
    let size = Size::random(length, random);
    let features = match random.below(4) {
        0 => Features::ARMV8_0,
        1 => Features::GENERAL,
        _ => Features::ALL,
    };
    program(name, features, size, steps, random)
}

/// Returns a random program for a machine with `features`, of up to `length` instructions and with a budget of up to
/// `steps` steps.
pub fn with_features(
    name: &str,
    features: Features,
    length: usize,
    steps: u64,
    random: &mut Random,
) -> Vector {
    program(name, features, Size::random(length, random), steps, random)
}

/// The extent of a program.
#[derive(Clone, Copy)]
struct Size {
    /// The number of instructions, without the branch back.
    length: usize,
    /// The address of the third page of data.
    far: u64,
}

impl Size {
    fn random(length: usize, random: &mut Random) -> Self {
        let far = *random.pick(&OTHERS);
        Self { far, length: 1 + random.below(length as u64) as usize }
    }
}

fn program(name: &str, features: Features, size: Size, steps: u64, random: &mut Random) -> Vector {
    let mut draft = Draft::new(features, size, random);
    for _ in 0..size.length {
        draft.add(random);
    }
    draft.finish(name, steps, random)
}

/// An instruction of a program that is made of given parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The random instruction that follows from this seed and the position in the program.
    Seed(u64),
    /// This word, whatever it is.
    Word(u32),
}

/// Returns a program of given instructions, and possibly a branch back, for a machine with `features`. Its registers and
/// memory are random. So a program changes only where one of its instructions changes. Without an instruction the program
/// is a NOP.
pub fn of_sources(
    name: &str,
    features: Features,
    sources: &[Source],
    steps: u64,
    random: &mut Random,
) -> Vector {
    let sources = if sources.is_empty() { &[Source::Word(nop())] } else { sources };
    let size = Size { length: sources.len(), ..Size::random(1, random) };
    let mut draft = Draft::new(features, size, random);
    for source in sources {
        match source {
            Source::Seed(seed) => draft.add(&mut Random::new(*seed)),
            Source::Word(word) => draft.code.push(*word),
        }
    }
    draft.finish(name, steps, random)
}

/// A program that is not finished.
struct Draft {
    features: Features,
    groups: &'static Groups,
    size: Size,
    /// The address of the first instruction.
    pc: u64,
    code: Vec<u32>,
}

impl Draft {
    fn new(features: Features, size: Size, random: &mut Random) -> Self {
        // Sometimes the code continues in a second page.
        let pc = match random.below(4) {
            0 => CODE + PAGE - 4 * (1 + random.below(size.length as u64)),
            _ => CODE + 4 * random.below(64),
        };
        let groups = if features.fp { &ALL } else { &GENERAL };
        Self { features, groups, size, pc, code: Vec::with_capacity(size.length) }
    }

    /// Returns a random instruction for a position in the program.
    fn instruction(&self, index: usize, random: &mut Random) -> u32 {
        instruction(self.groups, Place { index, length: self.size.length, pc: self.pc }, random)
    }

    /// Adds a random instruction.
    fn add(&mut self, random: &mut Random) {
        let mut word = self.instruction(self.code.len(), random);
        let is_missing = decode(word).is_some_and(|op| !self.features.has(op.feature_of(word)));
        if is_missing && random.below(64) > 0 {
            word = nop();
        }
        // An exclusive store can succeed only after a matching exclusive load.
        if let Some(load) = decode(word).and_then(matching_load)
            && let Some(before) = self.code.last_mut()
            && random.below(4) > 0
        {
            let (w, second) = (Word(word), if load.encoding().group() == "ldstexclp" { 3 } else { 31 });
            *before =
                load.encoding().pattern.canonical() | second << 10 | w.rn() << 5 | random.below(3) as u32;
        }
        self.code.push(word);
    }

    /// Adds the end, and the registers and the memory with which the program begins.
    fn finish(mut self, name: &str, steps: u64, random: &mut Random) -> Vector {
        let Size { length, far } = self.size;
        // Most programs end with a branch back, so they run until their budget is used up.
        if random.below(4) > 0 {
            let back = (random.below(length as u64) as u32).wrapping_neg();
            self.code.push(Op::B_only_branch_imm.encoding().pattern.canonical() | back & 0x3ff_ffff);
        }

        let mut x: BTreeMap<u32, u64> = BTreeMap::new();
        for n in 0..31 {
            let value = if WORDS.contains(&n) {
                let low = self.instruction(0, random);
                u64::from(low) | u64::from(self.instruction(0, random)) << 32
            } else if INDICES.contains(&n) {
                random.below(64).wrapping_sub(16 * random.below(3))
            } else if POINTERS.contains(&n) {
                pointer(n, far, random)
            } else if n == CODE_POINTER || n == 30 {
                self.pc + 4 * random.below(length as u64)
            } else {
                number_of_any_length(random)
            };
            x.insert(n, value);
        }
        let mut state = State::default();
        if self.features.fp {
            let pool = Pool::new(random);
            let value = |n| {
                if !WORDS.contains(&n) {
                    return pool.any(random);
                }
                // Storing these words creates code.
                (0..4).fold(0, |words, _| words << 32 | u128::from(self.instruction(0, random)))
            };
            state.v =
                (0..32).map(value).enumerate().map(|(n, value)| (Number(n as u32), Hex(value))).collect();
            state.fpcr = Some(Hex((random.below(32) as u32) << 22));
        }
        let optional = self.features.without(Features::ARMV8_0).map(|feature| feature.name().to_owned());
        let mem = [DATA, DATA + PAGE, far]
            .map(|page| Bytes { at: Hex(page), bytes: (0..64).map(|_| random.bits() as u8).collect() });
        Vector {
            name: name.to_owned(),
            pc: Hex(self.pc),
            code: self.code.into_iter().map(Hex).collect(),
            steps: if random.below(4) == 0 { random.below(steps + 1) } else { steps },
            code_writable: random.below(2) == 0,
            features: optional.collect(),
            init: State {
                x: x.into_iter().map(|(n, value)| (Number(n), Hex(value))).collect(),
                // The page of SP is always mapped.
                sp: Some(Hex(DATA + 0x400 + 16 * random.below(0x180))),
                nzcv: Some(Hex(random.below(16) as u32)),
                mem: mem.into(),
                ..state
            },
            expected: State::default(),
            exact: false,
        }
    }
}

/// Returns a value for pointer register `n`. The register determines whether the address is aligned, arbitrary within a
/// page, at a page boundary, or anything.
fn pointer(n: u32, far: u64, random: &mut Random) -> u64 {
    let page = *random.pick(&[DATA, DATA + PAGE, far]);
    match n - POINTERS.start() {
        // Room before and after the address for offsets and write-back.
        0..=4 => page + 0x400 + 16 * random.below(0x80),
        5 => page + 0x400 + random.below(0x800),
        6 => DATA + PAGE - 16 + random.below(32),
        _ => match random.below(4) {
            0 => page.wrapping_add(random.below(32)).wrapping_sub(16),
            1 => page + PAGE - 16 + random.below(32),
            2 => page + random.below(PAGE),
            _ => random.bits() >> random.below(64),
        },
    }
}

/// Returns an edge value, or a random number of any bit length.
fn number_of_any_length(random: &mut Random) -> u64 {
    if random.below(3) == 0 { *random.pick(&EDGES) } else { random.bits() >> random.below(64) }
}

/// Returns a loop that counts X0 down, with a branch to one of four cases. The branch is at instruction 3, behind it is a
/// NOP, and the cases are at the instructions of [`CASES`]. The loop ends behind instruction 14.
///
/// # Panics
///
/// Never: the program assembles.
#[must_use]
pub fn loop_with_cases() -> Vec<u32> {
    let mut a = Assembler::new(CODE);
    let [again, cases, end] = std::array::from_fn(|_| a.label());
    a.bind(again).and(X1, X0, 3).adr(X2, cases).add(X2, X2, Arg::Shifted(X1, 0, 3)).br(X2).word(nop());
    a.bind(cases);
    for added in 1..=4 {
        a.add(X3, X3, added).b(end);
    }
    a.bind(end).subs(X0, X0, 1).b_cond("ne", again);
    a.finish().expect("the program assembles")
}

/// The instructions at which the cases of [`loop_with_cases`] begin.
pub const CASES: [u64; 4] = [5, 7, 9, 11];

/// Returns the word of NOP.
#[must_use]
pub fn nop() -> u32 {
    Op::NOP_HI_hints.encoding().pattern.canonical()
}

/// The position of an instruction in a program.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    /// The number of instructions of the program.
    length: usize,
    /// The address of the first instruction.
    pc: u64,
}

/// Returns a random instruction for a position in a program.
fn instruction(groups: &Groups, place: Place, random: &mut Random) -> u32 {
    let class = match random.below(100) {
        0..=24 => Class::Arithmetic,
        25..=34 => Class::Logical,
        35..=41 => Class::MulDiv,
        42..=49 => Class::ExtendShift,
        50..=88 => Class::LoadStore,
        89..=96 => Class::Branch,
        _ => Class::System,
    };
    let group: &Vec<&Encoding> = random.pick(&groups[class as usize]);
    let row = *random.pick(group);
    // Instructions that stop a lane are rare, or most programs would end early. Those that authenticate an address stop it
    // later, because no address is signed, and so do those that sign X30.
    let authenticates =
        row.feature == Feature::PAuth && ["ldst_pac", "branch_reg", "hints"].contains(&row.group());
    if row.is_undefined_at_el0() && random.below(64) > 0 || authenticates && random.below(16) > 0 {
        return nop();
    }
    let word = words::allocated(row, random);
    if random.below(64) == 0 {
        return word;
    }
    let tame = tamed(row, word, place, random);
    if decode(tame) == Some(row.op) { tame } else { word }
}

/// Changes the operands of a word so that its branches and accesses stay within the program and its memory.
fn tamed(row: &Encoding, word: u32, place: Place, random: &mut Random) -> u32 {
    let Place { index, length, pc } = place;
    let mut word = word;
    let mut set = |bits: u32, low: u32, value: u32| word = word & !(bits << low) | (value & bits) << low;
    // Instructions with an aligned address use other pointers than instructions with write-back.
    let is_aligned = row.operands.contains(&Operand::Base);
    let changes_base = |operand: &Operand| {
        use Operand::{PairPostIndex, PairPreIndex, PostIndex, PreIndex};
        matches!(operand, PreIndex | PostIndex | PairPreIndex(_) | PairPostIndex(_))
    };
    let keeps_base = !row.operands.iter().any(changes_base);
    let pointer = |random: &mut Random| match random.below(32) {
        0 => *POINTERS.end(),
        1..=4 => CODE_POINTER,
        5..=6 => 31,
        _ if is_aligned || keeps_base && random.below(2) == 0 => *POINTERS.start() + random.below(3) as u32,
        _ => *POINTERS.start() + 3 + random.below(4) as u32,
    };
    let value = |random: &mut Random| match random.below(8) {
        0 => 31,
        1..=2 => *WORDS.start() + random.below(4) as u32,
        _ => random.below(12) as u32,
    };
    let target = 4 * (random.below(length as u64) as i64 - index as i64);
    for &operand in row.operands {
        match operand {
            Operand::Label14 => set(0x3fff, 5, (target >> 2) as u32),
            Operand::Label19 if row.class == Class::Branch => set(0x7_ffff, 5, (target >> 2) as u32),
            Operand::Label19 => {
                let here = pc + 4 * index as u64;
                let to = if random.below(2) == 0 { DATA + random.below(2 * PAGE) } else { pc };
                set(0x7_ffff, 5, (to.wrapping_sub(here) >> 2) as u32);
            }
            Operand::Label26 => set(0x3ff_ffff, 0, (target >> 2) as u32),
            Operand::SysReg => {
                let names: &[&str] = if row.mnemonic == "msr" { &WRITABLE } else { &READABLE };
                let name = *random.pick::<&str>(names);
                let register = REGISTERS.iter().find(|register| register.name == name);
                set(0x7fff, 5, register.map_or(0, |register| register.number));
            }
            Operand::SysOp => {
                let crm = *random.pick(&[4, 4, 5, 10, 11, 14]);
                set(0x3fff, 5, number(1, 3, 7, crm, 1) & 0x3fff);
                set(31, 0, pointer(random));
            }
            Operand::RegisterOffset(_) => set(31, 16, *INDICES.start() + random.below(4) as u32),
            _ => {}
        }
        // Offsets are often small, so that accesses stay in the page.
        if random.below(4) > 0 {
            match operand {
                Operand::ScaledOffset(_) => set(0xff, 14, 0),
                Operand::PairOffset(_) | Operand::PairPreIndex(_) | Operand::PairPostIndex(_) => {
                    set(0x7f, 15, (random.below(16) as u32).wrapping_sub(8));
                }
                _ => {}
            }
        }
        let is_base = operand.bits(u32::MAX) & 0x3e0 == 0x3e0 && row.class == Class::LoadStore;
        if is_base && operand != Operand::Label19 {
            set(31, 5, pointer(random));
        } else if row.group() == "branch_reg" {
            set(31, 5, if random.below(2) == 0 { CODE_POINTER } else { 30 });
        } else if let Some(field) = operand.register() {
            // Sources may be any register, but results must not overwrite the pointers.
            let is_result = field.low == 0 && row.group() != "systeminstrs";
            if is_result || row.class == Class::LoadStore {
                let register = value(random);
                set(31, field.low, if field.pair { register & !1 } else { register });
            }
        }
    }
    word
}

/// Returns a test vector as a line of a vector file.
///
/// # Panics
/// Never: JSON can represent every vector.
#[must_use]
pub fn line(vector: &Vector) -> String {
    serde_json::to_string(vector).expect("vectors are JSON") + "\n"
}
