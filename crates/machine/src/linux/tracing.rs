//! What is traced, and when: calls before and after they are served, signals, and the ends of threads.

use kvrm_arm64::Stop;

use super::errno::Errno;
use super::failure::{CallResult, Failure};
use super::guest::Guest;
use super::kernel::{Effects, Kernel};
use super::process::Status;
use super::signal_delivery::signal_of;
use super::signals::SigInfo;
use super::table::SystemCall;
use super::trace::{Mark, Who};
use super::trace_calls::returns_address;
use super::trace_names as names;
use super::trace_values::Values;

/// A call that is traced, while it is served.
pub(super) struct Traced {
    name: String,
    who: Who,
    x: [u64; 6],
    /// The first argument that is not shown yet.
    next: usize,
    /// The trace before the call; `None` if it goes on after a wait.
    mark: Option<Mark>,
}

impl Kernel {
    fn who(&self, thread: u32) -> Who {
        Who { thread, is_single: self.is_single() }
    }

    /// Begins the line of a call of the current thread, if calls are traced. `goes_on` says that it was begun before a wait.
    pub(super) fn trace_call(
        &mut self,
        call: Option<&SystemCall>,
        (number, x): (u64, [u64; 6]),
        goes_on: bool,
        guest: &mut Guest<'_>,
    ) -> Option<Traced> {
        if !self.trace.is_on {
            return None;
        }
        let name = call.map_or_else(|| format!("syscall_{number:#x}"), |call| call.name.to_owned());
        let who = self.who(self.turns.current);
        let (text, next) = Values { name: &name, guest, x, result: None }.before();
        let mark = (!goes_on).then(|| self.trace.begin(who, &format!("{name}({text}")));
        Some(Traced { name, who, x, next, mark })
    }

    /// Ends the line of a call that is done, or leaves it open if the thread waits.
    pub(super) fn trace_result(&mut self, traced: &Traced, served: &CallResult, guest: &mut Guest<'_>) {
        let Traced { name, who, x, next, mark } = traced;
        let value = match served {
            Ok(value) => Some(*value as i64),
            Err(Failure::Errno(Errno(errno))) => Some(-i64::from(*errno)),
            // The call is done, except for the wait.
            Err(Failure::Wait(wait)) => match wait.value {
                Some(value) => Some(value as i64),
                None => return,
            },
            Err(Failure::Interrupted { .. } | Failure::Exit(_) | Failure::ExitThread(_)) => None,
            Err(Failure::Stop(_) | Failure::Engine(_)) => {
                mark.iter().for_each(|mark| self.trace.undo(*mark));
                return;
            }
        };
        let mut values = Values { name, guest, x: *x, result: value };
        let (rest, found) = (values.after(*next), values.found().unwrap_or_default());
        let result = match (served, value) {
            (Err(Failure::Interrupted { restarts: true }), _) => {
                "? ERESTARTSYS (To be restarted if SA_RESTART is set)".to_owned()
            }
            (Err(Failure::Interrupted { restarts: false }), _) => {
                "? ERESTARTNOHAND (To be restarted if no handler)".to_owned()
            }
            (_, None) => "?".to_owned(),
            (_, Some(value @ -4095..0)) => match names::error((-value) as u16) {
                Some((name, text)) => format!("-1 {name} ({text})"),
                None => format!("-1 (errno {})", -value),
            },
            (_, Some(value)) if returns_address(name) => format!("{value:#x}"),
            (_, Some(value)) => value.to_string(),
        };
        self.trace.end(*who, name, &format!("{rest})"), &(result + &found));
    }

    /// Traces a signal that a thread gets.
    pub(super) fn trace_signal(&mut self, thread: u32, info: &SigInfo) {
        if self.trace.is_on {
            let number = u64::from(info[0]);
            let text = format!("--- {} {} ---", names::signal(number), names::information(info));
            self.trace.event(self.who(thread), &text);
        }
    }

    /// Traces the end of a thread.
    pub(super) fn trace_end(&mut self, thread: u32, status: Status) {
        if self.trace.is_on {
            self.trace.ended(self.who(thread), status);
        }
    }

    /// Returns the lines about a stop of the lane that is a signal which ends it, for a stop that is not served.
    pub(crate) fn trace_of_stop(&mut self, stop: Stop, pc: u64) -> String {
        if let Some((number, info, _)) = signal_of(stop, pc) {
            self.trace_signal(self.turns.current, &info);
            self.trace_end(self.turns.current, Status::killed_by(number));
        }
        self.trace.take()
    }

    /// Moves the lines that are complete to the effects of a service. `stop` is the stop of the lane after it.
    pub(super) fn take_trace(&mut self, stop: Option<Stop>, effects: &mut Effects) {
        if self.trace.is_on {
            if matches!(stop, Some(Stop::Deadlock | Stop::Exit { .. })) {
                self.trace.interrupt();
            }
            effects.trace = self.trace.take();
        }
    }
}
