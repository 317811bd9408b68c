//! A guest whose calls the test makes, and the constants of the interface, defined independently of the code under
//! test.

use std::path::Path;

use kvrm_machine::{Builder, Cpu, Machine, Permissions, Program, Segment, Stop, Stream};

pub(crate) const OPEN: u64 = 0x01;
pub(crate) const CLOSE: u64 = 0x02;
pub(crate) const WRITEC: u64 = 0x03;
pub(crate) const WRITE0: u64 = 0x04;
pub(crate) const WRITE: u64 = 0x05;
pub(crate) const READ: u64 = 0x06;
pub(crate) const READC: u64 = 0x07;
pub(crate) const ISERROR: u64 = 0x08;
pub(crate) const ISTTY: u64 = 0x09;
pub(crate) const SEEK: u64 = 0x0a;
pub(crate) const FLEN: u64 = 0x0c;
pub(crate) const TMPNAM: u64 = 0x0d;
pub(crate) const REMOVE: u64 = 0x0e;
pub(crate) const RENAME: u64 = 0x0f;
pub(crate) const CLOCK: u64 = 0x10;
pub(crate) const TIME: u64 = 0x11;
pub(crate) const SYSTEM: u64 = 0x12;
pub(crate) const ERRNO: u64 = 0x13;
pub(crate) const GET_CMDLINE: u64 = 0x15;
pub(crate) const HEAPINFO: u64 = 0x16;
pub(crate) const EXIT: u64 = 0x18;
pub(crate) const EXIT_EXTENDED: u64 = 0x20;
pub(crate) const ELAPSED: u64 = 0x30;
pub(crate) const TICKFREQ: u64 = 0x31;

/// All operations of the interface.
pub(crate) const OPERATIONS: [u64; 24] = [
    OPEN,
    CLOSE,
    WRITEC,
    WRITE0,
    WRITE,
    READ,
    READC,
    ISERROR,
    ISTTY,
    SEEK,
    FLEN,
    TMPNAM,
    REMOVE,
    RENAME,
    CLOCK,
    TIME,
    SYSTEM,
    ERRNO,
    GET_CMDLINE,
    HEAPINFO,
    EXIT,
    EXIT_EXTENDED,
    ELAPSED,
    TICKFREQ,
];

pub(crate) const ENOENT: u64 = 2;
pub(crate) const E2BIG: u64 = 7;
pub(crate) const EBADF: u64 = 9;
pub(crate) const EACCES: u64 = 13;
pub(crate) const EFAULT: u64 = 14;
pub(crate) const EINVAL: u64 = 22;
pub(crate) const EMFILE: u64 = 24;
pub(crate) const EFBIG: u64 = 27;
pub(crate) const ENAMETOOLONG: u64 = 36;
pub(crate) const ENOSYS: u64 = 38;

/// The return value of failed calls other than READ and WRITE.
pub(crate) const FAILED: u64 = u64::MAX;

pub(crate) const CODE: u64 = 0x1_0000;
/// The address of two readable and writable pages.
pub(crate) const DATA: u64 = 0x2_0000;
pub(crate) const DATA_END: u64 = 0x2_2000;
/// The address of a read-only page.
pub(crate) const READ_ONLY: u64 = 0x3_0000;
/// The address of a page that is not readable.
pub(crate) const WRITE_ONLY: u64 = 0x4_0000;
/// The address of parameter blocks.
pub(crate) const BLOCK: u64 = DATA;
/// The address of names.
pub(crate) const NAME: u64 = DATA + 0x100;
/// The address of all other data.
pub(crate) const BUFFER: u64 = DATA + 0x800;

/// Returns a program with the code `HLT #0xf000; BRK #0` and memory with different permissions.
pub(crate) fn program() -> Program {
    let segment = |address, bytes, data: &[u8], permissions| Segment {
        address,
        bytes,
        data: data.to_vec(),
        permissions,
    };
    let code = [0xd45e_0000_u32, 0xd420_0000].map(u32::to_le_bytes).concat();
    let write_only = Permissions { read: false, write: true, execute: false };
    let segments = vec![
        segment(CODE, 8, &code, Permissions::RX),
        segment(DATA, DATA_END - DATA, &[], Permissions::RW),
        segment(READ_ONLY, 0x1000, b"constant", Permissions::R),
        segment(WRITE_ONLY, 0x1000, b"secret", write_only),
    ];
    Program::builder().name("guest").entry(CODE).segments(segments).build().expect("the segments are valid")
}

pub(crate) fn builder<'a>() -> Builder<'a> {
    Machine::builder(program())
}

/// A machine, and the lane that makes calls.
pub(crate) struct Guest {
    pub(crate) machine: Machine,
    pub(crate) lane: usize,
}

impl Guest {
    pub(crate) fn new() -> Self {
        Self::of(builder())
    }

    pub(crate) fn of(builder: Builder<'_>) -> Self {
        Self { machine: builder.build().expect("the machine can be built"), lane: 0 }
    }

    pub(crate) fn with_input(input: &[u8]) -> Self {
        Self::of(builder().input(|_| input.to_vec()))
    }

    /// Creates a guest that may use files in `folder`.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self::of(builder().directory(folder))
    }

    /// Runs all lanes to the breakpoint, so that a call of one lane runs only that lane.
    pub(crate) fn park(&mut self) {
        for lane in 0..self.machine.lanes() {
            self.machine.set_cpu(lane, &Cpu::new(CODE + 4, 0)).expect("the lane exists");
        }
        self.machine.run(1).expect("the engine works");
    }

    /// Makes a call. Checks that it is one step and changes only X0 and the pc.
    pub(crate) fn call(&mut self, operation: u64, parameter: u64) -> u64 {
        let mut before = self.machine.cpu(self.lane).expect("the lane exists");
        before.pc = CODE;
        before.nzcv = 9;
        (2..31).for_each(|n| before.set_x(n, 0x0101_0101 * u64::from(n)));
        before.set_x(0, operation);
        before.set_x(1, parameter);
        self.machine.set_cpu(self.lane, &before).expect("the lane exists");
        self.machine.resume(self.lane).expect("the lane exists");
        let report = self.machine.run(100).expect("the engine works");
        let after = self.machine.cpu(self.lane).expect("the lane exists");
        assert_eq!(report.services, 1, "a call is counted");
        assert_eq!(after.steps, before.steps + 1, "a call is one step");
        let result = after.x(0);
        before.set_x(0, result);
        before.pc += 4;
        before.steps += 1;
        assert_eq!(after, before, "only x0 and pc change");
        let stop = self.machine.stop(self.lane).expect("the lane exists");
        if !matches!(stop, Some(Stop::Exit { .. })) {
            assert_eq!(stop, Some(Stop::Breakpoint { imm: 0 }), "the lane continues after the call");
        }
        result
    }

    /// Makes a call with a parameter block.
    pub(crate) fn call_with(&mut self, operation: u64, fields: &[u64]) -> u64 {
        let bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        self.put(BLOCK, &bytes);
        self.call(operation, BLOCK)
    }

    /// Makes a call that has to fail, and returns its errno.
    pub(crate) fn error(&mut self, operation: u64, fields: &[u64]) -> u64 {
        assert_eq!(
            self.call_with(operation, fields),
            FAILED,
            "operation {operation:#x} with {fields:x?} fails"
        );
        self.errno()
    }

    pub(crate) fn errno(&mut self) -> u64 {
        self.call(ERRNO, 0)
    }

    pub(crate) fn open(&mut self, name: &str, mode: u64) -> u64 {
        self.put(NAME, name.as_bytes());
        self.call_with(OPEN, &[NAME, mode, name.len() as u64])
    }

    /// Writes bytes to a handle and returns how many were not written.
    pub(crate) fn write(&mut self, handle: u64, bytes: &[u8]) -> u64 {
        self.put(BUFFER, bytes);
        self.call_with(WRITE, &[handle, BUFFER, bytes.len() as u64])
    }

    /// Reads from a handle. Returns the bytes read, and how many were not read.
    pub(crate) fn read(&mut self, handle: u64, bytes: u64) -> (Vec<u8>, u64) {
        self.put(BUFFER, &vec![0xee; bytes as usize]);
        let rest = self.call_with(READ, &[handle, BUFFER, bytes]);
        assert!(rest <= bytes, "the rest is at most the requested size");
        let got = self.get(BUFFER, bytes as usize);
        let (read, untouched) = got.split_at((bytes - rest) as usize);
        assert!(untouched.iter().all(|&byte| byte == 0xee), "memory after the bytes read is unchanged");
        (read.to_vec(), rest)
    }

    /// Writes memory as the host.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) {
        self.machine.write(self.lane, address, bytes).expect("the memory is mapped");
    }

    /// Reads memory as the host.
    pub(crate) fn get(&mut self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.machine.read(self.lane, address, &mut bytes).expect("the memory is mapped");
        bytes
    }

    /// Reads doublewords from memory.
    pub(crate) fn words<const N: usize>(&mut self, address: u64) -> [u64; N] {
        let bytes = self.get(address, 8 * N);
        std::array::from_fn(|n| {
            bytes[8 * n..][..8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
        })
    }

    pub(crate) fn output(&self, stream: Stream) -> &[u8] {
        self.machine.output(self.lane, stream).expect("the lane exists")
    }
}
