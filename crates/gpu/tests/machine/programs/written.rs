//! Programs as files of test vectors, with the results of the reference.

use std::fs;
use std::path::{Path, PathBuf};

use kvrm_arm64::Stop;
use kvrm_machine::vectors::{Bytes, Hex, Number, State, StopName, Vector};
use kvrm_machine::{Cpu, ReferenceEngine};
use kvrm_testkit::programs;

use super::run_programs;

/// Writes a program as a test vector to a temporary folder, and returns the path.
pub(crate) fn as_vector(program: &Vector) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.jsonl", program.name.replace(' ', "-")));
    fs::write(&path, programs::line(&with_outputs(program))).expect("the temporary folder is writable");
    path
}

/// Returns the program with the results of the reference as expected state.
fn with_outputs(program: &Vector) -> Vector {
    let result = run_programs(std::slice::from_ref(program), &ReferenceEngine).remove(0);
    let Cpu { sp, pc, nzcv, fpcr, fpsr, tpidr_el0, .. } = result.lane.cpu;
    let x = (0..31).map(|n| (Number(n), Hex(result.lane.cpu.x(n)))).collect();
    let stop = result.lane.stop.and_then(|stop| {
        Some(match stop {
            Stop::Budget => StopName::Budget,
            Stop::Halt { .. } => StopName::Halt,
            Stop::Breakpoint { .. } => StopName::Breakpoint,
            Stop::Syscall { .. } => StopName::Syscall,
            Stop::Undefined { .. } => StopName::Undefined,
            Stop::Fault(_) => StopName::Fault,
            Stop::Exit { .. } => StopName::Exit,
            _ => return None,
        })
    });
    let written = result.lane.private_pages.iter().zip(result.lane.memory);
    let mem = written.map(|(&page, bytes)| Bytes { at: Hex(page), bytes }).collect();
    let expected = State {
        x,
        sp: Some(Hex(sp)),
        pc: Some(Hex(pc)),
        nzcv: Some(Hex(nzcv)),
        fpcr: Some(Hex(fpcr)),
        fpsr: Some(Hex(fpsr)),
        tpidr_el0: Some(Hex(tpidr_el0)),
        stop,
        mem,
        ..State::default()
    };
    Vector { expected, exact: true, ..program.clone() }
}
