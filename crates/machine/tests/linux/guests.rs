//! Tests that the compiled guests print and exit as under `qemu-aarch64`.
//!
//! `cargo xtask oracle guests` compares them with QEMU itself.

use std::collections::BTreeSet;

use kvrm_arm64::Processor;
use kvrm_machine::{Machine, Stop, Stream};

use crate::support::{folder, guest};

/// A guest, its arguments, its exit status, and its expected output.
const RUNS: [(&str, &[&str], i32, &str); 26] = [
    // QEMU ignores most advice, so this is the output of the same program on Linux itself.
    ("advice", &["/tmp/kvrm-guest-advice", "fork"], 0, include_str!("expected/advice.txt")),
    ("deadlock", &[], 0, "transfers=6\n"),
    ("files", &["/tmp/kvrm-guest"], 3, include_str!("expected/files.txt")),
    ("files", &[], 2, ""),
    ("ipc", &["/tmp/kvrm-guest-ipc"], 0, include_str!("expected/ipc.txt")),
    ("limits", &["/tmp/kvrm-guest-limits"], 0, include_str!("expected/limits.txt")),
    ("limits", &["execute"], 0, include_str!("expected/limits_execute.txt")),
    ("memory", &[], 0, include_str!("expected/memory.txt")),
    ("pauth", &[], 0, include_str!("expected/pauth.txt")),
    ("pauth", &["execute"], 0, include_str!("expected/pauth_execute.txt")),
    ("pipes", &[], 0, include_str!("expected/pipes.txt")),
    ("proc", &["/tmp/kvrm-guest-proc"], 0, include_str!("expected/proc.txt")),
    ("process", &[], 1, include_str!("expected/process.txt")),
    ("process", &["", "two words", "abort"], 134, include_str!("expected/process_abort.txt")),
    ("process", &["sigpipe"], 141, include_str!("expected/process_sigpipe.txt")),
    ("processes", &[], 0, include_str!("expected/processes.txt")),
    ("processes", &["execute"], 0, include_str!("expected/processes_execute.txt")),
    ("race", &[], 0, "counter=10\n"),
    ("shared", &[], 0, include_str!("expected/shared.txt")),
    ("signals", &[], 3, include_str!("expected/signals.txt")),
    ("signals", &["a bad frame"], 139, include_str!("expected/signals.txt")),
    ("space", &[], 0, include_str!("expected/space.txt")),
    ("sockets", &[], 0, include_str!("expected/sockets.txt")),
    ("terminals", &[], 0, include_str!("expected/terminals.txt")),
    ("threads", &[], 5, include_str!("expected/threads.txt")),
    ("tls", &[], 0, include_str!("expected/tls.txt")),
];

#[test]
fn every_guest_prints_and_exits_as_under_qemu() {
    for (name, arguments, status, expected) in RUNS {
        let program = guest(name);
        let features = if name == "pauth" { Processor::Max.features() } else { program.features() };
        let mut machine = Machine::builder(program)
            .features(features)
            .lanes(2)
            .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
            .environment(|_| vec!["KVRM_GUEST=a variable".to_owned()])
            .input(|_| include_bytes!("expected/input.txt").to_vec())
            .build()
            .expect("the guest fits");
        let report = machine.run(100_000_000).expect("the engine works");
        for lane in 0..2 {
            let output = String::from_utf8_lossy(machine.output(lane, Stream::Output).unwrap()).into_owned();
            assert_eq!(output, expected, "{name} {arguments:?} in lane {lane}");
            let stop = machine.stop(lane).unwrap();
            assert_eq!(stop, Some(Stop::Exit { code: status }), "{name} {arguments:?} in lane {lane}");
        }
        let unknown: Vec<_> = report.unknown_calls.into_iter().collect();
        let expected = if name == "process" { vec![(999, 2)] } else { Vec::new() };
        assert_eq!(unknown, expected, "{name} makes one unknown call");
    }
}

#[test]
fn every_guest_in_the_folder_is_tested() {
    let files = std::fs::read_dir(folder()).unwrap();
    let found: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = RUNS.iter().map(|(name, ..)| format!("{name}.elf")).collect();
    assert_eq!(found, known, "the files in guests/linux/bin");
}

#[test]
fn the_loader_recognises_linux_programs_by_their_code() {
    assert!(guest("files").linux.is_some(), "the guest makes system calls");
    assert!(
        guest("tls").linux.is_some_and(|linux| linux.headers > 0 && linux.count > 0),
        "its program headers are in memory"
    );
    let bare = folder().join("../../bin/sieve.elf");
    assert!(kvrm_machine::Program::open(&bare).unwrap().linux.is_none(), "the guest calls semihosting");
    let system = Some(kvrm_machine::System::Linux);
    assert!(
        kvrm_machine::Program::open_as(bare, system).unwrap().linux.is_some(),
        "an explicit system takes precedence"
    );
}
