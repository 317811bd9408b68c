//! Handles.

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
fn a_handle_is_closed_once() {
    let mut guest = Guest::new();
    let handle = guest.open(":tt", 4);
    assert_eq!(guest.call_with(CLOSE, &[handle]), 0, "once");
    assert_eq!(guest.error(CLOSE, &[handle]), EBADF, "not twice");
    assert_eq!(guest.write(handle, b"late"), 4, "and not written after");
    assert_eq!(guest.output(Stream::Output), b"", "nothing");
}

#[test]
fn the_lowest_free_handle_is_used_next() {
    let mut guest = Guest::new();
    for expected in 1..=5 {
        assert_eq!(guest.open(":tt", 4), expected, "one after the other");
    }
    for close in [4, 2] {
        assert_eq!(guest.call_with(CLOSE, &[close]), 0, "closing {close}");
    }
    let next = [guest.open(":tt", 8), guest.open(":tt", 8), guest.open(":tt", 8)];
    assert_eq!(next, [2, 4, 6], "the gaps first");
    guest.write(2, b"e");
    guest.write(3, b"o");
    let both = (guest.output(Stream::Output), guest.output(Stream::Error));
    assert_eq!(both, (&b"o"[..], &b"e"[..]), "each handle is what it was opened as");
}

#[test]
fn a_lane_has_at_most_64_handles_and_can_go_on_when_it_closes_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    for expected in 1..=64 {
        let name = if expected % 2 == 0 { ":tt" } else { "file" };
        assert_eq!(guest.open(name, 4), expected, "one after the other");
    }
    for name in [":tt", "file", "new"] {
        assert_eq!((guest.open(name, 4), guest.errno()), (FAILED, EMFILE), "one more {name}");
    }
    assert!(!folder.path().join("new").exists(), "no file is made");
    assert_eq!(guest.call_with(CLOSE, &[33]), 0, "closing one");
    assert_eq!(guest.open("new", 4), 33, "makes room");
}

#[test]
fn an_open_that_fails_takes_no_handle() {
    let mut guest = Guest::new();
    for (name, mode) in [("missing", 0), (":tt", 12)] {
        assert_eq!(guest.open(name, mode), FAILED, "{name} in mode {mode}");
    }
    assert_eq!(guest.open(":tt", 4), 1, "the first one");
}

#[test]
fn lanes_have_handles_of_their_own() {
    let mut guest = Guest::of(builder().lanes(2).input(|lane| vec![b'a' + lane as u8]));
    guest.park();
    assert_eq!(guest.open(":tt", 0), 1, "lane 0 opens its input");
    guest.lane = 1;
    assert_eq!(guest.error(ISTTY, &[1]), EBADF, "lane 1 has not");
    assert_eq!(guest.open(":tt", 0), 1, "now it has");
    assert_eq!(guest.read(1, 5), (b"b".to_vec(), 4), "and reads its own");
    guest.lane = 0;
    assert_eq!(guest.read(1, 5), (b"a".to_vec(), 4), "as does lane 0");
}
