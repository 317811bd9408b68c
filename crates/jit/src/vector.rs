//! Scalar floating point and moves, where the host computes the same. Everything else is left to the reference.
//!
//! The host computes what `fp_operation_on_host` of the reference would: numbers are zeros or normal, rounding is to
//! nearest, and FPSR.IXC is set, so no exception is noted that was not noted before. A test in the code decides.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::semantics::float::arithmetic::{FP_ADD, FP_DIV, FP_MUL, FP_SUB};
use kvrm_arm64::semantics::float::control::FPSR_IXC;
use kvrm_arm64::vector_op::{
    ELEMENT_FLOAT_ABSOLUTE, ELEMENT_FLOAT_NEGATE, ELEMENT_MOVE, FLOAT_ADDEND, FLOAT_FLAGS, FLOAT_SAME,
    MOVE_FROM_GENERAL, MOVE_TO_GENERAL, NEGATE_ADDEND, NEGATE_FACTOR, SIGN_KEPT,
};
use kvrm_arm64::{Cpu, Word};

use crate::access::vector_offset;
use crate::context::FLAGS_PACKED;
use crate::emitter::Emitter;
use crate::flags::Flags;

/// The bits of FPCR that set the rounding mode.
const ROUNDING_MODE: i64 = 3 << 22;

/// Translates an instruction on SIMD&FP registers, and returns whether it could.
pub(crate) fn emit(e: &mut Emitter<'_>, handler: Handler, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
    let general = if op.wide() == 1 { types::I64 } else { types::I32 };
    match handler {
        Handler::VECTOR_MOVE if op.operation() == MOVE_FROM_GENERAL => {
            let value = e.register_as(op.a(), general);
            set(e, w.rd(), value);
        }
        Handler::VECTOR_MOVE if op.operation() == MOVE_TO_GENERAL => {
            let value = e.frame.load_cpu(general, vector_offset(w.rn()));
            e.set_register(op.dst(), value);
        }
        Handler::VECTOR_INTEGER => return change_sign(e, op, w),
        Handler::VECTOR_FLOAT => return arithmetic(e, op, w),
        _ => return false,
    }
    true
}

/// Sets a vector register to a number, with zeros above it.
fn set(e: &mut Emitter<'_>, register: u32, value: Value) {
    let narrow = crate::flags::type_of(&e.frame, value) == types::I32;
    let value = if narrow { e.frame.b.ins().uextend(types::I64, value) } else { value };
    let zero = e.frame.constant(0);
    e.frame.store_cpu(value, vector_offset(register));
    e.frame.store_cpu(zero, vector_offset(register) + 8);
}

/// Returns the type of the bits of a scalar operation in single or double precision. `top` is the top byte of its words.
fn precision(w: Word, top: u32) -> Option<Type> {
    match (w.0 >> 24 == top, w.0 >> 22 & 3) {
        (true, 0) => Some(types::I32),
        (true, 1) => Some(types::I64),
        _ => None,
    }
}

/// FMOV, FABS and FNEG of scalars.
fn change_sign(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let Some(of) = precision(w, 0x1e) else { return false };
    let sign = 1_u64 << (of.bits() - 1);
    let value = e.frame.load_cpu(of, vector_offset(w.rn()));
    let result = match op.element() {
        ELEMENT_MOVE => value,
        ELEMENT_FLOAT_ABSOLUTE => {
            let mask = e.frame.constant_of(of, !sign);
            e.frame.b.ins().band(value, mask)
        }
        ELEMENT_FLOAT_NEGATE => {
            let mask = e.frame.constant_of(of, sign);
            e.frame.b.ins().bxor(value, mask)
        }
        _ => return false,
    };
    set(e, w.rd(), result);
    true
}

/// Sums, differences, products, quotients, fused sums and comparisons of scalars.
fn arithmetic(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let is_fused = op.form() == FLOAT_ADDEND;
    let Some(of) = precision(w, if is_fused { 0x1f } else { 0x1e }) else { return false };
    let is_basic = [FP_ADD, FP_SUB, FP_MUL, FP_DIV].contains(&op.element()) && op.sign() == SIGN_KEPT;
    match op.form() {
        FLOAT_SAME if is_basic => {}
        FLOAT_ADDEND if has_fused_sums() => {}
        FLOAT_FLAGS => {
            compare(e, op, w, of);
            return true;
        }
        _ => return false,
    }
    let [x, y] = [w.rn(), w.rm()].map(|register| e.frame.load_cpu(of, vector_offset(register)));
    let [fx, fy] = [x, y].map(|bits| number(e, of, bits));
    let (result, mut usual) = if is_fused {
        let a = e.frame.load_cpu(of, vector_offset(w.ra()));
        let fa = number(e, of, a);
        let fa = if op.negate() & NEGATE_ADDEND == 0 { fa } else { e.frame.b.ins().fneg(fa) };
        let fx = if op.negate() & NEGATE_FACTOR == 0 { fx } else { e.frame.b.ins().fneg(fx) };
        (e.frame.b.ins().fma(fx, fy, fa), vec![is_usual(e, of, a)])
    } else {
        let ins = e.frame.b.ins();
        let result = match op.element() {
            FP_ADD => ins.fadd(fx, fy),
            FP_SUB => ins.fsub(fx, fy),
            FP_MUL => ins.fmul(fx, fy),
            _ => ins.fdiv(fx, fy),
        };
        (result, Vec::new())
    };
    let result = e.frame.b.ins().bitcast(of, MemFlagsData::new(), result);
    usual.extend([is_usual(e, of, x), is_usual(e, of, y), is_normal(e, of, result, 1), is_exact_mode(e)]);
    let holds = all(e, &usual);
    choose(e, holds, false, |e| set(e, w.rd(), result));
    true
}

/// FCMP and FCMPE.
fn compare(e: &mut Emitter<'_>, op: MicroOp, w: Word, of: Type) {
    let x = e.frame.load_cpu(of, vector_offset(w.rn()));
    let y =
        if op.zero() == 1 { e.frame.constant_of(of, 0) } else { e.frame.load_cpu(of, vector_offset(w.rm())) };
    // Neither a NaN nor a denormal number, so no exception is possible.
    let usual = [is_usual(e, of, x), is_usual(e, of, y)];
    let holds = all(e, &usual);
    choose(e, holds, true, |e| {
        let [fx, fy] = [x, y].map(|bits| number(e, of, bits));
        let less = e.frame.b.ins().fcmp(FloatCC::LessThan, fx, fy);
        let equal = e.frame.b.ins().fcmp(FloatCC::Equal, fx, fy);
        let not_less = e.frame.b.ins().bxor_imm_u(less, 1);
        let never = e.frame.b.ins().iconst(types::I8, 0);
        Flags::Bits([less, equal, not_less, never]).store(&mut e.frame);
        let kind = e.frame.constant(FLAGS_PACKED);
        e.frame.store_context(kind, e.frame.offsets.flags);
    });
}

/// Takes the fast path if a value is not 0; otherwise the reference executes the instruction.
fn choose(e: &mut Emitter<'_>, holds: Value, sets_flags: bool, fast: impl FnOnce(&mut Emitter<'_>)) {
    e.store_registers();
    let [usual, rare, done] = [(); 3].map(|()| e.frame.b.create_block());
    e.frame.b.ins().brif(holds, usual, &[], rare, &[]);
    e.frame.b.set_cold_block(rare);
    let place = e.at;
    e.frame.begin(rare);
    e.interpret(sets_flags, &[]);
    e.frame.b.ins().jump(done, &[]);
    e.at = place;
    e.frame.begin(usual);
    fast(e);
    e.frame.b.ins().jump(done, &[]);
    e.frame.begin(done);
    if sets_flags {
        e.forget_flags();
    }
}

/// Returns whether the host has instructions for fused sums.
fn has_fused_sums() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

fn number(e: &mut Emitter<'_>, of: Type, bits: Value) -> Value {
    let float = if of == types::I64 { types::F64 } else { types::F32 };
    e.frame.b.ins().bitcast(float, MemFlagsData::new(), bits)
}

fn all(e: &mut Emitter<'_>, conditions: &[Value]) -> Value {
    let one = e.frame.b.ins().iconst(types::I8, 1);
    conditions.iter().fold(one, |all, condition| e.frame.b.ins().band(all, *condition))
}

/// Returns whether rounding is to nearest and FPSR.IXC is set.
fn is_exact_mode(e: &mut Emitter<'_>) -> Value {
    let fpcr = e.frame.load_cpu(types::I32, offset_of!(Cpu, fpcr));
    let fpsr = e.frame.load_cpu(types::I32, offset_of!(Cpu, fpsr));
    let mode = e.frame.b.ins().band_imm_u(fpcr, ROUNDING_MODE);
    let nearest = e.frame.b.ins().icmp_imm_u(IntCC::Equal, mode, 0);
    let inexact = e.frame.b.ins().band_imm_u(fpsr, i64::from(FPSR_IXC));
    let inexact = e.frame.b.ins().icmp_imm_u(IntCC::NotEqual, inexact, 0);
    e.frame.b.ins().band(nearest, inexact)
}

/// Returns whether a number is a zero or normal.
fn is_usual(e: &mut Emitter<'_>, of: Type, bits: Value) -> Value {
    let magnitude = e.frame.b.ins().ishl_imm_u(bits, 1);
    let zero = e.frame.b.ins().icmp_imm_u(IntCC::Equal, magnitude, 0);
    let normal = is_normal(e, of, bits, 0);
    e.frame.b.ins().bor(zero, normal)
}

/// Returns whether the magnitude of a number is finite and at least the least normal number, or `above` if that is 1:
/// the least normal number may be the result of rounding one that is tiny, which is an underflow.
fn is_normal(e: &mut Emitter<'_>, of: Type, bits: Value, above: u64) -> Value {
    let (fraction, exponents) = if of == types::I64 { (53, 2046) } else { (24, 254) };
    // Without the sign, with the exponent at the top.
    let magnitude = e.frame.b.ins().ishl_imm_u(bits, 1);
    let least = e.frame.constant_of(of, (1_u64 << fraction) + above);
    let offset = e.frame.b.ins().isub(magnitude, least);
    let span = e.frame.constant_of(of, (exponents << fraction) - above);
    e.frame.compare(IntCC::UnsignedLessThan, offset, span)
}
