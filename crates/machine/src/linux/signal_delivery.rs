//! How signals arrive.

use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Stop};

use super::failure::{Failure, Served};
use super::guest::Guest;
use super::process::Process;
use super::signal_frame::{self, Frame};
use super::signals::{
    Info, LastFault, SA_NODEFER, SA_RESETHAND, SIG_DFL, SIGBUS, SIGILL, SIGSEGV, SIGTRAP, SS_AUTODISARM,
    SignalStack, Signals, UNSTOPPABLE, bit, info,
};

/// The signal of a stop: its number, what is told of it, and the fault that frames tell.
fn signal_of(stop: Stop, pc: u64) -> Option<(u64, Info, LastFault)> {
    const ILL_ILLOPC: i32 = 1;
    const TRAP_BRKPT: i32 = 1;
    const SEGV_MAPERR: i32 = 1;
    const SEGV_ACCERR: i32 = 2;
    const BUS_ADRALN: i32 = 1;
    let told = |number, code, address, fault| Some((number, info(number, code, address), fault));
    match stop {
        Stop::Undefined { .. } => told(SIGILL, ILL_ILLOPC, pc, LastFault::default()),
        Stop::Breakpoint { .. } => told(SIGTRAP, TRAP_BRKPT, pc, LastFault::default()),
        Stop::Fault(Fault { kind, access, address }) => {
            let fault = LastFault { address, syndrome: syndrome(kind, access) };
            match kind {
                FaultKind::Translation => told(SIGSEGV, SEGV_MAPERR, address, fault),
                FaultKind::Permission => told(SIGSEGV, SEGV_ACCERR, address, fault),
                FaultKind::Alignment => told(SIGBUS, BUS_ADRALN, address, fault),
            }
        }
        _ => None,
    }
}

/// `ESR_EL1` of a fault at EL0, with tables of four levels, of which the last one says no.
const fn syndrome(kind: FaultKind, access: Access) -> u64 {
    const INSTRUCTION_ABORT: u64 = 0x20;
    const PC_ALIGNMENT: u64 = 0x22;
    const DATA_ABORT: u64 = 0x24;
    /// The instruction has 32 bits.
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

impl Process {
    /// Whether a stop is a signal that the lane handles.
    pub(crate) fn catches(&self, stop: Stop) -> bool {
        let signal = signal_of(stop, 0);
        signal.is_some_and(|(number, ..)| self.signals.is_handled(number) && !self.signals.is_blocked(number))
    }

    /// Makes a signal of a stop that the lane catches.
    pub(super) fn raise(&mut self, stop: Stop, pc: u64) -> Served {
        let Some((number, info, fault)) = signal_of(stop, pc) else { return Ok(0) };
        self.signals.fault = fault;
        self.signals.send(number, info)
    }

    /// Lets all signals arrive that wait and are not blocked, each before those of higher numbers.
    pub(super) fn deliver(&mut self, guest: &mut Guest<'_>, cpu: &mut Cpu) -> Result<(), Failure> {
        while let Some((number, info)) = self.signals.take(!self.signals.blocked | UNSTOPPABLE) {
            match self.signals.action(number).handler {
                _ if self.signals.is_ignored(number) => {}
                SIG_DFL => return Err(Failure::killed(number)),
                _ => self.handle(number, &info, guest, cpu)?,
            }
        }
        if let Some(blocked) = self.signals.blocked_later.take() {
            self.signals.blocked = blocked;
        }
        Ok(())
    }

    /// Has the lane go on in a handler, which comes back here.
    fn handle(
        &mut self,
        number: u64,
        info: &Info,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
    ) -> Result<(), Failure> {
        let action = self.signals.action(number);
        let has_vectors = self.settings.features.fp;
        let blocked = self.signals.blocked_later.take().unwrap_or(self.signals.blocked);
        let Signals { stack, fault, .. } = self.signals;
        let frame = Frame { number, info, action, blocked, stack, fault, has_vectors };
        let pushed = signal_frame::push(&frame, self.settings.areas.trampoline, guest, cpu);
        pushed.map_err(|failure| match failure {
            // There is no stack to handle anything on.
            Failure::Errno(_) => Failure::killed(SIGSEGV),
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
