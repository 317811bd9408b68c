//! Scalar floating-point instructions, each with the function of `kvrm_arm64::semantics::float` that computes it. Tests
//! compare these functions with emulators and hardware that execute the instructions.

use kvrm_arm64::semantics::bitmask::ones;
use kvrm_arm64::semantics::float::control::{
    ROUND_NEGATIVE, ROUND_ODD, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO, fp_rounding_mode,
};
use kvrm_arm64::semantics::float::estimate::{unsigned_recip_estimate, unsigned_rsqrt_estimate};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, HALF, SINGLE};
use kvrm_arm64::semantics::float::named::{
    Fixed, fixed_to_fp, fp_add, fp_compare, fp_convert, fp_div, fp_max, fp_max_num, fp_min, fp_min_num,
    fp_mul, fp_mul_add, fp_mulx, fp_recip_estimate, fp_recip_step_fused, fp_recpx, fp_round_int,
    fp_rsqrt_estimate, fp_rsqrt_step_fused, fp_sqrt, fp_sub, fp_to_fixed,
};
use kvrm_arm64::semantics::float::round::FpResult;

use crate::numbers;
use crate::random::Random;

/// The place of an instruction's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Register v0.
    Vector,
    /// Register x0.
    General,
    /// The flags NZCV as a number; N is bit 3, V is bit 0.
    Flags,
}

/// The type of an operand: a floating-point number of this format, or an integer.
type Operand = Option<Format>;
/// The mnemonic of an instruction with one operand, and its function of operand, format and FPCR.
type Unary = (&'static str, fn(u64, Format, u32) -> FpResult);
/// The mnemonic of an instruction with two operands, and its function of operands, format and FPCR.
type Binary = (&'static str, fn(u64, u64, Format, u32) -> FpResult);
/// A comparison: its mnemonic, whether it compares magnitudes, whether quiet NaNs signal Invalid Operation, and the
/// values of NZCV for which it holds.
type Comparison = (&'static str, bool, bool, &'static [u64]);

/// An instruction with sources among v1, v2, v3 and x1, and the function that computes its result.
pub struct Instruction {
    /// The instruction in assembler syntax.
    pub text: String,
    /// The types of the operands.
    operands: Vec<Operand>,
    compute: Box<dyn Fn([u64; 3], u32) -> FpResult>,
}

impl std::fmt::Debug for Instruction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.text)
    }
}

/// The inputs of an instruction: FPCR and the operands.
pub type Inputs = (u32, [u64; 3]);

impl Instruction {
    fn new(
        text: impl Into<String>,
        operands: impl Into<Vec<Operand>>,
        compute: impl Fn([u64; 3], u32) -> FpResult + 'static,
    ) -> Self {
        Self { text: text.into(), operands: operands.into(), compute: Box::new(compute) }
    }

    /// Returns the result of the instruction, and the bits of FPSR that it sets.
    #[must_use]
    pub fn compute(&self, (fpcr, operands): Inputs) -> FpResult {
        (self.compute)(operands, fpcr)
    }

    /// Returns the place of the result.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.text.split_once(' ') {
            Some(("fcmp" | "fcmpe", _)) => Place::Flags,
            Some((_, registers)) if registers.starts_with(['w', 'x']) => Place::General,
            _ => Place::Vector,
        }
    }

    /// Returns random inputs: edge values and other numbers, often of similar magnitude, and any FPCR.
    pub fn inputs(&self, random: &mut Random) -> Inputs {
        let mut operands = [0_u64; 3];
        for (index, operand) in self.operands.iter().enumerate() {
            operands[index] = match operand {
                Some(format) if index > 0 && random.below(4) == 0 => {
                    // The previous operand or a neighbour of it, with either sign.
                    let sign = 1 << (format.fraction_bits + format.exponent_bits);
                    let near = operands[index - 1].wrapping_add(random.below(3)).wrapping_sub(1);
                    (near ^ (random.bits() & sign)) & (sign | (sign - 1))
                }
                Some(format) => numbers::float(*format, &numbers::floats(*format), random),
                None => random.bits() >> random.below(64) << random.below(8),
            };
        }
        if let [Some(format), Some(_), Some(_)] = self.operands[..]
            && random.below(4) == 0
        {
            // An addend that all but cancels the product, or doubles it.
            let product = fp_mul(operands[0], operands[1], format, 0).value;
            operands[2] = product ^ (random.below(2) << (format.fraction_bits + format.exponent_bits));
        }
        ((random.below(32) as u32) << 22, operands)
    }
}

/// Returns a number with its sign inverted.
const fn negated(value: u64, format: Format) -> u64 {
    value ^ 1 << (format.fraction_bits + format.exponent_bits)
}

/// Returns a number without its sign.
const fn absolute(value: u64, format: Format) -> u64 {
    value & ones(format.fraction_bits + format.exponent_bits)
}

/// The rounding modes in mnemonics, by letter.
const ROUNDINGS: [(char, u32); 5] = [
    ('n', ROUND_TIE_EVEN),
    ('p', ROUND_POSITIVE),
    ('m', ROUND_NEGATIVE),
    ('z', ROUND_ZERO),
    ('a', ROUND_TIE_AWAY),
];

/// Returns one instruction of Armv8.0 for each distinct floating-point computation.
#[must_use]
pub fn instructions() -> Vec<Instruction> {
    let mut all = Vec::new();
    for (letter, format) in [('s', SINGLE), ('d', DOUBLE)] {
        arithmetic(letter, format, &mut all);
        integers(letter, format, &mut all);
        comparisons(letter, format, &mut all);
    }
    conversions(&mut all);
    let words = |estimate: fn(u32) -> u32| {
        move |[x, ..]: [u64; 3], _| {
            let halves = [x as u32, (x >> 32) as u32].map(|word| u64::from(estimate(word)));
            FpResult { value: halves[0] | halves[1] << 32, fpsr: 0 }
        }
    };
    all.push(Instruction::new("urecpe v0.2s, v1.2s", [None], words(unsigned_recip_estimate)));
    all.push(Instruction::new("ursqrte v0.2s, v1.2s", [None], words(unsigned_rsqrt_estimate)));
    all
}

fn arithmetic(l: char, format: Format, all: &mut Vec<Instruction>) {
    let one: [Unary; 4] = [
        ("fsqrt", fp_sqrt),
        ("frecpe", fp_recip_estimate),
        ("frsqrte", fp_rsqrt_estimate),
        ("frecpx", fp_recpx),
    ];
    for (name, function) in one {
        let compute = move |[x, ..]: [u64; 3], fpcr| function(x, format, fpcr);
        all.push(Instruction::new(format!("{name} {l}0, {l}1"), [Some(format)], compute));
    }
    let two: [Binary; 12] = [
        ("fadd", fp_add),
        ("fsub", fp_sub),
        ("fmul", fp_mul),
        ("fmulx", fp_mulx),
        ("fdiv", fp_div),
        ("fmax", fp_max),
        ("fmin", fp_min),
        ("fmaxnm", fp_max_num),
        ("fminnm", fp_min_num),
        ("frecps", fp_recip_step_fused),
        ("frsqrts", fp_rsqrt_step_fused),
        ("fnmul", |x, y, format, fpcr| {
            let product = fp_mul(x, y, format, fpcr);
            FpResult { value: negated(product.value, format), ..product }
        }),
    ];
    for (name, function) in two {
        let compute = move |[x, y, _]: [u64; 3], fpcr| function(x, y, format, fpcr);
        all.push(Instruction::new(format!("{name} {l}0, {l}1, {l}2"), [Some(format); 2], compute));
    }
    for (name, minus_addend, minus_product) in
        [("fmadd", false, false), ("fmsub", false, true), ("fnmadd", true, true), ("fnmsub", true, false)]
    {
        let compute = move |[x, y, addend]: [u64; 3], fpcr| {
            let addend = if minus_addend { negated(addend, format) } else { addend };
            let x = if minus_product { negated(x, format) } else { x };
            fp_mul_add(addend, x, y, format, fpcr)
        };
        all.push(Instruction::new(format!("{name} {l}0, {l}1, {l}2, {l}3"), [Some(format); 3], compute));
    }
}

fn integers(l: char, format: Format, all: &mut Vec<Instruction>) {
    for (suffix, rounding) in ROUNDINGS {
        let compute = move |[x, ..]: [u64; 3], fpcr| fp_round_int(x, format, rounding, false, fpcr);
        all.push(Instruction::new(format!("frint{suffix} {l}0, {l}1"), [Some(format)], compute));
    }
    for (suffix, exact) in [('i', false), ('x', true)] {
        let compute =
            move |[x, ..]: [u64; 3], fpcr| fp_round_int(x, format, fp_rounding_mode(fpcr), exact, fpcr);
        all.push(Instruction::new(format!("frint{suffix} {l}0, {l}1"), [Some(format)], compute));
    }
    for (register, intsize) in [('w', 32), ('x', 64)] {
        for (sign, unsigned) in [('s', false), ('u', true)] {
            for (suffix, rounding) in ROUNDINGS {
                let compute = move |[x, ..]: [u64; 3], fpcr| {
                    fp_to_fixed(x, Fixed { fbits: 0, intsize, unsigned }, rounding, format, fpcr)
                };
                let text = format!("fcvt{suffix}{sign} {register}0, {l}1");
                all.push(Instruction::new(text, [Some(format)], compute));
            }
            for fbits in [1, 7, intsize] {
                let compute = move |[x, ..]: [u64; 3], fpcr| {
                    fp_to_fixed(x, Fixed { fbits, intsize, unsigned }, ROUND_ZERO, format, fpcr)
                };
                let text = format!("fcvtz{sign} {register}0, {l}1, #{fbits}");
                all.push(Instruction::new(text, [Some(format)], compute));
            }
            for fbits in [0, 1, 7, intsize] {
                let compute = move |[x, ..]: [u64; 3], fpcr| {
                    fixed_to_fp(x, Fixed { fbits, intsize, unsigned }, format, fpcr)
                };
                let amount = if fbits == 0 { String::new() } else { format!(", #{fbits}") };
                let text = format!("{sign}cvtf {l}0, {register}1{amount}");
                all.push(Instruction::new(text, [None], compute));
            }
        }
    }
}

fn comparisons(l: char, format: Format, all: &mut Vec<Instruction>) {
    for (name, signal_nans) in [("fcmp", false), ("fcmpe", true)] {
        let compute = move |[x, y, _]: [u64; 3], fpcr| fp_compare(x, y, signal_nans, format, fpcr);
        all.push(Instruction::new(format!("{name} {l}1, {l}2"), [Some(format); 2], compute));
    }
    let holds: [Comparison; 5] = [
        ("fcmeq", false, false, &[0b0110]),
        ("fcmge", false, true, &[0b0110, 0b0010]),
        ("fcmgt", false, true, &[0b0010]),
        ("facge", true, true, &[0b0110, 0b0010]),
        ("facgt", true, true, &[0b0010]),
    ];
    for (name, is_absolute, signal_nans, holds) in holds {
        let compute = move |[x, y, _]: [u64; 3], fpcr| {
            let [x, y] = [x, y].map(|x| if is_absolute { absolute(x, format) } else { x });
            let result = fp_compare(x, y, signal_nans, format, fpcr);
            let all = ones(1 + format.fraction_bits + format.exponent_bits);
            FpResult { value: if holds.contains(&result.value) { all } else { 0 }, ..result }
        };
        all.push(Instruction::new(format!("{name} {l}0, {l}1, {l}2"), [Some(format); 2], compute));
    }
}

fn conversions(all: &mut Vec<Instruction>) {
    let formats = [('h', HALF), ('s', SINGLE), ('d', DOUBLE)];
    for (from, source) in formats {
        for (to, target) in formats.into_iter().filter(|(to, _)| *to != from) {
            let compute =
                move |[x, ..]: [u64; 3], fpcr| fp_convert(x, source, target, fp_rounding_mode(fpcr), fpcr);
            all.push(Instruction::new(format!("fcvt {to}0, {from}1"), [Some(source)], compute));
        }
    }
    let compute = |[x, ..]: [u64; 3], fpcr| fp_convert(x, DOUBLE, SINGLE, ROUND_ODD, fpcr);
    all.push(Instruction::new("fcvtxn s0, d1", [Some(DOUBLE)], compute));
}
