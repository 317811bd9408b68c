//! Stops of many lanes as columns of numbers.

use kvrm::{Access, Fault, FaultKind, Stop};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::error::refused;

/// The kinds of stops, by their numbers in columns.
const KINDS: &[&str] = Stop::NAMES;
/// The number of a lane that has no stop.
const NO_STOP: u8 = u8::MAX;

/// A stop as numbers: its kind, its value, and the kind of an access times 4 plus the kind of a fault.
type Row = (u8, u64, u8);

/// Columns of the kinds, values and details of stops.
pub(crate) type StopArrays<'py> =
    (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u8>>);

/// The same columns while other threads of Python may run.
pub(crate) struct StopColumns(Vec<u8>, Vec<u64>, Vec<u8>);

impl StopColumns {
    pub(crate) fn of(stops: &[Option<Stop>]) -> Self {
        let room = stops.len();
        let (mut kinds, mut values, mut details) =
            (Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room));
        for (kind, value, detail) in stops.iter().copied().map(row) {
            kinds.push(kind);
            values.push(value);
            details.push(detail);
        }
        Self(kinds, values, details)
    }

    pub(crate) fn arrays(self, py: Python<'_>) -> StopArrays<'_> {
        let Self(kinds, values, details) = self;
        (PyArray1::from_vec(py, kinds), PyArray1::from_vec(py, values), PyArray1::from_vec(py, details))
    }
}

/// Returns a stop as numbers. The value is the status of an exit, an immediate, a word, an address, or the number of a call.
fn row(stop: Option<Stop>) -> Row {
    let Some(stop) = stop else { return (NO_STOP, 0, 0) };
    let kind = KINDS.iter().position(|name| *name == stop.name()).map_or(NO_STOP, |kind| kind as u8);
    let (value, detail) = match stop {
        Stop::Exit { code } => (i64::from(code) as u64, 0),
        Stop::Halt { imm } | Stop::Breakpoint { imm } | Stop::Syscall { imm } => (imm.into(), 0),
        Stop::Undefined { word } => (word.into(), 0),
        Stop::Fault(Fault { kind, access, address }) => (address, 4 * access as u8 + kind as u8),
        Stop::Watchpoint { access, address } => (address, 4 * access as u8),
        Stop::SystemCall { number } => (number.into(), 0),
        _ => (0, 0),
    };
    (kind, value, detail)
}

/// Returns the stop of numbers that [`row`] has made.
fn stop((kind, value, detail): Row) -> Option<Stop> {
    let access = *[Access::Read, Access::Write, Access::Execute].get(usize::from(detail / 4))?;
    let kinds = [FaultKind::Translation, FaultKind::Permission, FaultKind::Alignment];
    Some(match *KINDS.get(usize::from(kind))? {
        "exit" => Stop::Exit { code: value as i32 },
        "halt" => Stop::Halt { imm: value as u16 },
        "breakpoint" => Stop::Breakpoint { imm: value as u16 },
        "syscall" => Stop::Syscall { imm: value as u16 },
        "undefined" => Stop::Undefined { word: value as u32 },
        "fault" => {
            let kind = *kinds.get(usize::from(detail % 4))?;
            Stop::Fault(Fault { kind, access, address: value })
        }
        "budget" => Stop::Budget,
        "out-of-frames" => Stop::OutOfFrames,
        "deadlock" => Stop::Deadlock,
        "hardware-breakpoint" => Stop::HardwareBreakpoint,
        "watchpoint" => Stop::Watchpoint { access, address: value },
        "system-call" => Stop::SystemCall { number: value as u32 },
        _ => return None,
    })
}

/// Returns the names of the kinds of stops, by their numbers.
#[pyfunction]
pub(crate) fn stop_names() -> Vec<&'static str> {
    KINDS.to_vec()
}

/// Returns a stop in words.
#[pyfunction]
pub(crate) fn stop_text(kind: u8, value: u64, detail: u8) -> PyResult<String> {
    let text = stop((kind, value, detail)).map(|stop| stop.to_string());
    text.ok_or_else(|| refused(format!("there is no stop ({kind}, {value}, {detail})")))
}
