//! Tests of the text of reports.

use std::collections::BTreeMap;
use std::time::Duration;

use kvrm_machine::Report;

fn report() -> Report {
    Report {
        engine: "reference",
        device: None,
        lanes: 5,
        steps: 3_000_000,
        stops: BTreeMap::from([("budget", 2), ("exit", 3)]),
        unknown_calls: BTreeMap::new(),
        refused_calls: BTreeMap::new(),
        services: 7,
        dispatches: 0,
        decisions: None,
        frames: 11,
        wall: Duration::from_millis(1500),
    }
}

#[test]
fn a_report_is_aligned() {
    let expected = "\
engine    reference
lanes     5
stops     2 budget, 3 exit
steps     3000000
services  7
frames    11
time      1.500 s
speed     2.0 MIPS";
    assert_eq!(report().to_string(), expected, "the report of a run on the CPU");
}

#[test]
fn a_report_names_the_device_if_there_is_one() {
    let report = Report { engine: "gpu", device: Some("a card".to_owned()), dispatches: 12, ..report() };
    let expected = "\
engine      gpu
device      a card
lanes       5
stops       2 budget, 3 exit
steps       3000000
services    7
dispatches  12
frames      11
time        1.500 s
speed       2.0 MIPS";
    assert_eq!(report.to_string(), expected, "the report of a run on a device");
}
