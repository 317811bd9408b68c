//! `kvrm run` with programs for Linux.

use std::path::Path;

use crate::support::{Folder, guest, kvrm, refused};

/// The path of a Linux guest of the repository.
fn linux(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/linux/bin");
    folder.join(name).with_extension("elf").display().to_string()
}

#[test]
fn a_linux_program_is_known_by_its_file() {
    let run = kvrm(&["run", &linux("process"), "--", "two words", ""]);
    assert_eq!((run.status, &*run.stderr), (3, ""), "it exits with the number of its arguments");
    assert!(run.stdout.starts_with("argc=3\nargument=two words\nargument=\n"), "{}", run.stdout);
    let run = kvrm(&["run", &linux("tls")]);
    assert_eq!((run.status, run.stdout.lines().count()), (0, 7), "a position independent one");
    let run = kvrm(&["run", &linux("process"), "--semihosting"]);
    assert_eq!(run.status, 125, "its first call stops it");
    let run = kvrm(&["run", &guest("sieve"), "--linux"]);
    assert_eq!(run.status, 125, "and the other way round");
}

#[test]
fn lanes_have_inputs_variables_and_files_of_their_own() {
    let folder = Folder::new();
    folder.file("0", "a");
    folder.file("1", "bcd");
    let input = folder.path("{lane}").display().to_string();
    let arguments = ["run", &linux("process"), "--lanes", "2", "--env", "K={lane}", "--stdin", &input];
    let run = kvrm(&arguments);
    for line in ["[0] variable=K=0", "[1] variable=K=1", "[0] input=1", "[1] input=3"] {
        assert!(run.stdout.lines().any(|other| other == line), "{line}: {}", run.stdout);
    }
    let output = folder.path("output").display().to_string();
    let run = kvrm(&[&arguments[..], &["--output-dir", &output]].concat());
    assert_eq!(run.stdout, "", "it is in files");
    let text = std::fs::read_to_string(folder.path("output").join("1.out")).unwrap();
    assert!(text.contains("\ninput=3\n"), "{text}");
}

#[test]
fn equal_outputs_are_shown_once() {
    let run = kvrm(&["run", &linux("process"), "--lanes", "9", "--env", "K=1", "--group"]);
    assert!(run.stdout.starts_with("[0-8] exit"), "one group: {}", run.stdout);
    assert_eq!(run.stdout.matches("argc=1").count(), 1, "its output once");
    let run = kvrm(&["run", &linux("process"), "--lanes", "3", "--env", "K={lane}", "--group"]);
    assert_eq!(run.stdout.matches("argc=1").count(), 3, "three groups");
}

#[test]
fn linux_programs_run_where_there_is_floating_point() {
    let signals = linux("signals");
    let run = kvrm(&["run", "--engine", "auto", &signals]);
    assert_eq!(run.status, 3, "it has vectors: {}", run.stderr);
    assert!(run.stderr.ends_with("running on the CPU reference\n"), "and says why: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "in one line: {}", run.stderr);
    assert_eq!(kvrm(&["run", "--engine", "reference", &signals]).stderr, "", "nothing if that was asked for");
    assert_eq!(kvrm(&["trace", "--skip", "1000000", &signals]).status, 3, "a trace has them, too");
}

#[test]
fn a_guest_sees_copies_of_the_hosts_files_and_clocks_if_it_is_to() {
    let folder = Folder::new();
    folder.file("0", "a");
    let copy = format!("{}:/data", folder.path("").display());
    let run =
        kvrm(&["run", "--engine", "reference", &linux("files"), "--copy", &copy, "--cwd", "/data", "new"]);
    assert_eq!(run.status, 3, "it makes a directory here: {}{}", run.stdout, run.stderr);
    assert!(!folder.path("new").exists(), "and not on the host");
    let (saved, all) = (format!("/data:{}", folder.path("saved{lane}").display()), &["--lanes", "2"]);
    let saving = ["run", "--copy", &copy, &linux("process"), "--save", &saved];
    assert_eq!(kvrm(&[&saving[..], all].concat()).status, 1, "two lanes");
    assert_eq!(std::fs::read(folder.path("saved1/0")).unwrap(), b"a", "unless that is asked for");
    assert!(refused(&saving).contains("saved0"), "it is there already");
    assert_eq!(kvrm(&["run", "--lanes", "2", &linux("process"), "--save", "/:x"]).status, 2, "all in one");
    let process = linux("process");
    let run = |extra: &[&str]| kvrm(&[&["run", "--engine", "reference", &process], extra].concat());
    assert!(run(&[]).stdout.contains("\nterminal=-25\n"), "{}", run(&[]).stdout);
    assert!(run(&["--tty"]).stdout.contains("\nterminal=0\n"), "{}", run(&["--tty"]).stdout);
    assert!(run(&["--real-time"]).stdout.contains("\nlater=1\n"), "it sleeps");
    assert_eq!(run(&["--seed", "random"]).status, 1, "whatever the seed is");
    assert_eq!(run(&["--seed", "chance"]).status, 2, "this is none");
    assert!(
        refused(&["run", &process, "--cwd", "/missing"]).contains("/missing"),
        "there is no such directory"
    );
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let program = linux("tls");
    let run = |extra: &[&str]| kvrm(&[&["run", &program], extra].concat()).status;
    assert_eq!(run(&["--env", "NAME"]), 2, "no value");
    assert_eq!(run(&["--mount", "here"]), 2, "no guest path");
    assert_eq!(run(&["--mount", "here:relative"]), 2, "a relative one");
    assert_eq!(run(&["--linux", "--semihosting"]), 2, "both");
    let message = refused(&["run", &program, "--mount", "/no/such/directory:/x"]);
    assert!(message.contains("/no/such/directory"), "{message}");
}
