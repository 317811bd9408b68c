//! `kvrm vectors run`.

use serde_json::Value;

use crate::support::{Folder, Outcome, kvrm, refusal};

/// Returns a vector with `mov x0, #k` that expects `expected` in x0.
fn vector(name: &str, k: u32, expected: u64) -> String {
    let word = 0xd280_0000_u32 | k << 5;
    format!(
        r#"{{"name":"{name}","pc":"0x10000","code":["{word:08x}"],"steps":1,"final":{{"x":{{"0":"{expected:#x}"}}}}}}"#
    )
}

#[test]
fn vectors_that_pass_are_counted() {
    let folder = Folder::new();
    let three: Vec<String> = (0..3).map(|k| vector("good", k, k.into())).collect();
    let file = folder.file("three.jsonl", three.join("\n"));
    let empty = folder.file("empty.jsonl", "\n");
    for (files, count) in [(vec![&file], 3), (vec![&file, &file], 6)] {
        let mut arguments = vec!["vectors", "run"];
        arguments.extend(files.iter().map(|file| file.as_str()));
        let expected =
            Outcome { status: 0, stdout: format!("{count} passed, 0 failed\n"), stderr: String::new() };
        assert_eq!(kvrm(&arguments), expected, "{arguments:?}");
    }
    // A file without vectors is most likely a mistake.
    let message = refusal(&["vectors", "run", &file, &empty]);
    assert!(message.contains(&empty), "{message}");
}

#[test]
fn vectors_that_fail_are_shown_and_the_status_is_1() {
    let folder = Folder::new();
    let lines = [vector("good", 1, 1), vector("bad", 2, 3), vector("good", 4, 4)];
    let file = folder.file("vectors.jsonl", lines.join("\n"));
    let run = kvrm(&["vectors", "run", &file]);
    let expected = format!(
        "FAILED in {file}: bad
       0x10000  d2800040  mov x0, #0x2
              expected  got
    x0        0x3       0x2

2 passed, 1 failed
"
    );
    assert_eq!(run, Outcome { status: 1, stdout: expected, stderr: String::new() }, "one of three");
    let run = kvrm(&["vectors", "run", &file, "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = serde_json::json!({
        "engine": "reference", "device": null, "passed": 2, "failed": 1, "failures": [{
            "file": file, "name": "bad", "mismatches": [{ "what": "x0", "expected": "0x3", "got": "0x2" }],
        }],
    });
    assert_eq!((run.status, json), (1, expected), "as JSON");
}

#[test]
fn ten_failures_are_shown_and_all_are_counted() {
    let folder = Folder::new();
    let lines: Vec<String> = (0..25).map(|k| vector(&format!("bad{k}"), k, 99)).collect();
    let file = folder.file("vectors.jsonl", lines.join("\n"));
    let run = kvrm(&["vectors", "run", &file]);
    let shown: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("FAILED in ")).collect();
    let expected: Vec<String> = (0..10).map(|k| format!("FAILED in {file}: bad{k}")).collect();
    assert_eq!(shown, expected, "the first ten");
    assert!(run.stdout.ends_with("\n0 passed, 25 failed\n"), "{}", run.stdout);
    let run = kvrm(&["vectors", "run", &file, "--json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["failures"].as_array().unwrap().len(), 25, "JSON has them all");
}

#[test]
fn a_broken_line_is_named_before_anything_runs() {
    let folder = Folder::new();
    let good = folder.file("good.jsonl", vector("bad", 1, 2));
    let bad = folder.file("bad.jsonl", format!("{}\n\n{{}}\n", vector("good", 1, 1)));
    let missing = folder.path("missing.jsonl").display().to_string();
    for files in [&[&bad][..], &[&good, &bad], &[&bad, &good], &[&bad, &missing]] {
        let mut arguments = vec!["vectors", "run"];
        arguments.extend(files.iter().map(|file| file.as_str()));
        let message = refusal(&arguments);
        assert!(message.starts_with(&format!("error: {bad}:3: missing field `name`")), "{message}");
    }
    let message = refusal(&["vectors", "run", &good, &missing]);
    assert!(message.contains(&missing), "{message}");
    let packed = folder.file("packed.jsonl.gz", vector("good", 1, 1));
    assert!(refusal(&["vectors", "run", &packed]).contains(&packed), "it is not compressed");
}

#[test]
fn the_corpus_written_by_hand_passes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/manual.jsonl");
    let run = kvrm(&["vectors", "run", file]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "{}", run.stdout);
    assert!(run.stdout.ends_with(" passed, 0 failed\n"), "{}", run.stdout);
}
