//! Comparison of complete guest programs with QEMU user mode, which serves the same semihosting and system calls.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use anyhow::{Result, bail};

use super::commands::{QEMU_CPU, kvrm};
use super::made_calls::MadeCalls;
use crate::guests::Folder;
use crate::system::ensure_program;

/// The arguments of the runs of each guest: the defaults, small, larger with another seed, and invalid.
const ARGUMENTS: [&[&str]; 4] = [&[], &["7"], &["300", "0x2a"], &["many"]];

/// The standard input of guests.
const INPUT: &str = "guests/README.md";

/// The runs of guests for Linux: names and arguments.
const LINUX_ARGUMENTS: [(&str, &[&str]); 21] = [
    ("deadlock", &[]),
    ("files", &["/tmp/kvrm-guest"]),
    ("files", &[]),
    ("ipc", &["/tmp/kvrm-guest-ipc"]),
    ("limits", &["/tmp/kvrm-guest-limits"]),
    ("memory", &[]),
    ("pauth", &[]),
    ("pipes", &[]),
    ("proc", &["/tmp/kvrm-guest-proc"]),
    ("process", &[]),
    ("process", &["", "two words", "abort"]),
    ("process", &["sigpipe"]),
    ("processes", &[]),
    ("race", &[]),
    ("shared", &[]),
    ("signals", &[]),
    ("signals", &["a bad frame"]),
    ("sockets", &[]),
    ("terminals", &[]),
    ("threads", &[]),
    ("tls", &[]),
];

pub(super) fn run(calls: bool) -> Result<()> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    let kvrm = kvrm()?;
    let root = crate::root::root();
    let (mut differ, mut made) = (0, MadeCalls::default());
    let trace = root.join("target/oracle/trace");
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
        // Both sides have the processor that the guest is about.
        let has_pauth = guest.ends_with("pauth.elf");
        let processor = if has_pauth { ["-cpu", "max"] } else { QEMU_CPU };
        let theirs =
            run(Command::new("qemu-aarch64").args(processor).env("KVRM_GUEST", "a variable").arg(&guest))?;
        let ours = [
            "run",
            "--engine=reference",
            if has_pauth { "--cpu=max" } else { "--fp" },
            "--env=KVRM_GUEST=a variable",
            "--stdin",
            INPUT,
        ];
        let mut command = Command::new(&kvrm);
        command.args(ours);
        let is_traced = calls && guest.starts_with("guests/linux");
        if is_traced {
            command.args(["--strace", "--strace-output"]).arg(&trace);
        }
        let ours = run(command.args([&guest, "--"]))?;
        let same = result(&theirs) == result(&ours);
        if is_traced && same {
            made.add_trace(&trace)?;
        }
        differ += usize::from(!same);
        println!("{} {guest} {}", if same { "same  " } else { "DIFFER" }, arguments.join(" "));
        if !same {
            println!("  qemu {:?}\n  kvrm {:?}", result(&theirs), result(&ours));
        }
    }
    if differ > 0 {
        bail!("{differ} runs differ");
    }
    if calls { made.write("guests") } else { Ok(()) }
}

/// Returns the exit status of a program, as a shell reports it, and its output.
fn result(output: &Output) -> (Option<i32>, String) {
    use std::os::unix::process::ExitStatusExt as _;
    let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
    (code, String::from_utf8_lossy(&output.stdout).into_owned())
}
