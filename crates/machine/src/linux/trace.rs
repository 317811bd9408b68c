//! The trace of the system calls of a lane: the lines that strace would print.

use super::process::Status;
use super::trace_names::signal;

/// The column in which the results of calls begin, as in strace.
const RESULT_COLUMN: usize = 39;

/// The trace of a lane. It is no part of its state: it is neither saved nor compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// Whether someone reads it.
    pub(super) is_on: bool,
    /// The lines that were not taken yet. The last one may be incomplete.
    text: String,
    /// The thread whose call the incomplete line is about.
    open: Option<u32>,
}

/// The state of a trace, to go back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    bytes: usize,
    open: Option<u32>,
}

/// The thread that a line is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) thread: u32,
    /// Whether it has always been the only one, so that lines need not name it.
    pub(super) is_single: bool,
}

impl Trace {
    /// Begins the line of a call.
    pub(super) fn begin(&mut self, who: Who, text: &str) -> Mark {
        let mark = Mark { bytes: self.text.len(), open: self.open };
        self.interrupt();
        self.name(who);
        self.text.push_str(text);
        self.open = Some(who.thread);
        mark
    }

    /// Forgets what was added after a mark: the call was not made.
    pub(super) fn undo(&mut self, mark: Mark) {
        self.text.truncate(mark.bytes);
        self.open = mark.open;
    }

    /// Ends the line of a call: `rest` has its last arguments, `result` its result.
    pub(super) fn end(&mut self, who: Who, call: &str, rest: &str, result: &str) {
        if self.open != Some(who.thread) {
            self.interrupt();
            self.name(who);
            self.text.push_str(&format!("<... {call} resumed>"));
        }
        self.text.push_str(rest);
        let start = self.text.rfind('\n').map_or(0, |end| end + 1);
        let columns = self.text[start..].chars().count();
        (columns..RESULT_COLUMN).for_each(|_| self.text.push(' '));
        self.text.push_str(&format!(" = {result}\n"));
        self.open = None;
    }

    /// Adds a line that is not about a call.
    pub(super) fn event(&mut self, who: Who, text: &str) {
        self.interrupt();
        self.name(who);
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Adds the line about the end of a thread.
    pub(super) fn ended(&mut self, who: Who, status: Status) {
        let text = match status {
            Status::Exited(code) => format!("+++ exited with {code} +++"),
            Status::Killed { signal: number, core } => {
                let dumped = if core { " (core dumped)" } else { "" };
                format!("+++ killed by {}{dumped} +++", signal(number.into()))
            }
        };
        self.event(who, &text);
    }

    /// Ends the line of a call that is not finished.
    pub(super) fn interrupt(&mut self) {
        if self.open.take().is_some() {
            self.text.push_str(" <unfinished ...>\n");
        }
    }

    /// Takes all complete lines.
    pub(super) fn take(&mut self) -> String {
        let end = self.text.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.text.split_off(end);
        std::mem::replace(&mut self.text, rest)
    }

    fn name(&mut self, who: Who) {
        if !who.is_single {
            self.text.push_str(&format!("[pid {}] ", who.thread));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_threads_interrupt_each_other() {
        let mut trace = Trace { is_on: true, ..Trace::default() };
        let who = |thread| Who { thread, is_single: false };
        trace.begin(Who { thread: 2, is_single: true }, "getpid(");
        trace.end(Who { thread: 2, is_single: true }, "getpid", ")", "2");
        trace.begin(who(2), "wait4(-1, ");
        assert_eq!(trace.take(), format!("{:39} = 2\n", "getpid()"), "complete lines");
        let mark = trace.begin(who(3), "read(0, ");
        trace.undo(mark);
        trace.begin(who(3), "exit(1");
        trace.end(who(3), "exit", ")", "?");
        trace.ended(who(3), Status::Exited(1));
        trace.end(who(2), "wait4", "NULL, 0, NULL)", "3");
        let expected = "[pid 2] wait4(-1,  <unfinished ...>\n\
                        [pid 3] exit(1)                         = ?\n\
                        [pid 3] +++ exited with 1 +++\n\
                        [pid 2] <... wait4 resumed>NULL, 0, NULL) = 3\n";
        assert_eq!(trace.take(), expected, "the thread that waited goes on");
        trace.ended(who(2), Status::Killed { signal: 11, core: true });
        assert_eq!(trace.take(), "[pid 2] +++ killed by SIGSEGV (core dumped) +++\n", "a signal");
    }
}
