//! `kvrm regions`.

use serde_json::Value;

use crate::support::{Folder, kvrm, refusal};

/// The number from which the program counts down. Its loop begins at 0x10004.
const MANY: i64 = 0x7fff_0000;

#[test]
fn the_loop_is_a_region_with_its_text() {
    let folder = Folder::new();
    let run = kvrm(&["regions", "--raw", "--samples", "20", "--interval", "50", &folder.countdown(MANY)]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "it ends by itself");
    let expected = [
        "region 0: 2 instructions, 1 blocks, 1 entries, 100.0 % of the samples",
        "  0x10004: entry, 100.0 %, to 0x10004",
        "    0x10004  subs x0, x0, #0x1",
        "    0x10008  b.ne 0x10004",
        "1 regions have 100.0 % of the samples",
    ];
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), expected, "of the loop");
}

#[test]
fn regions_are_json_and_wgsl() {
    let folder = Folder::new();
    let program = folder.countdown(MANY);
    let run = kvrm(&["regions", "--raw", "--samples", "20", "--json", &program]);
    let region: Value = serde_json::from_str(&run.stdout).expect("one object");
    assert_eq!((&region["instructions"], &region["share"]), (&2.into(), &1.0.into()), "{region}");
    assert_eq!(region["blocks"][0]["to"][0], "0x10004", "{region}");
    let run = kvrm(&["regions", "--raw", "--samples", "20", "--wgsl", &program]);
    assert!(run.stdout.contains("fn run_region(") && run.stdout.contains("0x10004lu"), "{}", run.stdout);
}

#[test]
fn a_budget_ends_the_samples() {
    let folder = Folder::new();
    let run = kvrm(&["regions", "--raw", "--budget", "100", "--interval", "60", &folder.countdown(MANY)]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the budget ended after"), "{}", run.stderr);
}

#[test]
fn a_program_that_ends_at_once_has_no_samples() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.svc(3);
    });
    let run = kvrm(&["regions", "--raw", &program]);
    assert_eq!((run.status, &*run.stdout), (0, "0 regions have 0.0 % of the samples\n"), "{}", run.stderr);
    assert!(run.stderr.contains("the program ended after 0 samples"), "{}", run.stderr);
    let error = refusal(&["regions", "--raw", "--wgsl", "--json", &program]);
    assert!(error.contains("cannot be used with"), "{error}");
}
