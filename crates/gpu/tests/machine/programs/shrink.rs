//! Shrinking of a program that fails to a short one, which is written as a test vector. All attempts of a round run at
//! once, one in each lane.

use std::fs;
use std::path::Path;

use kvrm_arm64::Stop;
use kvrm_machine::vectors::{Bytes, Hex, Mismatch, Number, State, StopName, Vector};
use kvrm_machine::{Cpu, ReferenceEngine};
use kvrm_testkit::programs;

use super::run_programs;

/// A function that runs programs with the same features and returns the difference of each one, or `None`.
type FindDifferences<'a> = &'a dyn Fn(&[Vector]) -> Vec<Option<String>>;

/// Shrinks a program, and returns a report with the shrunk program, the difference, and the path of the written vector.
pub(crate) fn report(program: &Vector, differ: FindDifferences<'_>) -> String {
    let (shortest, difference) = shrink(program, differ);
    let vector = with_outputs(&shortest);
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.jsonl", program.name.replace(' ', "-")));
    fs::write(&path, programs::line(&vector)).expect("the temporary folder is writable");
    let text =
        vector.describe(&[Mismatch { what: String::new(), expected: String::new(), got: String::new() }]);
    format!("{difference}\n{text}{:x?}\nwritten to {}", shortest.init.x, path.display())
}

/// Removes the parts of a program that its failure does not need. Returns the rest and the difference.
fn shrink(program: &Vector, differ: FindDifferences<'_>) -> (Vector, String) {
    let mut best = program.clone();
    let Some(mut difference) = differ(&[best.clone()]).remove(0) else {
        return (best, "the program fails only beside other lanes".to_owned());
    };
    // Returns the first candidate that fails; candidates are sorted by size.
    let mut attempt = |candidates: Vec<Vector>| -> Option<Vector> {
        if candidates.is_empty() {
            return None;
        }
        let failing = differ(&candidates).into_iter().zip(candidates);
        let (text, vector) = failing.filter_map(|(text, vector)| Some((text?, vector))).next()?;
        difference = text;
        Some(vector)
    };
    let with_steps = |steps| Vector { steps, ..best.clone() };
    if let Some(shorter) = attempt((0..best.steps).map(with_steps).collect()) {
        best = shorter;
    }
    // Replaces instructions by NOPs, in halves at first and then in ever smaller groups.
    let nop = programs::nop();
    let mut length = best.code.len().next_power_of_two();
    while length > 0 {
        let without = |start: usize| {
            let mut vector = best.clone();
            let end = vector.code.len().min(start + length);
            let is_new = vector.code[start..end].iter().any(|word| word.0 != nop);
            vector.code[start..end].fill(Hex(nop));
            is_new.then_some(vector)
        };
        let candidates = (0..best.code.len()).step_by(length).filter_map(without).collect();
        match attempt(candidates) {
            Some(shorter) => best = shorter,
            None => length /= 2,
        }
    }
    let with_steps = |steps| Vector { steps, ..best.clone() };
    if let Some(shorter) = attempt((0..best.steps).map(with_steps).collect()) {
        best = shorter;
    }
    // Removes instructions at the end, and initial values of registers.
    let until = |length: usize| Vector { code: best.code[..length].to_vec(), ..best.clone() };
    if let Some(shorter) = attempt((1..best.code.len()).map(until).collect()) {
        best = shorter;
    }
    for n in 0..31 {
        let mut vector = best.clone();
        if vector.init.x.remove(&Number(n)).is_some()
            && let Some(shorter) = attempt(vec![vector])
        {
            best = shorter;
        }
    }
    (best, difference)
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
            Stop::OutOfFrames => return None,
        })
    });
    let written = result.lane.dirty.iter().zip(result.lane.memory);
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
