//! Instructions on general registers.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{CARRY_FLAG, Handler, MicroOp, PLAIN, ROTATED, SIGNED, ZERO};
use kvrm_arm64::semantics::operand::{ASR, LSL, LSR};

use crate::emitter::Emitter;
use crate::flags::Flags;

/// Returns the type of the operands of an instruction.
const fn width(op: MicroOp) -> Type {
    if op.wide() == 1 { types::I64 } else { types::I32 }
}

/// Returns the second operand before it is complemented, as a value of a type.
pub(crate) fn second(e: &mut Emitter<'_>, op: MicroOp, of: Type) -> Value {
    if op.b() == ZERO {
        return e.frame.constant_of(of, op.imm);
    }
    let extracted = extracted(e, op);
    let sum =
        if op.imm == 0 { extracted } else { e.frame.b.ins().iadd_imm_s(extracted, op.imm.cast_signed()) };
    if of == types::I64 { sum } else { e.frame.b.ins().ireduce(of, sum) }
}

/// Returns the extraction of the second operand, in 64 bits.
fn extracted(e: &mut Emitter<'_>, op: MicroOp) -> Value {
    let (left, right) = (i64::from(op.left()), i64::from(op.right()));
    match op.extraction() {
        PLAIN => e.register(op.b()),
        ROTATED => {
            let of = width(op);
            let value = e.register_as(op.b(), of);
            let rotated = e.frame.b.ins().rotr_imm_u(value, right);
            if of == types::I64 { rotated } else { e.frame.b.ins().uextend(types::I64, rotated) }
        }
        extraction => {
            let signed = extraction == SIGNED;
            let narrow = [(32, types::I32), (48, types::I16), (56, types::I8)];
            let narrow = narrow.into_iter().find(|(above, _)| left == right && *above == left);
            if let Some((_, of)) = narrow {
                let value = e.register_as(op.b(), of);
                return if signed {
                    e.frame.b.ins().sextend(types::I64, value)
                } else {
                    e.frame.b.ins().uextend(types::I64, value)
                };
            }
            let mut value = e.register(op.b());
            if left != 0 {
                value = e.frame.b.ins().ishl_imm_u(value, left);
            }
            match right {
                0 => value,
                _ if signed => e.frame.b.ins().sshr_imm_u(value, right),
                _ => e.frame.b.ins().ushr_imm_u(value, right),
            }
        }
    }
}

/// Returns the second operand as a value of a type.
fn operand(e: &mut Emitter<'_>, op: MicroOp, of: Type) -> Value {
    let value = second(e, op, of);
    if op.invert() == 1 { e.frame.b.ins().bnot(value) } else { value }
}

/// Translates an instruction on general registers, and returns whether it is one.
pub(crate) fn emit(e: &mut Emitter<'_>, handler: Handler, op: MicroOp) -> bool {
    let of = width(op);
    let value = match handler {
        Handler::ADD => add(e, op, of),
        Handler::CONDITIONAL_COMPARE => {
            conditional_compare(e, op, of);
            return true;
        }
        Handler::SELECT => {
            let (a, b) = (e.register_as(op.a(), of), operand(e, op, of));
            let b = e.frame.b.ins().iadd_imm_u(b, i64::from(op.carry()));
            let holds = e.flags().condition(&mut e.frame, op.cond());
            e.frame.b.ins().select(holds, a, b)
        }
        Handler::AND | Handler::ORR | Handler::EOR => {
            let b = operand(e, op, of);
            // MOV.
            if op.a() == ZERO && handler != Handler::AND {
                b
            } else {
                let a = e.register_as(op.a(), of);
                let value = match handler {
                    Handler::AND => e.frame.b.ins().band(a, b),
                    Handler::ORR => e.frame.b.ins().bor(a, b),
                    _ => e.frame.b.ins().bxor(a, b),
                };
                if op.flags() == 1 {
                    e.set_flags(Flags::Logic(value));
                }
                value
            }
        }
        Handler::BIT_FIELD_INSERT => {
            let field = (u64::MAX << op.left()) >> op.right();
            let (c, b) = (e.register_as(op.c(), of), operand(e, op, of));
            let mask = e.frame.constant_of(of, !field);
            let kept = e.frame.b.ins().band(c, mask);
            e.frame.b.ins().bor(kept, b)
        }
        Handler::EXTRACT => {
            let (high, low) = (e.register_as(op.a(), of), operand(e, op, of));
            let (right, bits) = (i64::from(op.right()), i64::from(of.bits()));
            if right == 0 {
                low
            } else if op.a() == op.b() {
                e.frame.b.ins().rotr_imm_u(low, right)
            } else {
                let low = e.frame.b.ins().ushr_imm_u(low, right);
                let high = e.frame.b.ins().ishl_imm_u(high, bits - right);
                e.frame.b.ins().bor(high, low)
            }
        }
        Handler::SHIFT => {
            // Cranelift takes the amount modulo the width, as the instructions do.
            let (a, b) = (e.register_as(op.a(), of), operand(e, op, of));
            match op.operation() {
                LSL => e.frame.b.ins().ishl(a, b),
                LSR => e.frame.b.ins().ushr(a, b),
                ASR => e.frame.b.ins().sshr(a, b),
                _ => e.frame.b.ins().rotr(a, b),
            }
        }
        Handler::MULTIPLY_ADD => {
            let (a, b) = (e.register_as(op.a(), of), operand(e, op, of));
            let product = e.frame.b.ins().imul(a, b);
            sum_with(e, op, of, product, op.operation() == 1)
        }
        Handler::MULTIPLY_ADD_LONG => {
            let signed = op.operation() >= 2;
            let extend = |e: &mut Emitter<'_>, register| {
                let value = e.register_as(register, types::I32);
                if signed {
                    e.frame.b.ins().sextend(types::I64, value)
                } else {
                    e.frame.b.ins().uextend(types::I64, value)
                }
            };
            let (a, b) = (extend(e, op.a()), extend(e, op.b()));
            let product = e.frame.b.ins().imul(a, b);
            sum_with(e, op, types::I64, product, op.operation() & 1 == 1)
        }
        Handler::MULTIPLY_HIGH => {
            let (a, b) = (e.register(op.a()), e.register(op.b()));
            if op.operation() == 1 { e.frame.b.ins().smulhi(a, b) } else { e.frame.b.ins().umulhi(a, b) }
        }
        Handler::DIVIDE => divide(e, op, of),
        Handler::REVERSE_BITS => {
            let a = e.register_as(op.a(), of);
            e.frame.b.ins().bitrev(a)
        }
        Handler::REVERSE_BYTES => reverse_bytes(e, op, of),
        Handler::COUNT_LEADING_ZEROS => {
            let a = e.register_as(op.a(), of);
            e.frame.b.ins().clz(a)
        }
        Handler::COUNT_LEADING_SIGNS => {
            let a = e.register_as(op.a(), of);
            e.frame.b.ins().cls(a)
        }
        Handler::PC_RELATIVE => {
            let base = if op.operation() == 1 { e.at.pc & !0xfff } else { e.at.pc };
            e.frame.constant(base.wrapping_add(op.imm))
        }
        Handler::NOP => return true,
        // The fields of PSTATE are left to the reference.
        Handler::READ_SYSTEM if op.operation() <= 5 => read_system(e, op),
        Handler::WRITE_SYSTEM if op.operation() == 3 => {
            let a = e.register(op.a());
            e.frame.store_cpu(a, offset_of!(Cpu, tpidr_el0));
            return true;
        }
        _ => return false,
    };
    e.set_register(op.dst(), value);
    true
}

fn add(e: &mut Emitter<'_>, op: MicroOp, of: Type) -> Value {
    let a = e.register_as(op.a(), of);
    if op.carry() == CARRY_FLAG {
        let b = operand(e, op, of);
        let bits = e.flags().bits(&mut e.frame);
        let carry = e.frame.b.ins().uextend(of, bits[2]);
        let partial = e.frame.b.ins().iadd(a, b);
        let result = e.frame.b.ins().iadd(partial, carry);
        if op.flags() == 1 {
            let first = e.frame.compare(IntCC::UnsignedLessThan, partial, a);
            let second = e.frame.compare(IntCC::UnsignedLessThan, result, partial);
            let carry = e.frame.b.ins().bor(first, second);
            // N, Z and V do not depend on how the sum came about.
            let [n, z, _, v] = Flags::Add(a, b, result).bits(&mut e.frame);
            e.set_flags(Flags::Bits([n, z, carry, v]));
        }
        return result;
    }
    let b = second(e, op, of);
    let (result, flags) = if op.invert() == 1 {
        (e.frame.b.ins().isub(a, b), Flags::Sub(a, b))
    } else {
        let sum = e.frame.b.ins().iadd(a, b);
        (sum, Flags::Add(a, b, sum))
    };
    if op.flags() == 1 {
        e.set_flags(flags);
    }
    result
}

fn conditional_compare(e: &mut Emitter<'_>, op: MicroOp, of: Type) {
    let (a, b) = (e.register_as(op.a(), of), second(e, op, of));
    let holds = e.flags().condition(&mut e.frame, op.cond());
    let compared =
        if op.invert() == 1 { Flags::Sub(a, b) } else { Flags::Add(a, b, e.frame.b.ins().iadd(a, b)) };
    let mut bits = compared.bits(&mut e.frame);
    for (bit, n) in bits.iter_mut().zip(0..) {
        let otherwise = e.frame.b.ins().iconst(types::I8, i64::from(op.nzcv() >> (3 - n) & 1));
        *bit = e.frame.b.ins().select(holds, *bit, otherwise);
    }
    e.set_flags(Flags::Bits(bits));
}

/// Returns the third operand plus or minus a product.
fn sum_with(e: &mut Emitter<'_>, op: MicroOp, of: Type, product: Value, subtract: bool) -> Value {
    if op.c() == ZERO && !subtract {
        return product;
    }
    let c = e.register_as(op.c(), of);
    if subtract { e.frame.b.ins().isub(c, product) } else { e.frame.b.ins().iadd(c, product) }
}

/// Division by zero gives zero, and the least number divided by -1 is itself. Host instructions may trap instead.
fn divide(e: &mut Emitter<'_>, op: MicroOp, of: Type) -> Value {
    let (a, b) = (e.register_as(op.a(), of), e.register_as(op.b(), of));
    let signed = op.operation() == 1;
    let (zero, one) = (e.frame.constant_of(of, 0), e.frame.constant_of(of, 1));
    let by_zero = e.frame.compare(IntCC::Equal, b, zero);
    let mut divisor = e.frame.b.ins().select(by_zero, one, b);
    if signed {
        let negative = e.frame.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        divisor = e.frame.b.ins().select(negative, one, divisor);
        let quotient = e.frame.b.ins().sdiv(a, divisor);
        let minus = e.frame.b.ins().ineg(a);
        let quotient = e.frame.b.ins().select(negative, minus, quotient);
        e.frame.b.ins().select(by_zero, zero, quotient)
    } else {
        let quotient = e.frame.b.ins().udiv(a, divisor);
        e.frame.b.ins().select(by_zero, zero, quotient)
    }
}

fn reverse_bytes(e: &mut Emitter<'_>, op: MicroOp, of: Type) -> Value {
    let a = e.register_as(op.a(), of);
    let (container, bits) = (8_u32 << op.size(), of.bits());
    let reversed = e.frame.b.ins().bswap(a);
    if container == bits {
        return reversed;
    }
    if container == 32 {
        return e.frame.b.ins().rotl_imm_u(reversed, 32);
    }
    // Halfwords: swap the bytes within each.
    let mask = e.frame.constant_of(of, 0x00ff_00ff_00ff_00ff);
    let low = e.frame.b.ins().band(a, mask);
    let low = e.frame.b.ins().ishl_imm_u(low, 8);
    let high = e.frame.b.ins().ushr_imm_u(a, 8);
    let high = e.frame.b.ins().band(high, mask);
    e.frame.b.ins().bor(low, high)
}

fn read_system(e: &mut Emitter<'_>, op: MicroOp) -> Value {
    match op.operation() {
        0 => {
            let nzcv = e.flags().packed(&mut e.frame);
            e.frame.b.ins().ishl_imm_u(nzcv, 28)
        }
        1 => e.frame.load_cpu(types::I32, offset_of!(Cpu, fpcr)),
        2 => e.frame.load_cpu(types::I32, offset_of!(Cpu, fpsr)),
        3 => e.frame.load_cpu(types::I64, offset_of!(Cpu, tpidr_el0)),
        4 => e.frame.load_cpu(types::I64, offset_of!(Cpu, tpidrro_el0)),
        // The counter is the number of steps.
        _ => {
            let (end, fuel) = (e.frame.load_context(e.frame.offsets.end), e.fuel(0));
            e.frame.b.ins().isub(end, fuel)
        }
    }
}
