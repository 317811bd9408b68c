//! Common instructions on integers in SIMD registers, as expressions on the halves of the registers.
//!
//! Other instructions call a leaf function of the interpreter, which computes one element after the other.

use kvrm_arm64::Word;
use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::semantics::simd::immediate::adv_simd_expand_imm;
use kvrm_arm64::semantics::simd::vector::precision;
use kvrm_arm64::vector_op::*;

use crate::effects::handler;
use crate::vector::Operands;

use super::operand::{register, vector};

/// Returns a word in which each element is `value`.
const fn repeated(value: u64, esize: u32) -> u64 {
    value * (u64::MAX / ones(esize))
}

/// Returns the largest number of so many bits, 1 to 64.
const fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// An instruction with the expressions of the lower and upper halves of its operands.
struct Packed {
    op: MicroOp,
    word: u32,
    n: [String; 2],
    m: [String; 2],
    d: [String; 2],
    general: String,
    esize: u32,
}

/// Returns the expression of the new value of Vd, or `None` if the instruction is not one of the common ones.
pub(super) fn value(op: MicroOp, operands: &Operands) -> Option<String> {
    let halves = |number: Option<u32>| {
        let name = number.map_or_else(|| "Vector()".to_owned(), vector);
        ["low", "high"].map(|half| format!("{name}.{half}"))
    };
    let word = op.imm as u32;
    let field = word >> 22 & 3;
    let [n, m, d] = [operands.n, operands.m, operands.d].map(halves);
    let esize = match op.sizing() {
        SIZING_SIZE => 8 << field,
        SIZING_IMMH => 8 << (word >> 19 & 15).checked_ilog2()?,
        SIZING_SZ => precision(Word(word)),
        SIZING_BYTES => 8,
        _ => 64,
    };
    let general = register(operands.general.unwrap_or_default());
    let packed = Packed { op, word, n, m, d, general, esize };
    match handler(op)? {
        Handler::VECTOR_MOVE => packed.moved(),
        Handler::VECTOR_PERMUTE => packed.permuted(),
        Handler::VECTOR_INTEGER => packed.integers(),
        _ => None,
    }
}

impl Packed {
    const fn is_scalar(&self) -> bool {
        self.word >> 28 & 1 == 1
    }

    /// Whether the instruction has 128 bits, or concerns the upper half.
    const fn is_whole(&self) -> bool {
        self.word >> 30 & 1 == 1
    }

    /// Returns the vector with the given half or halves. Instructions of 64 bits clear the upper one.
    fn vector(&self, half: impl Fn(usize) -> String) -> String {
        let high = if self.is_whole() && !self.is_scalar() { half(1) } else { "0lu".to_owned() };
        format!("Vector({}, {high})", half(0))
    }

    /// Returns the result of a narrowing instruction whose part is `part`.
    fn with_part(&self, part: &str) -> String {
        if self.is_whole() {
            format!("Vector({}, {part})", self.d[0])
        } else {
            format!("Vector({part}, 0lu)")
        }
    }

    /// Moves of immediates, and of one value to all elements.
    fn moved(&self) -> Option<String> {
        let word = self.word;
        let imm8 = word >> 11 & 0xe0 | word >> 5 & 31;
        let imm = adv_simd_expand_imm(word >> 29 & 1, word >> 12 & 15, imm8);
        let size = (word >> 16 & 31).trailing_zeros();
        let esize = 8 << size.min(3);
        let factor = repeated(1, esize);
        let mask = ones(esize);
        Some(match self.op.operation() {
            MOVE_IMMEDIATE => self.vector(|_| format!("{imm:#x}lu")),
            MOVE_IMMEDIATE_INVERTED => self.vector(|_| format!("{:#x}lu", !imm)),
            MOVE_IMMEDIATE_ORR => self.vector(|half| format!("{} | {imm:#x}lu", self.d[half])),
            MOVE_IMMEDIATE_BIC => self.vector(|half| format!("{} & {:#x}lu", self.d[half], !imm)),
            MOVE_DUP_GENERAL => self.vector(|_| format!("({} & {mask:#x}lu) * {factor:#x}lu", self.general)),
            MOVE_DUP_ELEMENT => {
                let position = (word >> 17 & 15) >> size.min(3) << (3 + size.min(3));
                let element =
                    format!("(({} >> {}u) & {mask:#x}lu)", self.n[position as usize / 64], position % 64);
                if self.is_scalar() {
                    format!("Vector({element}, 0lu)")
                } else {
                    self.vector(|_| format!("{element} * {factor:#x}lu"))
                }
            }
            _ => return None,
        })
    }

    /// Returns the even or the odd elements of Vn and Vm, one behind the other.
    fn every_other(&self, is_odd: bool) -> impl Fn(usize) -> String {
        let (esize, whole) = (self.esize, self.is_whole());
        let (n, m) = (self.n.clone(), self.m.clone());
        let evens = repeated(ones(esize), 2 * esize.min(32));
        let shift = if is_odd { esize } else { 0 };
        move |half| {
            if esize == 64 {
                return if half == 0 { &n } else { &m }[usize::from(is_odd)].clone();
            }
            let narrow =
                |value: &str| format!("packed_narrow(({value} >> {shift}u) & {evens:#x}lu, {esize}u)");
            let [first, second] = match (whole, half) {
                (false, _) => [&n[0], &m[0]],
                (true, 0) => [&n[0], &n[1]],
                (true, _) => [&m[0], &m[1]],
            };
            format!("({} | ({} << 32u))", narrow(first), narrow(second))
        }
    }

    fn permuted(&self) -> Option<String> {
        let esize = self.esize;
        let part = self.op.element() as usize;
        match self.op.operation() {
            PERMUTE_UZP => Some(self.vector(self.every_other(part == 1))),
            PERMUTE_ZIP if esize < 64 => {
                let widen =
                    |value: &str, half: usize| format!("packed_widen({value} >> {}u, {esize}u)", 32 * half);
                Some(self.vector(|half| {
                    // The quarter of the operands that this half of the result has.
                    let (from, quarter) = if self.is_whole() { (part, half) } else { (0, part) };
                    let (n, m) = (widen(&self.n[from], quarter), widen(&self.m[from], quarter));
                    format!("{n} | ({m} << {esize}u)")
                }))
            }
            PERMUTE_EXT => {
                let shift = 8 * (self.word >> 11 & 15);
                let words: Vec<&String> = if self.is_whole() {
                    self.n.iter().chain(&self.m).collect()
                } else {
                    vec![&self.n[0], &self.m[0]]
                };
                Some(self.vector(|half| {
                    let at = half + shift as usize / 64;
                    match shift % 64 {
                        0 => words[at].clone(),
                        shift => {
                            format!("({} >> {shift}u) | ({} << {}u)", words[at], words[at + 1], 64 - shift)
                        }
                    }
                }))
            }
            _ => None,
        }
    }

    fn integers(&self) -> Option<String> {
        let op = self.op;
        if op.saturation() != SATURATION_NOT || op.rounding() == 1 || op.accumulate() != ACCUMULATE_NOT {
            return None;
        }
        // A scalar of less than 64 bits is the lowest element.
        let is_number = op.sizing() == SIZING_SZ;
        if self.is_scalar() && self.esize < 64 && !is_number {
            return None;
        }
        match op.form() {
            FORM_SAME => {
                let values = [0, 1].map(|half| self.element(&self.n[half], &self.m[half], &self.d[half]));
                let [low, high] = values;
                let (low, high) = (low?, high?);
                if self.is_scalar() && is_number {
                    return Some(format!("Vector(({low}) & {:#x}lu, 0lu)", ones(self.esize)));
                }
                Some(self.vector(|half| if half == 0 { low.clone() } else { high.clone() }))
            }
            FORM_PAIRED if !self.is_scalar() => {
                let (even, odd) = (self.every_other(false), self.every_other(true));
                self.element("", "", "")?;
                Some(self.vector(|half| self.element(&even(half), &odd(half), "").unwrap_or_default()))
            }
            FORM_NARROW => {
                let shift = match op.element() {
                    ELEMENT_MOVE => 0,
                    ELEMENT_SHIFT_RIGHT => 2 * self.esize - (self.word >> 16 & 127),
                    _ => return None,
                };
                let kept = repeated(ones(self.esize), 2 * self.esize);
                let narrow = |half: usize| {
                    format!("packed_narrow(({} >> {shift}u) & {kept:#x}lu, {}u)", self.n[half], self.esize)
                };
                Some(self.with_part(&format!("({} | ({} << 32u))", narrow(0), narrow(1))))
            }
            FORM_LONG if op.element() == ELEMENT_SHIFT_LEFT && op.unsigned() == 1 => {
                let shift = (self.word >> 16 & 127) - self.esize;
                let from = &self.n[usize::from(self.is_whole())];
                let widen = |half: u32| {
                    format!("packed_widen({from} >> {}u, {}u) << {shift}u", 32 * half, self.esize)
                };
                Some(format!("Vector({}, {})", widen(0), widen(1)))
            }
            _ => None,
        }
    }

    /// Returns an operation on all elements of a word.
    fn element(&self, n: &str, m: &str, d: &str) -> Option<String> {
        let (op, esize) = (self.op, self.esize);
        let high = repeated(1 << (esize - 1), esize);
        let m = if op.zero() == 1 { "0lu" } else { m };
        // Signed elements are compared as unsigned ones whose highest bit is inverted.
        let ordered = |value: &str| {
            if op.unsigned() == 1 { value.to_owned() } else { format!("({value} ^ {high:#x}lu)") }
        };
        let at_least = |a: &str, b: &str| {
            format!("packed_at_least({}, {}, {high:#x}lu, {esize}u)", ordered(a), ordered(b))
        };
        let chosen =
            |mask: &str, first: &str, second: &str| format!("{second} ^ (({first} ^ {second}) & {mask})");
        let amount = self.word >> 16 & 127;
        Some(match op.element() {
            ELEMENT_MOVE => n.to_owned(),
            ELEMENT_AND => format!("{n} & {m}"),
            ELEMENT_BIC => format!("{n} & ~{m}"),
            ELEMENT_ORR => format!("{n} | {m}"),
            ELEMENT_ORN => format!("{n} | ~{m}"),
            ELEMENT_EOR => format!("{n} ^ {m}"),
            ELEMENT_BSL => chosen(d, n, m),
            ELEMENT_BIT => chosen(m, n, d),
            ELEMENT_BIF => chosen(&format!("~{m}"), n, d),
            ELEMENT_NOT => format!("~{n}"),
            ELEMENT_FLOAT_ABSOLUTE => format!("{n} & {:#x}lu", !high),
            ELEMENT_FLOAT_NEGATE => format!("{n} ^ {high:#x}lu"),
            ELEMENT_ADD => format!("packed_add({n}, {m}, {high:#x}lu)"),
            ELEMENT_SUBTRACT => format!("packed_subtract({n}, {m}, {high:#x}lu)"),
            ELEMENT_NEGATE => format!("packed_subtract(0lu, {n}, {high:#x}lu)"),
            ELEMENT_EQUAL => format!("packed_is_zero({n} ^ {m}, {high:#x}lu, {esize}u)"),
            ELEMENT_TEST => format!("~packed_is_zero({n} & {m}, {high:#x}lu, {esize}u)"),
            ELEMENT_GREATER_OR_EQUAL => at_least(n, m),
            ELEMENT_LESS_OR_EQUAL => at_least(m, n),
            ELEMENT_GREATER => format!("~{}", at_least(m, n)),
            ELEMENT_LESS => format!("~{}", at_least(n, m)),
            ELEMENT_MAXIMUM | ELEMENT_MINIMUM => {
                let is_maximum = op.element() == ELEMENT_MAXIMUM;
                let (n, m) = (ordered(n), ordered(m));
                ordered(&format!("packed_extremum({n}, {m}, {high:#x}lu, {esize}u, {is_maximum})"))
            }
            ELEMENT_SHIFT_LEFT => {
                let shift = amount - esize;
                let kept = repeated(ones(esize) << shift & ones(esize), esize);
                format!("({n} << {shift}u) & {kept:#x}lu")
            }
            ELEMENT_SHIFT_RIGHT => {
                let shift = 2 * esize - amount;
                let kept = if shift == esize { 0 } else { repeated(ones(esize) >> shift, esize) };
                let signs = format!("(packed_mask({n} & {high:#x}lu, {esize}u) & {:#x}lu)", !kept);
                let shifted = format!("({n} >> {}u) & {kept:#x}lu", shift % 64);
                if op.unsigned() == 1 { shifted } else { format!("{signs} | ({shifted})") }
            }
            _ => return None,
        })
    }
}
