//! The assembler encodes operands faithfully or refuses them.

use std::collections::BTreeMap;

use kvrm_arm64::asm::{Arg, AsmError, Assembler, Mode, Register, args, encode};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::semantics::bitmask::decode_bit_masks;
use kvrm_arm64::semantics::truncate;
use kvrm_arm64::{Encoding, decode};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

const TRIES_WITH_EACH: usize = 2000;

/// Returns a random number of either sign, often near a power of two or a small multiple of one.
fn number(random: &mut Random) -> i64 {
    let magnitude = match random.below(4) {
        0 => random.below(70) as i64,
        1 => (1 << random.below(40)) + random.below(5) as i64 - 2,
        2 => (random.below(1 << 20) as i64) << random.below(14),
        _ => random.bits() as i64 >> random.below(64),
    };
    if random.below(2) == 0 { magnitude } else { -magnitude }
}

fn small(random: &mut Random) -> u32 {
    if random.below(8) == 0 { random.bits() as u32 } else { random.below(70) as u32 }
}

fn register(random: &mut Random) -> Register {
    let number = if random.below(4) == 0 { 31 } else { random.below(34) as u32 };
    Register { number, wide: random.below(2) == 0, sp: number == 31 && random.below(2) == 0 }
}

fn mode(random: &mut Random) -> Mode {
    match random.below(4) {
        0 => Mode::Offset(number(random)),
        1 => Mode::Pre(number(random)),
        2 => Mode::Post(number(random)),
        _ => Mode::Index {
            register: register(random),
            extend: random.below(9) as u32,
            scaled: random.below(2) == 0,
        },
    }
}

/// Returns a random operand of any kind. An encoding refuses most of them.
fn any_arg(random: &mut Random) -> Arg {
    match random.below(10) {
        0 => Arg::Register(register(random)),
        1 => Arg::Shifted(register(random), random.below(5) as u32, small(random)),
        2 => Arg::Extended(register(random), random.below(9) as u32, random.below(9) as u32),
        3 => Arg::Imm(number(random)),
        4 => Arg::ShiftedImm(number(random) as u32, *random.pick(&[0, 12, 16, 32, 48, 64, 1, u32::MAX])),
        5 => Arg::BitMask(random.bits() as u32 >> (18 + random.below(3))),
        6 => Arg::Cond(random.below(18) as u32),
        7 => Arg::Offset(number(random)),
        8 => Arg::Label(Assembler::new(0).label()),
        _ => Arg::Address(register(random), mode(random)),
    }
}

/// Returns an operand of the same kind with random contents, which an encoding often takes.
fn altered_arg(arg: Arg, random: &mut Random) -> Arg {
    match arg {
        Arg::Register(_) => Arg::Register(register(random)),
        Arg::Shifted(r, ..) => Arg::Shifted(r, random.below(5) as u32, small(random)),
        Arg::Extended(r, ..) => Arg::Extended(r, random.below(9) as u32, random.below(9) as u32),
        Arg::ShiftedImm(_, shift) if random.below(2) == 0 => Arg::ShiftedImm(number(random) as u32, shift),
        Arg::ShiftedImm(imm, _) if random.below(2) == 0 => Arg::Imm(imm.into()),
        Arg::BitMask(raw) if random.below(2) == 0 => {
            let mask = decode_bit_masks(raw >> 12, raw & 0x3f, raw >> 6 & 0x3f, true).unwrap_or_default();
            Arg::Imm((mask.wmask ^ random.below(2) << random.below(64)) as i64)
        }
        Arg::Offset(_) => Arg::Offset(number(random)),
        Arg::Imm(_) => Arg::Imm(number(random)),
        Arg::Cond(_) => Arg::Cond(random.below(20) as u32),
        Arg::Address(r, Mode::Offset(_)) => Arg::Address(r, Mode::Offset(number(random))),
        Arg::Address(r, Mode::Pre(_)) => Arg::Address(r, Mode::Pre(number(random))),
        Arg::Address(r, Mode::Post(_)) => Arg::Address(r, Mode::Post(number(random))),
        Arg::Address(_, mode) => Arg::Address(register(random), mode),
        _ => any_arg(random),
    }
}

/// Whether an operand that was accepted, `given`, and the one read from the word, `back`, mean the same.
fn is_same(operand: Operand, given: Arg, back: Arg) -> bool {
    match (given, back) {
        (Arg::Register(r), Arg::Shifted(back, 0, 0)) => r == back,
        // TBZ may name the X register for a bit that is in the W register too.
        (Arg::Register(r), Arg::Register(back)) if operand == Operand::Rt => {
            r == back || (r == Register { wide: true, ..back })
        }
        (Arg::Imm(value), Arg::ShiftedImm(imm, shift)) => value == i64::from(imm) << shift,
        (Arg::Imm(value), Arg::BitMask(raw)) => {
            let Operand::LogicalImm(datasize) = operand else { return false };
            let mask = decode_bit_masks(raw >> 12, raw & 0x3f, raw >> 6 & 0x3f, true).unwrap_or_default();
            // A 32-bit mask may be written as a negative number.
            let is_number = datasize == 64 || (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&value);
            is_number && truncate(mask.wmask, datasize) == truncate(value as u64, datasize)
        }
        _ => given == back,
    }
}

/// Returns the operands that [`args`] reads.
fn visible_operands(row: &Encoding) -> impl Iterator<Item = Operand> {
    row.operands.iter().copied().filter(|operand| !matches!(operand, Operand::Text(_)))
}

#[test]
fn an_operand_is_refused_or_encoded_as_it_was_given() {
    let mut random = Random::new(1);
    let (mut accepted, mut refused, mut wrong) = (0, 0, BTreeMap::new());
    for row in ENCODINGS {
        for _ in 0..TRIES_WITH_EACH {
            let mut given = args(row.op, words::allocated(row, &mut random));
            let Some(index) = (!given.is_empty()).then(|| random.below(given.len() as u64) as usize) else {
                break;
            };
            let old = given[index];
            given[index] =
                if random.below(3) == 0 { any_arg(&mut random) } else { altered_arg(old, &mut random) };
            let Ok(word) = encode(row.op, &given) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let back = args(row.op, word);
            let faithful = decode(word) == Some(row.op)
                && visible_operands(row)
                    .zip(given.iter().zip(&back))
                    .all(|(o, (&given, &back))| is_same(o, given, back));
            if !faithful {
                let text = format!("{given:?} became {word:#010x}, which is {back:?}");
                wrong.entry(row.name).or_insert(text);
            }
        }
    }
    let first: Vec<String> = wrong.iter().take(10).map(|(name, text)| format!("{name} {text}")).collect();
    assert!(wrong.is_empty(), "{} encodings accepted something else:\n{}", wrong.len(), first.join("\n"));
    // Both must happen often, or the test proves nothing.
    assert!(accepted > 100_000 && refused > 100_000, "{accepted} were accepted, {refused} refused");
}

#[test]
fn another_number_of_operands_is_refused() {
    let mut random = Random::new(2);
    for row in ENCODINGS {
        let given = args(row.op, words::allocated(row, &mut random));
        let expected = given.len();
        let mut more = given.clone();
        more.push(Arg::Imm(0));
        let error = AsmError::Count { op: row.op, expected, given: expected + 1 };
        assert_eq!(encode(row.op, &more), Err(error), "{} with an operand too many", row.name);
        // Bits that an instruction ignores may be left out.
        let is_optional = row.operands.last().is_some_and(|operand| operand.is_hidden());
        if let Some((_, fewer)) = given.split_last().filter(|_| !is_optional) {
            let error = AsmError::Count { op: row.op, expected, given: expected - 1 };
            assert_eq!(encode(row.op, fewer), Err(error), "{} without its last operand", row.name);
        }
    }
}

#[test]
fn words_in_a_hole_are_not_assembled() {
    let mut random = Random::new(3);
    let mut holes = 0;
    for row in ENCODINGS.iter().filter(|row| !row.holes.is_empty()) {
        for _ in 0..TRIES_WITH_EACH {
            let word = words::matching(row, &mut random);
            if row.matches(word) {
                continue;
            }
            holes += 1;
            let given = args(row.op, word);
            let result = encode(row.op, &given);
            assert!(result.is_err(), "{} {given:?} became {result:?}, though it is undefined", row.name);
        }
    }
    assert!(holes > 1000, "only {holes} words were in a hole");
}

#[test]
fn errors_say_which_operand_is_wrong_and_why() {
    use kvrm_arm64::Op;
    use kvrm_arm64::asm::{SP, W1, X0, X1, X2, XZR};
    let cases: [(Op, &[Arg], &str); 5] = [
        (
            Op::ADD_64_addsub_imm,
            &[X0.into(), X1.into(), Arg::Imm(4097)],
            "operand 2 of ADD_64_addsub_imm: the number is out of range",
        ),
        (
            Op::ADD_64_addsub_imm,
            &[X0.into(), XZR.into(), Arg::Imm(1)],
            "operand 1 of ADD_64_addsub_imm: number 31 is the stack pointer here",
        ),
        (
            Op::ADD_64_addsub_shift,
            &[X0.into(), SP.into(), X2.into()],
            "operand 1 of ADD_64_addsub_shift: number 31 is the zero register here",
        ),
        (
            Op::ADC_64_addsub_carry,
            &[X0.into(), W1.into(), X2.into()],
            "operand 1 of ADC_64_addsub_carry: a 64-bit register is needed",
        ),
        (
            Op::B_only_branch_imm,
            &[Arg::Offset(2)],
            "operand 0 of B_only_branch_imm: the distance is not a multiple of the unit",
        ),
    ];
    for (op, args, message) in cases {
        let error = encode(op, args).expect_err("it cannot be assembled");
        assert_eq!(error.to_string(), message, "{op:?} {args:?}");
    }
}
