//! Sending of signals, and the state of processes that signals change.

use super::errno::{EINVAL, ESRCH};
use super::failure::Failure;
use super::kernel::Kernel;
use super::process::{Process, State, Status};
use super::signals::{
    Action, Reaction, SA_NOCLDSTOP, SI_KERNEL, SIGCHLD, SIGCONT, SIGIO, SIGKILL, SIGNAL_MAX, STOPPING,
    SigInfo, UNBLOCKABLE, bit, siginfo,
};

/// The `si_code` of SIGCHLD.
const CLD_EXITED: i32 = 1;
const CLD_KILLED: i32 = 2;
const CLD_DUMPED: i32 = 3;
const CLD_STOPPED: i32 = 5;
const CLD_CONTINUED: i32 = 6;

/// Returns the number of a signal that a call sends; `None` for 0, which only checks that sending is possible.
pub(super) fn checked(number: u64) -> Result<Option<u64>, Failure> {
    match u64::from(number as u32) {
        0 => Ok(None),
        number @ 1..=SIGNAL_MAX => Ok(Some(number)),
        _ => Err(EINVAL.into()),
    }
}

impl Kernel {
    /// Returns the signal that is delivered to a thread next, if one waits that it does not block and that has an effect.
    pub(super) fn deliverable(&self, thread: u32) -> Option<u64> {
        let at = self.threads.get(&thread)?;
        let process = self.processes.get(&at.process)?;
        let open = !at.blocked | UNBLOCKABLE;
        let own = at.pending.mask() & open;
        let shared = process.pending.mask() & open;
        let mut all = own | shared;
        while all != 0 {
            let number = u64::from(all.trailing_zeros()) + 1;
            let is_own = own & bit(number) != 0;
            if !process.actions.is_ignored(number)
                && (is_own || self.taker(at.process, number) == Some(thread))
            {
                return Some(number);
            }
            all &= all - 1;
        }
        None
    }

    /// Returns the thread that takes a signal to its process: the first one that does not block it.
    fn taker(&self, process: u32, number: u64) -> Option<u32> {
        let threads = self.threads.iter().filter(|(_, thread)| thread.process == process);
        let mut open = threads.filter(|(_, thread)| thread.takes(number)).map(|(id, _)| *id);
        // The current thread gets its own signals first, as on Linux.
        let current = self.turns.current;
        let is_current = |id: &u32| *id == current;
        open.clone().find(is_current).or_else(|| open.next())
    }

    /// Sends SIGIO to the owners of files that have become ready.
    pub(super) fn send_io_signals(&mut self) -> Result<(), Failure> {
        for owner in std::mem::take(&mut self.open.signalled) {
            let is_meant = |(id, process): (&u32, &Process)| match owner {
                1.. => *id == owner.unsigned_abs(),
                _ => process.group == owner.unsigned_abs(),
            };
            let meant = self.processes.iter().filter(|(id, process)| is_meant((id, process)));
            for id in meant.map(|(id, _)| *id).collect::<Vec<_>>() {
                self.send_to_process(id, SIGIO, siginfo(SIGIO, SI_KERNEL, 0))?;
            }
        }
        Ok(())
    }

    /// Returns the mask of the signals that wait for a thread.
    pub(super) fn waiting_signals(&self, thread: u32) -> u64 {
        self.threads
            .get(&thread)
            .map_or(0, |thread| thread.pending.mask() | self.processes[&thread.process].pending.mask())
    }

    /// Returns the mask of the signals that wait for the current thread.
    pub(super) fn pending_mask(&self) -> u64 {
        self.waiting_signals(self.turns.current)
    }

    /// Returns the information about a signal that waits for the current thread.
    pub(super) fn pending_info(&self, number: u64) -> SigInfo {
        let found = self.thread().pending.first(bit(number));
        let found = found.or_else(|| self.process().pending.first(bit(number)));
        let mut info = found.map_or_else(|| siginfo(number, 0, 0), |(_, info)| *info);
        self.write_overrun(&mut info);
        info
    }

    /// Returns the information about all signals in a mask that wait for the current thread, in the order in which it takes them.
    pub(super) fn pending_infos(&self, mask: u64) -> Vec<SigInfo> {
        let all = self.thread().pending.infos().chain(self.process().pending.infos());
        let mut chosen: Vec<SigInfo> = all.filter(|info| mask & bit(info[0].into()) != 0).copied().collect();
        chosen.sort_by_key(|info| info[0]);
        chosen.iter_mut().for_each(|info| self.write_overrun(info));
        chosen
    }

    /// Replaces the action of the current process for a signal, and discards waiting signals that are ignored from now on.
    pub(super) fn set_action(&mut self, number: u64, action: Action) {
        let id = self.process_id();
        let process = self.process_mut();
        process.actions.set(number, action);
        if process.actions.is_ignored(number) {
            process.pending.discard(bit(number));
            for thread in self.threads.values_mut().filter(|thread| thread.process == id) {
                thread.pending.discard(bit(number));
            }
        }
    }

    /// Sends a signal to a process.
    pub(super) fn send_to_process(&mut self, id: u32, number: u64, info: SigInfo) -> Result<(), Failure> {
        let process = self.processes.get(&id).ok_or(ESRCH)?;
        if process.has_ended() {
            return Ok(());
        }
        if number == SIGCONT {
            self.continue_process(id);
        }
        let Some(process) = self.processes.get_mut(&id) else { return Ok(()) };
        let is_blocked = !self.threads.values().any(|thread| thread.process == id && thread.takes(number));
        match process.actions.reaction(number) {
            Reaction::Ignore if !is_blocked => {
                self.trace_signal(id, &info);
                return Ok(());
            }
            // Other processes need not have the lane to end or to stop.
            Reaction::End if !is_blocked && !self.is_current(id) => {
                self.trace_signal(id, &info);
                self.end_process(id, Status::killed_by(number));
                return Ok(());
            }
            Reaction::Stop if !is_blocked && !self.is_current(id) => {
                self.trace_signal(id, &info);
                self.stop_process(id, number);
                return Ok(());
            }
            _ => {}
        }
        let process = self.processes.get_mut(&id).ok_or(ESRCH)?;
        if STOPPING & bit(number) != 0 {
            process.pending.discard(bit(SIGCONT));
        }
        Ok(process.pending.add(number, info)?)
    }

    /// Sends a signal to a thread.
    pub(super) fn send_to_thread(&mut self, id: u32, number: u64, info: SigInfo) -> Result<(), Failure> {
        let thread = self.threads.get(&id).ok_or(ESRCH)?;
        let (process, is_blocked) = (thread.process, !thread.takes(number));
        // These act on the whole process.
        if number == SIGKILL || number == SIGCONT || STOPPING & bit(number) != 0 {
            return self.send_to_process(process, number, info);
        }
        if self.processes[&process].actions.is_ignored(number) && !is_blocked {
            return Ok(());
        }
        let thread = self.threads.get_mut(&id).ok_or(ESRCH)?;
        Ok(thread.pending.add(number, info)?)
    }

    /// Returns whether a process is that of the current thread.
    fn is_current(&self, process: u32) -> bool {
        self.threads.get(&self.turns.current).is_some_and(|thread| thread.process == process)
    }

    /// Stops a process until SIGCONT.
    pub(super) fn stop_process(&mut self, id: u32, signal: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        if process.is_running() {
            process.state = State::Stopped { signal, is_reported: false };
            self.tell_parent(id, CLD_STOPPED, signal as u32);
        }
    }

    /// Continues a process that was stopped.
    fn continue_process(&mut self, id: u32) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.pending.discard(STOPPING);
        if matches!(process.state, State::Stopped { .. }) {
            process.state = State::Continued;
            self.tell_parent(id, CLD_CONTINUED, SIGCONT as u32);
        }
    }

    /// Sends SIGCHLD to the parent of a process that has ended, stopped or continued.
    fn tell_parent(&mut self, id: u32, code: i32, status: u32) {
        let Some(&Process { parent, exit_signal, .. }) = self.processes.get(&id).map(Box::as_ref) else {
            return;
        };
        let Some(above) = self.processes.get(&parent) else { return };
        let has_ended = matches!(code, CLD_EXITED | CLD_KILLED | CLD_DUMPED);
        if !has_ended && above.actions.get(SIGCHLD).flags & SA_NOCLDSTOP != 0 {
            return;
        }
        let number = if has_ended { exit_signal } else { SIGCHLD };
        if number != 0 {
            let mut info = siginfo(number, code, u64::from(id));
            info[24..28].copy_from_slice(&status.to_le_bytes());
            // There is always room for it: it is no real-time signal.
            let _ = self.send_to_process(parent, number, info);
        }
    }

    /// Sends the signal that tells the parent how a process has ended.
    pub(super) fn tell_end(&mut self, id: u32, status: Status) {
        let (code, value) = match status {
            Status::Exited(code) => (CLD_EXITED, u32::from(code)),
            Status::Killed { signal, core: false } => (CLD_KILLED, u32::from(signal)),
            Status::Killed { signal, core: true } => (CLD_DUMPED, u32::from(signal)),
        };
        self.tell_parent(id, code, value);
    }
}
