//! Tests of the console: three ways to write, two to read, two streams.

use std::sync::{Arc, Mutex};

use kvrm_machine::Stream;

use crate::support::*;

/// The modes that open `:tt` for reading, as output, and as error output.
const IN: u64 = 0;
const OUT: u64 = 4;
const ERR: u64 = 8;

#[test]
fn characters_and_strings_go_to_output() {
    let mut guest = Guest::new();
    for byte in 0..=255 {
        guest.put(BUFFER, &[byte]);
        assert_eq!(guest.call(WRITEC, BUFFER), 0, "a character");
    }
    guest.put(BUFFER, b"string\0more\0");
    assert_eq!(guest.call(WRITE0, BUFFER), 0, "a string");
    assert_eq!(guest.call(WRITE0, BUFFER + 6), 0, "an empty string");
    let expected: Vec<u8> = (0..=255).chain(*b"string").collect();
    assert_eq!(guest.output(Stream::Output), expected, "all bytes are unchanged");
    assert_eq!(guest.output(Stream::Error), b"", "nothing to the other stream");
}

#[test]
fn a_string_may_cross_pages_and_end_with_memory() {
    let mut guest = Guest::new();
    let text: Vec<u8> = (0..5000).map(|n| b'a' + (n % 26) as u8).chain([0]).collect();
    let at = DATA_END - text.len() as u64;
    guest.put(at, &text);
    assert_eq!(guest.call(WRITE0, at), 0, "the NUL is the last mapped byte");
    assert_eq!(guest.output(Stream::Output), &text[..5000], "the string without the NUL");
    guest.put(DATA_END - 1, b"x");
    assert_eq!(guest.call(WRITE0, at), FAILED, "a string without NUL");
    assert_eq!(guest.errno(), EFAULT, "the string runs into unmapped memory");
    assert_eq!(guest.output(Stream::Output).len(), 5000, "no part of the string is printed");
}

#[test]
fn a_string_longer_than_a_mebibyte_is_refused() {
    let mut guest = Guest::new();
    let heap = guest.machine.layout().heap.start;
    guest.put(heap, &vec![b'x'; 3 << 20]);
    assert_eq!(guest.call(WRITE0, heap), FAILED, "three mebibytes");
    assert_eq!(guest.errno(), E2BIG, "too long");
    assert_eq!(guest.output(Stream::Output), b"", "nothing is printed");
}

#[test]
fn the_mode_of_the_terminal_chooses_its_stream() {
    let mut guest = Guest::with_input(b"input");
    for mode in 0..12 {
        let handle = guest.open(":tt", mode);
        assert_eq!(handle, mode + 1, "handles count up from 1");
        assert_eq!(guest.call_with(ISTTY, &[handle]), 1, "a terminal");
        let written = guest.write(handle, format!("{mode} ").as_bytes());
        assert_eq!(written == 0, mode >= OUT, "modes from {OUT} on can be written, mode {mode}");
        if mode < OUT {
            assert_eq!(guest.errno(), EBADF, "input cannot be written");
        }
    }
    assert_eq!(guest.output(Stream::Output), b"4 5 6 7 ", "output of the modes for writing");
    assert_eq!(guest.output(Stream::Error), b"8 9 10 11 ", "output of the modes for appending");
}

#[test]
fn a_terminal_has_no_length_and_no_position() {
    let mut guest = Guest::new();
    for mode in [IN, OUT, ERR] {
        let handle = guest.open(":tt", mode);
        assert_eq!(guest.error(FLEN, &[handle]), EBADF, "length");
        assert_eq!(guest.error(SEEK, &[handle, 0]), EBADF, "position");
    }
}

#[test]
fn all_handles_share_the_position_of_the_input() {
    let mut guest = Guest::with_input(b"0123456789");
    let (first, second) = (guest.open(":tt", IN), guest.open(":tt", 3));
    assert_eq!(guest.call(READC, 0), u64::from(b'0'), "a character");
    assert_eq!(guest.read(first, 3), (b"123".to_vec(), 0), "all that was asked for");
    assert_eq!(guest.read(second, 0), (vec![], 0), "nothing asked for");
    assert_eq!(guest.read(second, 2), (b"45".to_vec(), 0), "the other handle");
    assert_eq!(guest.read(first, 9), (b"6789".to_vec(), 5), "the rest of the input");
    assert_eq!(guest.read(first, 9), (vec![], 9), "the end");
    assert_eq!(guest.read(second, 1), (vec![], 1), "the end for both");
    assert_eq!(guest.call(READC, 0), FAILED, "the end for characters");
}

#[test]
fn a_byte_with_all_bits_set_is_not_the_end_of_input() {
    let mut guest = Guest::with_input(&[0xff, 0]);
    assert_eq!(guest.call(READC, 0), 0xff, "a byte");
    assert_eq!(guest.call(READC, 0), 0, "a zero byte");
    assert_eq!(guest.call(READC, 0), FAILED, "the end");
}

#[test]
fn input_that_cannot_be_delivered_is_not_lost() {
    let mut guest = Guest::with_input(b"abcdef");
    let handle = guest.open(":tt", IN);
    for buffer in [0, READ_ONLY, CODE, DATA - 1, DATA_END - 3, u64::MAX] {
        assert_eq!(guest.call_with(READ, &[handle, buffer, 4]), 4, "nothing is read to {buffer:#x}");
        assert_eq!(guest.errno(), EFAULT, "{buffer:#x}");
    }
    assert_eq!(guest.get(DATA_END - 3, 3), [0; 3], "not even the bytes that are mapped are written");
    assert_eq!(guest.read(handle, 4), (b"abcd".to_vec(), 0), "all input is still there");
}

#[test]
fn output_cannot_be_read() {
    let mut guest = Guest::with_input(b"abc");
    for mode in [OUT, ERR] {
        let handle = guest.open(":tt", mode);
        assert_eq!(guest.read(handle, 3), (vec![], 3), "nothing");
        assert_eq!(guest.errno(), EBADF, "a handle for writing");
    }
}

#[test]
fn a_write_from_memory_that_cannot_be_read_writes_nothing() {
    let mut guest = Guest::new();
    let handle = guest.open(":tt", OUT);
    for buffer in [0, WRITE_ONLY, DATA - 1, DATA_END - 3, 1 << 48, u64::MAX - 3] {
        assert_eq!(guest.call_with(WRITE, &[handle, buffer, 4]), 4, "nothing is written from {buffer:#x}");
        assert_eq!(guest.errno(), EFAULT, "{buffer:#x}");
    }
    for bytes in [1 << 63, u64::MAX] {
        assert_eq!(guest.call_with(WRITE, &[handle, BUFFER, bytes]), bytes, "{bytes:#x} bytes");
        assert_eq!(guest.errno(), EFAULT, "memory is not that large");
    }
    assert_eq!(guest.output(Stream::Output), b"", "nothing was written");
    assert_eq!(guest.call_with(WRITE, &[handle, READ_ONLY, 8]), 0, "constants can be written");
    assert_eq!(guest.output(Stream::Output), b"constant", "the constants were written");
}

#[test]
fn large_transfers_are_done_in_parts() {
    let bytes: Vec<u8> = (0..(5 << 19) + 3_u32).map(|n| (n / 7) as u8).collect();
    let count = bytes.len() as u64;
    let mut guest = Guest::of(builder().input(|_| bytes.clone()).output_max(usize::MAX));
    let heap = guest.machine.layout().heap.start;
    let input = guest.open(":tt", IN);
    // Repeat until nothing is left, as C's fread and fwrite do.
    let (mut rest, mut calls) = (count, 0);
    while rest > 0 {
        let left = guest.call_with(READ, &[input, heap + (count - rest), rest]);
        assert!(left < rest, "every call transfers some bytes");
        (rest, calls) = (left, calls + 1);
    }
    assert_eq!(calls, 3, "one mebibyte per call");
    assert!(guest.get(heap, bytes.len()) == bytes, "all of it was read");
    let output = guest.open(":tt", OUT);
    let mut rest = count;
    while rest > 0 {
        rest = guest.call_with(WRITE, &[output, heap + (count - rest), rest]);
    }
    assert!(guest.output(Stream::Output) == bytes, "all of it was written");
}

#[test]
fn output_of_each_stream_is_collected_up_to_a_limit() {
    for limit in [0, 1, 5, 9, 10] {
        let mut guest = Guest::of(builder().output_max(limit));
        let (output, error) = (guest.open(":tt", OUT), guest.open(":tt", ERR));
        let truncated = |guest: &Guest| guest.machine.output_truncated(0).unwrap();
        for (count, piece) in [b"01234", b"56789"].into_iter().enumerate() {
            assert_eq!(guest.write(output, piece), 0, "the guest sees no error");
            assert_eq!(truncated(&guest), 5 * (count + 1) > limit, "the host sees the truncation at {limit}");
        }
        assert_eq!(guest.output(Stream::Output), &b"0123456789"[..limit], "the output up to the limit");
        assert_eq!(guest.write(error, b"x"), 0, "the other stream");
        assert_eq!(
            guest.output(Stream::Error).len(),
            limit.min(1),
            "the other stream has a limit of its own"
        );
    }
    let mut guest = Guest::new();
    let (heap, output) = (guest.machine.layout().heap.start, guest.open(":tt", OUT));
    for (rounds, truncated) in [(1, false), (2, true)] {
        assert_eq!(guest.call_with(WRITE, &[output, heap, 1 << 20]), 0, "a mebibyte");
        assert_eq!(guest.output(Stream::Output).len(), 1 << 20, "the default limit");
        assert_eq!(guest.machine.output_truncated(0).unwrap(), truncated, "after {rounds}");
    }
}

#[test]
fn input_can_be_replaced_and_a_reset_restores_it() {
    let mut guest = Guest::of(builder().lanes(2).input(|lane| format!("old{lane}").into_bytes()));
    guest.park();
    let handle = guest.open(":tt", IN);
    assert_eq!(guest.read(handle, 1), (b"o".to_vec(), 0), "some of the old");
    guest.machine.snapshot().unwrap();
    for text in ["new", "", "longer than before"] {
        guest.machine.set_input(0, text.as_bytes()).unwrap();
        let missing = 50 - text.len() as u64;
        assert_eq!(guest.read(handle, 50), (text.as_bytes().to_vec(), missing), "all of the new");
        guest.machine.reset(&[0]).unwrap();
        assert_eq!(guest.read(handle, 50), (b"ld0".to_vec(), 47), "the rest of the old");
    }
    guest.lane = 1;
    let handle = guest.open(":tt", IN);
    assert_eq!(guest.read(handle, 50), (b"old1".to_vec(), 46), "the other lane keeps its own");
    assert!(guest.machine.set_input(2, b"").is_err(), "there is no lane 2");
}

#[test]
fn a_console_gets_every_write_at_once() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let console = {
        let heard = Arc::clone(&heard);
        move |lane: usize, stream, bytes: &[u8]| heard.lock().unwrap().push((lane, stream, bytes.to_vec()))
    };
    let mut guest = Guest::of(builder().lanes(2).console(console));
    guest.park();
    let last = || heard.lock().unwrap().pop();
    guest.lane = 1;
    guest.put(BUFFER, b"c\0");
    guest.call(WRITEC, BUFFER);
    assert_eq!(last(), Some((1, Stream::Output, b"c".to_vec())), "a character");
    guest.call(WRITE0, BUFFER);
    assert_eq!(last(), Some((1, Stream::Output, b"c".to_vec())), "a string");
    let (output, error) = (guest.open(":tt", OUT), guest.open(":tt", ERR));
    guest.write(error, b"oh");
    assert_eq!(last(), Some((1, Stream::Error, b"oh".to_vec())), "error output");
    guest.write(output, b"ah");
    assert_eq!(last(), Some((1, Stream::Output, b"ah".to_vec())), "output");
    guest.write(77, b"lost");
    assert_eq!(last(), None, "a write that fails");
    assert_eq!(guest.output(Stream::Output), b"", "nothing is collected");
    assert_eq!(guest.output(Stream::Error), b"", "nothing is collected");
}
