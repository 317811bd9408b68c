//! Labels, used before and after they are bound.

use kvrm_arm64::asm::{Arg, AsmError, Assembler, Label, W3, X0, X1, X2};
use kvrm_arm64::{Op, disassemble};
use kvrm_testkit::random::Random;

/// A method of the assembler that takes a label.
type Branch = fn(&mut Assembler, Label) -> &mut Assembler;

/// Instructions with a label: how to assemble them, their text without the address, and their reach in bytes.
const BRANCHES: [(Branch, &str, i64); 9] = [
    (|a, to| a.b(to), "b ", 1 << 27),
    (|a, to| a.bl(to), "bl ", 1 << 27),
    (|a, to| a.b_cond("ne", to), "b.ne ", 1 << 20),
    (|a, to| a.cbz(X0, to), "cbz x0, ", 1 << 20),
    (|a, to| a.cbnz(W3, to), "cbnz w3, ", 1 << 20),
    (|a, to| a.ldr(X1, to), "ldr x1, ", 1 << 20),
    (|a, to| a.adr(X2, to), "adr x2, ", 1 << 20),
    (|a, to| a.tbz(X0, 33, to), "tbz x0, #33, ", 1 << 15),
    (|a, to| a.tbnz(W3, 5, to), "tbnz w3, #5, ", 1 << 15),
];

#[test]
fn every_branch_reaches_every_label() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        let base = random.below(1 << 40) * 4;
        let mut a = Assembler::new(base);
        let labels: Vec<Label> = (0..5).map(|_| a.label()).collect();
        let mut places = [None; 5];
        let mut expected = Vec::new();
        for _ in 0..40 {
            // Labels are bound at random instructions, so that they are used before and after.
            let which = random.below(5) as usize;
            if places[which].is_none() {
                places[which] = Some(a.here());
                a.bind(labels[which]);
            }
            let (branch, text, _) = random.pick(&BRANCHES);
            let target = random.below(5) as usize;
            expected.push((a.here(), *text, target));
            branch(&mut a, labels[target]);
        }
        for (place, label) in places.iter_mut().zip(&labels) {
            if place.is_none() {
                *place = Some(a.here());
                a.bind(*label);
            }
        }
        let words = a.finish().expect("all labels are bound and near");
        assert_eq!(words.len(), expected.len(), "one word per branch");
        for (word, (pc, text, target)) in words.into_iter().zip(expected) {
            let expected = format!("{text}{:#x}", places[target].expect("all are bound"));
            assert_eq!(disassemble(word, pc).to_string(), expected, "at {pc:#x} of code from {base:#x}");
        }
    }
}

#[test]
fn a_label_that_is_used_must_be_bound() {
    for (branch, text, _) in BRANCHES {
        let mut a = Assembler::new(0);
        let (bound, unbound) = (a.label(), a.label());
        a.bind(bound);
        branch(&mut a, bound);
        branch(&mut a, unbound);
        assert_eq!(a.finish(), Err(AsmError::UnboundLabel(unbound)), "{text}to nowhere");
    }
}

#[test]
fn a_label_that_nothing_uses_need_not_be_bound() {
    let mut a = Assembler::new(0);
    a.label();
    a.nop();
    assert_eq!(a.finish(), Ok(vec![0xd503_201f]), "one nop");
}

/// Assembles a branch whose label is `words` words away.
fn assemble_across(branch: Branch, words: i64, forwards: bool) -> Result<Vec<u32>, AsmError> {
    let mut a = Assembler::new(0x1000);
    let label = a.label();
    let padding = |a: &mut Assembler, count| {
        for _ in 0..count {
            a.word(0);
        }
    };
    if forwards {
        branch(&mut a, label);
        padding(&mut a, words - 1);
        a.bind(label);
    } else {
        a.bind(label);
        padding(&mut a, words);
        branch(&mut a, label);
    }
    a.finish()
}

#[test]
fn a_branch_reaches_as_far_as_its_field_and_no_further() {
    // The reach of B and BL is too large to fill with words; the next test covers them.
    for (branch, text, reach) in BRANCHES.into_iter().filter(|(.., reach)| *reach < 1 << 27) {
        let reach = reach / 4;
        assert!(assemble_across(branch, reach - 1, true).is_ok(), "{text}to the last word forwards");
        assert!(assemble_across(branch, reach, false).is_ok(), "{text}to the last word backwards");
        for (words, forwards) in [(reach, true), (reach + 1, false)] {
            let error = assemble_across(branch, words, forwards).expect_err("the label is too far");
            assert!(matches!(error, AsmError::Operand { .. }), "{text}over {words} words: {error}");
            assert!(error.to_string().ends_with("the distance is out of range"), "{text}: {error}");
        }
    }
}

#[test]
fn b_and_bl_reach_128_mib() {
    for op in [Op::B_only_branch_imm, Op::BL_only_branch_imm] {
        let encode = |offset| kvrm_arm64::asm::encode(op, &[Arg::Offset(offset)]);
        for offset in [-(1 << 27), -4, 0, (1 << 27) - 4] {
            assert!(encode(offset).is_ok(), "{op:?} over {offset} bytes");
        }
        for offset in [-(1 << 27) - 4, 1 << 27, i64::MIN, i64::MAX - 3] {
            assert!(encode(offset).is_err(), "{op:?} over {offset} bytes");
        }
    }
}

#[test]
fn the_first_error_is_the_one_reported() {
    let mut a = Assembler::new(0);
    let label = a.label();
    a.b(label).hlt(0x1_0000).brk(-1);
    let error = a.finish().expect_err("three things are wrong");
    assert!(matches!(&error, AsmError::NoEncoding { text } if text.starts_with("hlt")), "{error}");
}

#[test]
fn a_label_is_bound_once() {
    let mut a = Assembler::new(0);
    let label = a.label();
    a.bind(label).nop().bind(label).nop();
    assert_eq!(a.finish(), Err(AsmError::LabelNotFree(label)), "a label in two places");
}

#[test]
fn a_label_of_another_assembler_is_refused() {
    let mut other = Assembler::new(0);
    let foreign = other.label();
    let mut a = Assembler::new(0);
    a.bind(foreign);
    assert_eq!(a.finish(), Err(AsmError::LabelNotFree(foreign)), "bound where it is unknown");
    let mut a = Assembler::new(0);
    a.b(foreign);
    assert_eq!(a.finish(), Err(AsmError::UnboundLabel(foreign)), "used where it is unknown");
}
