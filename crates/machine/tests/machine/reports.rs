//! Tests of the text of reports.

use kvrm_machine::Report;

fn report() -> Report {
    let report = serde_json::json!({
        "engine": "reference",
        "device": null,
        "lanes": 5,
        "steps": 3_000_000,
        "stops": { "budget": 2, "exit": 3 },
        "services": 7,
        "dispatches": 0,
        "frames": 11,
        "wall_seconds": 1.5,
    });
    serde_json::from_value(report).expect("the fields of a report")
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
    let mut report = report();
    report.engine = "gpu".into();
    report.device = Some("a card".to_owned());
    report.dispatches = 12;
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
