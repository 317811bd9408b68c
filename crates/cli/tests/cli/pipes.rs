//! Closed pipes and full devices: a reader that stops reading is not a failure.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::support::{CODE, Folder, Outcome, calling_program, command, guest, kvrm, outcome};

/// Runs the binary with a closed standard output.
fn unread(arguments: &[&str]) -> Outcome {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = command(arguments);
    command.stdout(writer).stderr(Stdio::piped());
    outcome(command.spawn().unwrap().wait_with_output().unwrap())
}

#[test]
fn closed_standard_output_is_not_a_failure() {
    let folder = Folder::new();
    let line = r#"{"name":"n","pc":"0x10000","code":["d503201f"],"steps":1}"#;
    let vectors = folder.file("v.jsonl", line);
    let vm = guest("vm");
    let cases: [&[&str]; 12] = [
        &["run", &vm, "3"],
        &["run", &vm, "3", "--lanes", "2"],
        &["run", &vm, "3", "--json"],
        &["run", &vm, "3", "--lanes", "100", "--json"],
        &["trace", &vm, "3"],
        &["trace", &vm, "3", "--json"],
        &["disasm", &vm],
        &["disasm", "--json", "--word", "d503201f"],
        &["vectors", "run", &vectors],
        &["vectors", "run", &vectors, "--json"],
        &["--help"],
        &["--version"],
    ];
    for arguments in cases {
        let run = unread(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("error"), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn a_guest_ends_when_standard_output_is_closed() {
    // The guest prints for ever.
    let folder = Folder::new();
    let mut program = calling_program(&[(4, CODE + 0x800)], &[(CODE + 0x800, b"hello\n\0")], 0);
    program[16..20].copy_from_slice(&0x17ff_fffc_u32.to_le_bytes()); // b . - 16, behind the call

    let program = folder.file("program", program);
    let run = unread(&["run", "--raw", &program, "--budget", "100M"]);
    assert_eq!((run.status, &*run.stderr), (0, ""), "it is no failure");
    let run = kvrm(&["run", "--raw", &program, "--budget", "400"]);
    assert_eq!((run.status, run.stdout.lines().count()), (124, 80), "if somebody does, it goes on");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for arguments in [
        &["run", &guest("vm"), "3"][..],
        &["run", &guest("vm"), "3", "--lanes", "2"],
        &["run", &guest("vm"), "3", "--json"],
        &["trace", &guest("vm"), "3"],
        &["disasm", &guest("vm")],
        &["vectors", "run", concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/manual.jsonl")],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = command(arguments);
        command.stdout(full).stderr(Stdio::piped());
        let run = outcome(command.spawn().unwrap().wait_with_output().unwrap());
        assert_eq!(run.status, 2, "{arguments:?}");
        let begin = "error: cannot write to standard output: No space left on device";
        assert!(run.stderr.lines().last().is_some_and(|line| line.starts_with(begin)), "{}", run.stderr);
    }
}

#[test]
fn a_reader_may_close_the_pipe_after_the_first_line() {
    for arguments in [&["trace", &guest("sieve")][..], &["disasm", &guest("sieve")]] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let run = outcome(child.wait_with_output().unwrap());
        assert_eq!((run.status, &*run.stderr), (0, ""), "{arguments:?}");
    }
}

#[test]
fn closed_standard_error_changes_no_status() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let cases: [(&[&str], i32); 5] = [
        (&["run", &guest("vm"), "--budget", "5"], 124),
        (&["run", &guest("vm"), "3", "--stats"], 0),
        (&["run", &guest("vm"), "--lanes", "2", "--budget", "5"], 1),
        (&["trace", &guest("vm"), "3"], 0),
        (&["run", "/no/such/file"], 2),
    ];
    for (arguments, status) in cases {
        let mut command = command(arguments);
        command.stdout(Stdio::null()).stderr(writer.try_clone().unwrap());
        let ended = command.status().unwrap();
        assert_eq!(ended.code(), Some(status), "{arguments:?}");
    }
}
