//! Tests of the names, modes and lengths of OPEN, REMOVE, RENAME and TMPNAM.

use crate::support::*;

#[test]
fn without_a_directory_there_are_no_files() {
    let mut guest = Guest::new();
    for mode in 0..12 {
        for name in ["file", "/dev/null", "/etc/passwd", ".", "", ":tt2"] {
            assert_eq!((guest.open(name, mode), guest.errno()), (FAILED, EACCES), "{name} in mode {mode}");
        }
    }
    assert_eq!(guest.error(REMOVE, &[NAME, 1]), EACCES, "removing");
    assert_eq!(guest.error(RENAME, &[NAME, 1, NAME, 1]), EACCES, "renaming");
}

#[test]
fn there_are_twelve_modes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for name in ["file", ":tt"] {
        for mode in [12, 13, 255, 1 << 32, 1 << 63, u64::MAX] {
            assert_eq!((guest.open(name, mode), guest.errno()), (FAILED, EINVAL), "{name} in mode {mode:#x}");
        }
    }
}

#[test]
fn names_have_at_most_64_kib() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let heap = guest.machine.layout().heap.start;
    guest.put(heap, &[b'n'; 1 << 17]);
    for bytes in [(1 << 16) + 1, 1 << 17, 1 << 40, u64::MAX] {
        assert_eq!(guest.error(OPEN, &[heap, 4, bytes]), E2BIG, "opening a name of {bytes:#x} bytes");
        assert_eq!(guest.error(REMOVE, &[heap, bytes]), E2BIG, "removing a name of {bytes:#x} bytes");
        assert_eq!(guest.error(RENAME, &[heap, bytes, heap, 1]), E2BIG, "renaming from {bytes:#x} bytes");
        assert_eq!(guest.error(RENAME, &[heap, 1, heap, bytes]), E2BIG, "renaming to {bytes:#x} bytes");
    }
    // Longer than file systems permit, but within the limit: the file system refuses the name.
    for bytes in [256, 4096, 1 << 16] {
        assert_eq!(guest.error(OPEN, &[heap, 4, bytes]), ENAMETOOLONG, "at {bytes:#x} bytes");
    }
    assert_eq!(guest.call_with(OPEN, &[heap, 4, 255]), 1, "the longest name on most file systems");
    assert!(folder.path().join("n".repeat(255)).exists(), "the file exists");
}

#[test]
fn names_are_utf_8_without_nul() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for name in [&b"\xff"[..], b"a\x80", b"\xc3", b"a\0b", b"\0", b"a\0"] {
        guest.put(NAME, name);
        let bytes = name.len() as u64;
        assert_eq!(guest.error(OPEN, &[NAME, 4, bytes]), EINVAL, "opening {name:?}");
        assert_eq!(guest.error(REMOVE, &[NAME, bytes]), EINVAL, "removing {name:?}");
        assert_eq!(guest.error(RENAME, &[NAME, bytes, NAME, 1]), EINVAL, "renaming {name:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file is created");
    assert_eq!(guest.open("\u{e9}t\u{e9}", 4), 1, "names need not be ASCII");
    assert!(folder.path().join("\u{e9}t\u{e9}").exists(), "the file exists");
}

#[test]
fn names_in_unreadable_memory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for address in [0, WRITE_ONLY, DATA - 1, DATA_END - 3, (1 << 48) - 1, u64::MAX - 2] {
        assert_eq!(guest.error(OPEN, &[address, 4, 6]), EFAULT, "opening {address:#x}");
        assert_eq!(guest.error(REMOVE, &[address, 6]), EFAULT, "removing {address:#x}");
        assert_eq!(guest.error(RENAME, &[address, 6, NAME, 1]), EFAULT, "renaming from {address:#x}");
        assert_eq!(guest.error(RENAME, &[NAME, 1, address, 6]), EFAULT, "renaming to {address:#x}");
    }
    assert_eq!(guest.call_with(OPEN, &[READ_ONLY, 4, 8]), 1, "a name may be a constant");
    assert!(folder.path().join("constant").exists(), "the file exists");
}

#[test]
fn temporary_names_differ_by_identifier_and_lane() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::of(builder().lanes(2).directory(folder.path()));
    guest.park();
    let mut names = std::collections::BTreeSet::new();
    for lane in [0, 1] {
        guest.lane = lane;
        for id in 0..256 {
            guest.put(BUFFER, &[0xee; 64]);
            assert_eq!(guest.call_with(TMPNAM, &[BUFFER, id, 64]), 0, "a name for {id}");
            let bytes = guest.get(BUFFER, 64);
            let end = bytes.iter().position(|&byte| byte == 0).unwrap();
            assert!(bytes[end + 1..].iter().all(|&byte| byte == 0xee), "nothing is written after the name");
            let name = String::from_utf8(bytes[..end].to_vec()).unwrap();
            assert_eq!(guest.call_with(TMPNAM, &[BUFFER, id, 64]), 0, "the same again");
            assert_eq!(guest.get(BUFFER, end), name.as_bytes(), "gives the same name");
            // A buffer of exactly the right size, and one that is a byte too small.
            assert_eq!(
                guest.call_with(TMPNAM, &[BUFFER, id, end as u64 + 1]),
                0,
                "a buffer of the right size"
            );
            guest.put(BUFFER, &[0xee; 64]);
            assert_eq!(
                guest.error(TMPNAM, &[BUFFER, id, end as u64]),
                E2BIG,
                "a buffer without room for the NUL"
            );
            assert_eq!(guest.get(BUFFER, 64), [0xee; 64], "nothing is written");
            names.insert(name);
        }
    }
    assert_eq!(names.len(), 512, "all are different");
    for name in names.iter().take(3) {
        assert!((1..4).contains(&guest.open(name, 4)), "{name} can be opened");
        assert!(folder.path().join(name).exists(), "{name} exists");
    }
    assert_eq!(guest.error(TMPNAM, &[READ_ONLY, 1, 64]), EFAULT, "read-only memory");
}
