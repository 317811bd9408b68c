//! Expiration of the timers of processes.

use std::collections::BTreeSet;

use super::kernel::Kernel;
use super::limits::{Limit, Resource, UNLIMITED};
use super::process::Process;
use super::signals::{Pending, SI_KERNEL, SI_TIMER, SIGKILL, SIGXCPU, SigInfo, bit, info_word, siginfo};
use super::time_calls::NANOSECONDS;
use super::timers::{Target, Timer, TimerClock};

/// The largest number of expirations that a signal tells.
const OVERRUN_MAX: u64 = i32::MAX as u64;

/// Returns the number of the timer that has sent a signal.
fn timer_of(info: &SigInfo) -> Option<i32> {
    (info_word(info, 8) == SI_TIMER).then(|| info_word(info, 16))
}

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
            let time_of = |timer: &Timer| if timer.clock == TimerClock::Processor { processor } else { now };
            let mut timers = self.processes.get(&id).into_iter().flat_map(|process| process.timers.values());
            if !timers.any(|timer| timer.times.count(time_of(timer)) > 0) {
                continue;
            }
            let waiting = self.timers_with_signals(id);
            let Some(process) = self.processes.get_mut(&id) else { continue };
            let mut expired = Vec::new();
            for (number, timer) in &mut process.timers {
                let now = time_of(timer);
                let count = timer.times.count(now);
                if count > 0 {
                    timer.times = timer.times.after(now);
                    if waiting.contains(number) {
                        timer.missed += count;
                    } else {
                        timer.missed = count - 1;
                        expired.push((*number, timer.target));
                    }
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

    /// Returns the numbers of the timers of a process whose signals are pending.
    fn timers_with_signals(&self, process: u32) -> BTreeSet<i32> {
        let threads = self.threads.values().filter(|thread| thread.process == process);
        let of_process = self.processes.get(&process).map(|process| &process.pending);
        let all = threads.map(|thread| &thread.pending).chain(of_process);
        all.flat_map(Pending::infos).filter_map(timer_of).collect()
    }

    /// Writes to the information about a signal how often its timer has expired while the signal was pending.
    pub(super) fn write_overrun(&self, info: &mut SigInfo) {
        let timer = timer_of(info).and_then(|number| self.process().timers.get(&number));
        if let Some(timer) = timer {
            info[20..24].copy_from_slice(&(timer.missed.min(OVERRUN_MAX) as u32).to_le_bytes());
        }
    }

    /// Notes that a thread of the current process takes a signal.
    pub(super) fn note_taken(&mut self, info: &SigInfo) {
        let timer = timer_of(info).and_then(|number| self.process_mut().timers.get_mut(&number));
        if let Some(timer) = timer {
            timer.overrun = timer.missed.min(OVERRUN_MAX);
            timer.missed = 0;
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
