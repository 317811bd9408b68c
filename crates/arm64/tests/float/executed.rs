//! Executed instructions, which compute with the host's floating point where they can, compared with the functions that
//! compute with integers.

use kvrm_arm64::semantics::float::control::{
    FPCR_DN, FPCR_FZ, FPCR_RMODE, FPSR_IOC, FPSR_IXC, fp_rounding_mode,
};
use kvrm_arm64::semantics::float::format::{DOUBLE, Format, SINGLE};
use kvrm_arm64::semantics::float::named::{
    Fixed, fixed_to_fp, fp_add, fp_compare, fp_convert, fp_div, fp_max, fp_max_num, fp_min, fp_min_num,
    fp_mul, fp_mul_add, fp_mulx, fp_round_int, fp_sqrt, fp_sub, fp_to_fixed,
};
use kvrm_arm64::semantics::float::round::FpResult;
use kvrm_arm64::{Cpu, assemble};
use kvrm_testkit::float::{Place, instructions};
use kvrm_testkit::numbers::{float, floats};
use kvrm_testkit::random::Random;

use crate::sign_bit;
use kvrm_testkit::flat::{Flat, step};

/// Returns FPCR, often zero.
fn any_fpcr(random: &mut Random) -> u32 {
    *random.pick(&[0, 0, 0, FPCR_FZ, FPCR_DN, FPCR_FZ | 1 << 22, 1 << 22, 2 << 22, FPCR_RMODE])
}

/// Returns FPSR, often with the bit that lets the host compute most.
fn any_fpsr(random: &mut Random) -> u32 {
    *random.pick(&[0, FPSR_IOC, FPSR_IXC, FPSR_IXC | FPSR_IOC])
}

/// Executes one instruction.
fn execute(word: u32, mut cpu: Cpu) -> Cpu {
    let mut memory = Flat::new(&[word], 4);
    cpu.pc = memory.cpu().pc;
    step(&mut cpu, &mut memory).expect("the instruction is executed");
    cpu
}

#[test]
fn scalar_instructions_compute_what_integers_do() {
    let mut random = Random::new(21);
    for instruction in instructions() {
        let word = assemble(0, &instruction.text).expect("the instruction exists")[0];
        for _ in 0..1000 {
            let (fpcr, operands) = instruction.inputs(&mut random);
            let mut cpu = Cpu::default();
            cpu.fpcr = if random.below(2) == 0 { any_fpcr(&mut random) } else { fpcr };
            cpu.fpsr = any_fpsr(&mut random);
            cpu.set_x(1, operands[0]);
            for (n, operand) in (1..).zip(operands) {
                // The upper half, which does not count.
                cpu.v[n] = u128::from(operand) | u128::from(random.bits()) << 64;
            }
            let expected = instruction.compute((cpu.fpcr, operands));
            let after = execute(word, cpu.clone());
            let value = match instruction.place() {
                Place::Vector => after.v[0],
                Place::General => after.x(0).into(),
                Place::Flags => after.nzcv.into(),
            };
            assert_eq!(
                (value, after.fpsr),
                (expected.value.into(), cpu.fpsr | expected.fpsr),
                "{instruction:?} of {operands:x?}, FPCR {:#x}, FPSR {:#x}",
                cpu.fpcr,
                cpu.fpsr
            );
        }
    }
}

/// An operation on elements: of Vd, Vn and Vm, with FPCR.
type Operation = fn([u64; 3], Format, u32) -> FpResult;

const fn negated(value: u64, format: Format) -> u64 {
    value ^ sign_bit(format)
}

/// Returns the result of a comparison as an element.
fn mask(flags: FpResult, holds: &[u64], format: Format) -> FpResult {
    let ones = sign_bit(format) | (sign_bit(format) - 1);
    FpResult { value: if holds.contains(&flags.value) { ones } else { 0 }, ..flags }
}

/// Returns the format of integers with the size of a number.
const fn integers(format: Format, unsigned: bool) -> Fixed {
    Fixed { fbits: 0, intsize: 1 + format.exponent_bits + format.fraction_bits, unsigned }
}

/// Vector instructions with the operation on their elements. `T` is the arrangement, and `E` an element of Vm.
#[rustfmt::skip]
const VECTORS: [(&str, Operation); 32] = [
    ("fadd v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_add(x, y, format, fpcr)),
    ("fsub v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_sub(x, y, format, fpcr)),
    ("fmul v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_mul(x, y, format, fpcr)),
    ("fmul v0.T, v1.T, v2.E", |[_, x, y], format, fpcr| fp_mul(x, y, format, fpcr)),
    ("fmulx v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_mulx(x, y, format, fpcr)),
    ("fmulx v0.T, v1.T, v2.E", |[_, x, y], format, fpcr| fp_mulx(x, y, format, fpcr)),
    ("fdiv v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_div(x, y, format, fpcr)),
    ("fsqrt v0.T, v1.T", |[_, x, _], format, fpcr| fp_sqrt(x, format, fpcr)),
    ("fmla v0.T, v1.T, v2.T", |[d, x, y], format, fpcr| fp_mul_add(d, x, y, format, fpcr)),
    ("fmla v0.T, v1.T, v2.E", |[d, x, y], format, fpcr| fp_mul_add(d, x, y, format, fpcr)),
    ("fmls v0.T, v1.T, v2.T", |[d, x, y], format, fpcr| fp_mul_add(d, negated(x, format), y, format, fpcr)),
    ("fmls v0.T, v1.T, v2.E", |[d, x, y], format, fpcr| fp_mul_add(d, negated(x, format), y, format, fpcr)),
    ("fabd v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| {
        let difference = fp_sub(x, y, format, fpcr);
        FpResult { value: difference.value & !sign_bit(format), ..difference }
    }),
    ("fmax v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_max(x, y, format, fpcr)),
    ("fmin v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_min(x, y, format, fpcr)),
    ("fmaxnm v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_max_num(x, y, format, fpcr)),
    ("fminnm v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| fp_min_num(x, y, format, fpcr)),
    ("frintx v0.T, v1.T", |[_, x, _], format, fpcr| fp_round_int(x, format, fp_rounding_mode(fpcr), true, fpcr)),
    ("frintm v0.T, v1.T", |[_, x, _], format, fpcr| fp_round_int(x, format, 2, false, fpcr)),
    ("fcvtzs v0.T, v1.T", |[_, x, _], format, fpcr| fp_to_fixed(x, integers(format, false), 3, format, fpcr)),
    ("fcvtnu v0.T, v1.T", |[_, x, _], format, fpcr| fp_to_fixed(x, integers(format, true), 0, format, fpcr)),
    ("scvtf v0.T, v1.T", |[_, x, _], format, fpcr| fixed_to_fp(x, integers(format, false), format, fpcr)),
    ("ucvtf v0.T, v1.T", |[_, x, _], format, fpcr| fixed_to_fp(x, integers(format, true), format, fpcr)),
    ("fcmeq v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| mask(fp_compare(x, y, false, format, fpcr), &[6], format)),
    ("fcmge v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| mask(fp_compare(x, y, true, format, fpcr), &[6, 2], format)),
    ("fcmgt v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| mask(fp_compare(x, y, true, format, fpcr), &[2], format)),
    ("fcmle v0.T, v1.T, #0.0", |[_, x, _], format, fpcr| mask(fp_compare(x, 0, true, format, fpcr), &[6, 8], format)),
    ("fcmlt v0.T, v1.T, #0.0", |[_, x, _], format, fpcr| mask(fp_compare(x, 0, true, format, fpcr), &[8], format)),
    ("facgt v0.T, v1.T, v2.T", |[_, x, y], format, fpcr| {
        let [x, y] = [x, y].map(|number| number & !sign_bit(format));
        mask(fp_compare(x, y, true, format, fpcr), &[2], format)
    }),
    ("fneg v0.T, v1.T", |[_, x, _], format, _| FpResult { value: negated(x, format), fpsr: 0 }),
    ("fabs v0.T, v1.T", |[_, x, _], format, _| FpResult { value: x & !sign_bit(format), fpsr: 0 }),
    ("frinta v0.T, v1.T", |[_, x, _], format, fpcr| fp_round_int(x, format, 4, false, fpcr)),
];

/// Returns a vector of 128 bits. All of its numbers are ordinary ones, or each is any number.
fn vector(format: Format, edges: &[u64], random: &mut Random) -> u128 {
    let bits = 1 + format.exponent_bits + format.fraction_bits;
    let is_ordinary = random.below(4) != 0;
    let mut number = || {
        loop {
            let number = float(format, edges, random);
            let field = number >> format.fraction_bits & ((1 << format.exponent_bits) - 1);
            let is_extreme = (field >> (format.exponent_bits - 2)).is_multiple_of(3);
            if !is_ordinary || !is_extreme || number & !sign_bit(format) == 0 {
                return number;
            }
        }
    };
    (0..128 / bits).fold(0, |vector, e| vector | u128::from(number()) << (e * bits))
}

/// Returns the elements of a vector.
fn elements(vector: u128, format: Format) -> impl Iterator<Item = u64> {
    let bits = 1 + format.exponent_bits + format.fraction_bits;
    (0..128 / bits).map(move |e| (vector >> (e * bits)) as u64 & (u64::MAX >> (64 - bits)))
}

#[test]
fn vector_instructions_compute_what_integers_do() {
    let mut random = Random::new(22);
    for (arrangement, format, count) in [("2s", SINGLE, 2), ("4s", SINGLE, 4), ("2d", DOUBLE, 2)] {
        let edges = floats(format);
        for (pattern, operation) in VECTORS {
            let size = &arrangement[1..];
            for index in 0..if pattern.contains(".E") { 128 / integers(format, false).intsize } else { 1 } {
                let text = pattern.replace(".T", &format!(".{arrangement}"));
                let text = text.replace(".E", &format!(".{size}[{index}]"));
                let word = assemble(0, &text).unwrap_or_else(|error| panic!("{text}: {error}"))[0];
                for _ in 0..2000 {
                    let mut cpu = Cpu::default();
                    cpu.v[..3].fill_with(|| vector(format, &edges, &mut random));
                    (cpu.fpcr, cpu.fpsr) = (any_fpcr(&mut random), any_fpsr(&mut random));
                    let [d, x, y] = [0, 1, 2].map(|n| elements(cpu.v[n], format).collect::<Vec<_>>());
                    let (mut expected, mut fpsr) = (Vec::new(), cpu.fpsr);
                    for e in 0..count {
                        let y = y[if pattern.contains(".E") { index as usize } else { e }];
                        let result = operation([d[e], x[e], y], format, cpu.fpcr);
                        expected.push(result.value);
                        fpsr |= result.fpsr;
                    }
                    expected.resize(y.len(), 0);
                    let after = execute(word, cpu.clone());
                    assert_eq!(
                        (elements(after.v[0], format).collect::<Vec<_>>(), after.fpsr),
                        (expected, fpsr),
                        "{text} of {d:x?}, {x:x?} and {y:x?}, FPCR {:#x}, FPSR {:#x}",
                        cpu.fpcr,
                        cpu.fpsr
                    );
                }
            }
        }
    }
}

#[test]
fn vectors_are_converted_as_integers_do() {
    let mut random = Random::new(23);
    for (text, from, to) in [("fcvtl v0.2d, v1.2s", SINGLE, DOUBLE), ("fcvtn v0.2s, v1.2d", DOUBLE, SINGLE)] {
        let word = assemble(0, text).expect("the instruction exists")[0];
        let edges = floats(from);
        for _ in 0..20_000 {
            let mut cpu = Cpu::default();
            cpu.v[1] = vector(from, &edges, &mut random);
            (cpu.fpcr, cpu.fpsr) = (any_fpcr(&mut random), any_fpsr(&mut random));
            let results = elements(cpu.v[1], from)
                .take(2)
                .map(|x| fp_convert(x, from, to, fp_rounding_mode(cpu.fpcr), cpu.fpcr));
            let results: Vec<FpResult> = results.collect();
            let after = execute(word, cpu.clone());
            assert_eq!(
                (elements(after.v[0], to).take(2).collect::<Vec<_>>(), after.fpsr),
                (
                    results.iter().map(|result| result.value).collect(),
                    results.iter().fold(cpu.fpsr, |fpsr, result| fpsr | result.fpsr)
                ),
                "{text} of {:x}, FPCR {:#x}, FPSR {:#x}",
                cpu.v[1],
                cpu.fpcr,
                cpu.fpsr
            );
        }
    }
}
