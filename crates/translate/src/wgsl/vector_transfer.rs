//! Loads and stores of SIMD registers as statements in WGSL. They may be unaligned, but are in one page.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST, INDEX_POST_REGISTER, MicroOp};
use kvrm_arm64::vector_op::{TRANSFER_MULTIPLE, TRANSFER_REPLICATE};

use super::operand::{register, second, vector};

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
    let needed = if access.is_load { "TLB_READ" } else { "TLB_WRITE" };
    let mut text = access.address.clone();
    // Less than a word is within one.
    if bytes < 8 {
        let _ = writeln!(text, "let word = word_of(address, {bytes}u, {needed}, false);");
    } else {
        let _ = writeln!(text, "let word = word_in_page(address, {bytes}u, {needed});");
    }
    let _ = writeln!(text, "if word == NO_WORD {{\n{exit}\n}}");
    let _ = writeln!(text, "let shift = (u32(address) & 7u) * 8u;");
    if access.is_load {
        access.load(&mut text, bytes);
    } else {
        access.store(&mut text, bytes);
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

    fn load(&self, text: &mut String, bytes: u32) {
        if bytes < 8 {
            let mask = u64::MAX >> (64 - 8 * bytes);
            let _ = writeln!(text, "let word_0 = (frame_load(word) >> shift) & {mask:#x}lu;");
        }
        let count = bytes / 8;
        if count > 0 {
            for index in 0..count {
                let _ = writeln!(text, "let aligned_{index} = frame_load(word + {index}u);");
            }
            // If the access is aligned, the word behind it may be that of another page.
            let last = format!("word + select({count}u, {}u, shift == 0u)", count - 1);
            let _ = writeln!(text, "let aligned_{count} = frame_load({last});");
        }
        for index in 0..count {
            let next = index + 1;
            let value = format!("funnel(aligned_{index}, aligned_{next}, shift)");
            let _ = writeln!(text, "let word_{index} = {value};");
        }
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

    fn store(&self, text: &mut String, bytes: u32) {
        let names: Vec<String> = self.registers.iter().map(|register| vector(*register)).collect();
        let words: Vec<String> = match self.bytes {
            16 => names.iter().flat_map(|name| [format!("{name}.low"), format!("{name}.high")]).collect(),
            4 if bytes == 8 => vec![format!("joined(u32({}.low), u32({}.low))", names[0], names[1])],
            _ => names.iter().map(|name| format!("{name}.low")).collect(),
        };
        if bytes < 8 {
            let changed = u64::MAX >> (64 - 8 * bytes);
            let _ = writeln!(text, "let changed = {changed:#x}lu << shift;");
            let data = format!("(({} << shift) & changed)", words[0]);
            let _ = writeln!(text, "frame_store(word, (frame_load(word) & ~changed) | {data});");
            return;
        }
        let _ = writeln!(text, "if shift == 0u {{");
        for (index, word) in words.iter().enumerate() {
            let _ = writeln!(text, "frame_store(word + {index}u, {word});");
        }
        let _ = writeln!(text, "}} else {{\nlet kept = (1lu << shift) - 1lu;");
        let mut before = "frame_load(word) & kept".to_owned();
        for (index, word) in words.iter().enumerate() {
            let _ = writeln!(text, "frame_store(word + {index}u, ({before}) | ({word} << shift));");
            before = format!("{word} >> (64u - shift)");
        }
        let last = format!("word + {}u", words.len());
        let _ = writeln!(text, "frame_store({last}, (frame_load({last}) & ~kept) | ({before}));\n}}");
    }
}
