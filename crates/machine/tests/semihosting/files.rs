//! Tests of files.

use std::fs;

use crate::support::*;

#[test]
fn every_mode_behaves_as_in_fopen() {
    // Name and number of each mode; the contents after writing "XY" at the start of a file with "abc", and of a missing
    // file (`None` if the file cannot be opened); and whether the mode permits reading.
    let cases = [
        ("r", 0, Some("abc"), None, true),
        ("r+", 2, Some("XYc"), None, true),
        ("w", 4, Some("XY"), Some("XY"), false),
        ("w+", 6, Some("XY"), Some("XY"), true),
        ("a", 8, Some("abcXY"), Some("XY"), false),
        ("a+", 10, Some("abcXY"), Some("XY"), true),
    ];
    for (name, mode, existing, missing, readable) in cases {
        // The next number is the same mode with `b`.
        for mode in [mode, mode + 1] {
            for (before, expected) in [(Some("abc"), existing), (None, missing)] {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("file");
                if let Some(text) = before {
                    fs::write(&path, text).unwrap();
                }
                let mut guest = Guest::in_folder(folder.path());
                let handle = guest.open("file", mode);
                let Some(expected) = expected else {
                    assert_eq!((handle, guest.errno()), (FAILED, ENOENT), "{name} of a missing file");
                    assert!(!path.exists(), "{name} creates no file");
                    continue;
                };
                assert_eq!(handle, 1, "{name} of {before:?}");
                assert_eq!(guest.call_with(ISTTY, &[handle]), 0, "a file is not a terminal");
                // Appending ignores the position.
                assert_eq!(guest.call_with(SEEK, &[handle, 0]), 0, "seek to the start");
                let rest = guest.write(handle, b"XY");
                assert_eq!(rest, if mode < 2 { 2 } else { 0 }, "{name}: bytes that were not written");
                assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{name} of {before:?}");
                assert_eq!(guest.call_with(FLEN, &[handle]), expected.len() as u64, "the length");
                assert_eq!(guest.call_with(SEEK, &[handle, 1]), 0, "seek to the second byte");
                let (read, rest) = guest.read(handle, 10);
                let tail = if readable { &expected.as_bytes()[1..] } else { b"" };
                assert_eq!((&read[..], rest), (tail, 10 - tail.len() as u64), "{name} of {before:?}");
                assert_eq!(guest.call_with(CLOSE, &[handle]), 0, "closing");
            }
        }
    }
}

#[test]
fn reads_continue_at_the_position_up_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "0123456789").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let (a, b) = (guest.open("file", 0), guest.open("/file", 1));
    assert_eq!(guest.read(a, 4), (b"0123".to_vec(), 0), "the first four");
    assert_eq!(guest.read(b, 2), (b"01".to_vec(), 0), "the other handle has a position of its own");
    assert_eq!(guest.read(a, 4), (b"4567".to_vec(), 0), "the next four");
    assert_eq!(guest.read(a, 0), (vec![], 0), "none");
    assert_eq!(guest.read(a, 4), (b"89".to_vec(), 2), "the last two");
    assert_eq!(guest.read(a, 4), (vec![], 4), "the end");
    assert_eq!(guest.call_with(SEEK, &[a, 9]), 0, "back");
    assert_eq!(guest.read(a, 1), (b"9".to_vec(), 0), "the last byte");
}

#[test]
fn a_read_to_memory_that_cannot_be_written_leaves_the_position() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "0123456789").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 0);
    assert_eq!(guest.read(handle, 3), (b"012".to_vec(), 0), "the first three");
    for buffer in [0, READ_ONLY, DATA_END - 2, u64::MAX - 1] {
        assert_eq!(guest.call_with(READ, &[handle, buffer, 4]), 4, "nothing is read to {buffer:#x}");
        assert_eq!(guest.errno(), EFAULT, "{buffer:#x}");
    }
    assert_eq!(guest.read(handle, 4), (b"3456".to_vec(), 0), "the next four");
}

#[test]
fn a_write_beyond_the_end_fills_the_gap_with_zeros() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 6);
    assert_eq!(guest.call_with(SEEK, &[handle, 5]), 0, "beyond the end");
    assert_eq!(guest.call_with(FLEN, &[handle]), 0, "seeking does not change the length");
    assert_eq!(guest.write(handle, b"x"), 0, "one byte");
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"\0\0\0\0\0x", "zeros before it");
    for position in [1 << 63, u64::MAX] {
        assert_eq!(
            guest.error(SEEK, &[handle, position]),
            EINVAL,
            "position {position:#x} exceeds the limit"
        );
    }
    assert_eq!(guest.write(handle, b"y"), 0, "the position has not changed");
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"\0\0\0\0\0xy", "the y follows the x");
}

#[test]
fn a_file_grows_to_a_gibibyte_and_no_further() {
    const MAX: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 6);
    assert_eq!(guest.call_with(SEEK, &[handle, MAX - 2]), 0, "seek to two bytes before the limit");
    assert_eq!(guest.write(handle, b"abcde"), 3, "two of five bytes are written");
    assert_eq!(fs::metadata(&path).unwrap().len(), MAX, "the file has the maximum size");
    assert_eq!((guest.write(handle, b"x"), guest.errno()), (1, EFBIG), "the file cannot grow");
    assert_eq!(guest.write(handle, b""), 0, "writing no bytes succeeds");
    assert_eq!(guest.call_with(SEEK, &[handle, MAX - 2]), 0, "back");
    assert_eq!(guest.read(handle, 5), (b"ab".to_vec(), 3), "the two bytes that were written");
    let append = guest.open("file", 8);
    assert_eq!((guest.write(append, b"x"), guest.errno()), (1, EFBIG), "appending fails, too");
    assert_eq!(guest.error(SEEK, &[handle, MAX + 1]), EINVAL, "a position beyond the limit");
    assert_eq!(fs::metadata(&path).unwrap().len(), MAX, "the size has not changed");
}

#[test]
fn files_can_be_removed_and_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut guest = Guest::in_folder(folder.path());
    fs::write(path("old"), "text").unwrap();
    fs::create_dir(path("sub")).unwrap();
    guest.put(NAME, b"oldnewsub/new");
    assert_eq!(guest.call_with(RENAME, &[NAME, 3, NAME + 3, 3]), 0, "old to new");
    assert_eq!(fs::read_to_string(path("new")).unwrap(), "text", "the renamed file has its contents");
    assert_eq!(guest.error(RENAME, &[NAME, 3, NAME + 3, 3]), ENOENT, "old is gone");
    assert_eq!(guest.call_with(RENAME, &[NAME + 3, 3, NAME + 6, 7]), 0, "move to a subdirectory");
    assert_eq!(fs::read_to_string(path("sub/new")).unwrap(), "text", "the file is in the subdirectory");
    assert_eq!(guest.call_with(REMOVE, &[NAME + 6, 7]), 0, "remove the file");
    assert!(!path("sub/new").exists(), "the file is removed");
    assert_eq!(guest.error(REMOVE, &[NAME + 6, 7]), ENOENT, "once");
    assert_eq!(guest.call_with(REMOVE, &[NAME + 6, 3]), FAILED, "a directory cannot be removed");
    assert!(path("sub").exists(), "the directory stays");
}

#[test]
fn a_file_that_is_removed_can_be_used_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 6);
    assert_eq!(guest.write(handle, b"text"), 0, "writing");
    guest.put(NAME, b"file");
    assert_eq!(guest.call_with(REMOVE, &[NAME, 4]), 0, "removing");
    assert_eq!(guest.call_with(SEEK, &[handle, 0]), 0, "back");
    assert_eq!(guest.read(handle, 4), (b"text".to_vec(), 0), "reading");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the directory is empty");
}

#[test]
fn a_reset_restores_the_open_files() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let before = guest.open("file", 0);
    guest.machine.snapshot().unwrap();
    let after = guest.open("file", 0);
    assert_eq!(guest.call_with(CLOSE, &[before]), 0, "closing");
    guest.machine.reset(&[0]).unwrap();
    assert_eq!(guest.error(FLEN, &[after]), EBADF, "a file opened after the snapshot");
    assert_eq!(guest.call_with(FLEN, &[before]), 4, "a file closed after the snapshot");
}

#[test]
fn a_reset_restores_the_position_of_an_open_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "0123456789").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 0);
    assert_eq!(guest.read(handle, 2), (b"01".to_vec(), 0), "before the snapshot");
    guest.machine.snapshot().unwrap();
    for round in 0..3 {
        assert_eq!(guest.read(handle, 3), (b"234".to_vec(), 0), "the next bytes, round {round}");
        guest.machine.reset(&[0]).unwrap();
    }
}

#[test]
fn lanes_of_a_fork_have_the_open_files_each_at_its_own_position() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "0123456789").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 0);
    assert_eq!(guest.read(handle, 3), (b"012".to_vec(), 0), "before the fork");
    let mut fork = Guest { machine: guest.machine.fork(0, 3).unwrap(), lane: 0 };
    fork.park();
    for (lane, bytes) in [(2, 4), (1, 1), (0, 9), (2, 3)] {
        fork.lane = lane;
        let all: &[u8] = if bytes == 3 && lane == 2 { b"789" } else { b"3456789" };
        let read = &all[..all.len().min(bytes)];
        let expected = (read.to_vec(), (bytes - read.len()) as u64);
        assert_eq!(fork.read(handle, bytes as u64), expected, "{bytes} bytes in lane {lane}");
    }
    assert_eq!(fork.call_with(CLOSE, &[handle]), 0, "closing in lane 2");
    assert_eq!(guest.read(handle, 2), (b"34".to_vec(), 0), "the forked lane goes on where it was");
}
