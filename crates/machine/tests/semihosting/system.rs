//! Tests of time, memory, the command line, and operations that are never served.

use kvrm_machine::Error;

use crate::support::*;

/// Returns a guest that has retired this many steps.
fn guest_after(steps: u64) -> Guest {
    let guest = Guest::new();
    let mut machine = guest.machine;
    let mut cpu = machine.cpu(0).unwrap();
    cpu.steps = steps;
    machine.set_cpu(0, &cpu).unwrap();
    Guest { machine, lane: 0 }
}

#[test]
fn time_is_the_steps_retired_before_the_call() {
    // A step is a nanosecond. Hundredths of a second and seconds are rounded down.
    let cases = [
        (0, 0, 0),
        (1, 0, 0),
        (9_999_999, 0, 0),
        (10_000_000, 1, 0),
        (999_999_999, 99, 0),
        (1_000_000_000, 100, 1),
        (12_345_678_901_234, 1_234_567, 12_345),
        (1 << 63, (1 << 63) / 10_000_000, (1 << 63) / 1_000_000_000),
    ];
    for (steps, hundredths, seconds) in cases {
        assert_eq!(guest_after(steps).call(CLOCK, 0), hundredths, "hundredths of a second after {steps}");
        assert_eq!(guest_after(steps).call(TIME, 0), seconds, "seconds after {steps}");
        let mut guest = guest_after(steps);
        assert_eq!(guest.call(ELAPSED, BUFFER), 0, "ticks after {steps}");
        assert_eq!(guest.words(BUFFER), [steps], "ticks are steps");
    }
}

#[test]
fn time_advances_with_every_step() {
    let mut guest = Guest::new();
    for expected in 0..20 {
        assert_eq!(guest.call(ELAPSED, BUFFER), 0, "read the time");
        assert_eq!(guest.words(BUFFER), [expected], "each call is a step");
    }
    assert_eq!(guest.call(TICKFREQ, 0), 1_000_000_000, "ticks a second");
}

#[test]
fn heapinfo_agrees_with_the_layout() {
    for (stack, heap) in [(1 << 20, 16 << 20), (1, 1), (0, 0), (12345, 1 << 40)] {
        let mut guest = Guest::of(builder().stack_bytes(stack).heap_bytes(heap));
        guest.put(BUFFER, &[0xee; 40]);
        assert_eq!(guest.call_with(HEAPINFO, &[BUFFER]), 0, "asking");
        let layout = guest.machine.layout().clone();
        // Heap base, heap limit, stack base (its high end), stack limit.
        let expected = [layout.heap.start, layout.heap.end, layout.stack.end, layout.stack.start];
        assert_eq!(guest.words(BUFFER), expected, "the four fields");
        assert_eq!(guest.words(BUFFER + 32), [0xeeee_eeee_eeee_eeee], "nothing is written after them");
        assert_eq!(layout.stack.end - layout.stack.start, u64::next_multiple_of(stack, 4096), "the stack");
        assert_eq!(layout.heap.end - layout.heap.start, u64::next_multiple_of(heap, 4096), "the heap");
        for block in [0, READ_ONLY, DATA_END - 31, u64::MAX] {
            assert_eq!(guest.error(HEAPINFO, &[block]), EFAULT, "to {block:#x}");
        }
        assert_eq!(guest.get(DATA_END - 31, 31), [0; 31], "the mapped part is not written, either");
    }
}

#[test]
fn the_command_line_needs_room_for_its_nul() {
    let arguments = |_| vec!["one".to_owned(), "--two=2".to_owned(), "\u{e9}".to_owned()];
    let expected = "guest one --two=2 \u{e9}".as_bytes();
    let mut guest = Guest::of(builder().arguments(arguments));
    let length = expected.len() as u64;
    for room in [0, 1, length - 1, length] {
        guest.put(BUFFER, &[0xee; 64]);
        assert_eq!(guest.error(GET_CMDLINE, &[BUFFER, room]), E2BIG, "a buffer of {room} bytes");
        assert_eq!(guest.get(BUFFER, 64), [0xee; 64], "nothing is written");
        assert_eq!(guest.words(BLOCK), [BUFFER, room], "the block is unchanged");
    }
    for room in [length + 1, length + 2, u64::MAX] {
        guest.put(BUFFER, &[0xee; 64]);
        assert_eq!(guest.call_with(GET_CMDLINE, &[BUFFER, room]), 0, "a buffer of {room:#x} bytes");
        let mut all = [0xee; 64];
        all[..expected.len()].copy_from_slice(expected);
        all[expected.len()] = 0;
        assert_eq!(guest.get(BUFFER, 64), all, "the command line and its NUL");
        assert_eq!(guest.words(BLOCK), [BUFFER, length], "its length without the NUL");
    }
    for buffer in [0, READ_ONLY, DATA_END - length, u64::MAX] {
        assert_eq!(guest.error(GET_CMDLINE, &[buffer, 64]), EFAULT, "to {buffer:#x}");
        assert_eq!(guest.words(BLOCK), [buffer, 64], "the block is unchanged");
    }
}

/// Returns the command line of a guest.
fn command_line(guest: &mut Guest) -> String {
    assert_eq!(guest.call_with(GET_CMDLINE, &[BUFFER, 0x400]), 0, "asking");
    let [_, length] = guest.words(BLOCK);
    String::from_utf8(guest.get(BUFFER, length as usize)).unwrap()
}

#[test]
fn the_command_line_begins_with_the_file_name_without_folders() {
    let cases = [
        ("guest", "guest"),
        ("/a/b/guest.elf", "guest.elf"),
        ("../guest", "guest"),
        ("/a/two words", "two_words"),
        ("a\tb\n", "a_b_"),
        ("", "program"),
        ("/", "program"),
        ("..", "program"),
    ];
    for (name, expected) in cases {
        let mut program = program();
        program.name = name.to_owned();
        let mut guest =
            Guest::of(kvrm_machine::Machine::builder(program).arguments(|_| vec!["x".to_owned()]));
        assert_eq!(command_line(&mut guest), format!("{expected} x"), "{name:?}");
    }
}

#[test]
fn arguments_that_a_guest_could_not_separate_are_refused() {
    for argument in ["", " ", "a b", "a\tb", "\n", "a\r", "\x0b", "\x0c", "a\0b"] {
        let arguments = |lane| vec!["good".to_owned(), if lane == 1 { argument } else { "too" }.to_owned()];
        let error = builder().lanes(2).arguments(arguments).build().unwrap_err();
        assert!(
            matches!(&error, Error::Argument { lane: 1, argument: named } if named == argument),
            "{error:?}"
        );
        let message = error.to_string();
        let begin = format!("lane 1 cannot have the argument {argument:?}: ");
        assert!(message.starts_with(&begin), "{message}");
        let mut guest = Guest::new();
        assert!(guest.machine.set_arguments(0, &[argument.to_owned()]).is_err(), "{argument:?} later");
        assert_eq!(command_line(&mut guest), "guest", "the command line is unchanged");
    }
}

#[test]
fn arguments_can_be_replaced_and_a_reset_restores_them() {
    let mut guest = Guest::of(builder().lanes(2).arguments(|lane| vec![format!("old{lane}")]));
    guest.park();
    guest.machine.snapshot().unwrap();
    guest.machine.set_arguments(0, &["new".to_owned(), "more".to_owned()]).unwrap();
    assert_eq!(command_line(&mut guest), "guest new more", "replaced");
    guest.machine.reset(&[0]).unwrap();
    assert_eq!(command_line(&mut guest), "guest old0", "restored by the reset");
    guest.machine.set_arguments(0, &[]).unwrap();
    assert_eq!(command_line(&mut guest), "guest", "none");
    guest.lane = 1;
    assert_eq!(command_line(&mut guest), "guest old1", "the other lane keeps its own");
    assert!(guest.machine.set_arguments(2, &[]).is_err(), "there is no lane 2");
}

#[test]
fn iserror_is_true_for_negative_values() {
    let mut guest = Guest::new();
    for (status, expected) in [(0, 0), (1, 0), (u64::MAX >> 1, 0), (1 << 63, 1), (u64::MAX, 1)] {
        assert_eq!(guest.call_with(ISERROR, &[status]), expected, "{status:#x}");
    }
}

#[test]
fn no_command_is_run_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let mut guest = Guest::in_folder(folder.path());
    let command = format!("touch {}", folder.path().join("file").display());
    guest.put(NAME, command.as_bytes());
    assert_eq!(guest.error(SYSTEM, &[NAME, command.len() as u64]), EACCES, "a command");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the command has not been run");
}
