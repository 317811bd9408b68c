//! Serving what lanes stop for: calls and signals.

use kvrm_arm64::{Cpu, Stop};

use super::call::Call;
use super::errno::ENOSYS;
use super::failure::{Failure, negative};
use super::guest::Guest;
use super::process::{Process, Written};
use super::table::{Serve, Status, find};
use crate::error::Error;
use crate::executor::LaneAccess;

impl Process {
    /// Serves what a lane has stopped for: a call, or something it [catches](Process::catches). It goes on with `cpu`,
    /// unless it ends with the stop that is returned, or has one other than an exit: then it has to come here again.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn serve(
        &mut self,
        lane: &mut dyn LaneAccess,
        stop: Stop,
        cpu: &mut Cpu,
        console: &mut Written,
    ) -> Result<Option<Stop>, Error> {
        let before = lane.process_state()?;
        self.state = before;
        let served = self.serve_with_state(&mut Guest { lane: &mut *lane }, stop, cpu, console)?;
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
        console: &mut Written,
    ) -> Result<Option<Stop>, Error> {
        let before = self.signals.clone();
        let served = match stop {
            Stop::Syscall { .. } => self.call(guest, cpu, console),
            stop => self.raise(stop, cpu.pc).map(|_| ()),
        };
        match served.and_then(|()| self.deliver(guest, cpu)) {
            // What a call fails with has been told to the lane, and faults always find room to wait.
            Ok(()) | Err(Failure::Errno(_)) => Ok(None),
            Err(Failure::Exit(code)) => Ok(Some(Stop::Exit { code })),
            Err(Failure::Stop(stop)) => {
                self.signals = before;
                Ok(Some(stop))
            }
            Err(Failure::Engine(error)) => Err(error),
        }
    }

    /// Makes a call, whose answer is in X0 then.
    fn call(&mut self, guest: &mut Guest<'_>, cpu: &mut Cpu, console: &mut Written) -> Result<(), Failure> {
        // The kernel looks at 32 bits.
        let number = u64::from(cpu.x(8) as u32);
        let x = [0, 1, 2, 3, 4, 5].map(|n| cpu.x(n));
        let found = find(number);
        let served = match found {
            Some(call) => {
                let guest = Guest { lane: &mut *guest.lane };
                match call.serve {
                    Serve::By(serve) => serve(&mut Call { process: self, guest, console, x, cpu }),
                    Serve::Always(answer) => answer.map_err(Failure::from),
                }
            }
            None => Err(ENOSYS.into()),
        };
        let value = match served {
            Ok(value) => value,
            Err(Failure::Errno(errno)) => {
                if errno == ENOSYS && found.is_none_or(|call| call.status != Status::Refused) {
                    *self.unknown.entry(number).or_default() += 1;
                }
                negative(errno)
            }
            Err(failure) => return Err(failure),
        };
        cpu.set_x(0, value);
        Ok(())
    }
}
