//! System calls on time.
//!
//! Unless the machine uses real time, a step takes one nanosecond, and sleeping advances the clocks at once.

use super::call::{Call, Interrupted};
use super::errno::{EFAULT, EINVAL};
use super::failure::{CallResult, Failure};
use super::fields::Fields;
use super::wait::Event;

pub(super) const NANOSECONDS: u64 = 1_000_000_000;
/// The clocks that exist, one bit for each clock ID: 0 to 7 and `CLOCK_TAI` (11).
pub(super) const CLOCKS: u32 = 0b1000_1111_1111;
/// The clocks that show the time of day: `CLOCK_REALTIME`, `CLOCK_REALTIME_COARSE`, `CLOCK_TAI`.
pub(super) const CLOCKS_OF_DAY: u32 = 0b1000_0010_0001;
/// The clocks that stand still while the lane sleeps: `CLOCK_PROCESS_CPUTIME_ID`, `CLOCK_THREAD_CPUTIME_ID`.
pub(super) const CLOCKS_OF_PROCESSOR: u32 = 0b1100;
/// The ticks of `times` per second (`AT_CLKTCK`).
pub(super) const TICKS: u64 = 100;

/// Returns a `struct timespec` or `struct timeval`: seconds and a fraction.
pub(super) fn timespec(seconds: u64, fraction: u64) -> [u8; 16] {
    let mut out = Fields([0; 16]);
    out.u64(0, seconds);
    out.u64(8, fraction);
    out.0
}

impl Call<'_> {
    /// Reads a `struct timespec` and returns it in nanoseconds.
    pub(super) fn duration(&mut self, address: u64) -> Result<u64, Failure> {
        let (seconds, nanoseconds) =
            (self.guest.read_u64(address)?, self.guest.read_u64(address.wrapping_add(8))?);
        if seconds > i64::MAX as u64 || nanoseconds >= NANOSECONDS {
            return Err(EINVAL.into());
        }
        Ok(seconds.saturating_mul(NANOSECONDS).saturating_add(nanoseconds))
    }

    /// Reads a `struct timespec` as [`Call::duration`] does, or returns `None` if the address is 0.
    pub(super) fn optional_duration(&mut self, address: u64) -> Result<Option<u64>, Failure> {
        if address == 0 { Ok(None) } else { self.duration(address).map(Some) }
    }

    /// Returns the time of a clock, in nanoseconds.
    fn clock(&self, clock: u64) -> Result<u64, Failure> {
        let bit = 1_u32.checked_shl(clock as u32).unwrap_or(0);
        if CLOCKS & bit == 0 {
            return Err(EINVAL.into());
        }
        Ok(if CLOCKS_OF_DAY & bit != 0 {
            self.now()
        } else if CLOCKS_OF_PROCESSOR & bit != 0 {
            self.processor_time()
        } else {
            self.uptime()
        })
    }

    /// Returns the nanoseconds since the start of the lane, including sleep.
    pub(super) fn uptime(&self) -> u64 {
        self.kernel.uptime(self.cpu.steps)
    }

    /// Returns the nanoseconds that the current process has run, without sleep. With real time, it is the uptime.
    fn processor_time(&self) -> u64 {
        if self.kernel.settings.real_time.is_some() {
            self.uptime()
        } else {
            self.kernel.retired(self.cpu.steps)
        }
    }

    /// Returns the time of day, in nanoseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        self.kernel.now(self.cpu.steps)
    }

    /// Waits for a time, in nanoseconds. If a signal ends the wait, the time that is left is written to an address.
    fn sleep(&mut self, deadline: u64, left_at: u64) -> CallResult {
        let waited = self.wait(Event::Signal, Some(deadline), Interrupted::Fails);
        if matches!(waited, Err(Failure::Interrupted { .. })) {
            let left = deadline.saturating_sub(self.uptime());
            self.guest.write_optional(left_at, &timespec(left / NANOSECONDS, left % NANOSECONDS))?;
        }
        waited.map(|()| 0)
    }
}

pub(super) fn clock_gettime(call: &mut Call<'_>) -> CallResult {
    let time = call.clock(call.x[0])?;
    call.guest.write(call.x[1], &timespec(time / NANOSECONDS, time % NANOSECONDS))?;
    Ok(0)
}

pub(super) fn clock_getres(call: &mut Call<'_>) -> CallResult {
    call.clock(call.x[0])?;
    call.guest.write_optional(call.x[1], &timespec(0, 1))?;
    Ok(0)
}

pub(super) fn gettimeofday(call: &mut Call<'_>) -> CallResult {
    let now = call.now();
    call.guest.write_optional(call.x[0], &timespec(now / NANOSECONDS, now % NANOSECONDS / 1000))?;
    call.guest.write_optional(call.x[1], &[0; 8])?;
    Ok(0)
}

pub(super) fn nanosleep(call: &mut Call<'_>) -> CallResult {
    let duration = call.duration(call.x[0])?;
    let deadline = call.deadline(Some(duration)).unwrap_or(0);
    call.sleep(deadline, call.x[1])
}

pub(super) fn clock_nanosleep(call: &mut Call<'_>) -> CallResult {
    const TIMER_ABSTIME: u64 = 1;
    let [clock, flags, request, left_at, ..] = call.x;
    let (now, time) = (call.clock(clock)?, call.duration(request)?);
    let is_absolute = flags & TIMER_ABSTIME != 0;
    let deadline =
        call.deadline(Some(if is_absolute { time.saturating_sub(now) } else { time })).unwrap_or(0);
    call.sleep(deadline, if is_absolute { 0 } else { left_at })
}

pub(super) fn times(call: &mut Call<'_>) -> CallResult {
    let mut out = Fields([0; 32]);
    out.u64(0, call.processor_time() / (NANOSECONDS / TICKS));
    out.u64(16, call.kernel.process().children_retired / (NANOSECONDS / TICKS));
    call.guest.write_optional(call.x[0], &out.0)?;
    Ok(call.uptime() / (NANOSECONDS / TICKS))
}

/// Returns a `struct rusage` with a processor time in nanoseconds.
pub(super) fn usage(time: u64) -> [u8; 144] {
    let mut out = [0; 144];
    out[..16].copy_from_slice(&timespec(time / NANOSECONDS, time % NANOSECONDS / 1000));
    out
}

pub(super) fn getrusage(call: &mut Call<'_>) -> CallResult {
    const CHILDREN: i32 = -1;
    const THREAD: i32 = 1;
    let who = call.x[0] as i32;
    if !(CHILDREN..=THREAD).contains(&who) {
        return Err(EINVAL.into());
    }
    let time = match who {
        CHILDREN => call.kernel.process().children_retired,
        _ => call.processor_time(),
    };
    let mut usage = usage(time);
    if who != CHILDREN {
        let map = call.guest.page_map()?;
        let pages: u64 = map.regions().iter().map(|region| region.end_page - region.first_page).sum();
        let process = call.kernel.process_mut();
        process.pages_max = process.pages_max.max(pages);
        // In KiB.
        usage[32..40].copy_from_slice(&(process.pages_max * 4).to_le_bytes());
    }
    call.guest.write(call.x[1], &usage)?;
    Ok(0)
}

pub(super) fn sysinfo(call: &mut Call<'_>) -> CallResult {
    if call.x[0] == 0 {
        return Err(EFAULT.into());
    }
    let (total, free) = call.memory()?;
    let mut out = Fields([0; 112]);
    out.u64(0, call.uptime() / NANOSECONDS);
    out.u64(32, total);
    out.u64(40, free);
    // The number of threads, as on Linux, in 16 bits, and `mem_unit`: 1 byte.
    out.u32(80, call.kernel.threads.len() as u32);
    out.u32(104, 1);
    call.guest.write(call.x[0], &out.0)?;
    Ok(0)
}
