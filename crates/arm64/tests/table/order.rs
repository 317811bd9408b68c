//! The order of rows, on which the decoder and readers rely.

use std::collections::BTreeSet;

use kvrm_arm64::encoding::{ENCODINGS, HoleTest};

#[test]
fn where_diagrams_overlap_the_earlier_row_is_the_more_specific_one() {
    let mut overlaps = 0;
    for (index, later) in ENCODINGS.iter().enumerate() {
        for earlier in &ENCODINGS[..index] {
            let (first, second) = (earlier.pattern, later.pattern);
            if (first.value ^ second.value) & first.mask & second.mask != 0 {
                continue;
            }
            overlaps += 1;
            let contained = first.mask & second.mask == second.mask && first.mask != second.mask;
            // The words that match both may also be in a hole of the later row.
            let (mask, value) = (first.mask | second.mask, first.value | second.value);
            let in_hole = later.holes.iter().any(|hole| match hole.test {
                HoleTest::Pattern(hole) => hole.mask & !mask == 0 && value & hole.mask == hole.value,
                HoleTest::ReservedBitMask => false,
            });
            assert!(
                contained || in_hole,
                "{} hides words of {} without being a special case",
                earlier.name,
                later.name
            );
        }
    }
    // There are at least HINT and its special cases.
    assert!(overlaps > 20, "only {overlaps} overlaps; are they all found?");
}

#[test]
fn rows_of_a_group_stand_together() {
    let mut groups: Vec<&str> = ENCODINGS.iter().map(|row| row.group()).collect();
    groups.dedup();
    let distinct: BTreeSet<&str> = groups.iter().copied().collect();
    assert_eq!(groups.len(), distinct.len(), "a group is in two places: {groups:?}");
}
