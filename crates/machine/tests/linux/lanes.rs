//! Tests that lanes are independent: arguments, files, random numbers, snapshots, frames.

use std::sync::{Arc, Mutex};

use kvrm_machine::{Machine, Register, Stop, Stream};

use crate::support::{Caller, DATA, guest, program};

#[test]
fn lanes_have_arguments_environment_and_input_of_their_own() {
    let mut machine = Machine::builder(guest("process"))
        .lanes(3)
        .arguments(|lane| vec![format!("lane {lane}")])
        .environment(|lane| vec![format!("KVRM_LANE={lane}")])
        .input(|lane| vec![b'x'; 10 * lane])
        .build()
        .unwrap();
    machine.run(u64::MAX).unwrap();
    for lane in 0..3 {
        let output = String::from_utf8_lossy(machine.output(lane, Stream::Output).unwrap()).into_owned();
        for line in [
            format!("argument=lane {lane}\n"),
            format!("variable=KVRM_LANE={lane}\n"),
            format!("input={}\n", 10 * lane),
        ] {
            assert!(output.contains(&line), "lane {lane} says {line}: {output}");
        }
    }
}

#[test]
fn a_reset_restores_files_memory_and_arguments() {
    let mut machine =
        Machine::builder(guest("files")).lanes(2).arguments(|_| vec!["/tmp/a".to_owned()]).build().unwrap();
    machine.snapshot().unwrap();
    let report = machine.run(u64::MAX).unwrap();
    let output = machine.output(1, Stream::Output).unwrap().to_vec();
    machine.reset(&[0, 1]).unwrap();
    machine.set_arguments(0, &["/tmp/other".to_owned()]).unwrap();
    assert_eq!(machine.run(u64::MAX).unwrap().steps, report.steps, "the same again");
    for lane in 0..2 {
        assert_eq!(machine.output(lane, Stream::Output).unwrap(), output, "lane {lane}");
    }
    let late = machine.set_arguments(0, &["/tmp/late".to_owned()]);
    assert!(late.is_err(), "arguments cannot change after the first step");
}

#[test]
fn random_numbers_follow_from_seed_and_lane() {
    let bytes = |seed: u64| {
        let mut caller = Caller::of(Machine::builder(program()).seed(seed));
        assert_eq!(caller.call(278, &[DATA, 33, 0]), 33, "getrandom");
        let first = caller.read(DATA, 33);
        assert_eq!(caller.call(278, &[DATA, 33, 0]), 33, "getrandom");
        assert_ne!(caller.read(DATA, 33), first, "the sequence continues");
        first
    };
    assert_eq!(bytes(1), bytes(1), "the same again");
    assert_ne!(bytes(1), bytes(2), "another seed");
}

#[test]
fn machines_run_the_lanes_of_a_larger_one() {
    let random = |first: u64, lanes: usize| -> Vec<Vec<u8>> {
        let mut machine = Machine::builder(program()).lanes(lanes).first_lane(first).seed(7).build().unwrap();
        for (register, value) in [(0, DATA), (1, 33), (2, 0), (8, 278)] {
            machine.set_registers(.., Register::X(register), &vec![value; lanes]).unwrap();
        }
        machine.run(1).unwrap();
        machine.read_all(DATA, 33).unwrap().chunks(33).map(<[u8]>::to_vec).collect()
    };
    let all = random(0, 6);
    assert_eq!([random(0, 2), random(2, 1), random(3, 3)].concat(), all, "lanes 0 to 5 in three machines");
    assert_ne!(all[0], all[5], "lanes get different numbers");
}

#[test]
fn a_call_that_stops_for_lack_of_frames_is_made_again() {
    // The only frame is taken by the stack.
    let mut caller = Caller::of(Machine::builder(program()).frames_max(1).input(|_| b"input".to_vec()));
    assert_eq!(caller.try_call(63, &[0, DATA, 100]), Err(Stop::OutOfFrames), "read");
    let steps = caller.machine.cpu(0).unwrap().steps;
    caller.machine.set_frames_max(2).unwrap();
    caller.machine.run(1).unwrap();
    let cpu = caller.machine.cpu(0).unwrap();
    assert_eq!((cpu.x(0), cpu.steps), (5, steps + 1), "the call is made again and reads all input");
    assert_eq!(caller.read(DATA, 5), b"input", "the input is in memory");
}

#[test]
fn mounted_directories_are_read_only() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("file"), "of the host").unwrap();
    std::fs::create_dir(host.path().join("inside")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(host.path().join("file"), host.path().join("out")).unwrap();
    let mut caller = Caller::of(Machine::builder(program()).mount(host.path(), "/data/here"));
    let file = caller.open("/data/here/inside/../file", 0);
    assert_eq!(caller.contents(file), b"of the host", "the contents of the file");
    let (enoent, erofs) = (-2, -30);
    assert_eq!(caller.open("/data/here/file", 1), erofs, "open for writing");
    assert_eq!(caller.open("/data/here/new", 0o101), erofs, "create a file");
    assert_eq!(caller.open("/data/here/inside/new", 0o101), erofs, "create a file in a subdirectory");
    assert_eq!(caller.open("/data/here/out", 0), enoent, "symbolic links are followed in the guest's tree");
    let path = caller.path("/data/here/file");
    assert_eq!(caller.call(35, &[0, path, 0]), erofs, "unlink");
    assert_eq!(caller.call(45, &[path, 0]), erofs, "truncate");
    assert_eq!(
        caller.open("/data/here/../../../../data/here/file", 0),
        4,
        "the parent of the root is the root"
    );
    let missing = Machine::builder(program()).mount("/there/is/no/such/directory", "/x").build();
    assert!(missing.is_err(), "the directory does not exist");
}

#[test]
fn lanes_served_together_behave_as_lanes_served_alone() {
    const LANES: usize = 100;
    // More lanes than are served at the same time, with arguments that make their calls differ.
    let builder = || {
        Machine::builder(guest("process"))
            .arguments(|lane| vec![format!("{lane}"), "sigpipe".repeat(lane % 2)])
            .environment(|lane| vec![format!("KVRM_LANE={lane}")])
            .input(|lane| vec![b'x'; 37 * lane])
    };
    let mut together = builder().lanes(LANES).build().unwrap();
    let report = together.run(u64::MAX).unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&log);
    let console = move |lane, _, bytes: &[u8]| written.lock().unwrap().push((lane, bytes.to_vec()));
    let mut with_console = builder().lanes(LANES).console(console).build().unwrap();
    with_console.run(u64::MAX).unwrap();
    let log = log.lock().unwrap();
    let mut services = 0;
    for lane in 0..LANES {
        let mut alone = Machine::builder(guest("process"))
            .arguments(|_| vec![format!("{lane}"), "sigpipe".repeat(lane % 2)])
            .environment(|_| vec![format!("KVRM_LANE={lane}")])
            .input(|_| vec![b'x'; 37 * lane])
            .build()
            .unwrap();
        services += alone.run(u64::MAX).unwrap().services;
        assert_eq!(together.stop(lane).unwrap(), alone.stop(0).unwrap(), "lane {lane}");
        assert_eq!(together.cpu(lane).unwrap(), alone.cpu(0).unwrap(), "lane {lane}");
        let output = alone.output(0, Stream::Output).unwrap();
        assert_eq!(together.output(lane, Stream::Output).unwrap(), output, "lane {lane}");
        let bytes: Vec<u8> =
            log.iter().filter(|(from, _)| *from == lane).flat_map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(bytes, output, "lane {lane}, written to a console");
    }
    assert_eq!(report.services, services, "the number of calls");
    let first: Vec<usize> = log.iter().take(LANES).map(|(lane, _)| *lane).collect();
    assert_eq!(first, (0..LANES).collect::<Vec<_>>(), "the first call of each, in the order of the lanes");
}
