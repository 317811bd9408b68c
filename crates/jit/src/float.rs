//! Floating point, where the host computes the same. Everything else is left to the reference.
//!
//! The host computes if numbers are zeros or normal, rounding is to nearest, and FPSR.IXC is set, so no exception is noted
//! that was not noted before. A test in the code decides. The reference uses the host in more cases.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::semantics::float::arithmetic::{FP_ADD, FP_DIV, FP_MUL, FP_SQRT, FP_SUB};
use kvrm_arm64::semantics::float::control::{FPCR_RMODE, FPSR_IXC, ROUND_ZERO};
use kvrm_arm64::semantics::simd::vector::is_half;
use kvrm_arm64::vector_op::{
    ARRANGED_PLAIN, ELEMENT_FLOAT_ABSOLUTE, ELEMENT_FLOAT_NEGATE, ELEMENT_MOVE, FLOAT_ACCUMULATE,
    FLOAT_ADDEND, FLOAT_COMPARE, FLOAT_CONVERT, FLOAT_FLAGS, FLOAT_FROM_GENERAL, FLOAT_SAME,
    FLOAT_TO_GENERAL, NEGATE_ADDEND, NEGATE_FACTOR, SIGN_KEPT, SIZING_SZ,
};
use kvrm_arm64::{Cpu, Word};

use crate::access::vector_offset;
use crate::context::FLAGS_PACKED;
use crate::emitter::Emitter;
use crate::flags::Flags;
use crate::vector::{cast, get, set, set_vector};

/// Returns the type of the bits of a scalar operation in single or double precision. `top` is the top byte of its words.
fn precision(w: Word, top: u32) -> Option<Type> {
    match (w.0 >> 24 == top, w.0 >> 22 & 3) {
        (true, 0) => Some(types::I32),
        (true, 1) => Some(types::I64),
        _ => None,
    }
}

/// Translates FMOV, FABS and FNEG of scalars, and returns whether the instruction is one.
pub(crate) fn change_sign(e: &mut Emitter<'_>, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
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

/// Translates arithmetic on floating-point numbers, and returns whether it could.
pub(crate) fn emit(e: &mut Emitter<'_>, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
    if is_half(w) || op.arrangement() != ARRANGED_PLAIN {
        return false;
    }
    if w.0 >> 24 & 0x9f == 0x0e {
        return vectors(e, op, w);
    }
    match op.form() {
        FLOAT_FROM_GENERAL => return from_general(e, op, w),
        FLOAT_TO_GENERAL => return to_general(e, op, w),
        _ => {}
    }
    let Some(of) = precision(w, if op.form() == FLOAT_ADDEND { 0x1f } else { 0x1e }) else { return false };
    match op.form() {
        FLOAT_SAME if op.element() == FP_SQRT => square_root(e, w, of),
        FLOAT_SAME if is_basic(op) => basic(e, op, w, of),
        FLOAT_ADDEND if has_fused_sums() => fused(e, op, w, of),
        FLOAT_CONVERT => return convert(e, w, of),
        FLOAT_FLAGS => compare(e, op, w, of),
        _ => return false,
    }
    true
}

/// Returns whether an instruction is a sum, a difference, a product or a quotient.
fn is_basic(op: MicroOp) -> bool {
    [FP_ADD, FP_SUB, FP_MUL, FP_DIV].contains(&op.element()) && op.sign() == SIGN_KEPT
}

/// Returns the sum, difference, product or quotient of numbers of the host.
fn operate(e: &mut Emitter<'_>, operation: u32, x: Value, y: Value) -> Value {
    let ins = e.frame.b.ins();
    match operation {
        FP_ADD => ins.fadd(x, y),
        FP_SUB => ins.fsub(x, y),
        FP_MUL => ins.fmul(x, y),
        _ => ins.fdiv(x, y),
    }
}

/// Sums, differences, products and quotients of scalars.
fn basic(e: &mut Emitter<'_>, op: MicroOp, w: Word, of: Type) {
    let [x, y] = [w.rn(), w.rm()].map(|register| get(e, register, of));
    let [fx, fy] = [x, y].map(|bits| number(e, of, bits));
    let result = operate(e, op.element(), fx, fy);
    let result = cast(e, of, result);
    let is_fine = is_fine_result(e, op, of, result);
    let usual = [is_usual(e, of, x), is_usual(e, of, y), is_fine, is_exact_mode(e)];
    let holds = all(e, &usual);
    choose(e, holds, false, &[], |e| set(e, w.rd(), result));
}

/// Returns whether a result cannot have underflowed or overflowed.
fn is_fine_result(e: &mut Emitter<'_>, op: MicroOp, of: Type, result: Value) -> Value {
    let normal = is_normal(e, of, result, 1);
    if ![FP_ADD, FP_SUB].contains(&op.element()) {
        return normal;
    }
    // Sums that are zero are exact.
    let zero = is_zero(e, of, result);
    e.frame.b.ins().bor(zero, normal)
}

/// FMADD and the like.
fn fused(e: &mut Emitter<'_>, op: MicroOp, w: Word, of: Type) {
    let [x, y, a] = [w.rn(), w.rm(), w.ra()].map(|register| get(e, register, of));
    let [fx, fy, fa] = [x, y, a].map(|bits| number(e, of, bits));
    let fa = if op.negate() & NEGATE_ADDEND == 0 { fa } else { e.frame.b.ins().fneg(fa) };
    let fx = if op.negate() & NEGATE_FACTOR == 0 { fx } else { e.frame.b.ins().fneg(fx) };
    let result = e.frame.b.ins().fma(fx, fy, fa);
    let result = cast(e, of, result);
    let [x, y, a] = [x, y, a].map(|bits| is_usual(e, of, bits));
    let usual = [x, y, a, is_normal(e, of, result, 1), is_exact_mode(e)];
    let holds = all(e, &usual);
    choose(e, holds, false, &[], |e| set(e, w.rd(), result));
}

/// FSQRT of a scalar. The root of a number that is not tiny is not tiny.
fn square_root(e: &mut Emitter<'_>, w: Word, of: Type) {
    let x = get(e, w.rn(), of);
    let usual = [is_usual(e, of, x), is_not_negative(e, x), is_exact_mode(e)];
    let holds = all(e, &usual);
    choose(e, holds, false, &[], |e| {
        let x = number(e, of, x);
        let root = e.frame.b.ins().sqrt(x);
        let root = cast(e, of, root);
        set(e, w.rd(), root);
    });
}

/// FCVT between single and double precision.
fn convert(e: &mut Emitter<'_>, w: Word, from: Type) -> bool {
    let x = get(e, w.rn(), from);
    let fx = number(e, from, x);
    let mut usual = vec![is_usual(e, from, x)];
    let result = match (from, w.bits(15, 2)) {
        (types::I32, 1) => {
            let result = e.frame.b.ins().fpromote(types::F64, fx);
            cast(e, types::I64, result)
        }
        (types::I64, 0) => {
            let result = e.frame.b.ins().fdemote(types::F32, fx);
            let result = cast(e, types::I32, result);
            usual.extend([is_normal(e, types::I32, result, 1), is_exact_mode(e)]);
            result
        }
        _ => return false,
    };
    let holds = all(e, &usual);
    choose(e, holds, false, &[], |e| set(e, w.rd(), result));
    true
}

/// Returns the type of the bits of a conversion from or to a general register, and that of the register. Fixed-point
/// numbers have no match on hosts.
fn conversion(w: Word) -> Option<(Type, Type)> {
    let of = precision(Word(w.0 & 0x7fff_ffff), 0x1e)?;
    (w.bits(21, 1) == 1).then_some((of, if w.bits(31, 1) == 1 { types::I64 } else { types::I32 }))
}

/// SCVTF and UCVTF from a general register.
fn from_general(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let Some((of, general)) = conversion(w) else { return false };
    let value = e.register_as(w.rn(), general);
    let result = if op.unsigned() == 1 {
        e.frame.b.ins().fcvt_from_uint(float(of), value)
    } else {
        e.frame.b.ins().fcvt_from_sint(float(of), value)
    };
    let result = cast(e, of, result);
    if general == types::I32 && of == types::I64 {
        // It is exact.
        set(e, w.rd(), result);
    } else {
        let holds = is_exact_mode(e);
        choose(e, holds, false, &[], |e| set(e, w.rd(), result));
    }
    true
}

/// FCVTZS and FCVTZU to a general register.
fn to_general(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let Some((of, general)) = conversion(w).filter(|_| op.mode() == ROUND_ZERO) else { return false };
    let x = get(e, w.rn(), of);
    // The magnitude has to fit the register with a sign, whether it has one or not, and one conversion serves both.
    let (fraction, bias) = if of == types::I64 { (53, 1023) } else { (24, 127) };
    let magnitude = e.frame.b.ins().ishl_imm_u(x, 1);
    let limit = e.frame.constant_of(of, (bias + u64::from(general.bits()) - 1) << fraction);
    let fits = e.frame.compare(IntCC::UnsignedLessThan, magnitude, limit);
    let mut usual = vec![is_usual(e, of, x), fits, is_exact_mode(e)];
    if op.unsigned() == 1 {
        usual.push(is_not_negative(e, x));
    }
    let holds = all(e, &usual);
    choose(e, holds, false, &[op.dst()], |e| {
        let x = number(e, of, x);
        let value = e.frame.b.ins().fcvt_to_sint_sat(general, x);
        e.set_register(op.dst(), value);
    });
    true
}

/// Sums, differences, products, quotients, fused sums and comparisons of vectors of 128 bits.
fn vectors(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    if w.q() == 0 || op.sizing() != SIZING_SZ || op.sign() != SIGN_KEPT {
        return false;
    }
    let (of, floats) =
        if w.bits(22, 1) == 1 { (types::I64X2, types::F64X2) } else { (types::I32X4, types::F32X4) };
    // The element of a comparison is a condition: EQ, MI, LS, GE or GT.
    let relation = match (op.form(), op.element()) {
        (FLOAT_COMPARE, 0) => Some(FloatCC::Equal),
        (FLOAT_COMPARE, 4) => Some(FloatCC::LessThan),
        (FLOAT_COMPARE, 9) => Some(FloatCC::LessThanOrEqual),
        (FLOAT_COMPARE, 10) => Some(FloatCC::GreaterThanOrEqual),
        (FLOAT_COMPARE, 12) => Some(FloatCC::GreaterThan),
        (FLOAT_ACCUMULATE, _) if has_fused_sums() => None,
        (FLOAT_SAME, _) if is_basic(op) => None,
        _ => return false,
    };
    let x = get(e, w.rn(), of);
    let y = if op.zero() == 1 { e.frame.constant_of(of, 0) } else { get(e, w.rm(), of) };
    let [fx, fy] = [x, y].map(|bits| cast(e, floats, bits));
    let mut usual = vec![is_usual(e, of, x), is_usual(e, of, y)];
    let result = if let Some(relation) = relation {
        e.frame.b.ins().fcmp(relation, fx, fy)
    } else if op.form() == FLOAT_ACCUMULATE {
        let d = get(e, w.rd(), of);
        let fd = cast(e, floats, d);
        let fx = if op.negate() & NEGATE_FACTOR == 0 { fx } else { e.frame.b.ins().fneg(fx) };
        let result = e.frame.b.ins().fma(fx, fy, fd);
        let result = cast(e, of, result);
        usual.extend([is_usual(e, of, d), is_normal(e, of, result, 1)]);
        result
    } else {
        let result = operate(e, op.element(), fx, fy);
        let result = cast(e, of, result);
        usual.push(is_fine_result(e, op, of, result));
        result
    };
    let elements = usual.into_iter().reduce(|all, each| e.frame.b.ins().band(all, each));
    let Some(elements) = elements else { return false };
    let mut holds = e.frame.b.ins().vall_true(elements);
    if relation.is_none() {
        let mode = is_exact_mode(e);
        holds = e.frame.b.ins().band(holds, mode);
    }
    choose(e, holds, false, &[], |e| set_vector(e, w, result));
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
    choose(e, holds, true, &[], |e| {
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
/// `changed` are the general registers that it changes.
fn choose(
    e: &mut Emitter<'_>,
    holds: Value,
    sets_flags: bool,
    changed: &[u32],
    fast: impl FnOnce(&mut Emitter<'_>),
) {
    e.store_registers();
    let [usual, rare, done] = [(); 3].map(|()| e.frame.b.create_block());
    e.frame.b.ins().brif(holds, usual, &[], rare, &[]);
    e.frame.b.set_cold_block(rare);
    let place = e.at;
    e.frame.begin(rare);
    e.interpret(sets_flags, changed);
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
    cast(e, float(of), bits)
}

/// Returns the type of numbers with these bits.
fn float(of: Type) -> Type {
    if of == types::I64 { types::F64 } else { types::F32 }
}

fn all(e: &mut Emitter<'_>, conditions: &[Value]) -> Value {
    let one = e.frame.b.ins().iconst(types::I8, 1);
    conditions.iter().fold(one, |all, condition| e.frame.b.ins().band(all, *condition))
}

/// Returns whether rounding is to nearest and FPSR.IXC is set.
fn is_exact_mode(e: &mut Emitter<'_>) -> Value {
    let fpcr = e.frame.load_cpu(types::I32, offset_of!(Cpu, fpcr));
    let fpsr = e.frame.load_cpu(types::I32, offset_of!(Cpu, fpsr));
    let mode = e.frame.b.ins().band_imm_u(fpcr, i64::from(FPCR_RMODE));
    let nearest = e.frame.b.ins().icmp_imm_u(IntCC::Equal, mode, 0);
    let inexact = e.frame.b.ins().band_imm_u(fpsr, i64::from(FPSR_IXC));
    let inexact = e.frame.b.ins().icmp_imm_u(IntCC::NotEqual, inexact, 0);
    e.frame.b.ins().band(nearest, inexact)
}

/// Returns whether the sign of a scalar is clear.
fn is_not_negative(e: &mut Emitter<'_>, bits: Value) -> Value {
    e.frame.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, bits, 0)
}

/// Returns whether a number is a zero or normal; for vectors, ones or zeros for each number.
fn is_usual(e: &mut Emitter<'_>, of: Type, bits: Value) -> Value {
    let (zero, normal) = (is_zero(e, of, bits), is_normal(e, of, bits, 0));
    e.frame.b.ins().bor(zero, normal)
}

/// Returns whether a number is a zero.
fn is_zero(e: &mut Emitter<'_>, of: Type, bits: Value) -> Value {
    let magnitude = e.frame.b.ins().ishl_imm_u(bits, 1);
    let zero = e.frame.constant_of(of, 0);
    e.frame.compare(IntCC::Equal, magnitude, zero)
}

/// Returns whether the magnitude of a number is finite and at least the least normal number, or `above` if that is 1:
/// the least normal number may be the result of rounding one that is tiny, which is an underflow.
fn is_normal(e: &mut Emitter<'_>, of: Type, bits: Value, above: u64) -> Value {
    let (fraction, exponents) = if of.lane_type() == types::I64 { (53, 2046) } else { (24, 254) };
    // Without the sign, with the exponent at the top.
    let magnitude = e.frame.b.ins().ishl_imm_u(bits, 1);
    let least = e.frame.constant_of(of, (1_u64 << fraction) + above);
    let offset = e.frame.b.ins().isub(magnitude, least);
    let span = e.frame.constant_of(of, (exponents << fraction) - above);
    e.frame.compare(IntCC::UnsignedLessThan, offset, span)
}
