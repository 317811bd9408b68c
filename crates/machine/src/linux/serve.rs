//! The entry point of the service: serves the system calls and signals that lanes stop for, and the ends of turns.

use kvrm_arm64::{Cpu, Stop};

use super::call::Call;
use super::errno::{EAFNOSUPPORT, EINTR, ENOSYS};
use super::failure::{Failure, negative};
use super::guest::Guest;
use super::kernel::{Effects, Kernel};
use super::process::Status;
use super::signals::{Reaction, SA_RESTART};
use super::table::{Implementation, Status as Extent, find};
use super::unserved::UnservedCall;
use crate::error::Error;
use crate::executor::LaneAccess;

impl Kernel {
    /// Serves the stop of a lane: a system call, a signal that the lane [handles](Kernel::handles_signal_of), or [`Stop::Budget`] at
    /// the end of a [turn](Kernel::turn_end).
    ///
    /// Returns `None` if the lane continues with the registers in `cpu`, or its new stop. After an exit the lane has ended. After
    /// any other stop of a call the service was not done, and `cpu` is such that the lane makes its call again.
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
        self.take_pipes(lane)?;
        let mut guest = Guest { lane: &mut *lane };
        let outcome = match stop {
            Stop::Syscall { .. } => self.serve_call(&mut guest, cpu, effects),
            Stop::Budget => Ok(()),
            stop => self.raise(stop, cpu.pc),
        };
        let next = self.go_on(outcome, &mut guest, cpu, effects)?;
        self.take_trace(next, effects);
        if !self.is_single() {
            self.state.futex_waiters = self.futex_waiters();
        }
        self.offer_pipes(lane, next.is_none())?;
        if self.state != before {
            lane.set_process_state(&self.state)?;
        }
        Ok(next)
    }

    /// Returns the stop of the lane after a service of the current thread, or `None` if a thread goes on, whose registers are then in
    /// `cpu`.
    fn go_on(
        &mut self,
        mut outcome: Result<(), Failure>,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
        effects: &mut Effects,
    ) -> Result<Option<Stop>, Error> {
        loop {
            if matches!(outcome, Err(Failure::Exit(_) | Failure::ExitThread(_)))
                && self.threads.contains_key(&self.turns.current)
            {
                // What the process has written to shared memory outlives it. Without frames for it, the process ends nevertheless.
                let now = self.now(cpu.steps);
                match self.sync_shared(guest, now) {
                    Ok(()) | Err(Failure::Stop(_)) => {}
                    Err(failure) => outcome = Err(failure),
                }
            }
            match std::mem::replace(&mut outcome, Ok(())) {
                // `serve_call` has put the errno of a call into X0, and has dealt with interrupted calls.
                Ok(()) | Err(Failure::Errno(_) | Failure::Interrupted { .. }) => {}
                Err(Failure::Wait(wait)) => {
                    if let Some(value) = wait.value {
                        cpu.set_x(0, value);
                    }
                    self.begin_wait(wait);
                }
                Err(Failure::Exit(status)) if self.is_single() => {
                    self.trace_end(self.turns.current, status);
                    return Ok(Some(Stop::Exit { code: status.code() }));
                }
                Err(Failure::Exit(status)) => self.end_process(self.process_id(), status),
                Err(Failure::ExitThread(code)) if self.is_single() => {
                    self.trace_end(self.turns.current, Status::Exited(code));
                    return Ok(Some(Stop::Exit { code: code.into() }));
                }
                Err(Failure::ExitThread(code)) => {
                    outcome = self.end_thread(code, cpu.steps, guest);
                    if outcome.is_err() {
                        continue;
                    }
                }
                Err(Failure::Stop(stop)) => {
                    // The call is made again.
                    cpu.pc = cpu.pc.wrapping_sub(4);
                    cpu.steps = cpu.steps.saturating_sub(1);
                    return Ok(Some(stop));
                }
                Err(Failure::Engine(error)) => return Err(error),
            }
            if let Err(failure) = self.send_io_signals() {
                outcome = Err(failure);
                continue;
            }
            self.wake(cpu.steps);
            if self.keeps_lane(cpu.steps) {
                match self.deliver(guest, cpu) {
                    Ok(()) if self.keeps_lane(cpu.steps) => return Ok(None),
                    // The call is done. Only the signal waits, for a frame of its handler.
                    Err(Failure::Stop(stop)) => return Ok(Some(stop)),
                    delivered => outcome = delivered,
                }
                continue;
            }
            let Some(next) = self.next_thread() else {
                if self.sleep_until_deadline(cpu.steps) {
                    continue;
                }
                if let Some(code) = self.status {
                    return Ok(Some(Stop::Exit { code }));
                }
                let Some(next) = self.take_waiting() else { return Ok(Some(Stop::Deadlock)) };
                // It makes its call again when the lane goes on.
                outcome = self.switch_to(next, guest, cpu).and(Err(Failure::Stop(Stop::Deadlock)));
                continue;
            };
            outcome = self.switch_to(next, guest, cpu);
            let has_call = self.threads.get(&next).is_some_and(|thread| thread.woken.is_some());
            if outcome.is_ok() && has_call {
                outcome = self.serve_call(guest, cpu, effects);
            }
        }
    }

    /// Serves a system call of the current thread and writes its return value to X0.
    fn serve_call(
        &mut self,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        // Linux looks at the low 32 bits only.
        let number = u64::from(cpu.x(8) as u32);
        let x = [0, 1, 2, 3, 4, 5].map(|n| cpu.x(n));
        let woken = self.thread_mut().woken.take();
        let found = find(number);
        let traced = self.trace_call(found, (number, x), woken.is_some(), guest);
        let served = match found {
            Some(call) => {
                let guest = Guest { lane: &mut *guest.lane };
                match call.implementation {
                    Implementation::Function(function) => {
                        let console = &mut effects.console;
                        function(&mut Call { kernel: self, guest, console, x, cpu, woken })
                    }
                    Implementation::Constant(answer) => answer.map_err(Failure::from),
                }
            }
            None => Err(ENOSYS.into()),
        };
        if let Some(traced) = traced {
            self.trace_result(&traced, &served, guest);
        }
        let value = match served {
            Ok(value) => value,
            Err(Failure::Errno(errno)) => {
                effects.unserved.extend(match found.map(|call| call.status) {
                    Some(Extent::Refused) => Some(UnservedCall::Refused(number)),
                    Some(Extent::Absent) => None,
                    _ if errno == ENOSYS => Some(UnservedCall::Unknown(number)),
                    // A family of sockets that is not built in.
                    _ if errno == EAFNOSUPPORT => Some(UnservedCall::Refused(number)),
                    _ => None,
                });
                negative(errno)
            }
            Err(Failure::Interrupted { restarts }) => {
                let signal = self.deliverable(self.turns.current);
                let action = signal.map(|number| {
                    let actions = &self.process().actions;
                    (actions.reaction(number), actions.get(number).flags & SA_RESTART != 0)
                });
                match action {
                    Some((Reaction::Handle, asks)) if !(asks && restarts) => negative(EINTR),
                    _ => {
                        cpu.pc = cpu.pc.wrapping_sub(4);
                        return Ok(());
                    }
                }
            }
            Err(failure) => return Err(failure),
        };
        cpu.set_x(0, value);
        Ok(())
    }
}
