//! System calls on file descriptors of any kind: duplication, flags, pipes, terminals, polling.

use super::call::{Call, Interrupted};
use super::descriptors::DESCRIPTORS_MAX;
use super::errno::{EBADF, EINVAL, ENOTTY, ESRCH};
use super::failure::{CallResult, Failure};
use super::kernel::Kernel;
use super::limits::Resource;
use super::open_files::{EventFile, O_APPEND, O_ASYNC, O_CLOEXEC, O_NONBLOCK, Object, PIPE_BYTES};
use super::readiness::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT};
use super::signals::UNBLOCKABLE;
use super::sockets::SocketKind;
use super::terminal_calls::control;
use super::termios::Termios;
use super::wait::Event;

pub(super) fn close(call: &mut Call<'_>) -> CallResult {
    call.kernel.close(call.x[0])?;
    Ok(0)
}

pub(super) fn close_range(call: &mut Call<'_>) -> CallResult {
    /// Has no effect for a process with one thread, which shares its descriptors with no other.
    const CLOSE_RANGE_UNSHARE: u64 = 2;
    const CLOSE_RANGE_CLOEXEC: u64 = 4;
    let [first, last, flags, ..] = call.x.map(|word| u64::from(word as u32));
    if first > last || flags & !(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    for number in first..=last.min(DESCRIPTORS_MAX) {
        if flags & CLOSE_RANGE_CLOEXEC == 0 {
            // Numbers that are not open are no error.
            let _ = call.kernel.close(number);
        } else if let Ok(descriptor) = call.kernel.process_mut().descriptors.get_mut(number) {
            descriptor.close_on_exec = true;
        }
    }
    Ok(0)
}

impl Call<'_> {
    /// Makes an unused descriptor refer to the description of `from`, and returns it.
    fn duplicate(&mut self, from: u64, to: u64, close_on_exec: bool) -> CallResult {
        let description = self.kernel.opened(from)?;
        self.kernel.refer(to, description, close_on_exec);
        Ok(to)
    }
}

pub(super) fn dup(call: &mut Call<'_>) -> CallResult {
    call.kernel.opened(call.x[0])?;
    let to = call.kernel.process().lowest_free(0)?;
    call.duplicate(call.x[0], to, false)
}

pub(super) fn dup3(call: &mut Call<'_>) -> CallResult {
    let [from, to, flags, ..] = call.x.map(|word| u64::from(word as u32));
    if from == to || flags & !u64::from(O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    call.kernel.opened(from)?;
    if to >= call.kernel.process().limits.soft(Resource::OpenFiles) {
        return Err(EBADF.into());
    }
    // It may not be open.
    let _ = call.kernel.close(to);
    call.duplicate(from, to, flags != 0)
}

pub(super) fn pipe2(call: &mut Call<'_>) -> CallResult {
    let [address, flags, ..] = call.x;
    let flags = flags as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    // Check that the address is writable before opening anything, by writing back the bytes that are there.
    let before: [u8; 8] = call.guest.array(address)?;
    call.guest.write(address, &before)?;
    let process = call.kernel.process();
    let reading = process.lowest_free(0)?;
    let writing = process.lowest_free(reading + 1)?;
    let ends = call.kernel.open.add_pipe(flags);
    for (number, end) in [reading, writing].into_iter().zip(ends) {
        call.kernel.refer(number, end, flags & O_CLOEXEC != 0);
    }
    call.guest.write(address, &[reading, writing].map(|end| (end as u32).to_le_bytes()).concat())?;
    Ok(0)
}

pub(super) fn fcntl(call: &mut Call<'_>) -> CallResult {
    const F_DUPFD: u64 = 0;
    const F_GETFD: u64 = 1;
    const F_SETFD: u64 = 2;
    const F_GETFL: u64 = 3;
    const F_SETFL: u64 = 4;
    const F_GETLK: u64 = 5;
    const F_SETLK: u64 = 6;
    const F_SETLKW: u64 = 7;
    const F_SETOWN: u64 = 8;
    const F_GETOWN: u64 = 9;
    const F_DUPFD_CLOEXEC: u64 = 1030;
    const F_GETPIPE_SZ: u64 = 1032;
    const F_OFD_GETLK: u64 = 36;
    const F_OFD_SETLK: u64 = 37;
    const F_OFD_SETLKW: u64 = 38;
    let [descriptor, command, argument, ..] = call.x;
    call.kernel.opened(descriptor)?;
    match command & 0xffff_ffff {
        command @ (F_DUPFD | F_DUPFD_CLOEXEC) => {
            if argument >= call.kernel.process().limits.soft(Resource::OpenFiles) {
                return Err(EINVAL.into());
            }
            let to = call.kernel.process().lowest_free(argument)?;
            call.duplicate(descriptor, to, command == F_DUPFD_CLOEXEC)
        }
        F_GETFD => Ok(u64::from(call.kernel.process().descriptors.get(descriptor)?.close_on_exec)),
        F_SETFD => {
            call.kernel.process_mut().descriptors.get_mut(descriptor)?.close_on_exec = argument & 1 != 0;
            Ok(0)
        }
        F_GETFL => Ok(u64::from(call.kernel.description(descriptor)?.flags)),
        F_SETFL => {
            let changeable = O_APPEND | O_NONBLOCK | O_ASYNC;
            let description = call.kernel.description_mut(descriptor)?;
            description.flags = description.flags & !changeable | argument as u32 & changeable;
            Ok(0)
        }
        command @ (F_GETLK | F_OFD_GETLK) => call.find_lock(descriptor, command == F_OFD_GETLK, argument),
        command @ (F_SETLK | F_SETLKW | F_OFD_SETLK | F_OFD_SETLKW) => {
            let waits = matches!(command, F_SETLKW | F_OFD_SETLKW);
            call.set_lock(descriptor, matches!(command, F_OFD_SETLK | F_OFD_SETLKW), waits, argument)
        }
        F_SETOWN => {
            let owner = argument as i32;
            let exists = |id: u32| {
                call.kernel.processes.iter().any(|(process, at)| match owner {
                    1.. => *process == id,
                    _ => at.group == id,
                })
            };
            if owner != 0 && !exists(owner.unsigned_abs()) {
                return Err(ESRCH.into());
            }
            call.kernel.description_mut(descriptor)?.owner = owner;
            Ok(0)
        }
        F_GETOWN => Ok(i64::from(call.kernel.description(descriptor)?.owner) as u64),
        F_GETPIPE_SZ => match call.kernel.description(descriptor)?.object {
            Object::PipeWriter(_) | Object::PipeReader(_) | Object::PipeBoth(_) => Ok(PIPE_BYTES as u64),
            _ => Err(EBADF.into()),
        },
        _ => Err(EINVAL.into()),
    }
}

/// The size of the terminal, in characters.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

pub(super) fn ioctl(call: &mut Call<'_>) -> CallResult {
    const TCGETS: u64 = 0x5401;
    const TCSETS: u64 = 0x5402;
    const TCSETSF: u64 = 0x5404;
    const TIOCGPGRP: u64 = 0x540f;
    const TIOCSPGRP: u64 = 0x5410;
    const TIOCGWINSZ: u64 = 0x5413;
    const FIONREAD: u64 = 0x541b;
    const FIONBIO: u64 = 0x5421;
    const FIONCLEX: u64 = 0x5450;
    const FIOCLEX: u64 = 0x5451;
    const FIOASYNC: u64 = 0x5452;
    let [descriptor, request, argument, ..] = call.x;
    let object = call.kernel.description(descriptor)?.object;
    let of_any_file = matches!(request & 0xffff_ffff, FIONBIO | FIONCLEX | FIOCLEX);
    match object {
        Object::Terminal(number) if !of_any_file => return control(call, number, false),
        Object::TerminalMaster(number) if !of_any_file => return control(call, number, true),
        _ => {}
    }
    let is_terminal = call.kernel.settings.terminal && matches!(object, Object::Input | Object::Output(_));
    match request & 0xffff_ffff {
        FIONREAD => {
            let Kernel { input, input_position, open, .. } = &*call.kernel;
            let waiting = match object {
                Object::Input => input.len() - input_position,
                Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe) => {
                    open.pipe(pipe)?.data.len()
                }
                Object::Socket(socket) => {
                    let socket = open.sockets.get(socket)?;
                    if socket.is_listening() {
                        return Err(EINVAL.into());
                    }
                    let messages = socket.incoming.iter().map(|message| message.data.len());
                    // Of datagrams, the size of the first one.
                    if socket.kind == SocketKind::Datagram { messages.take(1).sum() } else { messages.sum() }
                }
                Object::Event(event) if let Ok(EventFile::Notices(notices)) = open.event(event) => {
                    notices.queue.iter().map(|note| note.bytes().len()).sum()
                }
                _ => return Err(ENOTTY.into()),
            };
            call.guest.write(argument, &(waiting as u32).to_le_bytes())?;
            Ok(0)
        }
        request @ (FIONBIO | FIOASYNC) => {
            let flag = if request == FIONBIO { O_NONBLOCK } else { O_ASYNC };
            let on = call.guest.read_u32(argument)? != 0;
            let description = call.kernel.description_mut(descriptor)?;
            description.flags = description.flags & !flag | if on { flag } else { 0 };
            Ok(0)
        }
        request @ (FIONCLEX | FIOCLEX) => {
            call.kernel.process_mut().descriptors.get_mut(descriptor)?.close_on_exec = request == FIOCLEX;
            Ok(0)
        }
        TCGETS if is_terminal => {
            call.guest.write(argument, &Termios::new().bytes())?;
            Ok(0)
        }
        TIOCGWINSZ if is_terminal => {
            call.guest.write(argument, &[ROWS, COLUMNS, 0, 0].map(u16::to_le_bytes).concat())?;
            Ok(0)
        }
        TIOCGPGRP if is_terminal => {
            let group = call.kernel.foreground;
            call.guest.write(argument, &group.to_le_bytes())?;
            Ok(0)
        }
        // The input of a lane is fixed in advance, so these settings have no visible effect.
        TCSETS..=TCSETSF if is_terminal => Ok(0),
        TIOCSPGRP if is_terminal => {
            call.kernel.foreground = call.guest.read_u32(argument)?;
            Ok(0)
        }
        // `isatty` recognises anything that is not a terminal by this error.
        _ => Err(ENOTTY.into()),
    }
}

impl Call<'_> {
    /// Returns the poll events that a descriptor is ready for.
    fn ready(&self, descriptor: u64) -> u16 {
        self.kernel
            .opened(descriptor)
            .map_or(POLLNVAL, |description| self.kernel.ready_for(description, self.asker()))
    }

    /// Replaces the signal mask for the time of a call, if the address of another one is not 0.
    pub(super) fn swap_mask(&mut self, address: u64, bytes: u64) -> Result<(), Failure> {
        if address == 0 || self.kernel.thread().saved_mask.is_some() {
            return Ok(());
        }
        if bytes != 8 {
            return Err(EINVAL.into());
        }
        let mask = self.guest.read_u64(address)? & !UNBLOCKABLE;
        let thread = self.kernel.thread_mut();
        thread.saved_mask = Some(std::mem::replace(&mut thread.blocked, mask));
        Ok(())
    }

    /// Waits until one of the descriptors is ready for one of its poll events. Returns 0 if the time is over before.
    fn wait_for(&mut self, descriptors: &[(u64, u16)], timeout: Option<u64>) -> CallResult {
        let opened = descriptors
            .iter()
            .filter_map(|&(number, events)| Some((self.kernel.opened(number).ok()?, events)));
        let event = Event::Ready(opened.collect());
        self.wait(event, self.deadline(timeout), Interrupted::Fails)?;
        Ok(0)
    }
}

pub(super) fn ppoll(call: &mut Call<'_>) -> CallResult {
    let [address, count, timeout, ..] = call.x;
    if count > call.kernel.process().limits.soft(Resource::OpenFiles) {
        return Err(EINVAL.into());
    }
    let timeout = call.optional_duration(timeout)?;
    let mut list = call.guest.read(address, 8 * count)?;
    call.swap_mask(call.x[3], call.x[4])?;
    let (mut found, mut waited) = (0, Vec::new());
    for entry in list.chunks_exact_mut(8) {
        let descriptor = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let wanted = u16::from_le_bytes([entry[4], entry[5]]) | POLLERR | POLLHUP | POLLNVAL;
        let ready = if descriptor < 0 { 0 } else { wanted & call.ready(descriptor as u64) };
        if descriptor >= 0 {
            waited.push((descriptor as u64, wanted));
        }
        entry[6..8].copy_from_slice(&ready.to_le_bytes());
        found += u64::from(ready != 0);
    }
    if found == 0 {
        call.wait_for(&waited, timeout)?;
    }
    call.guest.write(address, &list)?;
    Ok(found)
}

pub(super) fn pselect6(call: &mut Call<'_>) -> CallResult {
    let [count, read, write, except, timeout, mask] = call.x;
    if count > DESCRIPTORS_MAX {
        return Err(EINVAL.into());
    }
    let timeout = call.optional_duration(timeout)?;
    if mask != 0 {
        let (mask, bytes) = (call.guest.read_u64(mask)?, call.guest.read_u64(mask.wrapping_add(8))?);
        call.swap_mask(mask, bytes)?;
    }
    let bytes = count.div_ceil(64) * 8;
    let (mut found, mut waited) = (0, Vec::new());
    let mut answers = Vec::new();
    for (address, events) in [(read, POLLIN | POLLHUP), (write, POLLOUT | POLLERR), (except, 0)] {
        if address == 0 {
            continue;
        }
        let mut set = call.guest.read(address, bytes)?;
        for descriptor in 0..count {
            let (byte, bit) = (descriptor as usize / 8, 1 << (descriptor % 8));
            if set[byte] & bit == 0 {
                continue;
            }
            match call.ready(descriptor) {
                ready if ready & POLLNVAL != 0 => return Err(EBADF.into()),
                ready if ready & events != 0 => found += 1,
                _ => {
                    waited.push((descriptor, events));
                    set[byte] &= !bit;
                }
            }
        }
        answers.push((address, set));
    }
    if found == 0 {
        call.wait_for(&waited, timeout)?;
    }
    for (address, set) in answers {
        call.guest.write(address, &set)?;
    }
    Ok(found)
}
