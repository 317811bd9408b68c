//! What open files are ready for: the events of `poll`, and the reports of epoll.

use super::kernel::Kernel;
use super::open_files::{Description, EPOLLET, EventFile, Interest, Object, PIPE_ATOMIC_BYTES, PIPE_BYTES};
use super::terminals::TRANSIT_BYTES;

pub(super) const POLLIN: u16 = 1;
pub(super) const POLLOUT: u16 = 4;
pub(super) const POLLERR: u16 = 8;
pub(super) const POLLHUP: u16 = 16;
pub(super) const POLLNVAL: u16 = 32;
const POLLRDNORM: u16 = 0x40;
const POLLWRNORM: u16 = 0x100;

/// The interest ends with its first report.
pub(super) const EPOLLONESHOT: u32 = 1 << 30;

/// The largest value of an event counter.
pub(super) const COUNTER_MAX: u64 = u64::MAX - 1;
/// The limit on epoll files that watch each other.
const NESTING_MAX: u32 = 5;

/// Who asks, and when: the thread, and the uptime of the lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) thread: u32,
    pub(super) now: u64,
}

impl Kernel {
    /// Returns the poll events that an open file description is ready for; `POLLNVAL` if there is none.
    pub(super) fn ready_for(&self, description: u32, asker: Asker) -> u16 {
        self.ready_within(description, asker, NESTING_MAX)
    }

    /// Returns what [`Kernel::ready_for`] returns. `nesting` is the number of epoll files that may watch each other.
    fn ready_within(&self, description: u32, asker: Asker, nesting: u32) -> u16 {
        self.open.get(description).map_or(POLLNVAL, |description| self.readiness(description, asker, nesting))
    }

    fn readiness(&self, description: &Description, asker: Asker, nesting: u32) -> u16 {
        let events = self.readiness_of(description, asker, nesting);
        // The same for normal data, which is all data here.
        let input = if events & POLLIN != 0 { POLLRDNORM } else { 0 };
        events | input | if events & POLLOUT != 0 { POLLWRNORM } else { 0 }
    }

    fn readiness_of(&self, description: &Description, asker: Asker, nesting: u32) -> u16 {
        let input_if = |is_ready| if is_ready { POLLIN } else { 0 };
        match description.object {
            Object::Inode(_) => POLLIN | POLLOUT,
            // At the end of input, a read returns 0 at once, so input is always ready.
            Object::Input => POLLIN,
            Object::Output(_) => POLLOUT,
            Object::PipeReader(pipe) => self.open.pipe(pipe).map_or(POLLNVAL, |pipe| {
                let had_writer = pipe.fifo.is_none() || pipe.openings[1] != description.position;
                input_if(!pipe.data.is_empty()) | if pipe.writers == 0 && had_writer { POLLHUP } else { 0 }
            }),
            Object::PipeWriter(pipe) => self.open.pipe(pipe).map_or(POLLNVAL, |pipe| {
                // As much room as a write needs that is not divided.
                let has_room = pipe.data.len() + PIPE_ATOMIC_BYTES <= PIPE_BYTES;
                let room = if has_room { POLLOUT } else { 0 };
                room | if pipe.readers > 0 { 0 } else { POLLERR }
            }),
            Object::PipeBoth(pipe) => self.open.pipe(pipe).map_or(POLLNVAL, |pipe| {
                let has_room = pipe.data.len() + PIPE_ATOMIC_BYTES <= PIPE_BYTES;
                input_if(!pipe.data.is_empty()) | if has_room { POLLOUT } else { 0 }
            }),
            Object::Event(event) => match self.open.event(event) {
                Ok(EventFile::Counter { count, .. }) => {
                    input_if(*count > 0) | if *count < COUNTER_MAX { POLLOUT } else { 0 }
                }
                Ok(EventFile::Timer(timer)) => input_if(timer.times.count(asker.now) > 0),
                Ok(EventFile::Notices(notices)) => input_if(!notices.queue.is_empty()),
                Ok(EventFile::Signals(mask)) => input_if(self.waiting_signals(asker.thread) & mask != 0),
                Ok(EventFile::Poll(interests)) => input_if(
                    nesting > 0
                        && interests.iter().any(|interest| self.reported(interest, asker, nesting - 1) != 0),
                ),
                Err(_) => POLLNVAL,
            },
            Object::Queue(queue) => self.open.queues.get(&queue).map_or(POLLNVAL, |queue| {
                input_if(!queue.messages.is_empty()) | if queue.is_full() { 0 } else { POLLOUT }
            }),
            Object::Terminal(number) => self.open.terminals.get(number).map_or(POLLNVAL, |terminal| {
                if terminal.hangups != description.position {
                    return POLLIN | POLLOUT | POLLERR | POLLHUP;
                }
                input_if(terminal.is_readable()) | if terminal.room() > 0 { POLLOUT } else { 0 }
            }),
            Object::TerminalMaster(number) => self.open.terminals.get(number).map_or(POLLNVAL, |terminal| {
                let has_room = terminal.unread.len() < TRANSIT_BYTES;
                input_if(!terminal.output.is_empty())
                    | if has_room { POLLOUT } else { 0 }
                    | if terminal.has_lost_slave() { POLLHUP } else { 0 }
            }),
            Object::Socket(socket) => self.open.sockets.get(socket).map_or(POLLNVAL, |socket| {
                let peer = socket.peer().and_then(|peer| self.open.sockets.get(peer).ok());
                socket.readiness(peer)
            }),
        }
    }

    /// Returns the events that an epoll file reports about an interest; 0 if there is nothing to report.
    pub(super) fn report_of(&self, interest: &Interest, asker: Asker) -> u16 {
        self.reported(interest, asker, NESTING_MAX)
    }

    fn reported(&self, interest: &Interest, asker: Asker, nesting: u32) -> u16 {
        let changes = self.open.get(interest.description).map_or(0, |open| open.changes);
        if interest.is_disarmed || interest.events & EPOLLET != 0 && interest.seen == Some(changes) {
            return 0;
        }
        let wanted = interest.events as u16 | POLLERR | POLLHUP;
        self.ready_within(interest.description, asker, nesting) & wanted
    }

    /// Returns the first time after `now` at which one of the timers that an open file description shows expires.
    pub(super) fn first_expiry(&self, description: u32, now: u64) -> Option<u64> {
        self.first_expiry_within(description, now, NESTING_MAX)
    }

    fn first_expiry_within(&self, description: u32, now: u64, nesting: u32) -> Option<u64> {
        let Object::Event(event) = self.open.get(description).ok()?.object else { return None };
        match self.open.event(event).ok()? {
            EventFile::Timer(timer) => timer.times.next.filter(|next| *next > now),
            EventFile::Poll(interests) if nesting > 0 => {
                let all = interests.iter();
                all.filter_map(|interest| self.first_expiry_within(interest.description, now, nesting - 1))
                    .min()
            }
            _ => None,
        }
    }
}
