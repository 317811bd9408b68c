//! Helpers that run the binary and make programs for it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kvrm::arm64::asm::{Assembler, X0, X1};

/// The default address of raw programs.
pub(crate) const CODE: u64 = 0x1_0000;

/// Environment variables that hide all Vulkan drivers, including software drivers.
pub(crate) const NO_DRIVERS: [(&str, &str); 2] =
    [("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

/// The exit status and the output of the binary.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns a command that runs the binary. `run` without an engine gets the reference, so that tests are the same on
/// every host.
pub(crate) fn command<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kvrm"));
    let mut args = args.iter().map(AsRef::as_ref).peekable();
    let chooses =
        |arg: &&OsStr| arg.to_str().is_some_and(|arg| ["--engine", "--adapter", "--gpus"].contains(&arg));
    if args.peek().is_some_and(|arg| *arg == "run") && !args.clone().any(|arg| chooses(&arg)) {
        command.args(args.next()).args(["--engine", "reference"]);
    }
    command.args(args).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    command
}

/// Returns the outcome of a run. Fails if a signal ended it, or if it panicked.
pub(crate) fn outcome(output: Output) -> Outcome {
    let text = |bytes| String::from_utf8(bytes).expect("the binary prints text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let status = output.status.code().unwrap_or_else(|| panic!("killed: {:?}\n{stderr}", output.status));
    assert!(!stderr.contains("panicked") && status != 101, "a panic: {stderr}");
    Outcome { status, stdout, stderr }
}

pub(crate) fn kvrm<S: AsRef<OsStr>>(args: &[S]) -> Outcome {
    outcome(command(args).output().expect("the binary can be run"))
}

/// Runs the binary as on a host without drivers. Hides only Vulkan adapters.
pub(crate) fn without_drivers<S: AsRef<OsStr>>(args: &[S]) -> Outcome {
    outcome(
        command(args).env_remove("KVRM_ADAPTER").envs(NO_DRIVERS).output().expect("the binary can be run"),
    )
}

/// Runs the binary with arguments that it has to refuse, and returns the message.
pub(crate) fn refusal<S: AsRef<OsStr> + std::fmt::Debug>(args: &[S]) -> String {
    let Outcome { status, stdout, stderr } = kvrm(args);
    assert_eq!((status, &*stdout), (2, ""), "{args:?} is refused: {stderr}");
    assert!(stderr.starts_with("error: "), "{args:?} says so: {stderr}");
    stderr
}

/// Returns the path of a guest of the repository.
pub(crate) fn guest(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/bin");
    folder.join(name).with_extension("elf").display().to_string()
}

/// Returns the path of a Linux guest of the repository.
pub(crate) fn linux_guest(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/linux/bin");
    folder.join(name).with_extension("elf").display().to_string()
}

/// A temporary folder for the files of a test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), bytes).expect("the file can be written");
        self.path(name).display().to_string()
    }

    /// Writes a raw program and returns its path.
    pub(crate) fn program(&self, write: impl FnOnce(&mut Assembler)) -> String {
        self.file("program", assemble(write))
    }

    /// Writes a raw program that counts x0 down from a number and stops, and returns its path.
    pub(crate) fn countdown(&self, from: i64) -> String {
        self.program(|a| {
            let again = a.label();
            a.mov(X0, from);
            a.bind(again);
            a.subs(X0, X0, 1).b_cond("ne", again).svc(3);
        })
    }
}

/// Returns the bytes of a program for [`CODE`].
pub(crate) fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the programs of the tests assemble");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The header fields of an ELF file that tests change.
pub(crate) struct Elf {
    /// `EI_CLASS`: 2 for 64-bit.
    pub(crate) class: u8,
    /// `EI_DATA`: 1 for little-endian. With 2, all numbers are big-endian.
    pub(crate) order: u8,
    /// `e_type`: 2 for an executable.
    pub(crate) kind: u16,
    /// `e_machine`: 183 for AArch64.
    pub(crate) machine: u16,
    /// `e_entry`, and the address of the code.
    pub(crate) entry: u64,
    /// The path in `PT_INTERP`, if there is one.
    pub(crate) interpreter: Option<&'static str>,
}

impl Elf {
    /// A static program for AArch64 with code at [`CODE`].
    pub(crate) const PROGRAM: Self =
        Self { class: 2, order: 1, kind: 2, machine: 183, entry: CODE, interpreter: None };

    /// Returns the bytes of the file: headers, code and the path of the interpreter, in one executable segment.
    pub(crate) fn bytes(&self, code: &[u8]) -> Vec<u8> {
        let half =
            |value: u16| if self.order == 2 { value.to_be_bytes() } else { value.to_le_bytes() }.to_vec();
        let word =
            |value: u32| if self.order == 2 { value.to_be_bytes() } else { value.to_le_bytes() }.to_vec();
        let long =
            |value: u64| if self.order == 2 { value.to_be_bytes() } else { value.to_le_bytes() }.to_vec();
        let path = self.interpreter.map_or(Vec::new(), |path| [path.as_bytes(), b"\0"].concat());
        // An entry of 0 is the start of the headers, which the segment contains then.
        let begin = if self.entry == 0 { 0 } else { 0x100 };
        let end = 0x100 + code.len() as u64;
        let program = |kind: u32, offset: u64, address: u64, bytes: u64| {
            let longs = [offset, address, address, bytes, bytes, 4].map(long).concat();
            [word(kind), word(5), longs].concat()
        };
        let mut bytes = [b"\x7fELF".to_vec(), vec![self.class, self.order, 1], vec![0; 9]].concat();
        bytes.extend([half(self.kind), half(self.machine), word(1)].concat());
        bytes.extend([long(self.entry), long(64), long(0), word(0)].concat());
        bytes.extend([64, 56, 1 + u16::from(self.interpreter.is_some()), 64, 0, 0].map(half).concat());
        bytes.extend(program(1, begin, self.entry, end - begin));
        if self.interpreter.is_some() {
            bytes.extend(program(3, end, self.entry, path.len() as u64));
        }
        bytes.resize(0x100, 0);
        bytes.extend([code, &path[..]].concat());
        bytes
    }
}

/// Returns a program that makes semihosting calls and then exits. Its data is at 0x10800.
pub(crate) fn calling_program(calls: &[(i64, u64)], data: &[(u64, &[u8])], exit: u64) -> Vec<u8> {
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

/// Returns doublewords as bytes.
pub(crate) fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
