//! System calls on the timers of a process.

use super::call::Call;
use super::errno::{EAGAIN, EINVAL};
use super::failure::{CallResult, Failure};
use super::open_files::Expiry;
use super::signals::{SIGALRM, SIGNAL_MAX};
use super::time_calls::{NANOSECONDS, timespec};
use super::timers::{Target, Timer, TimerClock};

/// The limit on timers of a process.
const TIMERS_MAX: usize = 256;

/// A timer of `setitimer`: its number among the timers of the process, and its signal.
fn interval_timer(which: u64) -> Result<(i32, u64, TimerClock), Failure> {
    const SIGVTALRM: u64 = 26;
    const SIGPROF: u64 = 27;
    match which as u32 {
        0 => Ok((-1, SIGALRM, TimerClock::Uptime(1))),
        1 => Ok((-2, SIGVTALRM, TimerClock::Processor)),
        2 => Ok((-3, SIGPROF, TimerClock::Processor)),
        _ => Err(EINVAL.into()),
    }
}

impl Call<'_> {
    /// Returns the time of a timer's clock.
    fn timer_now(&self, clock: TimerClock) -> u64 {
        match clock {
            TimerClock::Uptime(_) => self.uptime(),
            TimerClock::Processor => self.kernel.retired(self.cpu.steps),
        }
    }

    /// Returns the `struct itimerval` of a timer of `setitimer`.
    fn interval_value(&self, number: i32, clock: TimerClock) -> [u8; 32] {
        let now = self.timer_now(clock);
        let times =
            self.kernel.process().timers.get(&number).map_or_else(Expiry::default, |timer| timer.times);
        let left = times.after(now).next.map_or(0, |next| (next - now).max(1000));
        let mut value = [0; 32];
        for (place, time) in value.chunks_exact_mut(16).zip([times.interval, left]) {
            place.copy_from_slice(&timespec(time / NANOSECONDS, time % NANOSECONDS / 1000));
        }
        value
    }

    /// Reads a `struct timeval` and returns it in nanoseconds.
    fn microseconds(&mut self, address: u64) -> Result<u64, Failure> {
        let (seconds, fraction) =
            (self.guest.read_u64(address)?, self.guest.read_u64(address.wrapping_add(8))?);
        if seconds > i64::MAX as u64 || fraction >= 1_000_000 {
            return Err(EINVAL.into());
        }
        Ok(seconds.saturating_mul(NANOSECONDS).saturating_add(1000 * fraction))
    }

    /// Returns the timer with this number.
    fn timer(&mut self, number: u64) -> Result<&mut Timer, Failure> {
        let number = number as i32;
        let found = self.kernel.process_mut().timers.get_mut(&number);
        Ok(found.filter(|_| number >= 0).ok_or(EINVAL)?)
    }
}

pub(super) fn getitimer(call: &mut Call<'_>) -> CallResult {
    let (number, _, clock) = interval_timer(call.x[0])?;
    let value = call.interval_value(number, clock);
    call.guest.write(call.x[1], &value)?;
    Ok(0)
}

pub(super) fn setitimer(call: &mut Call<'_>) -> CallResult {
    let [which, new, old, ..] = call.x;
    let (number, signal, clock) = interval_timer(which)?;
    let (interval, first) = match new {
        0 => (0, 0),
        new => (call.microseconds(new)?, call.microseconds(new.wrapping_add(16))?),
    };
    let before = call.interval_value(number, clock);
    call.guest.write_optional(old, &before)?;
    let next = (first > 0).then(|| call.timer_now(clock).saturating_add(first));
    let times = Expiry { next, interval };
    let timer = Timer { clock, times, target: Target::Interval { signal }, overrun: 0, missed: 0 };
    let timers = &mut call.kernel.process_mut().timers;
    // Timers of processor time keep their interval while they are stopped, as on Linux.
    let keeps_interval = clock == TimerClock::Processor && interval > 0;
    if next.is_some() || keeps_interval {
        timers.insert(number, timer);
    } else {
        timers.remove(&number);
    }
    Ok(0)
}

pub(super) fn timer_create(call: &mut Call<'_>) -> CallResult {
    const SIGEV_SIGNAL: u32 = 0;
    const SIGEV_NONE: u32 = 1;
    const SIGEV_THREAD_ID: u32 = 4;
    let [clock, event, address, ..] = call.x;
    let clock = match clock as u32 {
        2 | 3 => TimerClock::Processor,
        clock @ (0 | 1 | 7 | 8 | 9 | 11) => TimerClock::Uptime(clock.into()),
        _ => return Err(EINVAL.into()),
    };
    let timers = &call.kernel.process().timers;
    if timers.len() >= TIMERS_MAX {
        return Err(EAGAIN.into());
    }
    let number = (0..).find(|number| !timers.contains_key(number)).unwrap_or(0);
    let target = if event == 0 {
        Target::Signal { signal: SIGALRM, value: number as u64, thread: None }
    } else {
        let (value, signal) = (call.guest.read_u64(event)?, call.guest.read_u32(event.wrapping_add(8))?);
        let (notify, thread) =
            (call.guest.read_u32(event.wrapping_add(12))?, call.guest.read_u32(event.wrapping_add(16))?);
        let signal = u64::from(signal);
        let is_signal = (1..=SIGNAL_MAX).contains(&signal);
        match notify {
            SIGEV_NONE => Target::Nothing,
            SIGEV_SIGNAL if is_signal => Target::Signal { signal, value, thread: None },
            SIGEV_THREAD_ID if is_signal => {
                let of = call.kernel.threads.get(&thread).map(|thread| thread.process);
                if of != Some(call.kernel.process_id()) {
                    return Err(EINVAL.into());
                }
                Target::Signal { signal, value, thread: Some(thread) }
            }
            _ => return Err(EINVAL.into()),
        }
    };
    call.guest.write(address, &number.to_le_bytes())?;
    let timer = Timer { clock, times: Expiry::default(), target, overrun: 0, missed: 0 };
    call.kernel.process_mut().timers.insert(number, timer);
    Ok(0)
}

pub(super) fn timer_settime(call: &mut Call<'_>) -> CallResult {
    const TIMER_ABSTIME: u32 = 1;
    let [number, flags, new, old, ..] = call.x;
    if new == 0 {
        return Err(EINVAL.into());
    }
    let Timer { clock, times, .. } = *call.timer(number)?;
    let is_absolute = flags as u32 & TIMER_ABSTIME != 0;
    let next = match clock {
        TimerClock::Uptime(clock) => match call.timer_times(new, clock, is_absolute)? {
            // A stopped timer has no interval, as on Linux.
            Expiry { next: None, .. } => Expiry::default(),
            times => times,
        },
        TimerClock::Processor => {
            let (interval, first) = (call.duration(new)?, call.duration(new.wrapping_add(16))?);
            let start = if is_absolute { first } else { call.timer_now(clock).saturating_add(first) };
            Expiry { next: (first > 0).then_some(start), interval }
        }
    };
    let before = call.timer_value(&times, call.timer_now(clock));
    call.guest.write_optional(old, &before)?;
    let timer = call.timer(number)?;
    (timer.times, timer.overrun, timer.missed) = (next, 0, 0);
    Ok(0)
}

pub(super) fn timer_gettime(call: &mut Call<'_>) -> CallResult {
    let Timer { clock, times, .. } = *call.timer(call.x[0])?;
    let value = call.timer_value(&times, call.timer_now(clock));
    call.guest.write(call.x[1], &value)?;
    Ok(0)
}

pub(super) fn timer_getoverrun(call: &mut Call<'_>) -> CallResult {
    Ok(call.timer(call.x[0])?.overrun)
}

pub(super) fn timer_delete(call: &mut Call<'_>) -> CallResult {
    call.timer(call.x[0])?;
    call.kernel.process_mut().timers.remove(&(call.x[0] as i32));
    Ok(0)
}
