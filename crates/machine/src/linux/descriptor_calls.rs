//! System calls on file descriptors of any kind: duplication, flags, pipes, terminals, polling.

use super::call::Call;
use super::descriptors::{O_APPEND, O_CLOEXEC, O_NONBLOCK, Object, PIPE_BYTES};
use super::errno::{EBADF, EDEADLK, EINVAL, ENOTTY};
use super::failure::CallResult;
use super::process_calls::PROCESS;
use super::status::Fields;

pub(super) fn close(call: &mut Call<'_>) -> CallResult {
    if let Some(Object::Inode(number)) = call.process.descriptors.close(call.x[0])? {
        call.release(number);
    }
    Ok(0)
}

pub(super) fn close_range(call: &mut Call<'_>) -> CallResult {
    /// Has no effect, because the only thread of a process does not share its descriptors.
    const CLOSE_RANGE_UNSHARE: u64 = 2;
    const CLOSE_RANGE_CLOEXEC: u64 = 4;
    let [first, last, flags, ..] = call.x.map(|word| u64::from(word as u32));
    if first > last || flags & !(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    for number in first..=last.min(super::descriptors::DESCRIPTORS_MAX) {
        if flags & CLOSE_RANGE_CLOEXEC != 0 {
            if let Ok(descriptor) = call.process.descriptors.descriptor(number) {
                descriptor.close_on_exec = true;
            }
        } else if let Ok(Some(Object::Inode(inode))) = call.process.descriptors.close(number) {
            call.release(inode);
        }
    }
    Ok(0)
}

pub(super) fn dup(call: &mut Call<'_>) -> CallResult {
    let descriptors = &mut call.process.descriptors;
    descriptors.get(call.x[0])?;
    let to = descriptors.lowest_free(0)?;
    Ok(descriptors.duplicate(call.x[0], to, false)?)
}

pub(super) fn dup3(call: &mut Call<'_>) -> CallResult {
    let [from, to, flags, ..] = call.x.map(|word| u64::from(word as u32));
    if from == to || flags & !u64::from(O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    call.process.descriptors.get(from)?;
    if to >= super::descriptors::DESCRIPTORS_MAX {
        return Err(EBADF.into());
    }
    if let Ok(Some(Object::Inode(number))) = call.process.descriptors.close(to) {
        call.release(number);
    }
    Ok(call.process.descriptors.duplicate(from, to, flags != 0)?)
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
    let ends = call.process.descriptors.add_pipe(flags)?;
    call.guest.write(address, &ends.map(|end| (end as u32).to_le_bytes()).concat())?;
    Ok(0)
}

pub(super) fn fsync(call: &mut Call<'_>) -> CallResult {
    call.process.descriptors.get(call.x[0])?;
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
    const F_DUPFD_CLOEXEC: u64 = 1030;
    const F_GETPIPE_SZ: u64 = 1032;
    /// The lock type that reports that a file is not locked.
    const F_UNLCK: u16 = 2;
    let [descriptor, command, argument, ..] = call.x;
    let descriptors = &mut call.process.descriptors;
    descriptors.get(descriptor)?;
    match command & 0xffff_ffff {
        command @ (F_DUPFD | F_DUPFD_CLOEXEC) => {
            let to = descriptors.lowest_free(argument)?;
            Ok(descriptors.duplicate(descriptor, to, command == F_DUPFD_CLOEXEC)?)
        }
        F_GETFD => Ok(u64::from(descriptors.descriptor(descriptor)?.close_on_exec)),
        F_SETFD => {
            descriptors.descriptor(descriptor)?.close_on_exec = argument & 1 != 0;
            Ok(0)
        }
        F_GETFL => Ok(u64::from(descriptors.get(descriptor)?.flags)),
        F_SETFL => {
            let changeable = O_APPEND | O_NONBLOCK;
            let description = descriptors.get_mut(descriptor)?;
            description.flags = description.flags & !changeable | argument as u32 & changeable;
            Ok(0)
        }
        F_GETLK => {
            call.guest.write(argument, &F_UNLCK.to_le_bytes())?;
            Ok(0)
        }
        F_SETLK | F_SETLKW => Ok(0),
        F_GETPIPE_SZ => match descriptors.get(descriptor)?.object {
            Object::PipeWriter(_) | Object::PipeReader(_) => Ok(PIPE_BYTES as u64),
            _ => Err(EBADF.into()),
        },
        _ => Err(EINVAL.into()),
    }
}

/// The size of the terminal, in characters.
const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// Returns the settings of a new terminal as Linux's `struct termios`.
fn terminal_settings() -> [u8; 36] {
    const ICRNL_IXON: u32 = 0o2400;
    const OPOST_ONLCR: u32 = 5;
    const B38400_CS8_CREAD: u32 = 0o277;
    const ECHO_AND_SIGNALS: u32 = 0o105_073;
    /// The control characters `c_cc`: interrupt, quit, erase, kill, end of file, and so on.
    const CHARACTERS: [u8; 19] = [3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0, 0, 0];
    let mut out = Fields([0; 36]);
    let flags = [ICRNL_IXON, OPOST_ONLCR, B38400_CS8_CREAD, ECHO_AND_SIGNALS];
    (0..).step_by(4).zip(flags).for_each(|(at, word)| out.u32(at, word));
    out.0[17..].copy_from_slice(&CHARACTERS);
    out.0
}

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
    let [descriptor, request, argument, ..] = call.x;
    let object = call.process.descriptors.get(descriptor)?.object;
    let is_terminal = call.process.settings.terminal && matches!(object, Object::Input | Object::Output(_));
    match request & 0xffff_ffff {
        FIONREAD => {
            let process = &*call.process;
            let waiting = match object {
                Object::Input => process.input.len() - process.input_position,
                Object::PipeReader(pipe) | Object::PipeWriter(pipe) => {
                    process.descriptors.buffered_bytes(pipe)
                }
                Object::Inode(_) | Object::Output(_) => return Err(ENOTTY.into()),
            };
            call.guest.write(argument, &(waiting as u32).to_le_bytes())?;
            Ok(0)
        }
        FIONBIO => {
            let on = call.guest.read_u32(argument)? != 0;
            let description = call.process.descriptors.get_mut(descriptor)?;
            description.flags = description.flags & !O_NONBLOCK | if on { O_NONBLOCK } else { 0 };
            Ok(0)
        }
        request @ (FIONCLEX | FIOCLEX) => {
            call.process.descriptors.descriptor(descriptor)?.close_on_exec = request == FIOCLEX;
            Ok(0)
        }
        TCGETS if is_terminal => {
            call.guest.write(argument, &terminal_settings())?;
            Ok(0)
        }
        TIOCGWINSZ if is_terminal => {
            call.guest.write(argument, &[ROWS, COLUMNS, 0, 0].map(u16::to_le_bytes).concat())?;
            Ok(0)
        }
        TIOCGPGRP if is_terminal => {
            call.guest.write(argument, &(PROCESS as u32).to_le_bytes())?;
            Ok(0)
        }
        // The input of a lane is fixed in advance, so these settings have no visible effect.
        TCSETS..=TCSETSF | TIOCSPGRP if is_terminal => Ok(0),
        // `isatty` recognises anything that is not a terminal by this error.
        _ => Err(ENOTTY.into()),
    }
}

const POLLIN: u16 = 1;
const POLLOUT: u16 = 4;
const POLLERR: u16 = 8;
const POLLHUP: u16 = 16;
const POLLNVAL: u16 = 32;

impl Call<'_> {
    /// Returns the poll events that a descriptor is ready for.
    fn ready(&self, descriptor: u64) -> u16 {
        let descriptors = &self.process.descriptors;
        let Ok(description) = descriptors.get(descriptor) else { return POLLNVAL };
        match description.object {
            Object::Inode(_) => POLLIN | POLLOUT,
            // At the end of input, a read returns 0 at once, so input is always ready.
            Object::Input => POLLIN,
            Object::Output(_) => POLLOUT,
            Object::PipeReader(pipe) => {
                let data = if descriptors.buffered_bytes(pipe) > 0 { POLLIN } else { 0 };
                data | if descriptors.is_open(Object::PipeWriter(pipe)) { 0 } else { POLLHUP }
            }
            Object::PipeWriter(pipe) => {
                let room = if descriptors.buffered_bytes(pipe) < PIPE_BYTES { POLLOUT } else { 0 };
                room | if descriptors.is_open(Object::PipeReader(pipe)) { 0 } else { POLLERR }
            }
        }
    }

    /// Ends a poll with no ready descriptor: sleeps until the timeout, or fails with `EDEADLK` if there is none.
    ///
    /// No descriptor can become ready meanwhile, because only this thread could change one.
    fn wait(&mut self, timeout: Option<u64>) -> CallResult {
        let Some(timeout) = timeout else { return Err(EDEADLK.into()) };
        self.sleep(timeout);
        Ok(0)
    }
}

pub(super) fn ppoll(call: &mut Call<'_>) -> CallResult {
    let [address, count, timeout, ..] = call.x;
    if count > super::descriptors::DESCRIPTORS_MAX {
        return Err(EINVAL.into());
    }
    let timeout = call.optional_duration(timeout)?;
    let mut list = call.guest.read(address, 8 * count)?;
    let mut found = 0;
    for entry in list.chunks_exact_mut(8) {
        let descriptor = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let wanted = u16::from_le_bytes([entry[4], entry[5]]) | POLLERR | POLLHUP | POLLNVAL;
        let ready = if descriptor < 0 { 0 } else { wanted & call.ready(descriptor as u64) };
        entry[6..8].copy_from_slice(&ready.to_le_bytes());
        found += u64::from(ready != 0);
    }
    call.guest.write(address, &list)?;
    if found > 0 { Ok(found) } else { call.wait(timeout) }
}

pub(super) fn pselect6(call: &mut Call<'_>) -> CallResult {
    let [count, read, write, except, timeout, _] = call.x;
    if count > super::descriptors::DESCRIPTORS_MAX {
        return Err(EINVAL.into());
    }
    let timeout = call.optional_duration(timeout)?;
    let bytes = count.div_ceil(64) * 8;
    let mut found = 0;
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
                POLLNVAL => return Err(EBADF.into()),
                ready if ready & events != 0 => found += 1,
                _ => set[byte] &= !bit,
            }
        }
        answers.push((address, set));
    }
    for (address, set) in answers {
        call.guest.write(address, &set)?;
    }
    if found > 0 { Ok(found) } else { call.wait(timeout) }
}
