//! The entry point of the service: serves the system calls and signals that lanes stop for.

use kvrm_arm64::{Cpu, Stop};

use super::call::Call;
use super::errno::ENOSYS;
use super::failure::{Failure, negative};
use super::guest::Guest;
use super::process::{Effects, Process};
use super::table::{Implementation, Status, find};
use super::unserved::UnservedCall;
use crate::error::Error;
use crate::executor::LaneAccess;

impl Process {
    /// Serves the stop of a lane: a system call, or a signal that the lane [handles](Process::handles_signal_of).
    ///
    /// Returns `None` if the lane continues with the registers in `cpu`, or its new stop. After an exit the lane has
    /// ended; after any other stop the service was not done, and the lane has to be served again.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn serve(
        &mut self,
        lane: &mut dyn LaneAccess,
        stop: Stop,
        cpu: &mut Cpu,
        effects: &mut Effects,
    ) -> Result<Option<Stop>, Error> {
        let before = lane.process_state()?;
        self.state = before;
        let served = self.serve_with_state(&mut Guest { lane: &mut *lane }, stop, cpu, effects)?;
        if self.state != before {
            lane.set_process_state(&self.state)?;
        }
        Ok(served)
    }

    fn serve_with_state(
        &mut self,
        guest: &mut Guest<'_>,
        stop: Stop,
        cpu: &mut Cpu,
        effects: &mut Effects,
    ) -> Result<Option<Stop>, Error> {
        let before = self.signals.clone();
        let served = match stop {
            Stop::Syscall { .. } => self.serve_call(guest, cpu, effects),
            stop => self.raise(stop, cpu.pc).map(|_| ()),
        };
        match served.and_then(|()| self.deliver(guest, cpu)) {
            // `serve_call` has put the errno of a call into X0, and `send` cannot fail for the signals of faults.
            Ok(()) | Err(Failure::Errno(_)) => Ok(None),
            Err(Failure::Exit(code)) => Ok(Some(Stop::Exit { code })),
            Err(Failure::Stop(stop)) => {
                self.signals = before;
                Ok(Some(stop))
            }
            Err(Failure::Engine(error)) => Err(error),
        }
    }

    /// Serves a system call and writes its return value to X0.
    fn serve_call(
        &mut self,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        // Linux looks at the low 32 bits only.
        let number = u64::from(cpu.x(8) as u32);
        let x = [0, 1, 2, 3, 4, 5].map(|n| cpu.x(n));
        let found = find(number);
        let served = match found {
            Some(call) => {
                let guest = Guest { lane: &mut *guest.lane };
                match call.implementation {
                    Implementation::Function(function) => {
                        let console = &mut effects.console;
                        function(&mut Call { process: self, guest, console, x, cpu })
                    }
                    Implementation::Constant(answer) => answer.map_err(Failure::from),
                }
            }
            None => Err(ENOSYS.into()),
        };
        let value = match served {
            Ok(value) => value,
            Err(Failure::Errno(errno)) => {
                effects.unserved = match found.map(|call| call.status) {
                    Some(Status::Refused) => Some(UnservedCall::Refused(number)),
                    Some(Status::Absent) => None,
                    _ if errno == ENOSYS => Some(UnservedCall::Unknown(number)),
                    _ => None,
                };
                negative(errno)
            }
            Err(failure) => return Err(failure),
        };
        cpu.set_x(0, value);
        Ok(())
    }
}
