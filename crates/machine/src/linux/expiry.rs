//! Expiration of the timers of processes.

use super::kernel::Kernel;
use super::limits::{Limit, Resource, UNLIMITED};
use super::process::Process;
use super::signals::{SIGKILL, SIGXCPU, bit, siginfo};
use super::time_calls::NANOSECONDS;
use super::timers::{Target, Timer, TimerClock};

/// The `si_code` of signals that timers send.
const SI_TIMER: i32 = -2;
/// The `si_code` of the signals of `setitimer`.
const SI_KERNEL: i32 = 0x80;

impl Kernel {
    /// Sends the signals of timers that have expired when the lane has retired `steps`.
    pub(super) fn fire_timers(&mut self, steps: u64) {
        self.limit_processor_time(steps);
        let now = self.uptime(steps);
        let ids: Vec<u32> = self
            .processes
            .iter()
            .filter(|(_, process)| !process.timers.is_empty())
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let processor = self.retired_by(id, steps);
            let Some(process) = self.processes.get_mut(&id) else { continue };
            let mut expired = Vec::new();
            for (number, timer) in &mut process.timers {
                let now = if timer.clock == TimerClock::Processor { processor } else { now };
                let count = timer.times.count(now);
                if count > 0 {
                    timer.times = timer.times.after(now);
                    timer.overrun = count - 1;
                    expired.push((*number, timer.target));
                }
            }
            for (number, target) in expired {
                // Real-time signals beyond their limit are lost, as on Linux.
                let _ = match target {
                    Target::Nothing => Ok(()),
                    Target::Interval { signal } => {
                        self.send_to_process(id, signal, siginfo(signal, SI_KERNEL, 0))
                    }
                    Target::Signal { signal, value, thread } => {
                        let mut info = siginfo(signal, SI_TIMER, u64::from(number as u32));
                        info[24..32].copy_from_slice(&value.to_le_bytes());
                        match thread {
                            Some(thread) => self.send_to_thread(thread, signal, info),
                            None => self.send_to_process(id, signal, info),
                        }
                    }
                };
            }
        }
    }

    /// Sends the signals of processes that have used the processor for as long as they may: SIGXCPU in each second after the soft
    /// limit, SIGKILL at the hard one.
    fn limit_processor_time(&mut self, steps: u64) {
        let of = |process: &Process| process.limits.of(Resource::ProcessorTime);
        let is_limited = |process: &Process| !process.has_ended() && of(process).soft != UNLIMITED;
        let limited = self.processes.iter().filter(|(_, process)| is_limited(process));
        let limited: Vec<(u32, Limit)> = limited.map(|(id, process)| (*id, of(process))).collect();
        for (id, limit) in limited {
            let used = self.retired_by(id, steps);
            let is_reached = |seconds: u64| used >= seconds.saturating_mul(NANOSECONDS);
            let signal = match limit {
                Limit { hard, .. } if hard != UNLIMITED && is_reached(hard) => SIGKILL,
                Limit { soft, .. } if is_reached(soft) => SIGXCPU,
                _ => continue,
            };
            if signal == SIGXCPU
                && let Some(process) = self.processes.get_mut(&id)
            {
                process.limits.set_soft(Resource::ProcessorTime, limit.soft + 1);
            }
            // There is always room for it: it is no real-time signal.
            let _ = self.send_to_process(id, signal, siginfo(signal, SI_KERNEL, 0));
        }
    }

    /// Returns the first time at which a timer of a process sends a signal that is neither ignored nor waiting already. Others change
    /// nothing, and a lane that does nothing but wait would pass from one to the next for ever.
    pub(super) fn first_timer(&self) -> Option<u64> {
        let processes = self.processes.values().filter(|process| !process.has_ended());
        let is_waiting = |process: &Process, timer: &Timer, signal: u64| {
            let pending = match timer.target {
                Target::Signal { thread: Some(thread), .. } => {
                    self.threads.get(&thread).map_or(u64::MAX, |thread| thread.pending.mask())
                }
                _ => process.pending.mask(),
            };
            pending & bit(signal) != 0
        };
        let all = processes.flat_map(|process| process.timers.values().map(move |timer| (process, timer)));
        all.filter(|(process, timer)| {
            let signal = timer.target.signal();
            timer.clock != TimerClock::Processor
                && signal.is_some_and(|signal| {
                    !process.actions.is_ignored(signal) && !is_waiting(process, timer, signal)
                })
        })
        .filter_map(|(_, timer)| timer.times.next)
        .min()
    }

    /// Returns the number of steps of the lane at which a timer of the current process that counts its steps expires, or its
    /// processor time is used up, if no other process gets the lane before.
    pub(super) fn first_processor_timer(&self, steps: u64) -> Option<u64> {
        let id = self.threads.get(&self.turns.current)?.process;
        let retired = self.retired_by(id, steps);
        let process = self.processes.get(&id)?;
        let timers = process.timers.values().filter(|timer| timer.clock == TimerClock::Processor);
        let Limit { soft, hard } = process.limits.of(Resource::ProcessorTime);
        let limit = soft.min(hard);
        let limit = (limit != UNLIMITED).then(|| limit.saturating_mul(NANOSECONDS));
        timers
            .filter_map(|timer| timer.times.next)
            .chain(limit)
            .min()
            .map(|next| steps.saturating_add(next.saturating_sub(retired)))
    }
}
