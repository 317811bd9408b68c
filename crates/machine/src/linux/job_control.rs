//! Sessions and their terminals: process groups in the foreground, and hang-ups.

use super::errno::EIO;
use super::failure::Failure;
use super::files::{Inode, Kind, ROOT};
use super::kernel::Kernel;
use super::open_files::Object;
use super::signals::{SI_KERNEL, SIG_IGN, SIGCONT, SIGHUP, SIGTTIN, bit, siginfo};
use super::termios::Termios;

impl Kernel {
    /// Sends a signal to all processes of a group.
    pub(super) fn signal_group(&mut self, group: u32, number: u64) {
        let all = self.processes.iter().filter(|(_, process)| process.group == group && !process.has_ended());
        let all: Vec<u32> = all.map(|(id, _)| *id).collect();
        for id in all {
            // There is always room for it: it is no real-time signal.
            let _ = self.send_to_process(id, number, siginfo(number, SI_KERNEL, 0));
        }
    }

    /// Returns whether no process of a group has a parent in another group of its session, which could continue it.
    fn is_orphaned(&self, group: u32) -> bool {
        let mut members = self.processes.values().filter(|process| process.group == group);
        !members.any(|process| {
            let parent = self.processes.get(&process.parent);
            parent.is_some_and(|parent| parent.group != group && parent.session == process.session)
        })
    }

    /// Checks that the current process may use its terminal: its group is in the foreground, or it does not mind the signal.
    ///
    /// # Errors
    /// The signal is sent to its group, and the call is made again when that goes on. `EIO` if nothing can make it go on.
    pub(super) fn check_foreground(&mut self, number: u32, signal: u64) -> Result<(), Failure> {
        let foreground = self.open.terminals.get(number)?.foreground;
        let process = self.process();
        let group = process.group;
        if process.terminal != Some(number) || foreground == 0 || foreground == group {
            return Ok(());
        }
        let is_blocked = self.thread().blocked & bit(signal) != 0;
        if is_blocked || process.actions.get(signal).handler == SIG_IGN {
            return if signal == SIGTTIN { Err(EIO.into()) } else { Ok(()) };
        }
        if self.is_orphaned(group) {
            return Err(EIO.into());
        }
        self.signal_group(group, signal);
        Err(Failure::Interrupted { restarts: true })
    }

    /// Makes a terminal that of the session of the current process.
    pub(super) fn control_terminal(&mut self, number: u32) {
        let process = self.process_mut();
        (process.terminal, process.hung_group) = (Some(number), 0);
        let (session, group) = (process.session, process.group);
        if let Ok(terminal) = self.open.terminals.get_mut(number) {
            (terminal.session, terminal.foreground) = (session, group);
        }
    }

    /// Takes a terminal away from its session. Returns the session and its process group in the foreground.
    pub(super) fn release_session(&mut self, number: u32) -> (u32, u32) {
        let Ok(terminal) = self.open.terminals.get_mut(number) else { return (0, 0) };
        let (session, foreground) =
            (std::mem::take(&mut terminal.session), std::mem::take(&mut terminal.foreground));
        for process in self.processes.values_mut() {
            if process.session == session && process.terminal == Some(number) {
                process.terminal = None;
            }
        }
        (session, foreground)
    }

    /// Hangs a terminal up: the slaves that are open are dead, and the session has no terminal any more.
    fn hang_up(&mut self, number: u32) {
        let Ok(terminal) = self.open.terminals.get_mut(number) else { return };
        terminal.hangups += 1;
        terminal.flush_input();
        terminal.settings = Termios::new();
        terminal.is_stopped = false;
        self.note_terminal(number);
        let (session, foreground) = self.release_session(number);
        if let Some(leader) = self.processes.get_mut(&session).filter(|leader| leader.session == session) {
            leader.hung_group = foreground;
            for signal in [SIGHUP, SIGCONT] {
                // The leader is there, and there is room for signals that are not real-time signals.
                let _ = self.send_to_process(session, signal, siginfo(signal, SI_KERNEL, 0));
            }
        }
    }

    /// Hangs a terminal up whose master is closed, and removes its device.
    pub(super) fn close_master(&mut self, number: u32) {
        self.hang_up(number);
        let Ok(place) = self.files.walk(ROOT, device_path(number).as_bytes(), false) else { return };
        let Some(inode) = place.inode else { return };
        let Some(&Inode { kind: Kind::Device(device), times, .. }) = self.files.inode(inode) else { return };
        if device.pseudo_terminal() == Some(number) && self.files.remove(&place, false, times[1]).is_ok() {
            self.release_inode(inode);
        }
    }

    /// Ends the session of a process that has led it.
    pub(super) fn end_session(&mut self, leader: u32) {
        let Some(process) = self.processes.get(&leader).filter(|process| process.session == leader) else {
            return;
        };
        match (process.terminal, process.hung_group) {
            (Some(number), _) => {
                // Unlike other terminals, a pseudo terminal is not hung up.
                let (_, foreground) = self.release_session(number);
                if foreground != 0 {
                    self.signal_group(foreground, SIGHUP);
                }
            }
            (None, 0) => {}
            (None, group) => {
                [SIGHUP, SIGCONT].into_iter().for_each(|signal| self.signal_group(group, signal));
            }
        }
    }

    /// Lets the line discipline of a terminal take what its master has written.
    pub(super) fn run_terminal(&mut self, number: u32) {
        let Ok(terminal) = self.open.terminals.get_mut(number) else { return };
        let signals = terminal.take_unread();
        let foreground = terminal.foreground;
        self.note_terminal(number);
        if foreground != 0 {
            signals.into_iter().for_each(|signal| self.signal_group(foreground, signal));
        }
    }

    /// Notes that both ends of a terminal may be ready for something.
    pub(super) fn note_terminal(&mut self, number: u32) {
        self.open.note_change(Object::Terminal(number));
        self.open.note_change(Object::TerminalMaster(number));
    }
}

/// Returns the path of the device of a pseudo terminal.
pub(super) fn device_path(number: u32) -> String {
    format!("/dev/pts/{number}")
}
