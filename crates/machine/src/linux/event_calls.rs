//! System calls on event files: counters, timers, signals, and epoll.

use super::call::{Call, Interrupted};
use super::errno::{EAGAIN, EEXIST, EINVAL, ELOOP, ENOENT, EPERM};
use super::failure::{CallResult, Failure};
use super::open_files::{
    EPOLLET, EventFile, Expiry, Interest, O_CLOEXEC, O_NONBLOCK, O_RDWR, Object, TimerFile,
};
use super::readiness::{Asker, COUNTER_MAX, EPOLLONESHOT, POLLIN, POLLOUT};
use super::signals::{SI_TIMER, SIGCHLD, SigInfo, UNBLOCKABLE, info_word};
use super::time_calls::{NANOSECONDS, timespec};
use super::wait::Event;

/// The limit on interests of an epoll file, which bounds the memory that a lane can cost the host.
const INTERESTS_MAX: usize = 4096;

impl Call<'_> {
    /// Opens a descriptor for an event file. The flags are `O_NONBLOCK` and `O_CLOEXEC`.
    pub(super) fn open_event(&mut self, event: EventFile, flags: u32) -> CallResult {
        let number = self.kernel.process().lowest_free(0)?;
        let description = self.kernel.open.add_event(event, flags & O_NONBLOCK | O_RDWR);
        self.kernel.refer(number, description, flags & O_CLOEXEC != 0);
        Ok(number)
    }

    /// Returns the ID of the event file that a descriptor refers to; `None` if it is another file.
    fn event_file(&self, descriptor: u64) -> Result<Option<u32>, Failure> {
        match self.kernel.description(descriptor)?.object {
            Object::Event(event) => Ok(Some(event)),
            _ => Ok(None),
        }
    }

    /// Returns the thread and the time, for questions about readiness.
    pub(super) fn asker(&self) -> Asker {
        Asker { thread: self.kernel.turns.current, now: self.uptime() }
    }

    /// Returns the bytes that a read of at most `bytes` bytes from an event file gives.
    pub(super) fn peek_event(&self, description: u32, event: u32, bytes: usize) -> Result<Vec<u8>, Failure> {
        let asker = self.asker();
        let wait = |call: &Self| match call.kernel.open.get(description) {
            Ok(open) if open.does_wait() => call.wait_until_ready(description, POLLIN),
            _ => EAGAIN.into(),
        };
        match self.kernel.open.event(event)? {
            EventFile::Counter { .. } | EventFile::Timer(_) if bytes < 8 => Err(EINVAL.into()),
            EventFile::Counter { count: 0, .. } => Err(wait(self)),
            EventFile::Counter { is_semaphore: true, .. } => Ok(1_u64.to_le_bytes().to_vec()),
            EventFile::Counter { count, .. } => Ok(count.to_le_bytes().to_vec()),
            EventFile::Timer(timer) => match timer.times.count(asker.now) {
                0 => Err(wait(self)),
                count => Ok(count.to_le_bytes().to_vec()),
            },
            EventFile::Signals(_) if bytes < 128 => Err(EINVAL.into()),
            EventFile::Signals(mask) => {
                let waiting = self.kernel.pending_infos(*mask);
                if waiting.is_empty() {
                    return Err(wait(self));
                }
                Ok(waiting.iter().take(bytes / 128).flat_map(signal_record).collect())
            }
            EventFile::Poll(_) => Err(EINVAL.into()),
            EventFile::Notices(notices) => {
                let mut all = Vec::new();
                for note in &notices.queue {
                    let note = note.bytes();
                    if all.len() + note.len() > bytes {
                        break;
                    }
                    all.extend(note);
                }
                match (all.is_empty(), notices.queue.is_empty()) {
                    (true, true) => Err(wait(self)),
                    (true, false) => Err(EINVAL.into()),
                    _ => Ok(all),
                }
            }
        }
    }

    /// Consumes what [`Call::peek_event`] has returned.
    pub(super) fn consume_event(&mut self, event: u32, data: &[u8]) -> Result<(), Failure> {
        let now = self.uptime();
        match self.kernel.open.event_mut(event)? {
            EventFile::Counter { count, is_semaphore } => *count -= if *is_semaphore { 1 } else { *count },
            EventFile::Timer(timer) => timer.times = timer.times.after(now),
            EventFile::Signals(_) => {
                for record in data.chunks_exact(128) {
                    self.kernel.take_signal(record[0].into());
                }
            }
            EventFile::Poll(_) => {}
            EventFile::Notices(notices) => {
                let mut left = data.len();
                while let Some(note) = notices.queue.front().filter(|_| left > 0) {
                    left = left.saturating_sub(note.bytes().len());
                    notices.queue.pop_front();
                }
            }
        }
        self.kernel.open.note_change(Object::Event(event));
        Ok(())
    }

    /// Writes to an event file: adds to a counter.
    pub(super) fn put_event(&mut self, description: u32, event: u32, data: &[u8]) -> CallResult {
        let EventFile::Counter { count, .. } = self.kernel.open.event_mut(event)? else {
            return Err(EINVAL.into());
        };
        let more = data.first_chunk().copied().map(u64::from_le_bytes).ok_or(EINVAL)?;
        if more > COUNTER_MAX {
            return Err(EINVAL.into());
        }
        if let Some(sum) = count.checked_add(more).filter(|sum| *sum <= COUNTER_MAX) {
            *count = sum;
            self.kernel.open.note_change(Object::Event(event));
            return Ok(8);
        }
        let does_wait = self.kernel.open.get(description)?.does_wait();
        Err(if does_wait { self.wait_until_ready(description, POLLOUT) } else { EAGAIN.into() })
    }
}

/// Returns the `struct signalfd_siginfo` of a signal.
fn signal_record(info: &SigInfo) -> [u8; 128] {
    let mut record = [0; 128];
    // The number, the errno and the code, which padding follows in the `siginfo_t`.
    record[..12].copy_from_slice(&info[..12]);
    let parts = match info_word(info, 8) {
        // The timer, its overrun, and the value as a number and as a pointer.
        SI_TIMER => [(24, 16..20), (32, 20..24), (44, 24..28), (48, 24..32)],
        // Process and user, then the status of a child.
        1.. if u64::from(info[0]) == SIGCHLD => [(12, 16..20), (16, 20..24), (40, 24..28), (48, 0..0)],
        // Process and user, then the value.
        _ => [(12, 16..20), (16, 20..24), (44, 24..28), (48, 24..32)],
    };
    for (to, from) in parts {
        record[to..to + from.len()].copy_from_slice(&info[from]);
    }
    record
}

pub(super) fn eventfd2(call: &mut Call<'_>) -> CallResult {
    const EFD_SEMAPHORE: u32 = 1;
    let [count, flags, ..] = call.x.map(|word| word as u32);
    if flags & !(EFD_SEMAPHORE | O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let is_semaphore = flags & EFD_SEMAPHORE != 0;
    call.open_event(EventFile::Counter { count: count.into(), is_semaphore }, flags)
}

pub(super) fn signalfd4(call: &mut Call<'_>) -> CallResult {
    let [descriptor, mask, bytes, flags, ..] = call.x;
    let flags = flags as u32;
    if bytes != 8 || flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    let mask = call.guest.read_u64(mask)? & !UNBLOCKABLE;
    if descriptor as i32 == -1 {
        return call.open_event(EventFile::Signals(mask), flags);
    }
    let event = call.event_file(descriptor)?.ok_or(EINVAL)?;
    match call.kernel.open.event_mut(event)? {
        EventFile::Signals(there) => *there = mask,
        _ => return Err(EINVAL.into()),
    }
    Ok(u64::from(descriptor as u32))
}

pub(super) fn timerfd_create(call: &mut Call<'_>) -> CallResult {
    let [clock, flags, ..] = call.x;
    let flags = flags as u32;
    // CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, and both alarm clocks.
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 || !matches!(clock as u32, 0 | 1 | 7 | 8 | 9) {
        return Err(EINVAL.into());
    }
    let timer = TimerFile { clock: u64::from(clock as u32), times: Expiry::default() };
    call.open_event(EventFile::Timer(timer), flags)
}

impl Call<'_> {
    /// Returns the timer that a descriptor refers to.
    fn timer_file(&mut self, descriptor: u64) -> Result<&mut TimerFile, Failure> {
        let event = self.event_file(descriptor)?.ok_or(EINVAL)?;
        match self.kernel.open.event_mut(event)? {
            EventFile::Timer(timer) => Ok(timer),
            _ => Err(EINVAL.into()),
        }
    }

    /// Returns the `struct itimerspec` of a timer at a time of its clock: the interval, and the time until it expires next.
    pub(super) fn timer_value(&self, times: &Expiry, now: u64) -> [u8; 32] {
        let left = times.after(now).next.map_or(0, |next| next - now);
        let mut value = [0; 32];
        for (place, time) in value.chunks_exact_mut(16).zip([times.interval, left]) {
            place.copy_from_slice(&timespec(time / NANOSECONDS, time % NANOSECONDS));
        }
        value
    }

    /// Reads a `struct itimerspec` and returns the times at which a timer expires. `is_absolute` says that the first one is a time
    /// of the clock and not from now on.
    pub(super) fn timer_times(
        &mut self,
        address: u64,
        clock: u64,
        is_absolute: bool,
    ) -> Result<Expiry, Failure> {
        let (interval, first) = (self.duration(address)?, self.duration(address.wrapping_add(16))?);
        // Alarm clocks show the time of the clocks without an alarm.
        let is_of_day = matches!(clock, 0 | 8);
        let start = match (is_absolute, is_of_day) {
            (false, _) => self.later(first),
            (true, false) => first.min(self.later(first)),
            (true, true) => self.later(first.saturating_sub(self.now())),
        };
        Ok(Expiry { next: (first > 0).then_some(start), interval })
    }
}

pub(super) fn timerfd_settime(call: &mut Call<'_>) -> CallResult {
    const TFD_TIMER_ABSTIME: u32 = 1;
    const TFD_TIMER_CANCEL_ON_SET: u32 = 2;
    let [descriptor, flags, new, old, ..] = call.x;
    if flags as u32 & !(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) != 0 {
        return Err(EINVAL.into());
    }
    let TimerFile { clock, times } = *call.timer_file(descriptor)?;
    let next = call.timer_times(new, clock, flags as u32 & TFD_TIMER_ABSTIME != 0)?;
    let before = call.timer_value(&times, call.uptime());
    call.guest.write_optional(old, &before)?;
    call.timer_file(descriptor)?.times = next;
    Ok(0)
}

pub(super) fn timerfd_gettime(call: &mut Call<'_>) -> CallResult {
    let times = call.timer_file(call.x[0])?.times;
    let value = call.timer_value(&times, call.uptime());
    call.guest.write(call.x[1], &value)?;
    Ok(0)
}

pub(super) fn epoll_create1(call: &mut Call<'_>) -> CallResult {
    let flags = call.x[0] as u32;
    if flags & !O_CLOEXEC != 0 {
        return Err(EINVAL.into());
    }
    call.open_event(EventFile::Poll(Vec::new()), flags)
}

impl Call<'_> {
    /// Returns the ID of the epoll file that a descriptor refers to.
    fn epoll_file(&self, descriptor: u64) -> Result<u32, Failure> {
        let event = self.event_file(descriptor)?.ok_or(EINVAL)?;
        match self.kernel.open.event(event)? {
            EventFile::Poll(_) => Ok(event),
            _ => Err(EINVAL.into()),
        }
    }

    /// Returns the interests of an epoll file.
    fn interests(&mut self, event: u32) -> Result<&mut Vec<Interest>, Failure> {
        match self.kernel.open.event_mut(event)? {
            EventFile::Poll(interests) => Ok(interests),
            _ => Err(EINVAL.into()),
        }
    }
}

pub(super) fn epoll_ctl(call: &mut Call<'_>) -> CallResult {
    const ADD: u32 = 1;
    const DELETE: u32 = 2;
    const MODIFY: u32 = 3;
    let [epoll, operation, descriptor, address, ..] = call.x;
    let operation = operation as u32;
    let (events, data) = if operation == DELETE {
        (0, 0)
    } else {
        (call.guest.read_u32(address)?, call.guest.read_u64(address.wrapping_add(8))?)
    };
    let description = call.kernel.opened(descriptor)?;
    let event = call.epoll_file(epoll)?;
    let descriptor = u64::from(descriptor as u32);
    match call.kernel.open.get(description)?.object {
        // Files and directories are always ready, so Linux refuses to watch them.
        Object::Inode(_) => return Err(EPERM.into()),
        Object::Event(other) if other == event => return Err(EINVAL.into()),
        Object::Event(other) => {
            // Two epoll files that watch each other would be ready for ever.
            if let EventFile::Poll(interests) = call.kernel.open.event(other)?
                && interests.iter().any(|interest| {
                    call.kernel
                        .open
                        .get(interest.description)
                        .is_ok_and(|open| open.object == Object::Event(event))
                })
            {
                return Err(ELOOP.into());
            }
        }
        _ => {}
    }
    let interests = call.interests(event)?;
    let is_it =
        |interest: &Interest| interest.descriptor == descriptor && interest.description == description;
    let place = interests.iter().position(is_it);
    let new = Interest { descriptor, description, events, data, seen: None, is_disarmed: false };
    match (operation, place) {
        (ADD, Some(_)) => return Err(EEXIST.into()),
        (ADD, None) if interests.len() >= INTERESTS_MAX => return Err(super::errno::ENOSPC.into()),
        (ADD, None) => interests.push(new),
        (DELETE | MODIFY, None) => return Err(ENOENT.into()),
        (DELETE, Some(place)) => drop(interests.remove(place)),
        (MODIFY, Some(place)) => interests[place] = new,
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}

impl Call<'_> {
    /// Waits for events of an epoll file, at most for a time in nanoseconds.
    fn epoll_wait(&mut self, timeout: Option<u64>) -> CallResult {
        /// The largest number of events that Linux accepts.
        const EVENTS_MAX: i32 = i32::MAX / 16;
        let [epoll, address, count, ..] = self.x;
        if !(1..=EVENTS_MAX).contains(&(count as i32)) {
            return Err(EINVAL.into());
        }
        self.swap_mask(self.x[4], self.x[5])?;
        let description = self.kernel.opened(epoll)?;
        let (event, asker) = (self.epoll_file(epoll)?, self.asker());
        let interests = self.interests(event)?.clone();
        let mut reports = Vec::new();
        for (place, interest) in interests.iter().enumerate() {
            let ready = self.kernel.report_of(interest, asker);
            if ready != 0 && (reports.len() as u64) < u64::from(count as u32) {
                reports.push((place, ready));
            }
        }
        if reports.is_empty() {
            let deadline = self.deadline(timeout);
            self.wait(Event::Ready(vec![(description, POLLIN)]), deadline, Interrupted::Fails)?;
            return Ok(0);
        }
        let mut out = Vec::new();
        for (place, ready) in &reports {
            out.extend(u32::from(*ready).to_le_bytes());
            out.extend([0; 4]);
            out.extend(interests[*place].data.to_le_bytes());
        }
        self.guest.write(address, &out)?;
        for (place, _) in &reports {
            let changes = self.kernel.open.get(interests[*place].description).map_or(0, |open| open.changes);
            let interest = &mut self.interests(event)?[*place];
            if interest.events & EPOLLET != 0 {
                interest.seen = Some(changes);
            }
            interest.is_disarmed = interest.events & EPOLLONESHOT != 0;
        }
        // Those that were reported come last the next time, so that none is forgotten.
        let last = reports.last().map_or(0, |(place, _)| place + 1);
        self.interests(event)?.rotate_left(last);
        Ok(reports.len() as u64)
    }
}

pub(super) fn epoll_pwait(call: &mut Call<'_>) -> CallResult {
    let timeout = call.x[3] as i32;
    call.epoll_wait(u64::try_from(timeout).ok().map(|milliseconds| milliseconds * 1_000_000))
}

pub(super) fn epoll_pwait2(call: &mut Call<'_>) -> CallResult {
    let timeout = call.optional_duration(call.x[3])?;
    call.epoll_wait(timeout)
}
