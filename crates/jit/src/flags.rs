//! The condition flags in translated code: what set them last, from which conditions are computed when they are needed.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use kvrm_arm64::Cpu;
use std::mem::offset_of;

use crate::context::{
    FLAGS_ADD_32, FLAGS_ADD_64, FLAGS_LOGIC_32, FLAGS_LOGIC_64, FLAGS_PACKED, FLAGS_SUB_32, FLAGS_SUB_64,
};
use crate::frame::Frame;

/// What set the flags last. Values have the width of the operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flags {
    /// Something before; the flags are in memory, in one of the forms of the context.
    Stored,
    /// Nothing: the flags are set again before anything needs them.
    Unneeded,
    /// The difference of two values.
    Sub(Value, Value),
    /// The sum of the first two values, which is the third.
    Add(Value, Value, Value),
    /// A value, by its sign and whether it is zero.
    Logic(Value),
    /// Four values that are 0 or not, in this order: N, Z, C, V.
    Bits([Value; 4]),
}

impl Flags {
    /// Stores the flags to memory.
    pub(crate) fn store(self, frame: &mut Frame<'_>) {
        let (kinds, operands) = match self {
            Self::Stored | Self::Unneeded => return,
            Self::Sub(a, b) => ([FLAGS_SUB_32, FLAGS_SUB_64], [Some(a), Some(b)]),
            Self::Add(a, b, _) => ([FLAGS_ADD_32, FLAGS_ADD_64], [Some(a), Some(b)]),
            Self::Logic(value) => ([FLAGS_LOGIC_32, FLAGS_LOGIC_64], [Some(value), None]),
            Self::Bits(_) => {
                let nzcv = self.packed(frame);
                let nzcv = frame.b.ins().ireduce(types::I32, nzcv);
                frame.store_cpu(nzcv, offset_of!(Cpu, nzcv));
                ([FLAGS_PACKED; 2], [None; 2])
            }
        };
        let mut wide = false;
        for (operand, n) in operands.into_iter().flatten().zip(0..) {
            wide = type_of(frame, operand) == types::I64;
            let operand = if wide { operand } else { frame.b.ins().uextend(types::I64, operand) };
            frame.store_context(operand, frame.offsets.operands + 8 * n);
        }
        let kind = frame.constant(kinds[usize::from(wide)]);
        frame.store_context(kind, frame.offsets.flags);
    }

    /// Returns the flags as N, Z, C and V, values that are 0 or not.
    pub(crate) fn bits(self, frame: &mut Frame<'_>) -> [Value; 4] {
        let never = frame.b.ins().iconst(types::I8, 0);
        match self {
            Self::Bits(bits) => bits,
            Self::Stored | Self::Unneeded => {
                let nzcv = frame.stored_nzcv();
                [8, 4, 2, 1].map(|bit| {
                    let bit = frame.b.ins().band_imm_u(nzcv, bit);
                    frame.b.ins().icmp_imm_u(IntCC::NotEqual, bit, 0)
                })
            }
            Self::Sub(a, b) => {
                let result = frame.b.ins().isub(a, b);
                let carry = frame.compare(IntCC::UnsignedGreaterThanOrEqual, a, b);
                let (x, y) = (frame.b.ins().bxor(a, b), frame.b.ins().bxor(a, result));
                let overflow = frame.b.ins().band(x, y);
                [negative(frame, result), zero(frame, result), carry, negative(frame, overflow)]
            }
            Self::Add(a, b, result) => {
                let carry = frame.compare(IntCC::UnsignedLessThan, result, a);
                let (x, y) = (frame.b.ins().bxor(a, result), frame.b.ins().bxor(b, result));
                let overflow = frame.b.ins().band(x, y);
                [negative(frame, result), zero(frame, result), carry, negative(frame, overflow)]
            }
            Self::Logic(value) => [negative(frame, value), zero(frame, value), never, never],
        }
    }

    /// Returns the flags as a number of 64 bits.
    pub(crate) fn packed(self, frame: &mut Frame<'_>) -> Value {
        let bits = self.bits(frame);
        let mut packed = frame.constant(0);
        for bit in bits {
            let bit = frame.b.ins().uextend(types::I64, bit);
            packed = frame.b.ins().ishl_imm_u(packed, 1);
            packed = frame.b.ins().bor(packed, bit);
        }
        packed
    }

    /// Returns a value that is not 0 if the condition holds, else 0.
    pub(crate) fn condition(self, frame: &mut Frame<'_>, condition: u32) -> Value {
        use IntCC::{Equal, NotEqual, SignedGreaterThan, SignedGreaterThanOrEqual, SignedLessThan};
        use IntCC::{SignedLessThanOrEqual, UnsignedGreaterThan, UnsignedGreaterThanOrEqual};
        use IntCC::{UnsignedLessThan, UnsignedLessThanOrEqual};
        // Always, as 15 is, too.
        if condition >= 14 {
            return frame.b.ins().iconst(types::I8, 1);
        }
        if let Self::Sub(a, b) = self {
            let relations = [
                (0, Equal),
                (1, NotEqual),
                (2, UnsignedGreaterThanOrEqual),
                (3, UnsignedLessThan),
                (8, UnsignedGreaterThan),
                (9, UnsignedLessThanOrEqual),
                (10, SignedGreaterThanOrEqual),
                (11, SignedLessThan),
                (12, SignedGreaterThan),
                (13, SignedLessThanOrEqual),
            ];
            if let Some((_, relation)) = relations.iter().find(|(number, _)| *number == condition) {
                return frame.compare(*relation, a, b);
            }
        }
        if let Self::Logic(value) = self {
            // V is clear, so the sign decides.
            let relations = [
                (0, Equal),
                (1, NotEqual),
                (4, SignedLessThan),
                (5, SignedGreaterThanOrEqual),
                (10, SignedGreaterThanOrEqual),
                (11, SignedLessThan),
                (12, SignedGreaterThan),
                (13, SignedLessThanOrEqual),
            ];
            if let Some((_, relation)) = relations.iter().find(|(number, _)| *number == condition) {
                return frame.b.ins().icmp_imm_s(*relation, value, 0);
            }
        }
        let [n, z, c, v] = self.bits(frame);
        let ins = |frame: &mut Frame<'_>, value| frame.b.ins().bxor_imm_u(value, 1);
        let holds = match condition >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => {
                let not_zero = ins(frame, z);
                frame.b.ins().band(c, not_zero)
            }
            5 => frame.compare(Equal, n, v),
            _ => {
                let (same, not_zero) = (frame.compare(Equal, n, v), ins(frame, z));
                frame.b.ins().band(same, not_zero)
            }
        };
        if condition & 1 == 1 { ins(frame, holds) } else { holds }
    }
}

/// Returns the type of a value.
pub(crate) fn type_of(frame: &Frame<'_>, value: Value) -> Type {
    frame.b.func.dfg.value_type(value)
}

fn negative(frame: &mut Frame<'_>, value: Value) -> Value {
    frame.b.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0)
}

fn zero(frame: &mut Frame<'_>, value: Value) -> Value {
    frame.b.ins().icmp_imm_s(IntCC::Equal, value, 0)
}
