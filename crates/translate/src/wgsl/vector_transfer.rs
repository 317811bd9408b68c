//! Loads and stores of SIMD registers as statements in WGSL.

use std::fmt::Write as _;

use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::vector_op::TRANSFER_REPLICATE;

use super::address::Address;
use super::operand::vector;
use super::place::Place;

/// An access to consecutive bytes.
struct Transfer {
    /// The registers, in the order of memory.
    registers: Vec<u32>,
    /// The bytes of each.
    bytes: u32,
    /// The factor that copies what is loaded to all elements, if it is an element.
    factor: Option<u64>,
    /// Whether Q is set.
    is_whole: bool,
}

/// Returns the statements of a load or a store.
pub(super) fn lines(handler: Handler, op: MicroOp, address: &Address, place: &Place) -> String {
    let transfer = match handler {
        Handler::VECTOR_LOAD | Handler::VECTOR_STORE => Transfer::of_registers(op, address),
        _ => Transfer::of_structures(handler, op, address),
    };
    if !address.is_load {
        return place.store(&transfer.stored(address.bytes));
    }
    let mut text = place.load();
    transfer.load(&mut text);
    text
}

impl Transfer {
    fn of_registers(op: MicroOp, address: &Address) -> Self {
        let (first, other) = if address.is_load { (op.dst(), op.c()) } else { (op.c(), op.dst()) };
        let registers = if op.pair() == 1 { vec![first, other] } else { vec![first] };
        Self { registers, bytes: address.element, factor: None, is_whole: true }
    }

    fn of_structures(handler: Handler, op: MicroOp, address: &Address) -> Self {
        let word = op.imm as u32;
        let replicates = handler == Handler::VECTOR_LOAD_STRUCTURES && op.transfer() == TRANSFER_REPLICATE;
        Self {
            registers: (word..word + op.registers()).map(|register| register & 31).collect(),
            bytes: address.element,
            factor: replicates.then(|| u64::MAX / (u64::MAX >> (64 - 8 * address.element))),
            is_whole: word >> 30 & 1 == 1,
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
