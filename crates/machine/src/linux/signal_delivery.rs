//! Delivery of signals: from stops to signals, and from pending signals to handlers.

use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Stop};

use super::failure::{CallResult, Failure};
use super::guest::Guest;
use super::process::Process;
use super::signal_frame::{self, Frame};
use super::signals::{
    LastFault, SA_NODEFER, SA_RESETHAND, SIG_DFL, SIGBUS, SIGILL, SIGSEGV, SIGTRAP, SS_AUTODISARM, SigInfo,
    SignalStack, Signals, UNBLOCKABLE, bit, siginfo,
};

/// Returns the signal that Linux raises for a stop: its number, its `siginfo_t`, and the fault for signal frames.
fn signal_of(stop: Stop, pc: u64) -> Option<(u64, SigInfo, LastFault)> {
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

impl Process {
    /// Returns whether a stop raises a signal that the lane handles and does not block.
    pub(crate) fn handles_signal_of(&self, stop: Stop) -> bool {
        let signal = signal_of(stop, 0);
        signal.is_some_and(|(number, ..)| self.signals.is_handled(number) && !self.signals.is_blocked(number))
    }

    /// Sends the signal of a stop that the lane handles.
    pub(super) fn raise(&mut self, stop: Stop, pc: u64) -> CallResult {
        let Some((number, info, fault)) = signal_of(stop, pc) else { return Ok(0) };
        self.signals.fault = fault;
        self.signals.send(number, info)
    }

    /// Delivers all pending signals that are not blocked, in ascending order of their numbers.
    pub(super) fn deliver(&mut self, guest: &mut Guest<'_>, cpu: &mut Cpu) -> Result<(), Failure> {
        while let Some((number, info)) = self.signals.dequeue(!self.signals.blocked | UNBLOCKABLE) {
            match self.signals.action(number).handler {
                _ if self.signals.is_ignored(number) => {}
                SIG_DFL => return Err(Failure::killed_by(number)),
                _ => self.handle(number, &info, guest, cpu)?,
            }
        }
        if let Some(blocked) = self.signals.saved_mask.take() {
            self.signals.blocked = blocked;
        }
        Ok(())
    }

    /// Redirects the lane into the handler of a signal. The handler returns to the interrupted instruction.
    fn handle(
        &mut self,
        number: u64,
        info: &SigInfo,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
    ) -> Result<(), Failure> {
        let action = self.signals.action(number);
        let has_vectors = self.settings.features.fp;
        let blocked = self.signals.saved_mask.take().unwrap_or(self.signals.blocked);
        let Signals { stack, fault, .. } = self.signals;
        let frame = Frame { number, info, action, blocked, stack, fault, has_vectors };
        let pushed = signal_frame::push(&frame, self.settings.areas.trampoline, guest, cpu);
        pushed.map_err(|failure| match failure {
            // The frame does not fit on the stack, so not even SIGSEGV can be handled.
            Failure::Errno(_) => Failure::killed_by(SIGSEGV),
            other => other,
        })?;
        if action.flags & SA_RESETHAND != 0 {
            self.signals.actions.remove(&number);
        }
        if stack.flags & SS_AUTODISARM != 0 {
            self.signals.stack = SignalStack::NONE;
        }
        let own = if action.flags & SA_NODEFER == 0 { bit(number) } else { 0 };
        self.signals.blocked |= action.mask | own;
        Ok(())
    }
}
