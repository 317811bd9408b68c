//! A lane that makes the system calls that a test chooses.

use std::path::{Path, PathBuf};

use kvrm_machine::{Builder, LinuxProgram, Machine, Permissions, Program, Segment, Stop};

/// The address of the code: `svc #0`, and a branch back to it.
pub(crate) const CODE: u64 = 0x1_0000;
/// The address of memory for arguments and results.
pub(crate) const DATA: u64 = 0x2_0000;
/// The size of that memory.
pub(crate) const DATA_BYTES: u64 = 0x4000;
/// Stands for the current directory instead of a descriptor.
pub(crate) const AT_FDCWD: u64 = -100_i64 as u64;

/// Returns a program that makes system calls in an endless loop.
pub(crate) fn program() -> Program {
    let code = [0xd400_0001_u32, 0x17ff_ffff].map(u32::to_le_bytes).concat();
    let segment = |address, bytes, data, permissions| Segment { address, bytes, data, permissions };
    let segments = vec![
        segment(CODE, 0x1000, code, Permissions::RX),
        segment(DATA, DATA_BYTES, Vec::new(), Permissions::RW),
    ];
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    Program::builder()
        .name("caller")
        .entry(CODE)
        .segments(segments)
        .linux(linux)
        .build()
        .expect("the segments are valid")
}

/// Returns the folder of the compiled guests.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/linux/bin")
}

/// Loads a compiled guest.
pub(crate) fn guest(name: &str) -> Program {
    Program::open(folder().join(name).with_extension("elf")).expect("guests/linux/bin has the guest")
}

/// A machine with one lane, whose system calls the test makes.
pub(crate) struct Caller {
    pub(crate) machine: Machine,
}

impl Caller {
    pub(crate) fn new() -> Self {
        Self::of(Machine::builder(program()))
    }

    pub(crate) fn of(builder: Builder<'_>) -> Self {
        Self { machine: builder.build().expect("the program fits") }
    }

    /// Makes a call. Returns its value, or the stop of the lane if the call did not return.
    pub(crate) fn try_call(&mut self, number: u64, arguments: &[u64]) -> Result<i64, Stop> {
        let mut cpu = self.machine.cpu(0).unwrap();
        cpu.pc = CODE;
        cpu.set_x(8, number);
        (0..6).for_each(|n| cpu.set_x(n, arguments.get(n as usize).copied().unwrap_or(0)));
        self.machine.set_cpu(0, &cpu).unwrap();
        self.machine.resume(0).unwrap();
        self.machine.run(1).expect("the engine works");
        match self.machine.stop(0).unwrap() {
            Some(Stop::Budget) => Ok(self.machine.cpu(0).unwrap().x(0) as i64),
            stop => Err(stop.expect("a lane that has run has a stop")),
        }
    }

    /// Makes a call that returns.
    pub(crate) fn call(&mut self, number: u64, arguments: &[u64]) -> i64 {
        self.try_call(number, arguments).expect("the call returns")
    }

    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) {
        self.machine.write(0, address, bytes).expect("the data is mapped");
    }

    pub(crate) fn read(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.machine.read(0, address, &mut out).expect("the data is mapped");
        out
    }

    /// Writes a path to memory and returns its address.
    pub(crate) fn path(&mut self, path: &str) -> u64 {
        self.write(DATA + 0x3000, format!("{path}\0").as_bytes());
        DATA + 0x3000
    }

    /// Opens a file and returns the descriptor or the negated errno.
    pub(crate) fn open(&mut self, path: &str, flags: u64) -> i64 {
        let path = self.path(path);
        self.call(56, &[AT_FDCWD, path, flags, 0o644])
    }

    /// Reads up to 4 KiB from a descriptor.
    pub(crate) fn contents(&mut self, descriptor: i64) -> Vec<u8> {
        let count = self.call(63, &[descriptor as u64, DATA, 0x1000]);
        assert!(count >= 0, "read fails with {count}");
        self.read(DATA, count as usize)
    }
}
