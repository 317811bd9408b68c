//! `kvrm run` with many lanes.

use kvrm::arm64::asm::{X0, X1, at};
use serde_json::Value;

use crate::support::{CODE, Folder, calling_program, guest, kvrm, refusal, words};

#[test]
fn every_line_is_shown_with_its_lane_in_order() {
    let run = kvrm(&["run", &guest("sieve"), "--lanes", "12", "--lane-arg", "1{lane}0"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "all exit with 0");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 12, "a line each");
    for (lane, line) in lines.into_iter().enumerate() {
        let alone = kvrm(&["run", &guest("sieve"), &format!("1{lane}0")]).stdout;
        assert_eq!(line, format!("[{lane}] {}", alone.trim_end()), "lane {lane} as if alone");
    }
}

#[test]
fn templates_come_after_the_arguments_in_their_order() {
    let run = kvrm(&["run", "--lanes", "0x2", "--lane-arg", "{lane}", &guest("vm"), "4"]);
    for (lane, line) in run.stdout.lines().enumerate() {
        assert!(line.starts_with(&format!("[{lane}] vm size=4 seed={lane} ")), "{line}");
    }
    let arguments = ["--lane-arg", "2", "--lane-arg", "{lane}{lane}"];
    let run = kvrm(&[&["run", "--lanes", "2", &guest("vm")], &arguments[..]].concat());
    for (line, seed) in run.stdout.lines().zip(["0", "11"]) {
        assert!(line.contains(&format!("size=2 seed={seed} ")), "{line}");
    }
    for template in ["{lan}", "{lane", "lane}", "{}", "{{lane}}", "{LANE}"] {
        let message = refusal(&["run", &guest("vm"), "--lane-arg", template]);
        assert!(message.contains(template), "{message}");
    }
}

#[test]
fn the_status_is_1_unless_all_lanes_exit_with_0() {
    let sieve = guest("sieve");
    let run = |extra: &[&str]| kvrm(&[&["run", &sieve, "--lanes", "3"], extra].concat());
    assert_eq!(run(&["10"]).status, 0, "all good");
    let run = run(&["10", "--lane-arg", "{lane}x"]);
    assert_eq!(run.status, 1, "all refuse their arguments");
    let folder = Folder::new();
    let program = folder.file("program", calling_program(&[], &[], 0));
    assert_eq!(kvrm(&["run", "--raw", &program, "--lanes", "3"]).status, 0, "all good");
    let run = kvrm(&["run", "--raw", &program, "--lanes", "3", "--budget", "3"]);
    assert_eq!(run.status, 1, "a budget that is too small");
}

#[test]
fn the_first_lanes_that_stop_are_explained() {
    let folder = Folder::new();
    let program = folder.program(|a| {
        a.ldr(X0, at(X1, 0));
    });
    for lanes in [2, 8, 9, 1000] {
        let run = kvrm(&["run", "--raw", &program, "--lanes", &lanes.to_string()]);
        assert_eq!((run.status, &*run.stdout), (1, ""), "{lanes} lanes");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(lines.len(), if lanes > 8 { 9 } else { lanes }, "{lanes} lanes");
        for (lane, line) in lines[..lanes.min(8)].iter().enumerate() {
            let text = "stopped: read from unmapped memory at 0x0; pc 0x10000: ldr x0, [x1]";
            assert_eq!(*line, format!("lane {lane} {text}"), "lane {lane}");
        }
        if lanes > 8 {
            assert_eq!(lines[8], format!("{} more lanes stopped without exiting", lanes - 8), "the rest");
        }
    }
}

#[test]
fn json_has_an_entry_per_lane() {
    let arguments = ["run", &guest("vm"), "--lanes", "5", "--lane-arg", "{lane}", "--json"];
    let run = kvrm(&arguments);
    assert_eq!(run.stderr, "", "it says nothing else");
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let lanes = json["lanes"].as_array().unwrap();
    assert_eq!(lanes.len(), 5, "entries");
    for (number, lane) in lanes.iter().enumerate() {
        let alone = kvrm(&["run", &guest("vm"), &number.to_string(), "--json"]);
        let alone: Value = serde_json::from_str(&alone.stdout).unwrap();
        let mut expected = alone["lanes"][0].clone();
        expected["lane"] = number.into();
        assert_eq!(*lane, expected, "lane {number} as if alone");
    }
    let steps: u64 = lanes.iter().map(|lane| lane["steps"].as_u64().unwrap()).sum();
    assert_eq!(json["steps"], steps, "steps of all");
}

#[test]
fn every_lane_reads_the_same_input_and_writes_to_the_same_folder() {
    let folder = Folder::new();
    let input = folder.file("input", "yes");
    std::fs::create_dir(folder.path("shared")).unwrap();
    let shared = folder.path("shared").display().to_string();
    // Reads a character to 0x10900 (by way of READ on the console) and appends it to a file.
    let [console, read, file, write, text] = [0x800, 0x820, 0x840, 0x860, 0x900].map(|offset| CODE + offset);
    let calls = [(1, console), (6, read), (1, file), (5, write)];
    let data = [
        (console, &words(&[text + 8, 0, 3])[..]),
        (read, &words(&[1, text, 3])),
        (file, &words(&[text + 16, 8, 3])),
        (write, &words(&[2, text, 3])),
        (text + 8, b":tt"),
        (text + 16, b"log"),
    ];
    let program = folder.file("program", calling_program(&calls, &data, 0));
    let arguments = ["run", "--raw", &program, "--lanes", "3", "--input", &input, "--dir", &shared];
    let run = kvrm(&arguments);
    assert_eq!((run.status, &*run.stderr), (0, ""), "all exit");
    assert_eq!(std::fs::read_to_string(folder.path("shared/log")).unwrap(), "yesyesyes", "one each");
    assert_eq!(kvrm(&arguments[..7]).status, 0, "without a folder the calls fail, and the guest ends");
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 3, "no file is made anywhere else");
}
