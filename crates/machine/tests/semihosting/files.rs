//! Files.

use std::fs;

use crate::support::*;

#[test]
fn every_mode_does_what_fopen_does() {
    // What "abc", and what a missing file, is after writing "XY" at its start, or `None` if it cannot be opened;
    // and whether it can be read.
    let cases = [
        ("r", 0, Some("abc"), None, true),
        ("r+", 2, Some("XYc"), None, true),
        ("w", 4, Some("XY"), Some("XY"), false),
        ("w+", 6, Some("XY"), Some("XY"), true),
        ("a", 8, Some("abcXY"), Some("XY"), false),
        ("a+", 10, Some("abcXY"), Some("XY"), true),
    ];
    for (name, mode, existing, missing, readable) in cases {
        // With b behind it, it is the same.
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
                    assert!(!path.exists(), "{name} makes none");
                    continue;
                };
                assert_eq!(handle, 1, "{name} of {before:?}");
                assert_eq!(guest.call_with(ISTTY, &[handle]), 0, "a file is no terminal");
                // Appending ignores the position.
                assert_eq!(guest.call_with(SEEK, &[handle, 0]), 0, "to its start");
                let rest = guest.write(handle, b"XY");
                assert_eq!(rest, if mode < 2 { 2 } else { 0 }, "{name}: bytes that were not written");
                assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{name} of {before:?}");
                assert_eq!(guest.call_with(FLEN, &[handle]), expected.len() as u64, "its length");
                assert_eq!(guest.call_with(SEEK, &[handle, 1]), 0, "to its second byte");
                let (read, rest) = guest.read(handle, 10);
                let tail = if readable { &expected.as_bytes()[1..] } else { b"" };
                assert_eq!((&read[..], rest), (tail, 10 - tail.len() as u64), "{name} of {before:?}");
                assert_eq!(guest.call_with(CLOSE, &[handle]), 0, "closing");
            }
        }
    }
}

#[test]
fn reading_goes_on_where_it_was_and_ends_at_the_end() {
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
    assert_eq!(guest.read(a, 1), (b"9".to_vec(), 0), "the last one");
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
fn positions_beyond_the_end_are_zeros_once_something_follows() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 6);
    assert_eq!(guest.call_with(SEEK, &[handle, 5]), 0, "beyond the end");
    assert_eq!(guest.call_with(FLEN, &[handle]), 0, "is no length yet");
    assert_eq!(guest.write(handle, b"x"), 0, "one byte");
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"\0\0\0\0\0x", "zeros before it");
    for position in [1 << 63, u64::MAX] {
        assert_eq!(guest.error(SEEK, &[handle, position]), EINVAL, "no file is {position:#x} long");
    }
    assert_eq!(guest.write(handle, b"y"), 0, "and the position is where it was");
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"\0\0\0\0\0xy", "behind the x");
}

#[test]
fn a_file_grows_to_a_gibibyte_and_no_further() {
    const MAX: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 6);
    assert_eq!(guest.call_with(SEEK, &[handle, MAX - 2]), 0, "two bytes before that");
    assert_eq!(guest.write(handle, b"abcde"), 3, "two of five bytes are written");
    assert_eq!(fs::metadata(&path).unwrap().len(), MAX, "so long it is");
    assert_eq!((guest.write(handle, b"x"), guest.errno()), (1, EFBIG), "no more");
    assert_eq!(guest.write(handle, b""), 0, "but nothing can be written");
    assert_eq!(guest.call_with(SEEK, &[handle, MAX - 2]), 0, "back");
    assert_eq!(guest.read(handle, 5), (b"ab".to_vec(), 3), "what was written");
    let append = guest.open("file", 8);
    assert_eq!((guest.write(append, b"x"), guest.errno()), (1, EFBIG), "nor at the end");
    assert_eq!(guest.error(SEEK, &[handle, MAX + 1]), EINVAL, "a position beyond that");
    assert_eq!(fs::metadata(&path).unwrap().len(), MAX, "as long as before");
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
    assert_eq!(fs::read_to_string(path("new")).unwrap(), "text", "with what it had");
    assert_eq!(guest.error(RENAME, &[NAME, 3, NAME + 3, 3]), ENOENT, "old is gone");
    assert_eq!(guest.call_with(RENAME, &[NAME + 3, 3, NAME + 6, 7]), 0, "to a folder inside");
    assert_eq!(fs::read_to_string(path("sub/new")).unwrap(), "text", "it is there");
    assert_eq!(guest.call_with(REMOVE, &[NAME + 6, 7]), 0, "removing it");
    assert!(!path("sub/new").exists(), "it is gone");
    assert_eq!(guest.error(REMOVE, &[NAME + 6, 7]), ENOENT, "once");
    assert_eq!(guest.call_with(REMOVE, &[NAME + 6, 3]), FAILED, "a folder is no file");
    assert!(path("sub").exists(), "it stays");
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
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name");
}

#[test]
fn a_reset_closes_the_files_opened_since_and_opens_those_closed_since() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let before = guest.open("file", 0);
    guest.machine.snapshot().unwrap();
    let after = guest.open("file", 0);
    assert_eq!(guest.call_with(CLOSE, &[before]), 0, "closing");
    guest.machine.reset(&[0]).unwrap();
    assert_eq!(guest.error(FLEN, &[after]), EBADF, "opened since");
    assert_eq!(guest.call_with(FLEN, &[before]), 4, "closed since");
}

#[test]
fn a_reset_takes_the_position_in_an_open_file_back() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "0123456789").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let handle = guest.open("file", 0);
    assert_eq!(guest.read(handle, 2), (b"01".to_vec(), 0), "before the snapshot");
    guest.machine.snapshot().unwrap();
    for round in 0..3 {
        assert_eq!(guest.read(handle, 3), (b"234".to_vec(), 0), "what follows it, round {round}");
        guest.machine.reset(&[0]).unwrap();
    }
}
