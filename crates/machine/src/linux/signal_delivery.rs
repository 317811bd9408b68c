//! Delivery of signals: from stops to signals, and from pending signals to handlers.

use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Stop};

use super::failure::Failure;
use super::guest::Guest;
use super::kernel::{FIRST, Kernel};
use super::signal_frame::{self, Frame};
use super::signals::{
    LastFault, Reaction, SA_NODEFER, SA_RESETHAND, SIGBUS, SIGILL, SIGSEGV, SIGTRAP, SS_AUTODISARM, SigInfo,
    SignalStack, bit, siginfo,
};

/// Returns the signal that Linux raises for a stop: its number, its `siginfo_t`, and the fault for signal frames.
pub(super) fn signal_of(stop: Stop, pc: u64) -> Option<(u64, SigInfo, LastFault)> {
    const ILL_ILLOPC: i32 = 1;
    const TRAP_BRKPT: i32 = 1;
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const BUS_ADRALN: i32 = 1;
    let signal = |number, code, address, fault| Some((number, siginfo(number, code, address), fault));
    match stop {
        Stop::Undefined { .. } => signal(SIGILL, ILL_ILLOPC, pc, LastFault::default()),
        Stop::Breakpoint { .. } => signal(SIGTRAP, TRAP_BRKPT, pc, LastFault::default()),
        Stop::Fault(Fault { kind, access, address }) => {
            let fault = LastFault { address, syndrome: syndrome(kind, access) };
            match kind {
                FaultKind::Translation => signal(SIGSEGV, SEGV_MAPERR, address, fault),
                FaultKind::Permission => signal(SIGSEGV, SEGV_ACCERR, address, fault),
                FaultKind::Alignment => signal(SIGBUS, BUS_ADRALN, address, fault),
            }
        }
        _ => None,
    }
}

/// Returns `ESR_EL1` of a fault at EL0. Translation and permission faults are reported at level 3, the last of the page
/// table.
const fn syndrome(kind: FaultKind, access: Access) -> u64 {
    const INSTRUCTION_ABORT: u64 = 0x20;
    const PC_ALIGNMENT: u64 = 0x22;
    const DATA_ABORT: u64 = 0x24;
    /// Instruction length: the instruction has 32 bits.
    const IL: u64 = 1 << 25;
    let class = match (kind, access) {
        (FaultKind::Alignment, Access::Execute) => return PC_ALIGNMENT << 26 | IL,
        (_, Access::Execute) => INSTRUCTION_ABORT,
        _ => DATA_ABORT,
    };
    let status = match kind {
        FaultKind::Translation => 0x07,
        FaultKind::Permission => 0x0f,
        FaultKind::Alignment => 0x21,
    };
    let write = if matches!(access, Access::Write) { 1 << 6 } else { 0 };
    class << 26 | IL | write | status
}

/// Returns whether Linux raises a signal for a stop.
pub(crate) fn raises_signal(stop: Stop) -> bool {
    signal_of(stop, 0).is_some()
}

impl Kernel {
    /// Returns whether a stop raises a signal that the current thread handles and does not block.
    pub(crate) fn handles_signal_of(&self, stop: Stop) -> bool {
        let Some((number, ..)) = signal_of(stop, 0) else { return false };
        self.threads.get(&self.turns.current).is_some_and(|thread| {
            let actions = &self.processes[&thread.process].actions;
            let is_handled =
                actions.reaction(number) == Reaction::Handle && thread.blocked & bit(number) == 0;
            is_handled || self.has_other_processes(thread.process)
        })
    }

    /// Returns whether the end of a process does not end the lane, because others go on. A fault that a process does not handle is
    /// otherwise a stop of the lane, which says more.
    fn has_other_processes(&self, process: u32) -> bool {
        process != FIRST || self.processes.iter().any(|(id, other)| *id != process && !other.has_ended())
    }

    /// Sends the signal of a stop to the current thread. A signal that it blocks or ignores ends the process.
    pub(super) fn raise(&mut self, stop: Stop, pc: u64) -> Result<(), Failure> {
        let Some((number, info, fault)) = signal_of(stop, pc) else { return Ok(()) };
        let thread = self.turns.current;
        if self.process().actions.is_ignored(number) || self.thread().blocked & bit(number) != 0 {
            self.trace_signal(thread, &info);
            return Err(Failure::killed_by(number));
        }
        self.thread_mut().fault = fault;
        self.send_to_thread(thread, number, info)
    }

    /// Delivers all signals that wait for the current thread and that it does not block, in ascending order of their numbers.
    /// Afterwards its process may be stopped.
    pub(super) fn deliver(&mut self, guest: &mut Guest<'_>, cpu: &mut Cpu) -> Result<(), Failure> {
        while let Some(number) = self.deliverable(self.turns.current) {
            let info = self.pending_info(number);
            self.trace_signal(self.turns.current, &info);
            match self.process().actions.reaction(number) {
                Reaction::Ignore => drop(self.take_signal(number)),
                Reaction::End => return Err(Failure::killed_by(number)),
                Reaction::Stop => {
                    self.take_signal(number);
                    self.stop_process(self.process_id(), number);
                    return Ok(());
                }
                Reaction::Handle => {
                    self.handle(number, guest, cpu)?;
                    self.take_signal(number);
                }
            }
        }
        if let Some(blocked) = self.thread_mut().saved_mask.take() {
            self.thread_mut().blocked = blocked;
        }
        Ok(())
    }

    /// Removes a signal that waits for the current thread, first among its own, and returns it.
    pub(super) fn take_signal(&mut self, number: u64) -> Option<(u64, SigInfo)> {
        let own = self.thread_mut().pending.take_first(bit(number));
        let taken = own.or_else(|| self.process_mut().pending.take_first(bit(number)));
        if let Some((_, info)) = &taken {
            self.note_taken(info);
        }
        taken
    }

    /// Redirects the current thread into the handler of a signal. The handler returns to the interrupted instruction.
    fn handle(&mut self, number: u64, guest: &mut Guest<'_>, cpu: &mut Cpu) -> Result<(), Failure> {
        let (action, has_vectors) = (self.process().actions.get(number), self.settings.features.fp);
        let info = &self.pending_info(number);
        let thread = self.thread();
        let (stack, fault) = (thread.stack, thread.fault);
        let blocked = thread.saved_mask.unwrap_or(thread.blocked);
        let frame = Frame { number, info, action, blocked, stack, fault, has_vectors };
        let pushed = signal_frame::push(&frame, self.space().areas.trampoline, guest, cpu);
        pushed.map_err(|failure| match failure {
            // The frame does not fit on the stack, so not even SIGSEGV can be handled.
            Failure::Errno(_) => Failure::killed_by(SIGSEGV),
            other => other,
        })?;
        if action.flags & SA_RESETHAND != 0 {
            self.process_mut().actions.remove(number);
        }
        let thread = self.thread_mut();
        if stack.flags & SS_AUTODISARM != 0 {
            thread.stack = SignalStack::NONE;
        }
        let own = if action.flags & SA_NODEFER == 0 { bit(number) } else { 0 };
        thread.blocked |= action.mask | own;
        thread.saved_mask = None;
        Ok(())
    }
}
