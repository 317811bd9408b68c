//! Tests of handles.

use kvrm_machine::Stream;

use crate::support::*;

#[test]
fn a_handle_that_is_not_open_is_refused_by_every_operation() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let closed = guest.open(":tt", 4);
    assert_eq!(guest.call_with(CLOSE, &[closed]), 0, "closing");
    let open = [guest.open(":tt", 4), guest.open("file", 4)];
    assert_eq!(open, [1, 2], "handles 1 and 2 are open");
    for handle in [0, 3, 1 << 32 | 1, 1 << 63 | 1, u64::MAX, u64::MAX - 1] {
        for (operation, more) in [(CLOSE, 0), (ISTTY, 0), (SEEK, 0), (FLEN, 0)] {
            assert_eq!(
                guest.error(operation, &[handle, more]),
                EBADF,
                "operation {operation:#x} on {handle:#x}"
            );
        }
        for operation in [READ, WRITE] {
            let rest = guest.call_with(operation, &[handle, BUFFER, 5]);
            assert_eq!((rest, guest.errno()), (5, EBADF), "operation {operation:#x} on {handle:#x}");
        }
    }
}

#[test]
fn a_handle_can_be_closed_only_once() {
    let mut guest = Guest::new();
    let handle = guest.open(":tt", 4);
    assert_eq!(guest.call_with(CLOSE, &[handle]), 0, "once");
    assert_eq!(guest.error(CLOSE, &[handle]), EBADF, "the second close fails");
    assert_eq!(guest.write(handle, b"late"), 4, "a closed handle cannot be written");
    assert_eq!(guest.output(Stream::Output), b"", "nothing is printed");
}

#[test]
fn the_lowest_free_handle_is_used_next() {
    let mut guest = Guest::new();
    for expected in 1..=5 {
        assert_eq!(guest.open(":tt", 4), expected, "handles in ascending order");
    }
    for close in [4, 2] {
        assert_eq!(guest.call_with(CLOSE, &[close]), 0, "closing {close}");
    }
    let next = [guest.open(":tt", 8), guest.open(":tt", 8), guest.open(":tt", 8)];
    assert_eq!(next, [2, 4, 6], "free handles in ascending order");
    guest.write(2, b"e");
    guest.write(3, b"o");
    let both = (guest.output(Stream::Output), guest.output(Stream::Error));
    assert_eq!(both, (&b"o"[..], &b"e"[..]), "each handle writes to its stream");
}

#[test]
fn a_lane_has_at_most_64_handles() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for expected in 1..=64 {
        let name = if expected % 2 == 0 { ":tt" } else { "file" };
        assert_eq!(guest.open(name, 4), expected, "handles in ascending order");
    }
    for name in [":tt", "file", "new"] {
        assert_eq!((guest.open(name, 4), guest.errno()), (FAILED, EMFILE), "one more {name}");
    }
    assert!(!folder.path().join("new").exists(), "no file is created");
    assert_eq!(guest.call_with(CLOSE, &[33]), 0, "closing one");
    assert_eq!(guest.open("new", 4), 33, "the freed handle is used again");
}

#[test]
fn an_open_that_fails_takes_no_handle() {
    let mut guest = Guest::new();
    for (name, mode) in [("missing", 0), (":tt", 12)] {
        assert_eq!(guest.open(name, mode), FAILED, "{name} in mode {mode}");
    }
    assert_eq!(guest.open(":tt", 4), 1, "the first handle");
}

#[test]
fn lanes_have_handles_of_their_own() {
    let mut guest = Guest::of(builder().lanes(2).input(|lane| vec![b'a' + lane as u8]));
    guest.park();
    assert_eq!(guest.open(":tt", 0), 1, "lane 0 opens its input");
    guest.lane = 1;
    assert_eq!(guest.error(ISTTY, &[1]), EBADF, "lane 1 has no open handle");
    assert_eq!(guest.open(":tt", 0), 1, "lane 1 opens its input");
    assert_eq!(guest.read(1, 5), (b"b".to_vec(), 4), "lane 1 reads its own input");
    guest.lane = 0;
    assert_eq!(guest.read(1, 5), (b"a".to_vec(), 4), "lane 0 reads its own input");
}
