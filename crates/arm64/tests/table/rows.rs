//! Every row is an encoding of Arm's specification.

use std::collections::BTreeSet;

use kvrm_arm64::Op;
use kvrm_arm64::encoding::ENCODINGS;

use crate::arm;

#[test]
fn every_row_has_the_diagram_arm_gives_it() {
    for row in ENCODINGS {
        let arm = arm::by_name().get(row.name).unwrap_or_else(|| {
            panic!("{} is not an encoding of Arm's specification outside SVE and SME", row.name)
        });
        let pattern = row.pattern;
        assert_eq!(pattern.should_be_mask, arm.should_be_mask, "should-be bits of {}", row.name);
        assert_eq!(pattern.mask | pattern.should_be_mask, arm.mask, "fixed bits of {}", row.name);
        assert_eq!(pattern.value | pattern.should_be_value, arm.value, "their values in {}", row.name);
        assert_eq!(pattern.canonical(), arm.value, "the canonical word of {}", row.name);
    }
}

#[test]
fn the_group_in_the_name_of_a_row_is_arms_group() {
    for row in ENCODINGS {
        assert_eq!(row.group(), arm::by_name()[row.name].group, "group of {}", row.name);
    }
}

#[test]
fn names_are_unique_and_find_their_row() {
    let names: BTreeSet<&str> = ENCODINGS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), ENCODINGS.len(), "a name occurs twice");
    for (index, row) in ENCODINGS.iter().enumerate() {
        assert_eq!(row.op as usize, index, "{} is at the index of its number", row.name);
        assert_eq!(row.op.encoding().name, row.name, "the row of {:?}", row.op);
        assert_eq!(Op::from_name(row.name), Some(row.op), "the encoding named {}", row.name);
    }
    assert_eq!(Op::from_name("ADD"), None, "a mnemonic is not a name");
}
