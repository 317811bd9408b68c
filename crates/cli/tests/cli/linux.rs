//! `kvrm run` with programs for Linux.

use kvrm::arm64::asm::{SP, X0, X1, X8};
use serde_json::Value;

use crate::support::{Elf, Folder, assemble, guest, kvrm, linux_guest, refusal};

#[test]
fn a_linux_program_is_known_by_its_file() {
    let run = kvrm(&["run", &linux_guest("process"), "--", "two words", ""]);
    assert_eq!(run.status, 3, "it exits with the number of its arguments");
    assert!(
        run.stderr.starts_with("note: ") && run.stderr.contains("\n  #999: unknown\n"),
        "its call: {}",
        run.stderr
    );
    assert!(run.stdout.starts_with("argc=3\nargument=two words\nargument=\n"), "{}", run.stdout);
    let run = kvrm(&["run", &linux_guest("tls")]);
    assert_eq!((run.status, run.stdout.lines().count()), (0, 7), "a position independent one");
    let run = kvrm(&["run", &linux_guest("process"), "--semihosting"]);
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
    let arguments = ["run", &linux_guest("process"), "--lanes", "2", "--env", "K={lane}", "--stdin", &input];
    let run = kvrm(&arguments);
    for line in ["[0] variable=K=0", "[1] variable=K=1", "[0] input=1", "[1] input=3"] {
        assert!(run.stdout.lines().any(|other| other == line), "{line}: {}", run.stdout);
    }
    let output = folder.path("output").display().to_string();
    let run = kvrm(&[&arguments[..], &["--output-dir", &output]].concat());
    assert_eq!(run.stdout, "", "the output is in files");
    let text = std::fs::read_to_string(folder.path("output").join("1.out")).unwrap();
    assert!(text.contains("\ninput=3\n"), "{text}");
}

#[test]
fn equal_outputs_are_shown_once() {
    let run = kvrm(&["run", &linux_guest("process"), "--lanes", "9", "--env", "K=1", "--group"]);
    assert!(run.stdout.starts_with("[0-8] exit"), "one group: {}", run.stdout);
    assert_eq!(run.stdout.matches("argc=1").count(), 1, "its output once");
    let run = kvrm(&["run", &linux_guest("process"), "--lanes", "3", "--env", "K={lane}", "--group"]);
    assert_eq!(run.stdout.matches("argc=1").count(), 3, "three groups");
}

#[test]
fn linux_programs_have_floating_point_on_every_engine() {
    let signals = linux_guest("signals");
    let run = kvrm(&["run", "--engine", "auto", &signals]);
    assert_eq!(run.status, 3, "it has vectors: {}", run.stderr);
    assert!(run.stderr.ends_with("running on the CPU\n"), "and says why: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "in one line: {}", run.stderr);
    assert_eq!(kvrm(&["run", "--engine", "reference", &signals]).stderr, "", "nothing if that was asked for");
    assert_eq!(kvrm(&["trace", "--skip", "1000000", &signals]).status, 3, "a trace has them, too");
}

#[test]
fn options_give_a_guest_copies_of_files_a_terminal_and_the_clock_of_the_host() {
    let folder = Folder::new();
    folder.file("0", "a");
    let copy = format!("{}:/data", folder.path("").display());
    let run = kvrm(&[
        "run",
        "--engine",
        "reference",
        &linux_guest("files"),
        "--copy",
        &copy,
        "--cwd",
        "/data",
        "new",
    ]);
    assert_eq!(run.status, 3, "it makes a directory here: {}{}", run.stdout, run.stderr);
    assert!(!folder.path("new").exists(), "and not on the host");
    let (saved, all) = (format!("/data:{}", folder.path("saved{lane}").display()), &["--lanes", "2"]);
    let saving = ["run", "--copy", &copy, &linux_guest("process"), "--save", &saved];
    assert_eq!(kvrm(&[&saving[..], all].concat()).status, 1, "two lanes");
    assert_eq!(std::fs::read(folder.path("saved1/0")).unwrap(), b"a", "unless that is asked for");
    assert!(refusal(&saving).contains("saved0"), "the directory exists already");
    assert_eq!(
        kvrm(&["run", "--lanes", "2", &linux_guest("process"), "--save", "/:x"]).status,
        2,
        "all in one"
    );
    let process = linux_guest("process");
    let run = |extra: &[&str]| kvrm(&[&["run", "--engine", "reference", &process], extra].concat());
    assert!(run(&[]).stdout.contains("\nterminal=-25\n"), "{}", run(&[]).stdout);
    assert!(run(&["--tty"]).stdout.contains("\nterminal=0\n"), "{}", run(&["--tty"]).stdout);
    assert!(run(&["--real-time"]).stdout.contains("\nlater=1\n"), "it sleeps");
    assert_eq!(run(&["--seed", "random"]).status, 1, "whatever the seed is");
    assert_eq!(run(&["--seed", "chance"]).status, 2, "this is none");
    assert!(
        refusal(&["run", &process, "--cwd", "/missing"]).contains("/missing"),
        "there is no such directory"
    );
}

#[test]
fn invalid_options_are_refused() {
    let program = linux_guest("tls");
    let run = |extra: &[&str]| kvrm(&[&["run", &program], extra].concat()).status;
    assert_eq!(run(&["--env", "NAME"]), 2, "no value");
    assert_eq!(run(&["--mount", "here"]), 2, "no guest path");
    assert_eq!(run(&["--mount", "here:relative"]), 2, "a relative one");
    assert_eq!(run(&["--linux", "--semihosting"]), 2, "both");
    let message = refusal(&["run", &program, "--mount", "/no/such/directory:/x"]);
    assert!(message.contains("/no/such/directory"), "{message}");
}

/// Returns a Linux program that makes system calls and exits with a status.
fn calling_linux_program(calls: &[i64], status: i64) -> Vec<u8> {
    let code = assemble(|a| {
        for &call in calls {
            a.mov(X0, 0).mov(X8, call).svc(0);
        }
        a.mov(X0, status).mov(X8, 93).svc(0);
    });
    Elf::PROGRAM.bytes(&code)
}

#[test]
fn a_failed_program_is_told_the_names_of_unknown_calls() {
    let folder = Folder::new();
    let run = |calls: &[i64], status: i64, options: &[&str]| {
        let program = folder.file("program", calling_linux_program(calls, status));
        kvrm(&[&["run", &program], options].concat())
    };
    let failed = run(&[425, 999, 217, 425], 7, &[]);
    let note = "note: the program failed, perhaps because KVRM did not serve these system calls:\n  add_key: unknown\n  \
                io_uring_setup: unknown, 2 times\n  #999: unknown\nhint: --strace shows the calls with their arguments; \
                docs/linux.md lists those that KVRM serves\n";
    assert_eq!((failed.status, &*failed.stderr), (7, note), "names, and numbers without a name");
    assert_eq!(run(&[425], 0, &[]).stderr, "", "nothing after success");
    assert_eq!(run(&[172], 1, &[]).stderr, "", "getpid is served");
    let lanes = run(&[425], 1, &["--lanes", "3"]).stderr;
    assert!(lanes.contains("io_uring_setup: unknown, 3 times"), "all lanes together: {lanes}");
    let json = run(&[425], 1, &["--json"]);
    let report: Value = serde_json::from_str(&json.stdout).expect("the output is JSON");
    assert_eq!((&report["unknown_calls"]["425"], &*json.stderr), (&1.into(), ""), "JSON has the number");
}

#[test]
fn a_failed_program_is_told_which_calls_were_refused() {
    let folder = Folder::new();
    let run = |calls: &[i64], status: i64, options: &[&str]| {
        let program = folder.file("program", calling_linux_program(calls, status));
        kvrm(&[&["run", &program], options].concat())
    };
    // socket of the family 0, twice, and rseq
    let calls = [198, 198, 293];
    let note = "note: the program failed, perhaps because KVRM did not serve these system calls:\n  \
                socket: refused, 2 times (served: Unix sockets, and TCP and UDP over the loopback interface of the lane)\n\
                hint: a lane has no network but its own: give the program its data as files, by --mount, --copy, --sysroot or --stdin\nhint: --strace shows the calls with their \
                arguments; docs/linux.md lists those that KVRM serves\n";
    let failed = run(&calls, 7, &["--engine", "reference"]);
    assert_eq!((failed.status, &*failed.stderr), (7, note), "names and reasons; C libraries do without rseq");
    assert_eq!(run(&calls, 0, &["--engine", "reference"]).stderr, "", "nothing after success");
    let both = run(&[198, 425], 7, &["--engine", "reference"]).stderr;
    let lines: Vec<&str> = both.lines().collect();
    assert!(
        lines.len() == 5 && lines[1].contains("io_uring_setup") && lines[2].contains("socket"),
        "one note has the unknown calls, then the refused ones: {both}"
    );
    let json = run(&calls, 1, &["--engine", "reference", "--json"]);
    let report: Value = serde_json::from_str(&json.stdout).expect("the output is JSON");
    assert_eq!(report["refused_calls"], serde_json::json!({ "198": 2 }), "JSON has the numbers");
    assert_eq!(report["unknown_calls"], Value::Null, "refused calls are known");
}

#[test]
fn system_calls_are_traced_in_chosen_lanes() {
    let folder = Folder::new();
    let program = folder.file("program", calling_linux_program(&[172, 425], 7));
    let run = |options: &[&str]| kvrm(&[&["run", "--engine", "reference"], options, &[&program]].concat());
    let trace = "getpid()                                = 2\n\
                 syscall_0x1a9(";
    let one = run(&["--strace"]);
    assert_eq!(one.status, 7, "the status is that of the guest");
    assert!(one.stderr.starts_with(trace), "on standard error: {}", one.stderr);
    assert!(one.stderr.contains("+++ exited with 7 +++\n"), "to the end: {}", one.stderr);
    let some = run(&["--strace=1,3-4", "--lanes", "5"]).stderr;
    let with = |lane: usize| some.lines().filter(|line| line.starts_with(&format!("[{lane}] "))).count();
    assert_eq!([0, 1, 2, 3, 4].map(with), [0, 4, 0, 4, 4], "lanes 1, 3 and 4: {some}");
    let file = folder.path("trace.{lane}").display().to_string();
    let quiet = run(&["--strace", "--lanes", "2", "--strace-output", &file]);
    assert!(!quiet.stderr.contains("getpid"), "in files instead: {}", quiet.stderr);
    let text = std::fs::read_to_string(folder.path("trace.1")).expect("lane 1 has a file");
    assert!(text.starts_with(trace), "of lane 1: {text}");
    assert!(run(&["--strace=7"]).stderr.contains("there is no lane 7"), "a lane that does not exist");
    assert_eq!(kvrm(&["run", "--strace-output", &file, &program]).status, 2, "it needs --strace");
}

#[test]
fn a_later_instruction_is_explained() {
    let folder = Folder::new();
    let code = assemble(|a| {
        a.word(0xd920_0820).mov(X8, 93).svc(0); // stg x0, [x1]
    });
    let program = folder.file("program", Elf::PROGRAM.bytes(&code));
    let run = kvrm(&["run", &program]);
    assert_eq!(run.status, 125, "{}", run.stderr);
    let hint = "hint: the word 0xd9200820 is an instruction of FEAT_MTE: memory tagging (IRG, ADDG, STG, LDG and others); \
                Armv8.5 added it, KVRM does not have it, and no option adds it; build the program with -march=armv8-a\n";
    assert!(run.stderr.ends_with(hint), "{}", run.stderr);
    let trace = kvrm(&["trace", &program]);
    assert!(trace.stderr.ends_with(hint), "{}", trace.stderr);
}

/// Returns a Linux program that makes a system call again and again, with `pause` instructions between two calls.
fn looping_linux_program(call: i64, pause: usize) -> Vec<u8> {
    let code = assemble(|a| {
        let again = a.label();
        a.bind(again);
        a.mov(X0, 1).sub(X1, SP, 64).mov(X8, call).svc(0);
        for _ in 0..pause {
            a.nop();
        }
        a.b(again);
    });
    Elf::PROGRAM.bytes(&code)
}

#[test]
fn a_program_that_waits_by_the_clock_is_told_what_the_clock_counts() {
    let folder = Folder::new();
    let run = |call: i64, pause: usize, options: &[&str]| {
        let program = folder.file("program", looping_linux_program(call, pause));
        let run = kvrm(&[&["run", &program, "--budget", "50000"], options].concat());
        assert!(matches!(run.status, 1 | 124), "it is endless: {}", run.stderr);
        run.stderr.contains("--real-time shows it the clock of the host")
    };
    assert!(run(113, 0, &[]), "clock_gettime");
    assert!(run(113, 900, &[]), "more than one look in a thousand steps");
    assert!(!run(113, 1100, &[]), "fewer looks");
    assert!(!run(172, 0, &[]), "getpid shows no clock");
    assert!(!run(113, 0, &["--real-time"]), "it is the clock of the host already");
    assert!(run(113, 0, &["--lanes", "2"]), "several lanes");
}
