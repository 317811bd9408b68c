//! Arguments that the command line refuses: with a message on standard error, status 2, and no panic.

use crate::support::{Folder, guest, kvrm, refusal};

#[test]
fn files_that_are_not_programs_are_refused_and_named() {
    let folder = Folder::new();
    let text = folder.file("text", "no program");
    let empty = folder.file("empty", "");
    let script = folder.file("script", "#!/bin/sh\n");
    let cut = folder.file("cut", &std::fs::read(guest("vm")).unwrap()[..100]);
    let missing = folder.path("missing").display().to_string();
    let directory = folder.path("").display().to_string();
    for command in ["run", "trace", "disasm"] {
        for file in [&text, &empty, &script, &cut, &missing, &directory] {
            let message = refusal(&[command, file]);
            assert!(message.contains(&**file), "{command} names it: {message}");
            assert_eq!(message.lines().count(), 1, "in one line: {message}");
        }
        for file in [&missing, &directory] {
            let message = refusal(&[command, "--raw", file]);
            assert!(message.contains(&**file), "{command} names it: {message}");
        }
    }
    for command in ["run", "trace"] {
        let message = refusal(&[command, "--raw", &empty, "--raw-memory", "0"]);
        assert!(message.contains("of 0x0 bytes"), "{message}");
    }
    // The binary under test is a program of the host, not of the guest.
    let own = env!("CARGO_BIN_EXE_kvrm");
    assert!(refusal(&["run", own]).contains(own), "another machine's program");
}

#[test]
fn missing_files_of_options_are_named() {
    let folder = Folder::new();
    let missing = folder.path("missing").display().to_string();
    let file = folder.file("file", "text");
    for command in ["run", "trace"] {
        for (option, path) in [("--dir", &missing), ("--dir", &file), ("--input", &missing)] {
            let message = refusal(&[command, &guest("vm"), option, path]);
            assert!(message.contains(&**path), "{command} {option}: {message}");
        }
    }
}

#[test]
fn invalid_numbers_are_refused_and_shown() {
    let numbers =
        ["", "x", "-1", "+1", "1.5", "0x", "0xg", "K", "1T", "18446744073709551616", "0x1_0000_0000_0000G"];
    for option in ["--lanes", "--budget", "--stack", "--heap", "--frames"] {
        for number in numbers {
            let message = refusal(&["run", &guest("vm"), &format!("{option}={number}")]);
            assert!(message.contains(option) && message.contains(&format!("'{number}'")), "{message}");
        }
    }
    for option in ["--skip", "--lane", "--budget"] {
        let message = refusal(&["trace", &guest("vm"), &format!("{option}=1x")]);
        assert!(message.contains(option), "{message}");
    }
    for word in ["", "x", "0x", "-1", "+1", "1d503201f", "d503201g"] {
        let message = refusal(&["disasm", &format!("--word={word}")]);
        assert!(message.contains("hexadecimal"), "{message}");
    }
}

#[test]
fn lanes_are_at_least_one_and_fit_in_memory() {
    let message = refusal(&["run", &guest("vm"), "--lanes", "0"]);
    assert!(message.contains("at least 1 lane"), "{message}");
    for lanes in ["0xffff_ffff_ffff_ffff", "0x1000_0000_0000"] {
        let message = refusal(&["run", &guest("vm"), "--lanes", lanes]);
        assert!(message.contains("lanes do not fit in memory"), "{message}");
    }
}

#[test]
fn commands_and_options_that_do_not_exist_are_refused() {
    let vm = guest("vm");
    let cases: [&[&str]; 18] = [
        &["fly"],
        &["run"],
        &["trace"],
        &["disasm"],
        &["vectors"],
        &["vectors", "run"],
        &["vectors", "fly"],
        &["run", &vm, "--fast"],
        &["run", &vm, "-x"],
        &["run", &vm, "--budget"],
        &["run", &vm, "--stats=yes"],
        &["run", &vm, "--lanes", "1", "--lanes", "2"],
        &["trace", &vm, "--lanes", "2"],
        &["disasm", &vm, "--word", "0"],
        &["disasm", "--word"],
        &["vectors", "run", "--engine", "warp", &vm],
        &["trace", "--engine", "gpu", &vm],
        &["doctor", "--engine", "gpu"],
    ];
    for arguments in cases {
        let run = kvrm(arguments);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{arguments:?}: {}", run.stderr);
        // Without a subcommand, the output is the help.
        let help = arguments == ["vectors"];
        assert!(run.stderr.starts_with("error: ") || help, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("--help") || help, "{arguments:?} says where to look: {}", run.stderr);
    }
}

#[test]
fn help_lists_the_commands() {
    let nothing = kvrm::<&str>(&[]);
    assert_eq!((nothing.status, &*nothing.stdout), (2, ""), "nothing was asked for");
    let help = kvrm(&["--help"]);
    assert_eq!((help.status, &*help.stderr), (0, ""), "help was asked for");
    for command in ["run", "trace", "disasm", "vectors", "bench", "doctor"] {
        assert!(nothing.stderr.contains(command) && help.stdout.contains(command), "{command} is listed");
        let help = kvrm(&[command, "--help"]);
        assert_eq!((help.status, &*help.stderr), (0, ""), "{command} has help");
        assert!(help.stdout.contains("Usage: "), "{}", help.stdout);
    }
    let version = kvrm(&["--version"]);
    assert_eq!(
        (version.status, version.stdout),
        (0, format!("kvrm {}\n", env!("CARGO_PKG_VERSION"))),
        "version"
    );
}
