//! Loads and stores of SIMD registers as statements in WGSL. They may be unaligned, but are in one page.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST, INDEX_POST_REGISTER, MicroOp};
use kvrm_arm64::vector_op::{TRANSFER_MULTIPLE, TRANSFER_REPLICATE};

use super::operand::{register, second, vector};
use super::place::Place;

/// Whether `lines` has the statements of a micro-op: those of LD1 to LD4 and ST1 to ST4 that are accesses to
/// consecutive registers, and loads of one element to all elements of a register.
pub(super) fn is_translatable(handler: Handler, op: MicroOp) -> bool {
    match handler {
        Handler::VECTOR_LOAD | Handler::VECTOR_STORE => true,
        Handler::VECTOR_LOAD_STRUCTURES => {
            op.transfer() == TRANSFER_MULTIPLE && op.members() == 1
                || op.transfer() == TRANSFER_REPLICATE && op.registers() == 1
        }
        Handler::VECTOR_STORE_STRUCTURES => op.transfer() == TRANSFER_MULTIPLE && op.members() == 1,
        _ => false,
    }
}

/// An access to consecutive bytes.
struct Access {
    is_load: bool,
    /// The registers, in the order of memory.
    registers: Vec<u32>,
    /// The bytes of each.
    bytes: u32,
    /// The factor that copies what is loaded to all elements, if it is an element.
    factor: Option<u64>,
    /// Whether Q is set.
    is_whole: bool,
    /// The statements that compute `address` and, if there is write-back, `indexed`.
    address: String,
    writes_back: bool,
}

/// Returns the statements of a load or store at `pc`. `exit` leaves the region.
pub(super) fn lines(handler: Handler, op: MicroOp, pc: u64, exit: &str) -> String {
    let access = match handler {
        Handler::VECTOR_LOAD | Handler::VECTOR_STORE => Access::of_registers(handler, op, pc),
        _ => Access::of_structures(handler, op),
    };
    let bytes = access.bytes * access.registers.len() as u32;
    let mut text = access.address.clone();
    let place = Place { bytes, must_align: false, exit };
    if access.is_load {
        place.load(&mut text);
        access.load(&mut text);
    } else {
        place.store(&mut text, &access.stored(bytes));
    }
    if access.writes_back {
        let _ = writeln!(text, "{} = indexed;", register(op.a()));
    }
    text
}

impl Access {
    fn of_registers(handler: Handler, op: MicroOp, pc: u64) -> Self {
        let is_load = handler == Handler::VECTOR_LOAD;
        let (first, other) = if is_load { (op.dst(), op.c()) } else { (op.c(), op.dst()) };
        let base = register(op.a());
        let address = match op.index() {
            INDEX_LITERAL => format!("var address = {:#x}lu;\n", pc.wrapping_add(op.imm)),
            INDEX_POST => format!("let indexed = {base} + {};\nlet address = {base};\n", second(op)),
            _ => format!("let indexed = {base} + {};\nlet address = indexed;\n", second(op)),
        };
        Self {
            is_load,
            registers: if op.pair() == 1 { vec![first, other] } else { vec![first] },
            bytes: 1 << op.size(),
            factor: None,
            is_whole: true,
            address,
            writes_back: !matches!(op.index(), INDEX_OFFSET | INDEX_LITERAL),
        }
    }

    fn of_structures(handler: Handler, op: MicroOp) -> Self {
        let word = op.imm as u32;
        let is_whole = word >> 30 & 1 == 1;
        let element = 1 << (word >> 10 & 3);
        let replicates = op.transfer() == TRANSFER_REPLICATE;
        let bytes = if replicates { element } else { 8 << u32::from(is_whole) };
        let base = register(op.a());
        let added = match op.index() {
            INDEX_POST_REGISTER => register(op.b()),
            _ => format!("{}lu", bytes * op.registers()),
        };
        let writes_back = op.index() != INDEX_OFFSET;
        let indexed = if writes_back { format!("let indexed = {base} + {added};\n") } else { String::new() };
        Self {
            is_load: handler == Handler::VECTOR_LOAD_STRUCTURES,
            registers: (word..word + op.registers()).map(|register| register & 31).collect(),
            bytes,
            factor: replicates.then(|| u64::MAX / (u64::MAX >> (64 - 8 * element))),
            is_whole,
            address: format!("{indexed}let address = {base};\n"),
            writes_back,
        }
    }

    /// Appends the statements that write what was loaded to registers.
    fn load(&self, text: &mut String) {
        for (number, &register) in self.registers.iter().enumerate() {
            let (low, high) = match (self.bytes, self.factor) {
                (_, Some(factor)) => {
                    let all = format!("word_0 * {factor:#x}lu");
                    (all.clone(), if self.is_whole { all } else { "0lu".to_owned() })
                }
                (16, _) => (format!("word_{}", 2 * number), format!("word_{}", 2 * number + 1)),
                (8, _) => (format!("word_{number}"), "0lu".to_owned()),
                (size, _) => {
                    // One register, or a pair of words.
                    let mask = u64::MAX >> (64 - 8 * size);
                    (format!("(word_0 >> {}u) & {mask:#x}lu", 32 * number), "0lu".to_owned())
                }
            };
            let _ = writeln!(text, "{} = Vector({low}, {high});", vector(register));
        }
    }

    /// Returns the words to store.
    fn stored(&self, bytes: u32) -> Vec<String> {
        let names = self.registers.iter().map(|register| vector(*register));
        match self.bytes {
            16 => names.flat_map(|name| [format!("{name}.low"), format!("{name}.high")]).collect(),
            4 if bytes == 8 => {
                let words: Vec<String> = names.map(|name| format!("u32({name}.low)")).collect();
                vec![format!("joined({})", words.join(", "))]
            }
            _ => names.map(|name| format!("{name}.low")).collect(),
        }
    }
}
