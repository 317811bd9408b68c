//! What an engine may write to the console itself, and what becomes of that.

use kvrm_machine::Stream;

use crate::support::{CODE, Watched, builder, calling};

const BLOCK: u64 = CODE + 0x1000;

/// Opens the console in one of the modes of `SYS_OPEN`.
fn open(mode: u64) -> (u64, u64, Vec<u64>) {
    (0x01, BLOCK, vec![BLOCK + 24, mode, 3, u64::from_le_bytes(*b":tt\0\0\0\0\0")])
}

/// `SYS_WRITE0`.
fn write(text: [u8; 8]) -> (u64, u64, Vec<u64>) {
    (0x04, BLOCK, vec![u64::from_le_bytes(text)])
}

#[test]
fn an_engine_hears_of_handles_as_they_open_and_close() {
    let watched = Watched::default();
    // Output, error output and input: the first is what an engine may write to.
    let mut machine = calling(&watched, &[open(4), open(8), open(0)]);
    machine.run(100).unwrap();
    let mut heard = vec![(0, 1), (1, 1), (2, 1), (0, 0b11)];
    assert_eq!(watched.log().console, heard, "at the begin, and of one lane");
    machine.snapshot().unwrap();
    let mut cpu = machine.cpu(0).unwrap();
    (cpu.pc, cpu.sp) = (CODE, 0);
    cpu.set_x(0, 0x02);
    cpu.set_x(1, BLOCK);
    let mut close = |machine: &mut kvrm_machine::Machine| {
        machine.write_memory(0, BLOCK, &1_u64.to_le_bytes()).unwrap().unwrap();
        machine.set_cpu(0, &cpu).unwrap();
        machine.resume(0).unwrap();
        machine.run(100).unwrap();
        heard.push((0, 1));
        assert_eq!(watched.log().console, heard, "it is closed");
    };
    close(&mut machine);
    // The engine's own snapshot has the handles too.
    machine.reset(&[0]).unwrap();
    close(&mut machine);
}

#[test]
fn lanes_that_share_something_are_left_to_the_host() {
    let folder = tempfile::tempdir().unwrap();
    for lanes in [1, 2] {
        let calls = vec![open(4); lanes];
        let told = |build: &dyn Fn(&Watched)| {
            let watched = Watched::default();
            build(&watched);
            let told = watched.log().console.len();
            told > 0
        };
        let alone = lanes == 1;
        assert!(told(&|watched| drop(builder(watched, &calls).build().unwrap())), "nothing is shared");
        let with_files =
            told(&|watched| drop(builder(watched, &calls).directory(folder.path()).build().unwrap()));
        assert_eq!(with_files, alone, "files, with {lanes} lanes");
        let with_console =
            told(&|watched| drop(builder(watched, &calls).console(|_, _, _| ()).build().unwrap()));
        assert_eq!(with_console, alone, "a console, with {lanes} lanes");
    }
}

#[test]
fn what_an_engine_wrote_comes_before_the_calls_of_the_round() {
    let watched = Watched::default();
    let mut machine = calling(&watched, &[write(*b"second\0\0"), write(*b"other\0\0\0")]);
    watched.log().written = vec![(0, b"fi".to_vec()), (0, b"rst ".to_vec())];
    let report = machine.run(100).unwrap();
    assert_eq!(report.services, 4, "two of the engine, two of the host");
    assert_eq!(machine.output(0, Stream::Output).unwrap(), b"first second", "of lane 0");
    assert_eq!(machine.output(1, Stream::Output).unwrap(), b"other", "of lane 1");
    // What is left over is in the snapshot, and a reset takes back what came later.
    watched.log().written = vec![(1, b" and more".to_vec())];
    machine.snapshot().unwrap();
    watched.log().written = vec![(1, b" undone".to_vec())];
    machine.reset(&[0, 1]).unwrap();
    assert_eq!(machine.output(1, Stream::Output).unwrap(), b"other and more", "of lane 1");
}
