//! The reports of several parts as one.

use std::collections::BTreeMap;

use kvrm_arm64::Class;

use crate::audit::{Damage, Violation};
use crate::hot_code::TranslationReport;
use crate::report::{ClassDecisions, Decisions};

/// Returns the decisions of all parts together, or `None` if no part has a network.
///
/// The network of one part may be evaluated by another device than that of the next part, so the smallest number of tuples
/// that are right counts.
pub(super) fn decisions(parts: Vec<Option<Decisions>>) -> Option<Decisions> {
    let mut parts = parts.into_iter().flatten();
    let mut total = parts.next()?;
    let mut classes: BTreeMap<_, _> = total.classes.iter().map(|class| (class.class, *class)).collect();
    for part in parts {
        total.tuples_right = total.tuples_right.min(part.tuples_right);
        for class in part.classes {
            let ClassDecisions { asked, mispredicted, fell_back, .. } = class;
            let entry = classes.entry(class.class);
            let add = |sum: &mut ClassDecisions| {
                sum.asked += asked;
                sum.mispredicted += mispredicted;
                sum.fell_back += fell_back;
            };
            entry.and_modify(add).or_insert(class);
        }
    }
    total.classes = Class::ALL.iter().filter_map(|class| classes.remove(class.name())).collect();
    Some(total)
}

/// Returns the translation of the first part that has not chosen a way, or of the first part that translates if all have, with
/// the steps of all parts. So lanes have settled when the report says so.
pub(super) fn translation(parts: Vec<Option<TranslationReport>>) -> Option<TranslationReport> {
    let mut parts: Vec<_> = parts.into_iter().flatten().collect();
    let steps = parts.iter().map(|part| part.steps).sum();
    let index = parts.iter().position(|part| !part.is_settled()).unwrap_or(0);
    (!parts.is_empty()).then(|| TranslationReport { steps, ..parts.swap_remove(index) })
}

/// Returns the names of devices in their order. Equal names become one with their number: `2 x NAME`. Returns `None` if there
/// is no device.
pub fn device_names<'a>(devices: impl Iterator<Item = &'a str>) -> Option<String> {
    let (names, mut devices) = (devices, Vec::<(&str, usize)>::new());
    for name in names {
        match devices.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => devices.push((name, 1)),
        }
    }
    let names: Vec<String> = devices
        .into_iter()
        .map(|(name, count)| if count == 1 { name.to_owned() } else { format!("{count} x {name}") })
        .collect();
    (!names.is_empty()).then(|| names.join("; "))
}

/// Returns a violation in a part whose first lane is `first`, with the numbers that its lanes have in the machine.
pub(super) fn violation(mut violation: Violation, first: usize) -> Violation {
    if let Some(lane) = &mut violation.lane {
        *lane += first;
    }
    if let Damage::ChainTwice { owner, .. } = &mut violation.damage {
        *owner += first;
    }
    violation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_add_up_by_class() {
        let of =
            |right, classes| Some(Decisions::new("hybrid", "dispatch 01".to_owned(), 100, right, classes));
        let parts = vec![
            of(99, vec![ClassDecisions::new(Class::Branch, 10, 3, 2)]),
            None,
            of(
                98,
                vec![
                    ClassDecisions::new(Class::Arithmetic, 5, 1, 0),
                    ClassDecisions::new(Class::Branch, 1, 1, 1),
                ],
            ),
        ];
        let expected = vec![
            ClassDecisions::new(Class::Arithmetic, 5, 1, 0),
            ClassDecisions::new(Class::Branch, 11, 4, 3),
        ];
        assert_eq!(decisions(parts), of(98, expected), "in the order of the classes");
        assert_eq!(decisions(vec![None, None]), None, "no network");
    }

    #[test]
    fn translation_has_settled_when_it_has_settled_in_all_parts() {
        let of = |state: &'static str, steps| Some(TranslationReport::new(state, Vec::new(), steps));
        let states = |parts| translation(parts).map(|report| (report.state, report.steps));
        let [waits, chosen] = [("compiling".into(), 7), ("chosen".into(), 7)];
        assert_eq!(
            states(vec![of("chosen", 4), None, of("compiling", 3)]),
            Some(waits),
            "one has not chosen"
        );
        assert_eq!(states(vec![None, of("chosen", 4), of("none", 3)]), Some(chosen), "all have");
        assert_eq!(states(vec![None]), None, "no part translates");
    }

    #[test]
    fn equal_devices_are_counted() {
        let names = |names: &[&str]| device_names(names.iter().copied());
        assert_eq!(names(&["a", "b", "a"]).as_deref(), Some("2 x a; b"), "two kinds");
        assert_eq!(names(&["a"]).as_deref(), Some("a"), "one device");
        assert_eq!(names(&[]), None, "the CPU");
    }

    #[test]
    fn violations_name_the_lane_of_the_machine() {
        let damage = |owner| Violation::new(Damage::ChainTwice { from: 1, owner }).at(0x1000);
        assert_eq!(violation(damage(2).of_lane(3), 10), damage(12).of_lane(13), "both lanes");
        assert_eq!(violation(damage(0), 5), damage(5), "no lane");
    }
}
