//! Runs the binary, and makes programs for it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kvrm::arm64::asm::{Assembler, X0, X1};

/// Where raw programs lie unless told otherwise.
pub(crate) const CODE: u64 = 0x1_0000;

/// Variables that make a host look as if it had no GPU, nor software for one.
pub(crate) const NO_DRIVERS: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

/// How a run of the binary ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary. What `run` is not told to run on is the reference, so that tests are the same on every host.
pub(crate) fn command<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvrm"));
    let mut args = args.iter().map(AsRef::as_ref).peekable();
    let chooses = |arg: &&OsStr| arg.to_str().is_some_and(|arg| ["--engine", "--adapter"].contains(&arg));
    if args.peek().is_some_and(|arg| *arg == "run") && !args.clone().any(|arg| chooses(&arg)) {
        command.args(args.next()).args(["--engine", "reference"]);
    }
    command.args(args).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    command
}

/// Takes what a run left. It must have ended by itself, and without a panic.
pub(crate) fn ended(output: Output) -> Ended {
    let text = |bytes| String::from_utf8(bytes).expect("the binary prints text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let status = output.status.code().unwrap_or_else(|| panic!("killed: {:?}\n{stderr}", output.status));
    assert!(!stderr.contains("panicked") && status != 101, "a panic: {stderr}");
    Ended { status, stdout, stderr }
}

pub(crate) fn kvrm<S: AsRef<OsStr>>(args: &[S]) -> Ended {
    ended(command(args).output().expect("the binary can be run"))
}

/// The same on a host without drivers, where adapters are found through Vulkan alone.
pub(crate) fn without_drivers<S: AsRef<OsStr>>(args: &[S]) -> Ended {
    ended(command(args).env_remove("KVRM_ADAPTER").envs(NO_DRIVERS).output().expect("the binary can be run"))
}

/// Runs something that has to be refused; gives its message.
pub(crate) fn refused<S: AsRef<OsStr> + std::fmt::Debug>(args: &[S]) -> String {
    let Ended { status, stdout, stderr } = kvrm(args);
    assert_eq!((status, &*stdout), (2, ""), "{args:?} is refused: {stderr}");
    assert!(stderr.starts_with("error: "), "{args:?} says so: {stderr}");
    stderr
}

/// The path of a guest of the repository.
pub(crate) fn guest(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin");
    folder.join(name).with_extension("elf").display().to_string()
}

/// A folder for the files of a test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room for a folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; gives its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).expect("the file can be written");
        self.path(name).display().to_string()
    }

    /// Writes a raw program; gives its path.
    pub(crate) fn program(&self, write: impl FnOnce(&mut Assembler)) -> String {
        self.file("program", assemble(write))
    }
}

/// The bytes of a program for [`CODE`].
pub(crate) fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the programs of the tests assemble");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A program that makes calls and then exits; its data lies at 0x10800.
pub(crate) fn calling(calls: &[(i64, u64)], data: &[(u64, &[u8])], exit: u64) -> Vec<u8> {
    let block = CODE + 0x7f0;
    let mut program = assemble(|a| {
        for &(operation, parameter) in calls {
            a.mov(X0, operation).mov(X1, parameter as i64).hlt(0xf000);
        }
        a.mov(X0, 0x18).mov(X1, block as i64).hlt(0xf000);
    });
    program.resize(0x7f0, 0);
    program.extend(0x2_0026_u64.to_le_bytes());
    program.extend(exit.to_le_bytes());
    program.resize(0x1000, 0);
    for (at, bytes) in data {
        program[(at - CODE) as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    program
}

/// Doublewords as bytes.
pub(crate) fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
