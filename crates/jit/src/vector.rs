//! Vector registers as a whole, and moves of their elements. Vector registers are in memory only.

use cranelift_codegen::ir::immediates::V128Imm;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use kvrm_arm64::Word;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::semantics::float::format::{DOUBLE, SINGLE};
use kvrm_arm64::semantics::simd::immediate::{adv_simd_expand_imm, vfp_expand_imm};
use kvrm_arm64::semantics::simd::vector::is_half;
use kvrm_arm64::vector_op::{
    MOVE_DUP_ELEMENT, MOVE_DUP_GENERAL, MOVE_FLOAT_IMMEDIATE, MOVE_FROM_GENERAL, MOVE_FROM_GENERAL_HIGH,
    MOVE_IMMEDIATE, MOVE_IMMEDIATE_BIC, MOVE_IMMEDIATE_INVERTED, MOVE_IMMEDIATE_ORR, MOVE_INS_ELEMENT,
    MOVE_INS_GENERAL, MOVE_SELECT, MOVE_SMOV, MOVE_TO_GENERAL, MOVE_TO_GENERAL_HIGH, MOVE_UMOV,
};
use kvrm_arm64::view::T5;

use crate::access::vector_offset;
use crate::emitter::Emitter;

/// The types of elements, by the binary logarithm of their bytes.
pub(crate) const ELEMENTS: [Type; 4] = [types::I8, types::I16, types::I32, types::I64];
/// The types of 128 bits in elements, by the binary logarithm of their bytes.
pub(crate) const VECTORS: [Type; 4] = [types::I8X16, types::I16X8, types::I32X4, types::I64X2];

/// Returns a vector register as a value of a type.
pub(crate) fn get(e: &mut Emitter<'_>, register: u32, of: Type) -> Value {
    e.frame.load_cpu(of, vector_offset(register))
}

/// Sets a vector register to a number, with zeros above it.
pub(crate) fn set(e: &mut Emitter<'_>, register: u32, value: Value) {
    let narrow = crate::flags::type_of(&e.frame, value) != types::I64;
    let value = if narrow { e.frame.b.ins().uextend(types::I64, value) } else { value };
    set_halves(e, register, value, None);
}

fn set_halves(e: &mut Emitter<'_>, register: u32, low: Value, high: Option<Value>) {
    let high = high.unwrap_or_else(|| e.frame.constant(0));
    e.frame.store_cpu(low, vector_offset(register));
    e.frame.store_cpu(high, vector_offset(register) + 8);
}

/// Sets a vector register to 128 bits, or if Q is 0, to the lower half of them.
pub(crate) fn set_vector(e: &mut Emitter<'_>, w: Word, value: Value) {
    e.frame.store_cpu(value, vector_offset(w.rd()));
    if w.q() == 0 {
        let zero = e.frame.constant(0);
        e.frame.store_cpu(zero, vector_offset(w.rd()) + 8);
    }
}

/// Returns 128 bits as elements of another type.
pub(crate) fn cast(e: &mut Emitter<'_>, of: Type, value: Value) -> Value {
    let little = MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little);
    e.frame.b.ins().bitcast(of, little, value)
}

/// Returns the bytes with these numbers from two values of 128 bits.
pub(crate) fn shuffle(e: &mut Emitter<'_>, [a, b]: [Value; 2], bytes: [u8; 16]) -> Value {
    let [a, b] = [a, b].map(|value| cast(e, types::I8X16, value));
    let immediate = e.frame.b.func.dfg.immediates.push(V128Imm(bytes).0[..].into());
    e.frame.b.ins().shuffle(a, b, immediate)
}

/// Returns whether a word is a scalar instruction among those that also have vectors.
pub(crate) const fn is_scalar(w: Word) -> bool {
    w.bits(28, 1) == 1
}

/// Translates a move, and returns whether it could.
pub(crate) fn emit_move(e: &mut Emitter<'_>, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
    let general = if op.wide() == 1 { types::I64 } else { types::I32 };
    match op.operation() {
        MOVE_FROM_GENERAL => {
            let value = e.register_as(op.a(), general);
            set(e, w.rd(), value);
        }
        MOVE_TO_GENERAL => {
            let value = get(e, w.rn(), general);
            e.set_register(op.dst(), value);
        }
        MOVE_FROM_GENERAL_HIGH => {
            let value = e.register(op.a());
            e.frame.store_cpu(value, vector_offset(w.rd()) + 8);
        }
        MOVE_TO_GENERAL_HIGH => {
            let value = e.frame.load_cpu(types::I64, vector_offset(w.rn()) + 8);
            e.set_register(op.dst(), value);
        }
        MOVE_DUP_ELEMENT | MOVE_DUP_GENERAL | MOVE_INS_ELEMENT | MOVE_INS_GENERAL | MOVE_UMOV | MOVE_SMOV => {
            move_element(e, op, w, general);
        }
        MOVE_IMMEDIATE | MOVE_IMMEDIATE_INVERTED | MOVE_IMMEDIATE_ORR | MOVE_IMMEDIATE_BIC => {
            move_immediate(e, op, w);
        }
        MOVE_FLOAT_IMMEDIATE => {
            let bits = vfp_expand_imm(w.imm8(), if op.wide() == 1 { DOUBLE } else { SINGLE });
            let value = e.frame.constant(bits);
            set(e, w.rd(), value);
        }
        MOVE_SELECT if !is_half(w) => {
            let of = if w.bits(22, 1) == 1 { types::I64 } else { types::I32 };
            let [n, m] = [w.rn(), w.rm()].map(|register| get(e, register, of));
            let holds = e.flags().condition(&mut e.frame, w.cond());
            let value = e.frame.b.ins().select(holds, n, m);
            set(e, w.rd(), value);
        }
        _ => return false,
    }
    true
}

/// DUP, INS, UMOV and SMOV.
fn move_element(e: &mut Emitter<'_>, op: MicroOp, w: Word, general: Type) {
    let size = T5.size(w);
    let of = ELEMENTS[size as usize];
    // The number of the element above the bit that says how large it is.
    let number = w.imm5() >> (size + 1);
    let offset = |register, number: u32| vector_offset(register) + ((number as usize) << size);
    let value = match op.operation() {
        MOVE_DUP_GENERAL | MOVE_INS_GENERAL => e.register_as(op.a(), of),
        MOVE_INS_ELEMENT => e.frame.load_cpu(of, offset(w.rn(), w.imm4() >> size)),
        _ => e.frame.load_cpu(of, offset(w.rn(), number)),
    };
    match op.operation() {
        MOVE_INS_ELEMENT | MOVE_INS_GENERAL => e.frame.store_cpu(value, offset(w.rd(), number)),
        MOVE_UMOV => e.set_register(op.dst(), value),
        MOVE_SMOV => {
            let value = if of == general { value } else { e.frame.b.ins().sextend(general, value) };
            e.set_register(op.dst(), value);
        }
        _ if is_scalar(w) => set(e, w.rd(), value),
        _ => {
            let value = e.frame.b.ins().splat(VECTORS[size as usize], value);
            set_vector(e, w, value);
        }
    }
}

/// MOVI, MVNI, and ORR and BIC with an immediate.
fn move_immediate(e: &mut Emitter<'_>, op: MicroOp, w: Word) {
    let imm = adv_simd_expand_imm(w.bits(29, 1), w.cmode(), w.abcdefgh());
    let operation = op.operation();
    let half = |e: &mut Emitter<'_>, place: usize| {
        let old = |e: &mut Emitter<'_>| e.frame.load_cpu(types::I64, vector_offset(w.rd()) + place);
        match operation {
            MOVE_IMMEDIATE => e.frame.constant(imm),
            MOVE_IMMEDIATE_INVERTED => e.frame.constant(!imm),
            MOVE_IMMEDIATE_ORR => {
                let (old, imm) = (old(e), e.frame.constant(imm));
                e.frame.b.ins().bor(old, imm)
            }
            _ => {
                let (old, mask) = (old(e), e.frame.constant(!imm));
                e.frame.b.ins().band(old, mask)
            }
        }
    };
    let low = half(e, 0);
    let high = (w.q() == 1).then(|| half(e, 8));
    set_halves(e, w.rd(), low, high);
}
