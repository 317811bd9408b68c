//! Opening of pseudo terminals, and `ioctl` on them.

use super::call::Call;
use super::errno::{EINVAL, EIO, ENOSPC, ENOTTY, ENXIO, EPERM, ESRCH};
use super::failure::{CallResult, Failure};
use super::files::{Device, Inode, Kind, ROOT};
use super::job_control::device_path;
use super::kernel::Kernel;
use super::open_files::{Description, O_ACCMODE, O_CLOEXEC, O_NONBLOCK, Object};
use super::signals::{SIGCONT, SIGHUP, SIGTTOU, SIGWINCH};
use super::termios::{TERMIOS_BYTES, Termios, VSTART, VSTOP};

/// The terminal does not become that of the session.
const O_NOCTTY: u32 = 0o400;
/// The group that owns terminals.
const TTY_GROUP: u32 = 5;

impl Kernel {
    /// Returns whether an open slave was hung up.
    pub(super) fn is_dead(&self, description: u32) -> bool {
        let Ok(Description { object: Object::Terminal(number), position, .. }) = self.open.get(description)
        else {
            return false;
        };
        self.open.terminals.get(*number).map(|terminal| terminal.hangups) != Ok(*position)
    }
}

impl Call<'_> {
    /// Makes a pseudo terminal, and opens its master.
    pub(super) fn open_multiplexer(&mut self, flags: u32) -> CallResult {
        // The console is terminal 0 if it is one.
        let first = u32::from(self.kernel.settings.terminal);
        let number = self.kernel.open.terminals.free(first).ok_or(ENOSPC)?;
        let place = self.kernel.files.walk(ROOT, device_path(number).as_bytes(), false)?;
        let device = Kind::Device(Device::Pseudo(number));
        let inode = Inode { group: TTY_GROUP, ..Inode::new(device, 0o620, self.now()) };
        self.kernel.files.add(&place, inode)?;
        self.kernel.open.terminals.add(number);
        let flags_kept = flags & (O_ACCMODE | O_NONBLOCK);
        let description =
            Description::new(Object::TerminalMaster(number), flags_kept).at(b"/dev/ptmx".to_vec());
        Ok(self.kernel.open(description, flags & O_CLOEXEC != 0)?)
    }

    /// Opens a slave. It becomes the terminal of a session that has none.
    pub(super) fn open_slave(&mut self, number: u32, flags: u32) -> CallResult {
        let terminal = self.kernel.open.terminals.get(number)?;
        if terminal.masters == 0 || terminal.is_locked {
            return Err(EIO.into());
        }
        let (position, is_free) = (terminal.hangups, terminal.session == 0);
        let object = Object::Terminal(number);
        let path = device_path(number).into_bytes();
        let mut description = Description::new(object, flags & (O_ACCMODE | O_NONBLOCK)).at(path);
        description.position = position;
        let is_readable = description.is_readable();
        let opened = self.kernel.open(description, flags & O_CLOEXEC != 0)?;
        let process = self.kernel.process();
        let is_leader = process.session == self.kernel.process_id() && process.terminal.is_none();
        if is_free && is_leader && is_readable && flags & O_NOCTTY == 0 {
            self.kernel.control_terminal(number);
        }
        self.kernel.note_terminal(number);
        Ok(opened)
    }

    /// Opens the terminal of the process, `/dev/tty`, or the terminal of a device.
    pub(super) fn open_device(&mut self, device: Device, flags: u32) -> CallResult {
        match (device, self.kernel.process().terminal) {
            (Device::Multiplexer, _) => self.open_multiplexer(flags),
            (Device::Pseudo(number), _) => self.open_slave(number, flags),
            (Device::Console, _) | (_, Some(0)) if self.kernel.settings.terminal => self.open_console(flags),
            (Device::Terminal, Some(number)) => self.open_slave(number, flags | O_NOCTTY),
            _ => Err(ENXIO.into()),
        }
    }

    /// Makes a terminal that of the session, as `TIOCSCTTY` does.
    fn take_terminal(&mut self, number: u32, is_forced: bool) -> CallResult {
        let (id, process) = (self.kernel.process_id(), self.kernel.process());
        let session = self.kernel.open.terminals.get(number)?.session;
        if process.session == id && session == id {
            return Ok(0);
        }
        if process.session != id || process.terminal.is_some() || session != 0 && !is_forced {
            return Err(EPERM.into());
        }
        self.kernel.release_session(number);
        self.kernel.control_terminal(number);
        Ok(0)
    }

    /// Gives up the terminal of the process, and as the leader of the session that of all of its processes.
    fn leave_terminal(&mut self, number: u32) -> CallResult {
        let (id, process) = (self.kernel.process_id(), self.kernel.process_mut());
        if process.terminal != Some(number) {
            return Err(ENOTTY.into());
        }
        process.terminal = None;
        if process.session == id {
            let (_, foreground) = self.kernel.release_session(number);
            if foreground != 0 {
                [SIGHUP, SIGCONT].into_iter().for_each(|signal| self.kernel.signal_group(foreground, signal));
            }
        }
        Ok(0)
    }

    /// Moves a process group to the foreground.
    fn set_foreground(&mut self, number: u32, address: u64) -> CallResult {
        self.kernel.check_foreground(number, SIGTTOU)?;
        let process = self.kernel.process();
        let (own, session) = (process.terminal, process.session);
        if own != Some(number) || self.kernel.open.terminals.get(number)?.session != session {
            return Err(ENOTTY.into());
        }
        let group = self.guest.read_u32(address)?;
        if (group as i32) < 0 {
            return Err(EINVAL.into());
        }
        let mut members = self.kernel.processes.values().filter(|process| process.group == group);
        let member = members.next().ok_or(ESRCH)?;
        if member.session != session {
            return Err(EPERM.into());
        }
        self.kernel.open.terminals.get_mut(number)?.foreground = group;
        Ok(0)
    }

    fn resize_terminal(&mut self, number: u32, address: u64) -> CallResult {
        let raw: [u8; 8] = self.guest.array(address)?;
        let size = [0, 2, 4, 6].map(|at| u16::from_le_bytes([raw[at], raw[at + 1]]));
        let terminal = self.kernel.open.terminals.get_mut(number)?;
        let is_changed = std::mem::replace(&mut terminal.size, size) != size;
        let foreground = terminal.foreground;
        if is_changed && foreground != 0 {
            self.kernel.signal_group(foreground, SIGWINCH);
        }
        Ok(0)
    }

    /// Stops or starts the output of slaves, or sends the other end a character that asks for that.
    fn control_flow(&mut self, number: u32, is_master: bool) -> CallResult {
        self.kernel.check_foreground(number, SIGTTOU)?;
        let terminal = self.kernel.open.terminals.get_mut(number)?;
        match self.x[2] {
            action @ (0 | 1) => terminal.is_stopped = action == 0,
            action @ (2 | 3) => {
                let character = terminal.settings.characters[if action == 2 { VSTOP } else { VSTART }];
                if character != 0 {
                    if is_master { terminal.type_byte(character) } else { terminal.put(character) }
                }
            }
            _ => return Err(EINVAL.into()),
        }
        self.kernel.run_terminal(number);
        Ok(0)
    }

    /// Discards bytes that were not read: input, output, or both.
    fn flush_terminal(&mut self, number: u32, is_master: bool) -> CallResult {
        self.kernel.check_foreground(number, SIGTTOU)?;
        let queue = self.x[2];
        if queue > 2 {
            return Err(EINVAL.into());
        }
        let (input, output) = (queue != 1, queue != 0);
        let terminal = self.kernel.open.terminals.get_mut(number)?;
        if is_master {
            if input {
                terminal.output.clear();
            }
            if output {
                terminal.unread.clear();
            }
        } else if input {
            // What was written is with the other end already.
            terminal.flush_input();
        }
        self.kernel.note_terminal(number);
        Ok(0)
    }
}

/// Serves `ioctl` on an end of a pseudo terminal.
pub(super) fn control(call: &mut Call<'_>, number: u32, is_master: bool) -> CallResult {
    const TCGETS: u64 = 0x5401;
    const TCSETS: u64 = 0x5402;
    const TCSETSF: u64 = 0x5404;
    const TCSBRK: u64 = 0x5409;
    const TCXONC: u64 = 0x540a;
    const TCFLSH: u64 = 0x540b;
    const TIOCSCTTY: u64 = 0x540e;
    const TIOCGPGRP: u64 = 0x540f;
    const TIOCSPGRP: u64 = 0x5410;
    const TIOCOUTQ: u64 = 0x5411;
    const TIOCSTI: u64 = 0x5412;
    const TIOCGWINSZ: u64 = 0x5413;
    const TIOCSWINSZ: u64 = 0x5414;
    const FIONREAD: u64 = 0x541b;
    const TIOCNOTTY: u64 = 0x5422;
    const TIOCGETD: u64 = 0x5424;
    const TCSBRKP: u64 = 0x5425;
    const TIOCGSID: u64 = 0x5429;
    const TIOCGPTPEER: u64 = 0x5441;
    const TIOCSPTLCK: u64 = 0x4004_5431;
    const TIOCGPTN: u64 = 0x8004_5430;
    const TIOCGPTLCK: u64 = 0x8004_5439;
    let [descriptor, request, argument, ..] = call.x;
    let request = u64::from(request as u32);
    if call.kernel.is_dead(call.kernel.opened(descriptor)?) {
        return Err(if request == TIOCSPGRP { ENOTTY } else { EIO }.into());
    }
    let terminal = call.kernel.open.terminals.get(number)?;
    let is_own = call.kernel.process().terminal == Some(number);
    let word: u32 = match request {
        TCGETS => {
            let settings = terminal.settings.bytes();
            call.guest.write(argument, &settings)?;
            return Ok(0);
        }
        TCSETS..=TCSETSF => {
            call.kernel.check_foreground(number, SIGTTOU)?;
            let raw: [u8; TERMIOS_BYTES] = call.guest.array(argument)?;
            let terminal = call.kernel.open.terminals.get_mut(number)?;
            if request == TCSETSF {
                terminal.flush_input();
            }
            terminal.set(Termios::of(&raw));
            call.kernel.run_terminal(number);
            return Ok(0);
        }
        // What was written is with the other end already.
        TCSBRK | TCSBRKP => {
            call.kernel.check_foreground(number, SIGTTOU)?;
            return Ok(0);
        }
        TCXONC => return call.control_flow(number, is_master),
        TCFLSH => return call.flush_terminal(number, is_master),
        TIOCSCTTY if !is_master => return call.take_terminal(number, argument == 1),
        TIOCNOTTY if !is_master => return call.leave_terminal(number),
        TIOCSPGRP => return call.set_foreground(number, argument),
        TIOCGWINSZ => {
            let size = terminal.size.map(u16::to_le_bytes).concat();
            call.guest.write(argument, &size)?;
            return Ok(0);
        }
        TIOCSWINSZ => return call.resize_terminal(number, argument),
        TIOCSTI => {
            let [byte]: [u8; 1] = call.guest.array(argument)?;
            call.kernel.open.terminals.get_mut(number)?.type_byte(byte);
            call.kernel.run_terminal(number);
            return Ok(0);
        }
        TIOCGPTPEER if is_master => return call.open_slave(number, argument as u32),
        TIOCSPTLCK if is_master => {
            let is_locked = call.guest.read_u32(argument)? != 0;
            call.kernel.open.terminals.get_mut(number)?.is_locked = is_locked;
            return Ok(0);
        }
        TIOCGPGRP if is_master || is_own => terminal.foreground,
        TIOCGSID if (is_master || is_own) && terminal.session != 0 => terminal.session,
        FIONREAD if is_master => terminal.output.len() as u32,
        FIONREAD => terminal.readable() as u32,
        TIOCOUTQ | TIOCGETD => 0,
        TIOCGPTN if is_master => number,
        TIOCGPTLCK if is_master => terminal.is_locked.into(),
        _ => return Err(Failure::from(ENOTTY)),
    };
    call.guest.write(argument, &word.to_le_bytes())?;
    Ok(0)
}
