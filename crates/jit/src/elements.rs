//! Integer arithmetic on the elements of vectors, and their permutation. What is rare, or has no match on hosts, is left
//! to the reference: saturation, rounding, scalars, and more.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use kvrm_arm64::Word;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::vector_op::*;
use kvrm_arm64::view::{T, TI};

use crate::access::vector_offset;
use crate::emitter::Emitter;
use crate::vector::{VECTORS, cast, get, is_scalar, set, set_vector, shuffle};

/// Translates arithmetic on elements, and returns whether it could.
pub(crate) fn emit(e: &mut Emitter<'_>, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
    if is_scalar(w) || op.rounding() == 1 || op.saturation() != SATURATION_NOT {
        return false;
    }
    let is_shift = op.sizing() == SIZING_IMMH;
    // Words with an element of Vm as the operand differ from the others here, and from shifts by immh.
    if w.bits(24, 1) == 1 && !is_shift {
        return false;
    }
    match (op.form(), is_shift) {
        (FORM_SAME, true) => shift(e, op, w),
        (FORM_LONG, true) => shift_long(e, op, w),
        (FORM_NARROW, _) => narrow(e, op, w, is_shift),
        (FORM_SAME, false) => same(e, op, w),
        (FORM_PAIRED, false) => paired(e, op, w),
        _ => false,
    }
}

/// Returns the binary logarithm of the bytes of an element, or `None` if the size is that of floating-point numbers.
const fn size_of_elements(op: MicroOp, w: Word) -> Option<u32> {
    match op.sizing() {
        SIZING_SIZE => Some(T.size(w)),
        SIZING_IMMH => Some(TI.size(w)),
        SIZING_BYTES => Some(0),
        SIZING_DOUBLEWORDS => Some(3),
        _ => None,
    }
}

/// An operation on elements of the same size.
fn same(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let Some(size) = size_of_elements(op, w) else { return false };
    let of = VECTORS[size as usize];
    let is_product = op.element() == ELEMENT_MULTIPLY;
    // Hosts have no products of bytes and doublewords.
    if is_product && !(1..=2).contains(&size) || op.accumulate() != ACCUMULATE_NOT && !is_product {
        return false;
    }
    let n = get(e, w.rn(), of);
    let m = match (op.zero(), op.element()) {
        (1, _) => e.frame.constant_of(of, 0),
        (_, ELEMENT_NOT | ELEMENT_ABSOLUTE | ELEMENT_NEGATE) => n,
        _ => get(e, w.rm(), of),
    };
    let d = get(e, w.rd(), of);
    let unsigned = op.unsigned() == 1;
    let ins = e.frame.b.ins();
    let value = match op.element() {
        ELEMENT_AND => ins.band(n, m),
        ELEMENT_BIC => ins.band_not(n, m),
        ELEMENT_ORR => ins.bor(n, m),
        ELEMENT_ORN => ins.bor_not(n, m),
        ELEMENT_EOR => ins.bxor(n, m),
        ELEMENT_BSL => ins.bitselect(d, n, m),
        ELEMENT_BIT => ins.bitselect(m, n, d),
        ELEMENT_BIF => ins.bitselect(m, d, n),
        ELEMENT_NOT => ins.bnot(n),
        ELEMENT_ABSOLUTE => ins.iabs(n),
        ELEMENT_NEGATE => ins.ineg(n),
        ELEMENT_MULTIPLY => {
            let product = ins.imul(n, m);
            match op.accumulate() {
                ACCUMULATE_ADD => e.frame.b.ins().iadd(d, product),
                ACCUMULATE_SUBTRACT => e.frame.b.ins().isub(d, product),
                _ => product,
            }
        }
        ELEMENT_TEST => {
            let common = ins.band(n, m);
            let zero = e.frame.constant_of(of, 0);
            e.frame.compare(IntCC::NotEqual, common, zero)
        }
        ELEMENT_EQUAL => ins.icmp(IntCC::Equal, n, m),
        ELEMENT_GREATER if unsigned => ins.icmp(IntCC::UnsignedGreaterThan, n, m),
        ELEMENT_GREATER => ins.icmp(IntCC::SignedGreaterThan, n, m),
        ELEMENT_GREATER_OR_EQUAL if unsigned => ins.icmp(IntCC::UnsignedGreaterThanOrEqual, n, m),
        ELEMENT_GREATER_OR_EQUAL => ins.icmp(IntCC::SignedGreaterThanOrEqual, n, m),
        ELEMENT_LESS => ins.icmp(IntCC::SignedLessThan, n, m),
        ELEMENT_LESS_OR_EQUAL => ins.icmp(IntCC::SignedLessThanOrEqual, n, m),
        _ => match combine(e, op, n, m) {
            Some(value) => value,
            None => return false,
        },
    };
    set_vector(e, w, value);
    true
}

/// Returns the sum, difference, maximum or minimum of elements.
fn combine(e: &mut Emitter<'_>, op: MicroOp, n: Value, m: Value) -> Option<Value> {
    let unsigned = op.unsigned() == 1;
    let ins = e.frame.b.ins();
    Some(match op.element() {
        ELEMENT_ADD => ins.iadd(n, m),
        ELEMENT_SUBTRACT => ins.isub(n, m),
        ELEMENT_MAXIMUM if unsigned => ins.umax(n, m),
        ELEMENT_MAXIMUM => ins.smax(n, m),
        ELEMENT_MINIMUM if unsigned => ins.umin(n, m),
        ELEMENT_MINIMUM => ins.smin(n, m),
        _ => return None,
    })
}

/// A shift by an immediate.
fn shift(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let size = TI.size(w);
    let of = VECTORS[size as usize];
    let (bits, imm) = (i64::from(8_u32 << size), i64::from(w.bits(16, 7)));
    let n = get(e, w.rn(), of);
    let value = match op.element() {
        ELEMENT_SHIFT_LEFT => e.frame.b.ins().ishl_imm_u(n, imm - bits),
        // Amounts go up to the number of bits, those of hosts do not.
        ELEMENT_SHIFT_RIGHT if op.unsigned() == 1 && imm == bits => e.frame.constant_of(of, 0),
        ELEMENT_SHIFT_RIGHT if op.unsigned() == 1 => e.frame.b.ins().ushr_imm_u(n, 2 * bits - imm),
        ELEMENT_SHIFT_RIGHT => e.frame.b.ins().sshr_imm_u(n, (2 * bits - imm).min(bits - 1)),
        _ => return false,
    };
    let value = match op.accumulate() {
        ACCUMULATE_ADD => {
            let d = get(e, w.rd(), of);
            e.frame.b.ins().iadd(d, value)
        }
        _ => value,
    };
    set_vector(e, w, value);
    true
}

/// SSHLL and USHLL, which are also SXTL and UXTL.
fn shift_long(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    if op.element() != ELEMENT_SHIFT_LEFT {
        return false;
    }
    let size = TI.size(w);
    let n = get(e, w.rn(), VECTORS[size as usize]);
    let ins = e.frame.b.ins();
    let wide = match (op.unsigned(), w.q()) {
        (1, 0) => ins.uwiden_low(n),
        (1, _) => ins.uwiden_high(n),
        (_, 0) => ins.swiden_low(n),
        _ => ins.swiden_high(n),
    };
    let amount = i64::from(w.bits(16, 7)) - i64::from(8_u32 << size);
    let value = if amount == 0 { wide } else { e.frame.b.ins().ishl_imm_u(wide, amount) };
    e.frame.store_cpu(value, vector_offset(w.rd()));
    true
}

/// XTN and SHRN, whose results are the lower halves of elements.
fn narrow(e: &mut Emitter<'_>, op: MicroOp, w: Word, is_shift: bool) -> bool {
    let Some(size @ 0..=1) = size_of_elements(op, w) else { return false };
    let bits = 8_u32 << size;
    let n = get(e, w.rn(), VECTORS[size as usize + 1]);
    let shifted = match (op.element(), is_shift) {
        (ELEMENT_SHIFT_RIGHT, true) => {
            e.frame.b.ins().ushr_imm_u(n, i64::from(2 * bits) - i64::from(w.bits(16, 7)))
        }
        (ELEMENT_MOVE, false) => n,
        _ => return false,
    };
    // The bytes of the lower halves, once more in the upper half of the result.
    let bytes = std::array::from_fn(|byte| {
        let (element, rest) = ((byte as u8 % 8) >> size, byte as u8 & ((1 << size) - 1));
        (element << (size + 1)) + rest
    });
    let value = shuffle(e, [shifted, shifted], bytes);
    let value = cast(e, types::I64X2, value);
    let half = e.frame.b.ins().extractlane(value, 0);
    if w.q() == 1 {
        e.frame.store_cpu(half, vector_offset(w.rd()) + 8);
    } else {
        set(e, w.rd(), half);
    }
    true
}

/// Returns elements of Vn and Vm. `number` returns the number of an element among those of Vn and then Vm, from its
/// place in the result and the number of elements in a vector.
fn permuted(e: &mut Emitter<'_>, w: Word, size: u32, number: impl Fn(u32, u32) -> u32) -> Value {
    let [n, m] = [w.rn(), w.rm()].map(|register| get(e, register, types::I8X16));
    let count = (8 << w.q()) >> size;
    let bytes = std::array::from_fn(|byte| {
        let (place, rest) = (byte as u32 >> size, byte as u32 & ((1 << size) - 1));
        // Above the vector anything will do.
        let number = number(place % count, count);
        let of_m = number / count;
        (16 * of_m + ((number % count) << size) + rest) as u8
    });
    shuffle(e, [n, m], bytes)
}

/// An operation on adjacent elements.
fn paired(e: &mut Emitter<'_>, op: MicroOp, w: Word) -> bool {
    let Some(size @ 0..=2) = size_of_elements(op, w) else { return false };
    let [even, odd] = [0, 1].map(|odd| permuted(e, w, size, |place, _| 2 * place + odd));
    let [even, odd] = [even, odd].map(|value| cast(e, VECTORS[size as usize], value));
    let Some(value) = combine(e, op, even, odd) else { return false };
    set_vector(e, w, value);
    true
}

/// Translates a permutation, and returns whether it could.
pub(crate) fn emit_permutation(e: &mut Emitter<'_>, op: MicroOp) -> bool {
    let w = Word(op.imm as u32);
    let (size, part) = (T.size(w), op.element());
    let value = match op.operation() {
        PERMUTE_UZP => permuted(e, w, size, |place, _| 2 * place + part),
        PERMUTE_ZIP => {
            permuted(e, w, size, |place, count| place / 2 + part * count / 2 + (place & 1) * count)
        }
        PERMUTE_TRN => permuted(e, w, size, |place, count| (place & !1) + part + (place & 1) * count),
        PERMUTE_EXT => permuted(e, w, 0, |place, _| place + w.imm4()),
        PERMUTE_REV => {
            let flip = (1 << (part - 3 - size)) - 1;
            permuted(e, w, size, |place, _| place ^ flip)
        }
        _ => return false,
    };
    set_vector(e, w, value);
    true
}
