//! Tests of console output that an engine serves itself.

use kvrm_machine::Stream;

use crate::support::{CODE, RecordingEngine, builder, calling_machine};

const BLOCK: u64 = CODE + 0x1000;

/// Returns a call that opens the console in a mode of `SYS_OPEN`.
fn open(mode: u64) -> (u64, u64, Vec<u64>) {
    (0x01, BLOCK, vec![BLOCK + 24, mode, 3, u64::from_le_bytes(*b":tt\0\0\0\0\0")])
}

/// Returns a call of `SYS_WRITE0`.
fn write(text: [u8; 8]) -> (u64, u64, Vec<u64>) {
    (0x04, BLOCK, vec![u64::from_le_bytes(text)])
}

#[test]
fn an_engine_is_told_which_handles_are_open() {
    let engine = RecordingEngine::default();
    // Output, error output and input. An engine may write only to the first.
    let mut machine = calling_machine(&engine, &[open(4), open(8), open(0)]);
    machine.run(100).unwrap();
    let mut heard = vec![(0, 1), (1, 1), (2, 1), (0, 0b11)];
    assert_eq!(
        engine.log().console,
        heard,
        "the mask of each lane at the start, and the open handle of lane 0"
    );
    machine.snapshot().unwrap();
    let mut cpu = machine.cpu(0).unwrap();
    (cpu.pc, cpu.sp) = (CODE, 0);
    cpu.set_x(0, 0x02);
    cpu.set_x(1, BLOCK);
    let mut close = |machine: &mut kvrm_machine::Machine| {
        machine.write(0, BLOCK, &1_u64.to_le_bytes()).unwrap();
        machine.set_cpu(0, &cpu).unwrap();
        machine.resume(0).unwrap();
        machine.run(100).unwrap();
        heard.push((0, 1));
        assert_eq!(engine.log().console, heard, "the handle is closed");
    };
    close(&mut machine);
    // The engine's snapshot includes the handles.
    machine.reset(&[0]).unwrap();
    close(&mut machine);
}

#[test]
fn console_output_of_lanes_that_share_files_or_a_console_is_left_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    for lanes in [1, 2] {
        let calls = vec![open(4); lanes];
        let may_write = |build: &dyn Fn(&RecordingEngine)| {
            let engine = RecordingEngine::default();
            build(&engine);
            let messages = engine.log().console.len();
            messages > 0
        };
        let alone = lanes == 1;
        assert!(may_write(&|engine| drop(builder(engine, &calls).build().unwrap())), "nothing is shared");
        let with_files =
            may_write(&|engine| drop(builder(engine, &calls).directory(folder.path()).build().unwrap()));
        assert_eq!(with_files, alone, "files, with {lanes} lanes");
        let with_console =
            may_write(&|engine| drop(builder(engine, &calls).console(|_, _, _| ()).build().unwrap()));
        assert_eq!(with_console, alone, "a console, with {lanes} lanes");
    }
}

#[test]
fn output_served_by_an_engine_precedes_the_calls_of_the_round() {
    let engine = RecordingEngine::default();
    let mut machine = calling_machine(&engine, &[write(*b"second\0\0"), write(*b"other\0\0\0")]);
    engine.log().written = vec![(0, b"fi".to_vec()), (0, b"rst ".to_vec())];
    let report = machine.run(100).unwrap();
    assert_eq!(report.services, 4, "two of the engine, two of the host");
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"first second", "of lane 0");
    assert_eq!(machine.output(1, Stream::Output).unwrap(), b"other", "of lane 1");
    // A snapshot includes pending output; a reset discards later output.
    engine.log().written = vec![(1, b" and more".to_vec())];
    machine.snapshot().unwrap();
    engine.log().written = vec![(1, b" undone".to_vec())];
    machine.reset(&[0, 1]).unwrap();
    assert_eq!(machine.output(1, Stream::Output).unwrap(), b"other and more", "of lane 1");
}
