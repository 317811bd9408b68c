//! Random system calls from several threads, and the processes that they make.
//!
//! A lane is a program whose threads each make the calls of a table in their memory, with six arguments each. The calls and the
//! memory come from bytes, of a generator of random numbers or of a fuzzer.

use std::path::Path;
use std::{fs, io};

use kvrm_arm64::asm::{X0, X1, X2, X3, X4, X5, X8, X20, X22, at};
use kvrm_machine::linux::CALLS;
use kvrm_machine::{Builder, Error, LinuxProgram, Machine, Permissions, Program, Stop, Stream};

use crate::images::{CODE, PAGE, assemble, segment};
use crate::random::Random;

/// The number of threads that the program starts, besides the first.
const THREADS: u64 = 3;
/// The number of calls in the table of a thread.
pub const CALLS_EACH: usize = 48;
/// The number of bytes of a call in a table: the number, and six arguments.
const CALL_BYTES: u64 = 56;
/// The bytes of a table.
const TABLE_BYTES: u64 = 4096;
/// The number of input bytes that make a call: a number and six arguments.
const INPUT_BYTES: usize = 2 + 6 * 4;
/// The address of the tables. The memory that calls read and write follows them.
const TABLES: u64 = 0x2_0000;
/// The memory that calls read and write.
const DATA: u64 = TABLES + (THREADS + 1) * TABLE_BYTES;
/// The end of the memory. The next page is not mapped.
const END: u64 = DATA + 8 * PAGE;
/// The distance of the paths in the memory.
const PATH_BYTES: usize = 32;
/// The paths in the memory, and other strings.
const PATHS: [&str; 24] = [
    "/tmp/a",
    "/tmp/b",
    "/tmp/a/b",
    "tmp",
    ".",
    "..",
    "/",
    "",
    "/tmp/../..",
    "/../../etc/passwd",
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/dev/shm/a",
    "/proc/self/exe",
    "/proc/self/fd/3",
    "/proc/1/root",
    "/proc/self/cwd/..",
    "/in/file",
    "/in/link",
    "/in/../secret",
    "/bin/caller",
    "user.name",
    "/proc/self/maps",
];
/// The largest number of steps of a lane. Tables have a few hundred calls, but processes may execute the program again.
const STEPS: u64 = 20_000;
/// The bytes of the files of a lane.
const DISK_BYTES: u64 = 1 << 20;
/// The pages that a process may write.
const FRAMES: usize = 64;
/// More bytes than a lane with these limits has in a saved machine.
const SAVED_BYTES_MAX: usize = 48 << 20;

/// Bytes that choose. After their end come zeros.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let (now, later) = self.0.split_at(self.0.len().min(N));
        taken[..now.len()].copy_from_slice(now);
        self.0 = later;
        taken
    }

    /// A number of a call: mostly one that is served.
    fn number(&mut self) -> u64 {
        let [low, high] = self.take();
        match high {
            0..8 => u64::from(low) * 2,
            8 => u64::MAX - u64::from(low),
            // Ends of the process would leave many calls unmade.
            _ => match CALLS[(usize::from(high) << 8 | usize::from(low)) % CALLS.len()].number {
                number @ (93 | 94 | 221 | 281) if low & 0xc0 != 0 => 172 + number % 2,
                number => number,
            },
        }
    }

    /// An argument: a descriptor, an address, a path, a flag, a size or any word.
    fn argument(&mut self) -> u64 {
        let [kind, x, y, z] = self.take();
        let (x, y) = (u64::from(x), u64::from(y));
        let sizes: [u64; 16] =
            [0, 1, 7, 8, 16, 64, 100, 128, 4095, 4096, 8192, 1 << 16, 1 << 20, 1 << 31, 1 << 40, 1 << 63];
        match kind % 16 {
            0 | 1 => x % 8,
            2 => x,
            3 | 4 => DATA + (x << 8 | y) % (END - DATA),
            5 | 6 => DATA + (((x << 8 | y) % (END - DATA)) & !7),
            7 => DATA + x % PATHS.len() as u64 * PATH_BYTES as u64,
            8 => {
                [CODE, TABLES, END, END + 4 * PAGE, 1 << 32, 1 << 38, 1 << 47, 0][x as usize % 8]
                    + (y % 4) * PAGE
            }
            9 => 1 << (x % 64),
            10 => 1 << (x % 24) | 1 << (y % 24),
            11 | 12 => sizes[x as usize % sizes.len()].wrapping_add(y % 3).wrapping_sub(y % 2),
            13 => (-100_i64) as u64,
            14 => x.wrapping_neg() & if y & 1 == 0 { u64::MAX } else { 0xffff_ffff },
            _ => (u64::from(z) << (x % 57)) ^ (y << (y % 57)),
        }
    }
}

/// Returns a program whose threads each make the calls of a table.
fn program() -> Program {
    /// `CLONE_VM`, `CLONE_FS`, `CLONE_FILES`, `CLONE_SIGHAND`, `CLONE_THREAD` and `CLONE_SYSVSEM`.
    const THREAD: i64 = 0x5_0f00;
    let code = assemble(|a| {
        let (start, run, end) = (a.label(), a.label(), a.label());
        a.mov(X20, TABLES as i64).mov(X22, THREADS as i64);
        a.bind(start);
        a.cbz(X22, run).sub(X22, X22, 1);
        a.mov(X0, THREAD).mov(X1, 0).mov(X2, 0).mov(X3, 0).mov(X4, 0).mov(X8, 220).svc(0);
        a.cbz(X0, run).add(X20, X20, TABLE_BYTES as i64).b(start);
        a.bind(run);
        a.ldr(X8, at(X20, 0)).ldr(X0, at(X20, 8)).ldr(X1, at(X20, 16)).ldr(X2, at(X20, 24));
        a.ldr(X3, at(X20, 32)).ldr(X4, at(X20, 40)).ldr(X5, at(X20, 48));
        a.add(X20, X20, CALL_BYTES as i64).cbz(X8, end).svc(0).b(run);
        a.bind(end);
        a.mov(X0, 0).mov(X8, 93).svc(0);
    });
    let linux = LinuxProgram { headers: 0, count: 0, has_executable_stack: false };
    let memory = segment(TABLES, END - TABLES, Vec::new(), Permissions::RW);
    let segments = vec![segment(CODE, PAGE, code, Permissions::RX), memory];
    let program = Program::builder().name("caller").entry(CODE).segments(segments).linux(linux).build();
    program.expect("the segments are valid")
}

/// Returns the tables and the memory behind them that bytes choose.
fn memory(bytes: &[u8]) -> Vec<u8> {
    let (input, mut memory) = (&mut Input(bytes), Vec::new());
    for thread in 1..=THREADS + 1 {
        for _ in 0..CALLS_EACH {
            memory.extend(input.number().to_le_bytes());
            (0..6).for_each(|_| memory.extend(input.argument().to_le_bytes()));
        }
        memory.resize((thread * TABLE_BYTES) as usize, 0);
    }
    for path in PATHS {
        let end = memory.len() + PATH_BYTES;
        memory.extend(path.bytes());
        memory.resize(end, 0);
    }
    // Structures: words that could be arguments, in no order.
    let random = &mut Random::new(input.argument());
    while memory.len() < (END - TABLES) as usize {
        let word = Input(&random.bits().to_le_bytes()[..4]).argument();
        memory.extend(word.to_le_bytes());
    }
    memory
}

/// Returns a machine with a lane for each input, and the limits that [`Root::check`] asserts. The schedule of a lane, if it has one, depends on
/// its number.
///
/// # Errors
/// If the engine fails.
///
/// # Panics
/// If there is no input.
pub fn machine(
    inputs: &[Vec<u8>],
    prepare: impl FnOnce(Builder<'static>) -> Builder<'static>,
) -> Result<Machine, Error> {
    let builder = Machine::builder(program()).lanes(inputs.len()).quantum(23).disk_bytes(DISK_BYTES);
    let builder = builder.frames_max(FRAMES).schedule(|lane| (lane % 3 > 0).then_some(lane as u64));
    let mut machine = prepare(builder.input(|lane| vec![b'i'; lane % 7])).build()?;
    for (lane, bytes) in inputs.iter().enumerate() {
        machine.write(lane, TABLES, &memory(bytes))?;
    }
    Ok(machine)
}

/// Returns random inputs that fill the tables of so many lanes.
#[must_use]
pub fn inputs(random: &mut Random, lanes: usize) -> Vec<Vec<u8>> {
    let bytes = (THREADS as usize + 1) * CALLS_EACH * INPUT_BYTES + 4;
    let mut input = || (0..bytes.div_ceil(8)).flat_map(|_| random.bits().to_le_bytes()).collect();
    (0..lanes).map(|_| input()).collect()
}

/// A directory of the host of which lanes get copies, beside a file that they must not be able to read.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a>(&'a Path);

impl<'a> Root<'a> {
    /// The contents of the file that no lane can read.
    const SECRET: &'static [u8] = b"what no lane may read";

    /// Writes the files into an empty folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn create(folder: &'a Path) -> io::Result<Self> {
        let inside = folder.join("inside");
        fs::create_dir(&inside)?;
        fs::write(folder.join("secret"), Self::SECRET)?;
        fs::write(inside.join("file"), "what lanes may read")?;
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret", inside.join("link"))?;
        Ok(Self(folder))
    }

    /// Returns the directory that was created in a folder before.
    #[must_use]
    pub const fn of(folder: &'a Path) -> Self {
        Self(folder)
    }

    /// Makes the calls of all inputs, at once and in pieces, and returns their number. Asserts that both end in the same state, that
    /// the machines can be saved in a bounded number of bytes, and that no lane has read or changed what is outside of its root.
    ///
    /// # Panics
    /// An assertion fails, or the engine.
    #[must_use]
    pub fn check(self, inputs: &[Vec<u8>]) -> u64 {
        let works = "the engine works";
        let build = || machine(inputs, |builder| builder.copy(self.0.join("inside"), "/in")).expect(works);
        let (mut whole, mut pieces) = (build(), build());
        let report = whole.run(STEPS).expect(works);
        let (mut left, mut budget) = (STEPS, 1);
        while left > 0 {
            pieces.run(budget.min(left)).expect(works);
            left -= budget.min(left);
            budget = budget * 5 % 4099 + 1;
        }
        let saved = save(&mut whole);
        let (lanes, bytes) = (inputs.len(), saved.len());
        assert!(bytes <= lanes * SAVED_BYTES_MAX, "a saved machine of {lanes} lanes has {bytes} bytes");
        for lane in 0..lanes {
            assert_eq!(end(&mut pieces, lane), end(&mut whole, lane), "lane {lane}: in pieces, and at once");
        }
        assert!(
            saved == save(&mut pieces),
            "machines that ran in pieces and at once are saved as other bytes"
        );
        let has_secret = saved.windows(Self::SECRET.len()).any(|bytes| bytes == Self::SECRET);
        assert!(!has_secret, "a lane has read what is outside of its root");
        let names = |path: &Path| fs::read_dir(path).map_or(0, Iterator::count);
        assert_eq!([names(self.0), names(&self.0.join("inside"))], [2, 2], "files of the host");
        report.services
    }
}

/// The stop, the steps, the registers and the output of a lane.
fn end(machine: &mut Machine, lane: usize) -> (Option<Stop>, String, [Vec<u8>; 2]) {
    let works = "the engine works";
    let outputs =
        [Stream::Output, Stream::Error].map(|stream| machine.output(lane, stream).expect(works).to_vec());
    (machine.stop(lane).expect(works), format!("{:?}", machine.cpu(lane).expect(works)), outputs)
}

fn save(machine: &mut Machine) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.save(&mut bytes).expect("the machine has no files of the host");
    bytes
}
