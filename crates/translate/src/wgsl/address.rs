//! Where loads and stores access memory.

use kvrm_arm64::micro_op::{
    Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST, INDEX_POST_REGISTER, MicroOp, PLAIN, SP, ZERO,
};
use kvrm_arm64::vector_op::{TRANSFER_MULTIPLE, TRANSFER_REPLICATE};

use crate::effects::handler;
use crate::registers::Registers;

use super::operand::{register, second};

/// An access to consecutive bytes.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) is_load: bool,
    /// Whether SIMD registers are loaded or stored.
    pub(super) is_vector: bool,
    pub(super) bytes: u32,
    /// The bytes of each register or element.
    pub(super) element: u32,
    /// Whether an access that is not aligned is a fault.
    pub(super) must_align: bool,
    /// Whether the address is that of an element of an array: a base and an index times the size.
    pub(super) is_element: bool,
    pub(super) base: Base,
    pub(super) write_back: Option<WriteBack>,
}

/// What is added to the base register.
#[derive(Debug)]
pub(super) struct WriteBack {
    pub(super) added: String,
    /// The number, if it is constant.
    pub(super) constant: Option<u64>,
}

/// The address of an access: an expression and a constant.
#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) text: String,
    /// The registers in the expression.
    pub(super) registers: Registers,
    pub(super) displacement: u64,
}

impl Base {
    /// Returns the address in a register plus a constant.
    fn register(number: u32, displacement: u64) -> Self {
        Self { text: register(number), registers: Registers::of(number), displacement }
    }

    fn literal(op: MicroOp, pc: u64) -> Self {
        let text = format!("{:#x}lu", pc.wrapping_add(op.imm));
        Self { text, registers: Registers::NONE, displacement: 0 }
    }

    /// Whether one of the registers is in the expression.
    pub(super) fn needs(&self, registers: Registers) -> bool {
        self.registers.without(registers) != self.registers
    }

    /// Whether the address is on the stack.
    pub(super) fn is_stack(&self) -> bool {
        self.registers == Registers::of(SP)
    }
}

impl Address {
    /// Returns the address of the access of a micro-op at `pc`, or `None` if it is no access that translated code executes.
    pub(super) fn of(op: MicroOp, pc: u64) -> Option<Self> {
        let handler = handler(op)?;
        match handler {
            Handler::LOAD | Handler::STORE | Handler::LOAD_LITERAL => {
                let (base, write_back) = match handler {
                    Handler::LOAD_LITERAL => (Base::literal(op, pc), None),
                    _ => indexed(op),
                };
                Some(Self {
                    is_load: handler != Handler::STORE,
                    is_vector: false,
                    bytes: 1 << (op.size() + op.pair()),
                    element: 1 << op.size(),
                    must_align: op.aligned() == 1,
                    is_element: op.left().checked_sub(op.right()) == Some(op.size()),
                    base,
                    write_back,
                })
            }
            Handler::VECTOR_LOAD | Handler::VECTOR_STORE => {
                let (base, write_back) =
                    if op.index() == INDEX_LITERAL { (Base::literal(op, pc), None) } else { indexed(op) };
                Some(Self {
                    is_load: handler == Handler::VECTOR_LOAD,
                    is_vector: true,
                    bytes: 1 << (op.size() + op.pair()),
                    element: 1 << op.size(),
                    must_align: false,
                    is_element: false,
                    base,
                    write_back,
                })
            }
            Handler::VECTOR_LOAD_STRUCTURES | Handler::VECTOR_STORE_STRUCTURES => {
                Self::of_structures(op, handler == Handler::VECTOR_LOAD_STRUCTURES)
            }
            _ => None,
        }
    }

    /// Returns the address of those of LD1 to LD4 and ST1 to ST4 that are accesses to consecutive registers, and of loads
    /// of one element to all elements of a register.
    fn of_structures(op: MicroOp, is_load: bool) -> Option<Self> {
        let replicates = is_load && op.transfer() == TRANSFER_REPLICATE && op.registers() == 1;
        if !(replicates || op.transfer() == TRANSFER_MULTIPLE && op.members() == 1) {
            return None;
        }
        let word = op.imm as u32;
        let element = if replicates { 1 << (word >> 10 & 3) } else { 8 << (word >> 30 & 1) };
        let bytes = element * op.registers();
        let write_back = match op.index() {
            INDEX_OFFSET => None,
            INDEX_POST_REGISTER => Some(WriteBack { added: register(op.b()), constant: None }),
            _ => Some(WriteBack { added: format!("{bytes}lu"), constant: Some(bytes.into()) }),
        };
        Some(Self {
            is_load,
            is_vector: true,
            bytes,
            element,
            must_align: false,
            is_element: false,
            base: Base::register(op.a(), 0),
            write_back,
        })
    }

    /// Returns the alignment of the accesses of most programs, or 1 if this one often has less: `memcpy` and its like load
    /// and store whole registers at any address. `is_single` is whether no other access with the base is near.
    pub(super) fn usual_alignment(&self, is_single: bool) -> u32 {
        let element = self.element.min(8);
        let is_copied = self.is_vector || self.bytes == 16 || is_single && !self.is_element;
        if self.base.is_stack() || !is_copied { element } else { 1 }
    }
}

/// Returns the address of a load or store with a base register, and what is added to the register.
fn indexed(op: MicroOp) -> (Base, Option<WriteBack>) {
    let is_constant = op.b() == ZERO && op.extraction() == PLAIN && op.invert() == 0 && op.wide() == 1;
    let constant = is_constant.then_some(op.imm);
    let base = match (op.index(), constant) {
        (INDEX_POST, _) => Base::register(op.a(), 0),
        (_, Some(offset)) => Base::register(op.a(), offset),
        _ => Base {
            text: format!("{} + {}", register(op.a()), second(op)),
            registers: Registers::of(op.a()).with(Registers::of(op.b())),
            displacement: 0,
        },
    };
    let write_back = (op.index() != INDEX_OFFSET).then(|| WriteBack { added: second(op), constant });
    (base, write_back)
}
