//! Inputs of test vectors for single encodings, edge values first. An oracle adds the outputs.

use std::collections::BTreeMap;

use kvrm_arm64::operand::Operand;
use kvrm_arm64::sysreg::REGISTERS;
use kvrm_arm64::{Encoding, Feature, Features, Instruction, Op, Processor, Word, encoding::ENCODINGS};
use kvrm_machine::vectors::{Bytes, Hex, Number, State, Vector};

use crate::numbers::EDGES;
use crate::random::Random;
use crate::simd::Pool;
use crate::words;

/// The address of the code of a test vector.
pub const CODE: u64 = 0x1_0000;
/// The address of the data of a test vector: two pages.
pub const DATA: u64 = 0x3_0000;
/// The size of the data in bytes.
pub const DATA_BYTES: u64 = 0x2000;

/// Pairs of operands for which a result or a flag depends on both, such as signed overflow.
const PAIRS: [(u64, u64); 12] = [
    (1 << 63, u64::MAX),
    (1 << 63, 1 << 63),
    (0x8000_0000, 0xffff_ffff),
    (0x8000_0000, 0x8000_0000),
    (u64::MAX >> 1, 1),
    (0x7fff_ffff, 1),
    (u64::MAX, u64::MAX),
    (0xffff_ffff, 0xffff_ffff),
    (0, 0),
    (1, 0),
    (0, 1),
    (u64::MAX, 1),
];

/// Returns a random number, often an edge value or close to one.
fn value(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => *random.pick(&EDGES),
        1 => random.pick(&EDGES).wrapping_add(random.below(5)).wrapping_sub(2),
        2 => random.bits() >> random.below(64),
        _ => random.bits(),
    }
}

/// Returns `count` test vectors without outputs for `encoding`.
pub fn of_encoding(encoding: &Encoding, count: usize, random: &mut Random) -> Vec<Vector> {
    let pool = (encoding.feature.is_simd()).then(|| Pool::new(random));
    (0..count)
        .map(|index| {
            let mut vector = input(encoding, index, random);
            if let Some(pool) = &pool {
                add_simd(&mut vector, encoding, pool, random);
            }
            vector
        })
        .collect()
}

/// Adds the inputs of a floating-point or vector instruction, and removes general registers that it does not use.
fn add_simd(vector: &mut Vector, encoding: &Encoding, pool: &Pool, random: &mut Random) {
    let w = Word(vector.code[0].0);
    let init = &mut vector.init;
    let has_general = |low: u32| {
        encoding.operands.iter().any(|operand| {
            let is_simd = operand.simd().is_some_and(|(other, _)| other == low);
            !is_simd && operand.bits(u32::MAX) >> low & 0x1f == 0x1f && !matches!(operand, Operand::Label19)
        })
    };
    let general: Vec<u32> =
        [0, 5, 16].into_iter().filter(|low| has_general(*low)).map(|low| w.bits(low, 5)).collect();
    init.x.retain(|n, _| general.contains(&n.0));
    let values = pool.registers(encoding, w, random);
    init.v = values.into_iter().map(|(n, value)| (Number(n), Hex(value))).collect();
    for piece in &mut init.mem {
        piece.bytes = pool.bytes(piece.bytes.len(), random);
    }
    init.fpcr = Some(Hex((random.below(32) as u32) << 22));
    if random.below(4) == 0 {
        init.fpsr = Some(Hex(random.bits() as u32 & 0x0800_009f));
    }
    let reads_flags = matches!(encoding.group(), "floatccmp" | "floatsel" | "floatcmp");
    init.nzcv.take_if(|_| !reads_flags);
    if encoding.pattern.value >> 25 & 0b101 != 0b100 {
        // The instruction does not access memory.
        init.mem.clear();
        init.sp = Some(Hex(DATA));
    }
    vector.features = features(encoding, w.0);
}

/// Returns the features of the processor that has all of them.
fn max() -> Vec<String> {
    vec![Processor::Max.name().to_owned()]
}

/// Returns the features that a word of an encoding needs, by their names in vector files. Those of features after Armv8.0
/// need all, so that they can be lanes of one machine.
fn features(encoding: &Encoding, word: u32) -> Vec<String> {
    if !Processor::CortexA53.features().with(Feature::Lse).has(encoding.op.feature_of(word)) {
        return max();
    }
    let name = match encoding.op.feature_of(word) {
        Feature::Base | Feature::Crc32 => return Vec::new(),
        feature => feature.name(),
    };
    let fp = encoding.feature.is_simd() && name != "fp";
    fp.then_some("fp").into_iter().chain([name]).map(str::to_owned).collect()
}

/// Returns up to `count` test vectors without outputs for UNDEFINED words in the holes of `encoding`.
pub fn in_holes(encoding: &Encoding, count: usize, random: &mut Random) -> Vec<Vector> {
    let attempts = if encoding.holes.is_empty() { 0 } else { 64 * count };
    let words = (0..attempts).map(|_| words::matching(encoding, random));
    let words: Vec<u32> =
        words.filter(|word| Instruction::new(*word, Features::ALL).op.is_none()).take(count).collect();
    words.into_iter().map(|word| Vector { features: max(), ..beside(encoding, word) }).collect()
}

/// Returns a test vector without outputs for an UNDEFINED word that resembles `encoding`.
fn beside(encoding: &Encoding, word: u32) -> Vector {
    Vector {
        name: format!("{} beside", encoding.name),
        pc: Hex(CODE),
        code: vec![Hex(word)],
        steps: 1,
        code_writable: false,
        features: if encoding.feature.is_simd() { vec!["fp".to_owned()] } else { Vec::new() },
        init: State { sp: Some(Hex(DATA)), ..State::default() },
        expected: State::default(),
        exact: true,
    }
}

/// Returns test vectors without outputs for UNDEFINED words that resemble `encoding`: up to `count` words in its holes,
/// and up to `count` words that differ from it in one or two bits.
pub fn beside_encoding(encoding: &Encoding, count: usize, random: &mut Random) -> Vec<Vector> {
    let holes = || if encoding.holes.is_empty() { 0 } else { count };
    let mut words: Vec<u32> = Vec::new();
    for _ in 0..holes() * 64 {
        let word = words::matching(encoding, random);
        if is_undefined(encoding, word) && words.len() < count {
            words.push(word);
        }
    }
    for _ in 0..count {
        let word = words::matching(encoding, random) ^ 1 << random.below(32) ^ 1 << random.below(32);
        if is_undefined(encoding, word) {
            words.push(word);
        }
    }
    words.into_iter().map(|word| beside(encoding, word)).collect()
}

/// Returns whether a word is UNDEFINED on a machine with general features, or with all features if `encoding` belongs
/// to floating point or vectors.
fn is_undefined(encoding: &Encoding, word: u32) -> bool {
    let features = if encoding.feature.is_simd() {
        Processor::CortexA53.features().with(Feature::Lse)
    } else {
        Features::GENERAL
    };
    Instruction::new(word, features).op.is_none()
}

/// Returns a test vector with the state before an instruction, including all registers that it uses.
fn input(encoding: &Encoding, index: usize, random: &mut Random) -> Vector {
    let word = reachable(encoding, words::allocated(encoding, random), random);
    let w = Word(word);
    let mut x: BTreeMap<u32, u64> = BTreeMap::new();
    for n in [w.rd(), w.rn(), w.rm(), w.ra(), w.rs() + 1, w.rd() + 1] {
        // The first vectors use the edge values in turn, the others use random values.
        let edge = EDGES[(index + n as usize) % EDGES.len()];
        x.insert(n, if index < EDGES.len() { edge } else { value(random) });
    }
    if let Some(&(first, second)) = PAIRS.get(index) {
        x.insert(w.rm(), second);
        x.insert(w.rn(), first);
    }
    let mut sp = DATA + 16 * random.below(DATA_BYTES / 16);
    let mut memory = Vec::new();
    if let Some(access) = Access::of(encoding, w) {
        let (room, page) = (DATA_BYTES - access.bytes, DATA + 0x1000);
        // An access through SP never faults, because the page of SP is always mapped. An exclusive store needs the load
        // before it to succeed. Emulators access structures element by element, so the state after a fault differs.
        let may_fault =
            w.rn() != 31 && !["ldstexcl", "asisdls"].iter().any(|group| encoding.group().starts_with(group));
        let address = match if may_fault || index.is_multiple_of(4) { index % 8 } else { 7 } {
            // Across or next to the boundary of the two pages, unless the access must be aligned.
            0 | 4 if !access.aligned => page - random.below(access.bytes + 1),
            // Outside of the data: after it, partly after it, and in the code, which is read-only.
            1 => DATA + DATA_BYTES + random.below(0x1000),
            2 if !access.aligned && !access.pair => DATA + DATA_BYTES - random.below(access.bytes),
            3 => CODE + 0x800 + random.below(0x400),
            _ => DATA + random.below(room),
        };
        let address = if access.aligned { address & !(access.bytes - 1) } else { address };
        let (index_register, index_value) = access.index.filter(|n| *n != 31).map_or((31, 0), |index| {
            let value = if random.below(2) == 0 { random.below(64) } else { random.below(64).wrapping_neg() };
            (index, value)
        });
        x.insert(index_register, index_value);
        // The base register is set last, because it may be the index register, too.
        let base = if access.index == Some(w.rn()) && w.rn() != 31 {
            DATA / 2
        } else {
            address.wrapping_sub(access.displacement(w, index_value))
        };
        if w.rn() == 31 {
            sp = base;
        } else {
            x.insert(w.rn(), base);
        }
        let at = (address - 16).clamp(DATA, DATA + DATA_BYTES - 1);
        let end = (address + access.bytes + 16).clamp(at + 1, DATA + DATA_BYTES);
        memory.push(Bytes { at: Hex(at), bytes: (at..end).map(|_| random.bits() as u8).collect() });
    }
    if encoding.group() == "loadlit" {
        let address = CODE.wrapping_add_signed(w.offset19());
        let bytes = (0..8.min(DATA + DATA_BYTES - address)).map(|_| random.bits() as u8).collect();
        memory.push(Bytes { at: Hex(address), bytes });
    }
    if encoding.name == "MSR_SR_systemmove" {
        // Only bits that the register defines: whether others read back as zero depends on the implementation.
        x.insert(w.rt(), random.bits() & [0xf000_0000, 0x07c0_0000, 0x0800_009f][w.op2() as usize % 3]);
    }
    memory.push(Bytes { at: Hex(DATA + DATA_BYTES - 1), bytes: vec![0] });
    memory.push(Bytes { at: Hex(DATA), bytes: vec![0] });
    if matches!(encoding.group(), "branch_reg") && random.below(4) > 0 {
        x.insert(w.rn(), CODE + 4 * random.below(1024));
    }
    let mut code = vec![Hex(word)];
    // An exclusive store can succeed only after a matching exclusive load.
    if let Some(load) = matching_load(encoding.op)
        && !index.is_multiple_of(4)
    {
        // The load must not overwrite registers of the store.
        let registers = [w.rt(), w.rt2(), w.rn(), w.rs()];
        let free: Vec<u32> = (0..31).filter(|n| !registers.contains(n)).collect();
        let transfer =
            free[0] | if load.encoding().group() == "ldstexclp" { free[1] << 10 } else { 31 << 10 };
        code.insert(0, Hex(load.encoding().pattern.canonical() | transfer | w.rn() << 5));
    }
    x.remove(&31);
    x.remove(&32);
    let x = x.into_iter().map(|(n, value)| (Number(n), Hex(value))).collect();
    let nzcv = Some(Hex(random.below(16) as u32));
    let steps = code.len() as u64;
    let features = features(encoding, word);
    Vector {
        name: encoding.name.to_owned(),
        pc: Hex(CODE),
        code,
        steps,
        code_writable: false,
        features,
        init: State { x, sp: Some(Hex(sp)), nzcv, mem: memory, ..State::default() },
        expected: State::default(),
        exact: true,
    }
}

/// Changes a word so that its literal is within the data, or its system register exists.
fn reachable(encoding: &Encoding, word: u32, random: &mut Random) -> u32 {
    match encoding.group() {
        "loadlit" => {
            let distance = (DATA - CODE) / 4 + random.below(DATA_BYTES / 4 - 1);
            word & !(0x7_ffff << 5) | (distance as u32) << 5
        }
        "systemmove" => {
            let names = ["nzcv", "fpcr", "fpsr", "tpidr_el0"];
            let number = register_number(random.pick::<&str>(&names));
            word & !(0x7fff << 5) | number << 5
        }
        _ => word,
    }
}

fn register_number(name: &str) -> u32 {
    REGISTERS.iter().find(|register| register.name == name).map_or(0, |register| register.number)
}

/// The memory access of a load or store.
struct Access {
    bytes: u64,
    /// Whether the access transfers two registers.
    pair: bool,
    /// Whether the address must be aligned to the size.
    aligned: bool,
    /// The number of the index register, if there is one.
    index: Option<u32>,
    operand: Operand,
}

impl Access {
    fn of(encoding: &Encoding, w: Word) -> Option<Self> {
        let operand = *encoding.operands.iter().find(|operand| {
            matches!(
                operand,
                Operand::Base
                    | Operand::ScaledOffset(_)
                    | Operand::Offset
                    | Operand::PreIndex
                    | Operand::PointerOffset
                    | Operand::PointerPreIndex
                    | Operand::PostIndex
                    | Operand::RegisterOffset(_)
                    | Operand::PairOffset(_)
                    | Operand::PairPreIndex(_)
                    | Operand::PairPostIndex(_)
                    | Operand::PostBytes(..)
                    | Operand::PostRegister
            )
        })?;
        if let Some(bytes) = structure_bytes(encoding, w) {
            let index = (operand == Operand::PostRegister).then(|| w.rm());
            return Some(Self { bytes, pair: false, aligned: false, index, operand });
        }
        // The size is the first const parameter of the function in the table.
        let semantics = encoding.semantics();
        let (_, parameters) = semantics.split_once('<').unwrap_or(("", "1"));
        let digits: String = parameters.chars().take_while(char::is_ascii_digit).collect();
        let single: u64 = digits.parse().unwrap_or(1);
        let pair = semantics.contains("pair");
        Some(Self {
            bytes: if pair { 2 * single } else { single },
            pair,
            aligned: operand == Operand::Base || encoding.feature == Feature::Lrcpc2,
            index: matches!(operand, Operand::RegisterOffset(_)).then(|| w.rm()),
            operand,
        })
    }

    /// Returns the offset that is added to the base before the access.
    fn displacement(&self, w: Word, index: u64) -> u64 {
        use kvrm_arm64::semantics::operand::extend_reg;
        match self.operand {
            Operand::ScaledOffset(scale) => u64::from(w.imm12()) << scale,
            Operand::Offset | Operand::PreIndex => w.imm9() as u64,
            Operand::PointerOffset | Operand::PointerPreIndex => w.imm10() as u64,
            Operand::PairOffset(scale) | Operand::PairPreIndex(scale) => (w.imm7() << scale) as u64,
            Operand::RegisterOffset(scale) => extend_reg(index, w.option(), scale * w.s(), 64),
            _ => 0,
        }
    }
}

/// Returns the number of bytes that a load or store of structures accesses.
fn structure_bytes(encoding: &Encoding, w: Word) -> Option<u64> {
    let is_replicated = encoding.mnemonic.ends_with('r');
    encoding.operands.iter().find_map(|operand| match *operand {
        Operand::VtList(count, view) if is_replicated => Some(u64::from(count << view.size(w))),
        Operand::VtList(count, view) => Some(u64::from(count * view.bytes(w))),
        Operand::VtLane(count, size) => Some(u64::from(count << size)),
        _ => None,
    })
}

/// Returns the exclusive load that matches an exclusive store.
pub(crate) fn matching_load(op: Op) -> Option<Op> {
    let name = op.encoding().name;
    let store = name.strip_prefix("STL").or_else(|| name.strip_prefix("ST"))?;
    let load = match store {
        "XRB_SR32_ldstexclr" => "LDXRB_LR32_ldstexclr",
        "XRH_SR32_ldstexclr" => "LDXRH_LR32_ldstexclr",
        "XR_SR32_ldstexclr" => "LDXR_LR32_ldstexclr",
        "XR_SR64_ldstexclr" => "LDXR_LR64_ldstexclr",
        "XP_SP32_ldstexclp" => "LDXP_LP32_ldstexclp",
        "XP_SP64_ldstexclp" => "LDXP_LP64_ldstexclp",
        _ => return None,
    };
    ENCODINGS.iter().find(|encoding| encoding.name == load).map(|encoding| encoding.op)
}
