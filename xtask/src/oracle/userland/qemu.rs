//! Command lines in QEMU user mode, in name spaces of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::lines::Line;
use super::places::{ENVIRONMENT, Places, SHELL};
use crate::apt::{Apt, unpack};
use crate::folders::{copy_folder, entries, recreate, tree};
use crate::oracle::outcome::Outcome;
use crate::root::root;
use crate::system::ensure_program;

/// The package of a QEMU that needs no libraries, and its program.
const PACKAGE: (&str, &str) = ("qemu-user-static", "usr/bin/qemu-aarch64-static");
/// The seconds after which a line is stopped.
const SECONDS: &str = "120";
const SCRIPT: &str = "xtask/src/oracle/userland/namespace.sh";

/// QEMU, and the folders for its runs.
#[derive(Debug)]
pub(super) struct Qemu<'a> {
    program: PathBuf,
    places: &'a Places,
}

impl<'a> Qemu<'a> {
    /// Fetches QEMU, and checks that it can run programs here.
    pub(super) fn prepare(places: &'a Places) -> Result<Self> {
        for (program, package) in [("unshare", "util-linux"), ("ip", "iproute2"), ("chroot", "coreutils")] {
            ensure_program(program, package)?;
        }
        let qemu = Self { program: fetch()?, places };
        qemu.compile_python()?;
        let probe = Line {
            program: "echo".to_owned(),
            text: "exec /usr/bin/echo works".to_owned(),
            gpu: false,
            awaits: None,
        };
        let outcome = qemu.run(0, &probe)?;
        ensure!(
            outcome.output == b"works\n",
            "QEMU cannot run programs of the system in name spaces of their own, which needs Linux 6.7 or later with user \
             name spaces, overlayfs and binfmt_misc: {}",
            String::from_utf8_lossy(&outcome.error_output)
        );
        Ok(qemu)
    }

    /// Compiles Python's library in the system, as the script of its package does. Each run would otherwise do it again.
    fn compile_python(&self) -> Result<()> {
        let system = &self.places.sysroot;
        let library = entries(&system.join("usr/lib"))?
            .into_iter()
            .find(|path| path.join("os.py").exists())
            .context("the system has no library of Python")?;
        if library.join("__pycache__").exists() {
            return Ok(());
        }
        println!("compiling {}", library.display());
        let mut command = Command::new(&self.program);
        command.arg("-L").arg(system).arg(system.join("usr/bin/python3"));
        command.args(["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-p", "/", "-s"]);
        let status = command.arg(system).arg(&library).status().context("cannot run QEMU")?;
        ensure!(status.success(), "the library of Python cannot be compiled");
        Ok(())
    }

    /// Runs a line, which is a script with this number.
    pub(super) fn run(&self, number: usize, line: &Line) -> Result<Outcome> {
        let Places { sysroot, files, binaries, work } = self.places;
        let folder = work.join(format!("qemu-{number}"));
        recreate(&folder)?;
        let upper = folder.join("upper");
        let (data, scripts) = (upper.join("data"), upper.join("lines"));
        let tests = upper.join("opt/tests");
        for part in [&data, &scripts, &tests, &folder.join("work"), &folder.join("root")] {
            fs::create_dir_all(part).with_context(|| format!("cannot create {}", part.display()))?;
        }
        copy_folder(files, &data)?;
        copy_folder(binaries, &tests)?;
        let script = format!("/lines/{number}");
        fs::write(scripts.join(number.to_string()), &line.text).context("cannot write a line")?;
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", SECONDS, "unshare", "--user", "--map-root-user", "--mount", "--pid"]);
        command.args(["--fork", "--net", "--ipc", "--kill-child", "sh"]).arg(root().join(SCRIPT));
        command.arg(&self.program).arg(sysroot).arg(&folder).args(["/data", SHELL, &script]);
        command.env_clear().envs(ENVIRONMENT);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run timeout, which the package coreutils has")?;
        // Like in KVRM, the standard input is a pipe without contents.
        drop(child.stdin.take());
        let output = child.wait_with_output().context("cannot run unshare")?;
        let outcome = Outcome::of_process(output, tree(&data)?)?;
        remove(&folder)?;
        Ok(outcome)
    }
}

/// Returns the path of QEMU, and fetches it if it is missing.
fn fetch() -> Result<PathBuf> {
    let folder = root().join("target/userland/qemu");
    let (package, program) = PACKAGE;
    let program = folder.join("files").join(program);
    if !program.exists() {
        let host = Command::new("dpkg").arg("--print-architecture").output().context("cannot run dpkg")?;
        let host = String::from_utf8(host.stdout).context("dpkg prints no text")?;
        let archives = Apt::new(folder.join("apt"), host.trim())?.download(&[package])?;
        let files = folder.join("files");
        recreate(&files)?;
        archives.iter().try_for_each(|archive| unpack(archive, &files, &[]))?;
    }
    Ok(program)
}

/// Removes the folder of a run. Programs may have made directories of it unreadable.
fn remove(folder: &Path) -> Result<()> {
    let status = Command::new("chmod").args(["-R", "u+rwX"]).arg(folder).status();
    ensure!(status.context("cannot run chmod")?.success(), "cannot change modes in {}", folder.display());
    fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))
}
