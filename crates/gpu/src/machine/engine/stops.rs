//! Conversion between stops and the two columns in which shaders write them.

use kvrm_arm64::{Access, Fault, FaultKind, Stop};
use kvrm_shaders::layout::{
    ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, COLUMN_STOP, COLUMN_STOP_ADDRESS, FAULT_ALIGNMENT,
    FAULT_PERMISSION, FAULT_TRANSLATION, STOP_BREAKPOINT, STOP_BUDGET, STOP_DEADLOCK, STOP_EXIT, STOP_FAULT,
    STOP_HALT, STOP_HARDWARE_BREAKPOINT, STOP_NONE, STOP_OUT_OF_FRAMES, STOP_SYSCALL, STOP_SYSTEM_CALL,
    STOP_UNDEFINED, STOP_WATCHPOINT,
};

use super::lanes::GpuExecutor;
use super::words::{halves, word};
use crate::device::error::{Error, Request};
use crate::machine::columns::Columns;

/// The number after the last fault. There are three kinds of fault with three accesses each.
const STOP_FAULTS_END: u32 = STOP_FAULT + 9;
/// The number of the watchpoint for loads.
const WATCHPOINT_READ: u32 = STOP_WATCHPOINT + ACCESS_READ;
/// The number of the watchpoint for stores.
const WATCHPOINT_WRITE: u32 = STOP_WATCHPOINT + ACCESS_WRITE;

/// Returns the access with a number.
const fn access_of(number: u32) -> Access {
    match number {
        ACCESS_READ => Access::Read,
        ACCESS_WRITE => Access::Write,
        _ => Access::Execute,
    }
}

/// Returns the number of an access.
const fn number_of(access: Access) -> u32 {
    match access {
        Access::Read => ACCESS_READ,
        Access::Write => ACCESS_WRITE,
        Access::Execute => ACCESS_EXECUTE,
    }
}

impl GpuExecutor {
    /// Fetches the columns of stops. Both are fetched, so that a lost device is found by the call that reads a stop, and not by
    /// the next one, which sets it.
    fn fetch_stops(&mut self) -> Result<&Columns, Error> {
        self.forget_requests()?;
        self.store.columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS])?;
        Ok(&self.store.columns)
    }

    pub(super) fn read_stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        let columns = self.fetch_stops()?;
        let both = columns.cached(COLUMN_STOP).iter().zip(columns.cached(COLUMN_STOP_ADDRESS));
        // Collecting into a `Result` does not reserve the memory for all stops at once.
        let mut stops = Vec::with_capacity(both.len());
        for (code, address) in both {
            match decode(*code, *address) {
                Ok(stop) => stops.push(stop),
                Err(code) => {
                    let lane = stops.len();
                    return Err(self.bad_request(lane, Request::Stop { code }));
                }
            }
        }
        Ok(stops)
    }

    pub(super) fn read_stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        let columns = self.fetch_stops()?;
        let [code, address] = [COLUMN_STOP, COLUMN_STOP_ADDRESS].map(|column| columns.cached(column)[lane]);
        decode(code, address).map_err(|code| self.bad_request(lane, Request::Stop { code }))
    }
}

/// Converts the words of a lane in the two columns to a stop. Returns its number if no such stop exists.
fn decode(code: u64, address: u64) -> Result<Option<Stop>, u32> {
    let (kind, detail) = halves(code);
    let imm = detail as u16;
    Ok(Some(match kind {
        STOP_NONE => return Ok(None),
        STOP_BUDGET => Stop::Budget,
        STOP_HALT => Stop::Halt { imm },
        STOP_BREAKPOINT => Stop::Breakpoint { imm },
        STOP_SYSCALL => Stop::Syscall { imm },
        STOP_UNDEFINED => Stop::Undefined { word: detail },
        STOP_OUT_OF_FRAMES => Stop::OutOfFrames,
        STOP_DEADLOCK => Stop::Deadlock,
        STOP_EXIT => Stop::Exit { code: detail as i32 },
        STOP_HARDWARE_BREAKPOINT => Stop::HardwareBreakpoint,
        STOP_SYSTEM_CALL => Stop::SystemCall { number: detail },
        watchpoint @ (WATCHPOINT_READ | WATCHPOINT_WRITE) => {
            Stop::Watchpoint { access: access_of(watchpoint - STOP_WATCHPOINT), address }
        }
        fault @ STOP_FAULT..STOP_FAULTS_END => {
            let access = access_of((fault - STOP_FAULT) % 3);
            let kind = match (fault - STOP_FAULT) / 3 * 3 {
                FAULT_TRANSLATION => FaultKind::Translation,
                FAULT_PERMISSION => FaultKind::Permission,
                _ => FaultKind::Alignment,
            };
            Stop::Fault(Fault { kind, access, address })
        }
        unknown => return Err(unknown),
    }))
}

/// Converts a stop to the words of the two columns.
pub(super) fn encode(stop: Option<Stop>) -> (u64, u64) {
    let code = match stop {
        None => word(STOP_NONE, 0),
        Some(Stop::Budget) => word(STOP_BUDGET, 0),
        Some(Stop::Halt { imm }) => word(STOP_HALT, imm.into()),
        Some(Stop::Breakpoint { imm }) => word(STOP_BREAKPOINT, imm.into()),
        Some(Stop::Syscall { imm }) => word(STOP_SYSCALL, imm.into()),
        Some(Stop::Undefined { word: undefined }) => word(STOP_UNDEFINED, undefined),
        Some(Stop::OutOfFrames) => word(STOP_OUT_OF_FRAMES, 0),
        Some(Stop::Deadlock) => word(STOP_DEADLOCK, 0),
        Some(Stop::Exit { code }) => word(STOP_EXIT, code as u32),
        Some(Stop::HardwareBreakpoint) => word(STOP_HARDWARE_BREAKPOINT, 0),
        Some(Stop::SystemCall { number }) => word(STOP_SYSTEM_CALL, number),
        Some(Stop::Watchpoint { access, address }) => {
            return (word(STOP_WATCHPOINT + number_of(access), 0), address);
        }
        Some(Stop::Fault(Fault { kind, access, address })) => {
            let kind = match kind {
                FaultKind::Translation => FAULT_TRANSLATION,
                FaultKind::Permission => FAULT_PERMISSION,
                FaultKind::Alignment => FAULT_ALIGNMENT,
            };
            return (word(STOP_FAULT + kind + number_of(access), 0), address);
        }
        Some(other) => unreachable!("this engine has no number for the stop {other:?}"),
    };
    (code, 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kvrm_shaders::layout::{STOP_NEED_FRAME, STOP_NEED_TIME};

    use super::*;

    #[test]
    fn stops_survive_the_columns() {
        let mut stops = vec![
            None,
            Some(Stop::Budget),
            Some(Stop::Halt { imm: 0xf000 }),
            Some(Stop::Breakpoint { imm: 1 }),
            Some(Stop::Syscall { imm: 2 }),
            Some(Stop::Undefined { word: 0xdead_beef }),
            Some(Stop::OutOfFrames),
            Some(Stop::Deadlock),
            Some(Stop::Exit { code: -1 }),
            Some(Stop::HardwareBreakpoint),
            Some(Stop::Watchpoint { access: Access::Read, address: 1 << 47 }),
            Some(Stop::Watchpoint { access: Access::Write, address: 7 }),
            Some(Stop::SystemCall { number: u32::MAX }),
        ];
        for kind in [FaultKind::Translation, FaultKind::Permission, FaultKind::Alignment] {
            for access in [Access::Read, Access::Write, Access::Execute] {
                stops.push(Some(Stop::Fault(Fault { kind, access, address: u64::MAX - 1 })));
            }
        }
        let names: BTreeSet<&str> = stops.iter().flatten().map(Stop::name).collect();
        assert_eq!(names, Stop::NAMES.iter().copied().collect(), "the list above has every kind of stop");
        for stop in stops {
            let (code, address) = encode(stop);
            assert_eq!(decode(code, address), Ok(stop), "there and back");
        }
    }

    #[test]
    fn unknown_stop_numbers_are_refused() {
        for code in [STOP_DEADLOCK + 1, STOP_NEED_FRAME, STOP_NEED_TIME, u32::MAX] {
            assert_eq!(decode(word(code, 7), 0), Err(code), "no stop has this number");
        }
    }
}
