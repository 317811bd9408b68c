//! Whole programs, by QEMU user mode, which serves the same semihosting calls.

use std::process::{Command, Output};

use anyhow::{Result, bail, ensure};

use crate::system::ensure_program;

/// What to run each guest with: by default, small, larger with another seed, and wrong.
const ARGUMENTS: [&[&str]; 4] = [&[], &["7"], &["300", "0x2a"], &["many"]];

pub(super) fn run() -> Result<()> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    let build =
        Command::new("cargo").args(["build", "--release", "--quiet", "--package", "kvrm-cli"]).status()?;
    ensure!(build.success(), "kvrm does not build");
    let root = crate::root();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let mut differ = 0;
    for name in crate::guests::names()? {
        let guest = format!("guests/bin/{name}.elf");
        for arguments in ARGUMENTS {
            let run = |command: &mut Command| command.current_dir(&root).arg(&guest).args(arguments).output();
            let theirs = run(&mut Command::new("qemu-aarch64"))?;
            let ours = run(Command::new(target.join("release/kvrm")).args(["run", "--engine", "reference"]))?;
            let same = result(&theirs) == result(&ours);
            differ += usize::from(!same);
            println!("{} {name} {}", if same { "same  " } else { "DIFFER" }, arguments.join(" "));
            if !same {
                println!("  qemu {:?}\n  kvrm {:?}", result(&theirs), result(&ours));
            }
        }
    }
    if differ > 0 { bail!("{differ} runs differ") } else { Ok(()) }
}

fn result(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}
