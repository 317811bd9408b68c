//! Tests of transfers between descriptors, whose results were not those of Linux.

use kvrm_machine::Stop;

use crate::support::{AT_FDCWD, Caller, DATA};

const EBADF: i64 = -9;
const EAGAIN: i64 = -11;
const EINVAL: i64 = -22;
const ESPIPE: i64 = -29;
const EOPNOTSUPP: i64 = -95;
const WRITE: u64 = 64;
const PWRITE: u64 = 68;
const SENDFILE: u64 = 71;
const VMSPLICE: u64 = 75;
const SPLICE: u64 = 76;
const TEE: u64 = 77;
const COPY_FILE_RANGE: u64 = 285;
const RDWR_CREAT: u64 = 0o102;
const APPEND: u64 = 0o2000;
const PATH_ONLY: u64 = 0o10_000_000;
/// `SPLICE_F_NONBLOCK`.
const NO_WAIT: u64 = 2;

impl Caller {
    /// Makes a file with ten digits in it.
    fn file(&mut self, path: &str, flags: u64) -> u64 {
        let file = self.open(path, RDWR_CREAT | flags) as u64;
        self.write(DATA, b"0123456789");
        assert_eq!(self.call(WRITE, &[file, DATA, 10]), 10, "the contents of {path}");
        file
    }

    /// Makes a pipe and returns both ends.
    fn pipe(&mut self) -> [u64; 2] {
        assert_eq!(self.call(59, &[DATA, 0]), 0, "a pipe");
        [0, 4].map(|at| u32::from_le_bytes(self.read(DATA + at, 4).try_into().unwrap()).into())
    }

    /// Writes a position of a file to memory and returns its address.
    fn position(&mut self, position: u64) -> u64 {
        self.write(DATA + 0x100, &position.to_le_bytes());
        DATA + 0x100
    }
}

#[test]
fn a_write_at_a_position_appends_if_the_file_is_opened_for_that() {
    let mut caller = Caller::new();
    let file = caller.file("/tmp/end", APPEND);
    caller.write(DATA, b"abc");
    assert_eq!(caller.call(PWRITE, &[file, DATA, 3, 0]), 3, "pwrite64");
    assert_eq!(caller.call(62, &[file, 0, 0]), 0, "lseek");
    assert_eq!(caller.contents(file as i64), b"0123456789abc", "as on Linux, whatever the position");
}

#[test]
fn flags_of_one_read_or_write_are_those_of_linux() {
    const PREADV2: u64 = 286;
    const PWRITEV2: u64 = 287;
    const RWF_NOWAIT: u64 = 8;
    const RWF_APPEND: u64 = 16;
    let mut caller = Caller::new();
    let file = caller.file("/tmp/file", 0);
    let [reader, writer] = caller.pipe();
    caller.write(DATA + 32, &[DATA, 3].map(u64::to_le_bytes).concat());
    caller.write(DATA, b"abc");
    let vector = |file, position: u64, flags| [file, DATA + 32, 1, position, 0, flags];
    assert_eq!(caller.call(PWRITEV2, &vector(file, 0, RWF_APPEND)), 3, "at the end");
    assert_eq!(caller.call(PWRITEV2, &vector(file, 1, 7)), 3, "flags for the disk");
    assert_eq!(caller.call(PWRITEV2, &vector(file, 0, 32)), EOPNOTSUPP, "an unknown flag");
    assert_eq!(caller.call(25, &[file, 3]), 2, "F_GETFL: the flag was for one call");
    assert_eq!(caller.call(PREADV2, &vector(reader, u64::MAX, RWF_NOWAIT)), EAGAIN, "an empty pipe");
    assert_eq!(caller.call(PWRITEV2, &vector(writer, u64::MAX, RWF_NOWAIT)), 3, "a pipe with room");
    assert_eq!(caller.call(PREADV2, &vector(reader, u64::MAX, RWF_NOWAIT)), 3, "a pipe with bytes");
    assert_eq!(caller.call(62, &[file, 0, 0]), 0, "lseek");
    assert_eq!(caller.contents(file as i64), b"0abc456789abc", "what was written");
}

#[test]
fn splice_without_waiting_fails_if_it_had_to_wait() {
    let mut caller = Caller::new();
    let file = caller.file("/tmp/file", 0);
    let ([reader, writer], [other_reader, other_writer]) = (caller.pipe(), caller.pipe());
    assert_eq!(caller.call(SPLICE, &[reader, 0, file, 0, 1, NO_WAIT]), EAGAIN, "an empty pipe");
    assert_eq!(caller.call(TEE, &[reader, other_writer, 1, NO_WAIT]), EAGAIN, "an empty pipe");
    caller.write(DATA + 32, &[DATA, 3].map(u64::to_le_bytes).concat());
    assert_eq!(caller.call(VMSPLICE, &[reader, DATA + 32, 1, NO_WAIT]), EAGAIN, "an empty pipe");
    assert_eq!(caller.call(46, &[file, 100_000]), 0, "ftruncate");
    let start = caller.position(0);
    assert_eq!(caller.call(SPLICE, &[file, start, writer, 0, 100_000, 0]), 65_536, "as much as has room");
    assert_eq!(caller.call(SPLICE, &[file, start, writer, 0, 1, NO_WAIT]), EAGAIN, "a full pipe");
    assert_eq!(caller.call(VMSPLICE, &[writer, DATA + 32, 1, NO_WAIT]), EAGAIN, "a full pipe");
    assert_eq!(caller.call(TEE, &[reader, other_writer, 100_000, NO_WAIT]), 65_536, "all of it");
    assert_eq!(caller.call(TEE, &[other_reader, writer, 1, NO_WAIT]), EAGAIN, "a full pipe");
    assert_eq!(caller.try_call(TEE, &[other_reader, writer, 1, 0]), Err(Stop::Deadlock), "nobody makes room");
}

#[test]
fn splice_refuses_what_linux_refuses() {
    let mut caller = Caller::new();
    let (file, end) = (caller.file("/tmp/file", 0), caller.file("/tmp/end", APPEND));
    let [reader, writer] = caller.pipe();
    let directory = caller.open("/tmp", 0) as u64;
    let start = caller.position(0);
    assert_eq!(caller.call(SPLICE, &[99, 0, 98, 0, 0, 99]), 0, "nothing is always possible");
    assert_eq!(caller.call(SPLICE, &[file, 0, writer, 0, 1, 16]), EINVAL, "an unknown flag");
    assert_eq!(caller.call(TEE, &[reader, writer, 0, 16]), EINVAL, "an unknown flag");
    assert_eq!(caller.call(VMSPLICE, &[writer, DATA, 1, 16]), EINVAL, "an unknown flag");
    assert_eq!(caller.call(WRITE, &[writer, DATA, 4]), 4, "write");
    assert_eq!(caller.call(SPLICE, &[reader, 0, writer, 0, 1, 0]), EINVAL, "a pipe to itself");
    assert_eq!(caller.call(TEE, &[reader, writer, 1, 0]), EINVAL, "a pipe to itself");
    assert_eq!(caller.call(TEE, &[writer, reader, 1, 0]), EBADF, "the wrong ends");
    assert_eq!(caller.call(SPLICE, &[reader, 0, end, 0, 1, 0]), EINVAL, "a file that is appended to");
    assert_eq!(caller.call(SPLICE, &[directory, 0, writer, 0, 1, 0]), EINVAL, "a directory");
    assert_eq!(caller.call(SENDFILE, &[file, reader, 0, 1]), EINVAL, "a pipe");
    assert_eq!(caller.call(SENDFILE, &[file, reader, start, 1]), ESPIPE, "a position of a pipe");
    assert_eq!(caller.call(SENDFILE, &[end, file, start, 1]), EINVAL, "a file that is appended to");
    assert_eq!(caller.call(SENDFILE, &[file, directory, 0, 1]), EINVAL, "a directory");
    assert_eq!(caller.call(COPY_FILE_RANGE, &[reader, 0, file, 0, 1, 0]), EINVAL, "a pipe");
    assert_eq!(caller.call(COPY_FILE_RANGE, &[file, 0, end, 0, 1, 0]), EBADF, "a file that is appended to");
    assert_eq!(caller.call(COPY_FILE_RANGE, &[file, start, file, start, 5, 0]), EINVAL, "the same bytes");
}

#[test]
fn calls_for_the_disk_check_their_arguments() {
    let mut caller = Caller::new();
    let file = caller.file("/tmp/file", 0);
    let [reader, _] = caller.pipe();
    let path = caller.open("/tmp/file", PATH_ONLY) as u64;
    let (fsync, range, ahead, advice, all) = (82, 84, 213, 223, 267);
    for (number, arguments, expected, why) in [
        (fsync, [file, 0, 0, 0], 0, "a file"),
        (fsync, [reader, 0, 0, 0], EINVAL, "a pipe"),
        (fsync, [path, 0, 0, 0], EBADF, "only a path"),
        (range, [file, 0, 0, 7], 0, "a file"),
        (range, [file, 0, 0, 8], EINVAL, "an unknown flag"),
        (range, [file, u64::MAX, 1, 7], EINVAL, "a negative position"),
        (range, [reader, 0, 0, 7], ESPIPE, "a pipe"),
        (ahead, [file, 0, 10, 0], 0, "a file"),
        (ahead, [reader, 0, 10, 0], EINVAL, "a pipe"),
        (advice, [file, 0, 10, 5], 0, "an advice"),
        (advice, [file, 0, 10, 6], EINVAL, "an unknown advice"),
        (advice, [reader, 0, 10, 0], ESPIPE, "a pipe"),
        (all, [reader, 0, 0, 0], 0, "any file system"),
        (all, [path, 0, 0, 0], EBADF, "only a path"),
    ] {
        assert_eq!(caller.call(number, &arguments), expected, "call {number}: {why}");
    }
}

#[test]
fn attributes_and_sizes_check_their_arguments_as_linux_does() {
    let (set, get, set_opened, truncate) = (5, 8, 7, 45);
    let mut caller = Caller::new();
    let file = caller.file("/tmp/file", 0);
    let opened = caller.open("/tmp/file", PATH_ONLY) as u64;
    caller.write(DATA, b"user.\0user.x\0");
    let path = caller.path("/tmp/file");
    assert_eq!(caller.call(set, &[path, DATA, DATA, 1, 0]), EINVAL, "a prefix without a name");
    assert_eq!(caller.call(get, &[path, DATA, DATA, 1]), EINVAL, "a prefix without a name");
    assert_eq!(caller.call(set, &[path, DATA + 6, DATA, 1, 0]), 0, "a name");
    assert_eq!(caller.call(set_opened, &[opened, DATA + 6, DATA, 1, 0]), EBADF, "only a path");
    assert_eq!(caller.call(set_opened, &[file, DATA + 6, DATA, 1, 0]), 0, "a descriptor");
    let path = caller.path("/tmp/none");
    assert_eq!(caller.call(truncate, &[path, u64::MAX]), EINVAL, "a negative size comes before the path");
    assert_eq!(caller.call(48, &[AT_FDCWD, path, 0]), -2, "there is no such file");
}
