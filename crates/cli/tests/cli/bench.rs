//! `kvrm bench`.

use serde_json::Value;

use crate::support::{Folder, calling_program, guest, kvrm, refusal};

/// Measures on an engine, and returns the lines of JSON.
fn measured(engine: &str, arguments: &[&str]) -> Vec<Value> {
    let run = kvrm(&[&["bench", "--engine", engine, "--seconds", "0.01", "--json"], arguments].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "{arguments:?}");
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(line: &Value, guest: &str, lanes: u64) {
    assert_eq!((&line["guest"], &line["lanes"]), (&guest.into(), &lanes.into()), "{line}");
    let number = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("no {key} in {line}"));
    assert!((number("mips") * 1e6 - number("steps") / number("seconds")).abs() < 1.0, "{line}");
    assert!(number("steps") > 0.0 && number("seconds") > 0.005, "{line}");
    let all: Vec<f64> = line["all_mips"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!((line["repetitions"].as_u64(), all.len()), (Some(3), 3), "{line}");
    assert!(all.is_sorted() && all[1] == number("mips"), "the median counts: {line}");
}

#[test]
fn programs_are_measured_and_missing_ones_named_with_the_command_that_makes_them() {
    let folder = Folder::new();
    let path = folder.path("programs").display().to_string();
    let refused = |arguments: &[&str]| {
        let command = ["bench", "programs", "--engine", "reference", "--lanes", "2", "--programs", &path];
        refusal(&[&command[..], arguments].concat())
    };
    let text = refused(&[]);
    assert!(text.contains("expected a directory; `cargo xtask guests --programs` makes"), "{text}");
    std::fs::create_dir(&path).unwrap();
    let text = refused(&[]);
    assert!(text.contains("deflate") && text.contains("`cargo xtask guests --programs`"), "{text}");
    let text = refused(&["--only", "quake"]);
    assert!(text.contains("--only 'quake': expected one of deflate, ") && text.contains(", doom"), "{text}");
    let text = refused(&["--only", "doom"]);
    assert!(text.contains("`cargo xtask guests --doom` makes doom"), "{text}");
    // Another program in the place of one, with the same input in all lanes.
    std::fs::copy(guest("mix"), folder.path("programs/sqlite")).unwrap();
    let text = refused(&["--only", "sqlite", "--check"]);
    assert!(text.contains("sqlite: lanes 0 and 1 print the same"), "{text}");
    std::fs::copy(guest("mix"), folder.path("programs/doom")).unwrap();
    let text = refused(&["--only", "doom", "--check"]);
    assert!(text.contains("doom: the program has no symbol kvrm_started"), "{text}");
    let arguments = [
        "--lanes",
        "2",
        "--programs",
        &path,
        "--only",
        "sqlite",
        "--engine",
        "reference",
        "--seconds",
        "0.01",
    ];
    let run = kvrm(&[&["bench", "programs", "--json"], &arguments[..]].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""));
    let line: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&line["program"], &line["lanes"]), (&"sqlite".into(), &2.into()), "{line}");
    let all: Vec<f64> = line["all_mips"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(all.is_sorted() && all.len() == 3 && all[0] > 0.0 && line["mips"] == all[1], "{line}");
    assert!(line["window"].as_u64() > Some(0) && line["pages_a_lane"].as_f64() > Some(0.0), "{line}");
}

#[test]
fn guests_are_measured_over_numbers_of_lanes() {
    let lines = measured("reference", &["--lanes", "1,0x3"]);
    let expected =
        ["mix", "render", "sha256", "sieve"].into_iter().flat_map(|guest| [1, 3].map(|lanes| (guest, lanes)));
    assert_eq!(lines.len(), 8, "a line each");
    for (line, (guest, lanes)) in lines.iter().zip(expected) {
        check(line, guest, lanes);
        assert_eq!((&line["engine"], &line["device"]), (&"reference".into(), &Value::Null), "{line}");
    }
    let run =
        kvrm(&["bench", "--engine", "reference", "--seconds", "0.01", "--lanes", "2", "--guest", "mix"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "a table");
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["guest", "lanes", "MIPS", "steps", "seconds", "dispatches"], "its head");
    assert_eq!((rows.len(), &rows[1][..2]), (2, &["mix", "2"][..]), "its row");
}

#[test]
fn programs_in_files_are_measured() {
    let (vm, folder) = (guest("vm"), Folder::new());
    check(&measured("reference", &["--guest", &vm, "--lanes", "2"])[0], "vm", 2);
    // The message names the file. Earlier measurements stay on standard output.
    let missing = folder.path("missing").display().to_string();
    let message = refusal(&["bench", "--guest", "mix", &missing]);
    assert!(message.contains(&missing) && message.contains("mix, render, sha256, sieve"), "{message}");
    let text = folder.file("text", "no program");
    assert!(refusal(&["bench", "--guest", &text]).contains(&text), "it is named");
    let relocs = guest("relocs");
    let bench = ["bench", "--engine", "reference", "--seconds", "0.01", "--lanes", "1", "--guest"];
    let run = kvrm(&[&bench[..], &[&relocs]].concat());
    assert_eq!(run.status, 0, "position independent: {}", run.stderr);
    let raw = folder.file("raw", calling_program(&[], &[], 0));
    assert!(refusal(&["bench", "--guest", &raw]).contains(&raw), "it has to be an ELF file");
}

#[test]
fn invalid_measurements_are_refused() {
    let message = refusal(&["bench", "--lanes", "1,0"]);
    assert!(message.contains("at least 1 lane"), "{message}");
    for (option, value) in [
        ("--lanes", "1,,2"),
        ("--lanes", "x"),
        ("--seconds", "0"),
        ("--seconds", "-1"),
        ("--seconds", "NaN"),
        ("--seconds", "inf"),
        ("--seconds", "x"),
    ] {
        let message = refusal(&["bench", &format!("{option}={value}")]);
        assert!(message.contains(option), "{message}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn gpus_are_measured_too() {
    let lines = measured("gpu", &["--lanes", "1,9", "--guest", "mix", "--guest", "sieve"]);
    let expected = [("mix", 1), ("mix", 9), ("sieve", 1), ("sieve", 9)];
    assert_eq!(lines.len(), expected.len(), "a line each");
    for (line, (guest, lanes)) in lines.iter().zip(expected) {
        check(line, guest, lanes);
        assert_eq!(line["engine"], "gpu", "{line}");
        assert!(line["device"].is_string() && line["dispatches"].as_u64() > Some(0), "{line}");
    }
    let message = {
        let run =
            kvrm(&["bench", "--engine", "gpu", "--lanes", "1,100G", "--guest", "mix", "--seconds", "0.01"]);
        assert_eq!((run.status, run.stdout.lines().count()), (2, 2), "what was measured is kept");
        run.stderr
    };
    assert!(message.contains("room for ") && message.contains("mix in 100000000000 lanes"), "{message}");
}

#[test]
fn complete_runs_are_counted() {
    let bench =
        ["bench", "processes", "--engine", "reference", "--seconds", "0.01", "--lanes", "1,3", "--json"];
    let run = kvrm(&[&bench[..], &[&guest("lz"), "100", "{lane}"]].concat());
    assert_eq!((run.status, &*run.stderr), (0, ""), "measured");
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["lanes"].as_u64()).collect::<Vec<_>>(),
        [Some(1), Some(3)],
        "each"
    );
    for line in &lines {
        let number = |key: &str| line[key].as_f64().unwrap_or_else(|| panic!("no {key} in {line}"));
        assert!((number("runs_a_second") - number("runs") / number("seconds")).abs() < 1.0, "{line}");
        assert_eq!(number("runs") % number("lanes"), 0.0, "whole ones: {line}");
        assert!(number("steps") > 100.0 * number("runs"), "{line}");
    }
    let run = kvrm(&[&bench[..], &[&guest("lz"), "words"]].concat());
    assert_eq!(run.status, 0, "a program may exit with any status: {}", run.stderr);
    assert!(
        refusal(&["bench", "processes", "--lanes", "1", "/no/such/file"]).contains("/no/such/file"),
        "named"
    );
    let none = refusal(&["bench", "processes", "--lanes", "0", &guest("lz")]);
    assert!(none.contains("at least 1 lane"), "{none}");
}
