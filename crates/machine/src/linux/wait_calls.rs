//! System calls that wait for children.

use super::call::{Call, Interrupted};
use super::errno::{ECHILD, EINVAL, ESRCH};
use super::failure::{CallResult, Failure};
use super::kernel::Kernel;
use super::process::{Process, State, Status};
use super::signals::{SIGCHLD, SIGCONT, siginfo};
use super::time_calls::usage;
use super::wait::{Children, Event, Which};

const WNOHANG: u32 = 1;
const WUNTRACED: u32 = 2;
const WEXITED: u32 = 4;
const WCONTINUED: u32 = 8;
/// The state of the child stays reportable.
const WNOWAIT: u32 = 0x0100_0000;
/// `__WNOTHREAD`, `__WALL` and `__WCLONE`, which choose among kinds of children that are all alike here.
const KINDS: u32 = 0xe000_0000;

impl Kernel {
    /// Returns the first child of a process that is one of `children` and has news.
    pub(super) fn child_with_news(&self, process: u32, children: &Children) -> Option<u32> {
        let has_news = |child: &Process| match child.state {
            State::Zombie(_) => children.ended,
            State::Stopped { is_reported, .. } => children.stopped && !is_reported,
            State::Continued => children.continued,
            State::Running => false,
        };
        let mut all = self.children(process, children.which);
        all.find(|(_, child)| has_news(child)).map(|(id, _)| *id)
    }

    /// Returns the children of a process that are meant.
    fn children(&self, process: u32, which: Which) -> impl Iterator<Item = (&u32, &Box<Process>)> {
        self.processes.iter().filter(move |(id, child)| {
            child.parent == process
                && match which {
                    Which::Any => true,
                    Which::Process(meant) => meant == **id,
                    Which::Group(group) => child.group == group,
                }
        })
    }

    /// Notes that the state of a child was reported. A child that has ended is forgotten.
    fn report(&mut self, id: u32) {
        let Some(child) = self.processes.get_mut(&id) else { return };
        match child.state {
            State::Zombie(_) => {
                let retired = child.retired + child.children_retired;
                self.processes.remove(&id);
                self.process_mut().children_retired += retired;
            }
            State::Stopped { signal, .. } => child.state = State::Stopped { signal, is_reported: true },
            State::Continued => child.state = State::Running,
            State::Running => {}
        }
    }
}

impl Call<'_> {
    /// Waits until one of the children has news and returns its ID, or `None` if there is none and `hangs` is not set.
    fn wait_for_child(&mut self, children: Children, hangs: bool) -> Result<Option<u32>, Failure> {
        let process = self.kernel.process_id();
        if self.kernel.children(process, children.which).next().is_none() {
            return Err(ECHILD.into());
        }
        if let Some(child) = self.kernel.child_with_news(process, &children) {
            return Ok(Some(child));
        }
        if hangs {
            self.wait(Event::Child(children), None, Interrupted::Restarts)?;
        }
        Ok(None)
    }

    /// Writes the resources that a child has used, if the address is not 0.
    fn write_usage(&mut self, address: u64, child: u32) -> Result<(), Failure> {
        let time =
            self.kernel.processes.get(&child).map_or(0, |child| child.retired + child.children_retired);
        self.guest.write_optional(address, &usage(time))
    }
}

pub(super) fn wait4(call: &mut Call<'_>) -> CallResult {
    let [which, status, options, usage, ..] = call.x;
    let options = options as u32;
    if options & !(WNOHANG | WUNTRACED | WCONTINUED | KINDS) != 0 {
        return Err(EINVAL.into());
    }
    let which = match which as i32 {
        i32::MIN => return Err(ESRCH.into()),
        -1 => Which::Any,
        0 => Which::Group(call.kernel.process().group),
        group @ ..-1 => Which::Group(group.unsigned_abs()),
        process => Which::Process(process as u32),
    };
    let (stopped, continued) = (options & WUNTRACED != 0, options & WCONTINUED != 0);
    let children = Children { which, ended: true, stopped, continued };
    let Some(child) = call.wait_for_child(children, options & WNOHANG == 0)? else { return Ok(0) };
    let word = match call.kernel.processes[&child].state {
        State::Zombie(status) => status.word(),
        State::Stopped { signal, .. } => (signal as u32) << 8 | 0x7f,
        _ => 0xffff,
    };
    call.guest.write_optional(status, &word.to_le_bytes())?;
    call.write_usage(usage, child)?;
    call.kernel.report(child);
    Ok(u64::from(child))
}

pub(super) fn waitid(call: &mut Call<'_>) -> CallResult {
    const P_ALL: u64 = 0;
    const P_PID: u64 = 1;
    const P_PGID: u64 = 2;
    let [kind, id, info_at, options, usage, _] = call.x;
    let options = options as u32;
    let known = WNOHANG | WUNTRACED | WEXITED | WCONTINUED | WNOWAIT | KINDS;
    if options & !known != 0 || options & (WUNTRACED | WEXITED | WCONTINUED) == 0 {
        return Err(EINVAL.into());
    }
    let which = match (u64::from(kind as u32), id as u32) {
        (P_ALL, _) => Which::Any,
        (P_PID, 0) => return Err(EINVAL.into()),
        (P_PID, id) => Which::Process(id),
        (P_PGID, 0) => Which::Group(call.kernel.process().group),
        (P_PGID, id) => Which::Group(id),
        _ => return Err(EINVAL.into()),
    };
    let children = Children {
        which,
        ended: options & WEXITED != 0,
        stopped: options & WUNTRACED != 0,
        continued: options & WCONTINUED != 0,
    };
    let Some(child) = call.wait_for_child(children, options & WNOHANG == 0)? else {
        call.guest.write_optional(info_at, &[0; 128])?;
        return Ok(0);
    };
    let (code, value) = match call.kernel.processes[&child].state {
        State::Zombie(Status::Exited(code)) => (1, u32::from(code)),
        State::Zombie(Status::Killed { signal, core }) => (if core { 3 } else { 2 }, u32::from(signal)),
        State::Stopped { signal, .. } => (5, signal as u32),
        _ => (6, SIGCONT as u32),
    };
    let mut info = siginfo(SIGCHLD, code, u64::from(child));
    info[24..28].copy_from_slice(&value.to_le_bytes());
    call.guest.write_optional(info_at, &info)?;
    call.write_usage(usage, child)?;
    if options & WNOWAIT == 0 {
        call.kernel.report(child);
    }
    Ok(0)
}
