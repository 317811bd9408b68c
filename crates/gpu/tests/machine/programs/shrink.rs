//! A program that fails, made short, and written down. All attempts of a round run at once, a lane each.

use std::fs;
use std::path::Path;

use kvrm_arm64::Stop;
use kvrm_machine::vectors::{Bytes, Hex, Mismatch, Number, State, StopName, Vector};
use kvrm_machine::{Cpu, ReferenceEngine};
use kvrm_testkit::programs;

use super::outcomes;

/// Says what differs of each of some programs, which all have the same features.
type Differ<'a> = &'a dyn Fn(&[Vector]) -> Vec<Option<String>>;

/// The program made short: what is left of it, what differs, and where it is written.
///
/// `differ` says what differs of each of some programs.
pub(crate) fn report(program: &Vector, differ: Differ<'_>) -> String {
    let (shortest, difference) = shrink(program, differ);
    let vector = with_outputs(&shortest);
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.jsonl", program.name.replace(' ', "-")));
    fs::write(&path, programs::line(&vector)).expect("the folder of temporary files can be written");
    let text =
        vector.describe(&[Mismatch { what: String::new(), expected: String::new(), got: String::new() }]);
    format!("{difference}\n{text}{:x?}\nwritten to {}", shortest.init.x, path.display())
}

/// Takes away what the failure does not need.
fn shrink(program: &Vector, differ: Differ<'_>) -> (Vector, String) {
    let mut best = program.clone();
    let Some(mut difference) = differ(&[best.clone()]).remove(0) else {
        return (best, "it fails only among other lanes".to_owned());
    };
    // The smallest of many candidates that fails.
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
    // Instructions become NOPs, many at a time at first.
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
    // Instructions behind the last that counts, and registers.
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

/// The vector with what the reference makes of it.
fn with_outputs(program: &Vector) -> Vector {
    let outcome = outcomes(std::slice::from_ref(program), &ReferenceEngine).remove(0);
    let Cpu { sp, pc, nzcv, fpcr, fpsr, tpidr_el0, .. } = outcome.lane.cpu;
    let x = (0..31).map(|n| (Number(n), Hex(outcome.lane.cpu.x(n)))).collect();
    let stop = outcome.lane.stop.and_then(|stop| {
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
    let written = outcome.lane.dirty.iter().zip(outcome.lane.memory);
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
