//! Operands against the diagrams of their rows.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;

/// The places of the fields of a letter: lowest bit and largest width.
#[rustfmt::skip] // One letter a line.
const LETTERS: &[(char, &[(u32, u32)])] = &[
    ('d', &[(0, 5)]),
    ('n', &[(5, 5)]),
    ('m', &[(16, 5)]),
    ('a', &[(10, 5)]),
    ('t', &[(0, 5)]),
    ('u', &[(10, 5)]),
    // Rs; imms.
    ('s', &[(16, 5), (10, 6)]),
    ('r', &[(16, 6), (11, 2), (12, 1), (13, 2)]),
    // imm16 of UDF; imm26; imm19, imm16, imm14 and immhi; immlo; imm12 or imm6; imm3; imm9; imm7; imm5.
    // In vector instructions: immh:immb; abc; defgh; imm5, or its top bit; imm4; imm8.
    ('i', &[
        (0, 16), (0, 26), (5, 19), (29, 2), (10, 12), (12, 9), (15, 7), (16, 5),
        (16, 7), (16, 3), (5, 5), (20, 1), (11, 4), (13, 8),
    ]),
    // shift or sh; hw; cmode.
    ('h', &[(22, 2), (21, 2), (13, 2), (12, 1)]),
    // option, whose middle bit PRFM fixes; o0.
    ('o', &[(13, 3), (15, 1), (13, 1), (19, 1)]),
    // S; the sign of LDRAA and LDRAB.
    ('S', &[(12, 1), (22, 1)]),
    ('c', &[(12, 4), (0, 4)]),
    ('f', &[(0, 4)]),
    // b5; b40.
    ('b', &[(31, 1), (19, 5)]),
    ('p', &[(16, 3)]),
    // op2; its high bits in BTI.
    ('q', &[(5, 3), (6, 2)]),
    ('C', &[(12, 4)]),
    // CRm; M.
    ('M', &[(8, 4), (20, 1)]),
    ('Q', &[(30, 1)]),
    // size or sz.
    ('z', &[(22, 2), (10, 2), (11, 1)]),
    ('L', &[(21, 1)]),
    ('H', &[(11, 1)]),
    ('N', &[(22, 1)]),
];

/// Returns the runs of one letter in a diagram: letter, lowest bit, width.
fn runs(diagram: &str) -> Vec<(char, u32, u32)> {
    let mut runs: Vec<(char, u32, u32)> = Vec::new();
    for (letter, bit) in diagram.chars().rev().zip(0..) {
        match runs.last_mut() {
            Some((last, low, width)) if *last == letter && *low + *width == bit => *width += 1,
            _ => runs.push((letter, bit, 1)),
        }
    }
    runs.retain(|(letter, ..)| letter.is_ascii_alphabetic());
    runs
}

#[test]
fn operands_cover_every_variable_bit_and_share_only_the_size_of_elements() {
    for row in ENCODINGS {
        let variable = row.pattern.variable_bits();
        let mut covered = 0;
        for operand in row.operands {
            let bits = operand.bits(variable);
            let shared = match operand {
                Operand::VnLane | Operand::VdLane | Operand::Imm5Ignored => 0x001f_0000,
                Operand::VnLane4 | Operand::Imm4Ignored => 0x7800,
                Operand::VmLane(_) | Operand::VmPair => 3 << 22,
                Operand::PostBytes(_, view) | Operand::VtList(_, view) => view.bits(),
                _ => operand.simd().map_or(0, |(_, view)| view.bits()),
            };
            assert_eq!(bits & covered & !shared, 0, "{operand:?} of {} shares bits with another", row.name);
            covered |= bits;
        }
        assert_eq!(covered, variable, "{} has fields that belong to no operand: {:?}", row.name, row.pattern);
    }
}

#[test]
fn an_operand_that_is_a_plain_register_is_a_whole_field_of_five_bits() {
    for row in ENCODINGS {
        for operand in row.operands {
            let Some(field) = operand.register() else { continue };
            let bits = operand.bits(row.pattern.variable_bits());
            assert_eq!(bits, 0x1f << field.low, "{operand:?} of {}", row.name);
        }
    }
}

#[test]
fn letters_are_at_the_places_of_their_fields() {
    for row in ENCODINGS {
        for (letter, low, width) in runs(row.pattern.text()) {
            let fields = LETTERS.iter().find(|(known, _)| *known == letter);
            let (_, fields) =
                fields.unwrap_or_else(|| panic!("{letter} in {} is not a known letter", row.name));
            let fits = fields.iter().any(|&(start, most)| start == low && width <= most);
            assert!(
                fits,
                "{letter} at bit {low} of {}, {width} wide, is not a field of that letter",
                row.name
            );
        }
    }
}

#[test]
fn only_known_fields_have_a_letter_in_two_places() {
    for row in ENCODINGS {
        let runs = runs(row.pattern.text());
        let mut letters: Vec<char> = runs.iter().map(|(letter, ..)| *letter).collect();
        letters.sort_unstable();
        let split: Vec<char> =
            letters.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        let expected: &[char] = match (row.group(), row.mnemonic) {
            ("pcreladdr", _) => &['i'],
            ("testbranch", _) => &['b'],
            ("ldst_regoff", "prfm") => &['o'],
            // abc and defgh.
            ("asimdimm", _) => &['i'],
            // imm5 and imm4.
            _ if row.name == "INS_asimdins_IV_v" => &['i'],
            _ => &[],
        };
        assert_eq!(split, expected, "letters of {} in more than one place", row.name);
    }
}
