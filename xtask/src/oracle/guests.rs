//! Whole programs, by QEMU user mode, which serves the same semihosting and system calls.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use anyhow::{Result, bail};

use super::commands::{QEMU_CPU, kvrm};
use crate::guests::Folder;
use crate::system::ensure_program;

/// What to run each guest with: by default, small, larger with another seed, and wrong.
const ARGUMENTS: [&[&str]; 4] = [&[], &["7"], &["300", "0x2a"], &["many"]];

/// What guests read as standard input.
const INPUT: &str = "guests/README.md";

/// What to run guests for Linux with.
const LINUX_ARGUMENTS: [(&str, &[&str]); 9] = [
    ("files", &["/tmp/kvrm-guest"]),
    ("files", &[]),
    ("memory", &[]),
    ("process", &[]),
    ("process", &["", "two words", "abort"]),
    ("process", &["sigpipe"]),
    ("signals", &[]),
    ("signals", &["a bad frame"]),
    ("tls", &[]),
];

pub(super) fn run() -> Result<()> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    let kvrm = kvrm()?;
    let root = crate::root::root();
    let mut differ = 0;
    let mut runs: Vec<(String, &[&str])> = Vec::new();
    for name in crate::guests::names(Folder::BareMetal)? {
        runs.extend(ARGUMENTS.map(|arguments| (format!("guests/bin/{name}.elf"), arguments)));
    }
    runs.extend(LINUX_ARGUMENTS.map(|(name, arguments)| (format!("guests/linux/bin/{name}.elf"), arguments)));
    for (guest, arguments) in runs {
        let run = |command: &mut Command| -> Result<Output> {
            let command = command.current_dir(&root).stdin(Stdio::from(File::open(root.join(INPUT))?));
            Ok(command.args(arguments).output()?)
        };
        let theirs =
            run(Command::new("qemu-aarch64").args(QEMU_CPU).env("KVRM_GUEST", "a variable").arg(&guest))?;
        let ours = [
            "run",
            "--engine=reference",
            "--fp",
            "--env=KVRM_GUEST=a variable",
            "--stdin",
            INPUT,
            &guest,
            "--",
        ];
        let ours = run(Command::new(&kvrm).args(ours))?;
        let same = result(&theirs) == result(&ours);
        differ += usize::from(!same);
        println!("{} {guest} {}", if same { "same  " } else { "DIFFER" }, arguments.join(" "));
        if !same {
            println!("  qemu {:?}\n  kvrm {:?}", result(&theirs), result(&ours));
        }
    }
    if differ > 0 { bail!("{differ} runs differ") } else { Ok(()) }
}

/// How a program ended, as a shell tells it, and what it has printed.
fn result(output: &Output) -> (Option<i32>, String) {
    use std::os::unix::process::ExitStatusExt as _;
    let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
    (code, String::from_utf8_lossy(&output.stdout).into_owned())
}
