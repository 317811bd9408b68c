//! The open file descriptions of a lane, and the objects that exist only while they are open. Processes of the lane share
//! them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errno::{EBADF, Errno};
use super::files::InodeNumber;
use super::locks::{Locks, Owner};
use super::notices::Notices;
use super::posix_queues::{PosixQueue, PosixQueues};
use super::sockets::{Socket, Sockets};
use super::terminals::Terminals;
use crate::console::Stream;

/// The capacity of a pipe.
pub(super) const PIPE_BYTES: usize = crate::call_table::PIPE_BYTES;
/// The size up to which a write to a pipe is not divided (`PIPE_BUF`).
pub(super) const PIPE_ATOMIC_BYTES: usize = 4096;

pub(super) const O_ACCMODE: u32 = 3;
pub(super) const O_WRONLY: u32 = 1;
pub(super) const O_RDWR: u32 = 2;
pub(super) const O_APPEND: u32 = 0o2000;
pub(super) const O_NONBLOCK: u32 = 0o4000;
pub(super) const O_ASYNC: u32 = 0o20_000;
pub(super) const O_CLOEXEC: u32 = 0o2_000_000;
pub(super) const O_PATH: u32 = 0o10_000_000;

/// The flag of an interest of epoll of which only changes are reported.
pub(super) const EPOLLET: u32 = 1 << 31;

/// The object that an open file description refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Object {
    Inode(InodeNumber),
    /// Console input.
    Input,
    /// Console output or error output.
    Output(Stream),
    /// The read end of the pipe with this ID.
    PipeReader(u32),
    /// The write end of the pipe with this ID.
    PipeWriter(u32),
    /// Both ends of the named pipe with this ID.
    PipeBoth(u32),
    /// The event file with this ID.
    Event(u32),
    /// The socket with this ID.
    Socket(u32),
    /// The message queue of POSIX with this ID.
    Queue(u32),
    /// The pseudo terminal with this number: its slave, and its master.
    Terminal(u32),
    TerminalMaster(u32),
}

impl Object {
    /// Returns the ID of the pipe of which it is an end.
    pub(super) const fn pipe(self) -> Option<u32> {
        match self {
            Self::PipeReader(pipe) | Self::PipeWriter(pipe) | Self::PipeBoth(pipe) => Some(pipe),
            _ => None,
        }
    }
}

/// Returns how many readers and writers of a pipe an end of it counts as.
const fn ends_of(object: Object) -> [u32; 2] {
    match object {
        Object::PipeReader(_) => [1, 0],
        Object::PipeWriter(_) => [0, 1],
        Object::PipeBoth(_) => [1, 1],
        _ => [0, 0],
    }
}

/// The entries of a directory: names and inode numbers.
pub(super) type Listing = Arc<Vec<(Vec<u8>, InodeNumber)>>;

/// An open file description. Several descriptors may refer to the same one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) object: Object,
    pub(super) position: u64,
    /// The file status flags and the access mode: `O_APPEND`, `O_NONBLOCK`, `O_ACCMODE`, `O_PATH`, `O_DIRECTORY`.
    pub(super) flags: u32,
    /// The entries of an open directory, as they were when `getdents64` first read it.
    #[serde(with = "crate::interned::optional")]
    pub(super) listing: Option<Listing>,
    /// The directory and the name by which a file was opened, for notices.
    pub(super) place: Option<Box<(InodeNumber, Vec<u8>)>>,
    /// The absolute path at which an inode was opened.
    #[serde(with = "crate::interned")]
    pub(super) path: Arc<Vec<u8>>,
    /// The text of an open file of `/proc`, as it was when its beginning was last read.
    #[serde(with = "crate::interned::optional")]
    pub(super) text: Option<Arc<Vec<u8>>>,
    /// How often it has become ready for something.
    pub(super) changes: u64,
    /// Who gets SIGIO about that with `O_ASYNC`: a process, a negated group, or nobody if it is 0.
    pub(super) owner: i32,
    /// The number of descriptors that refer to it, in all processes.
    users: u32,
}

impl Description {
    /// Creates a description to which no descriptor refers yet.
    pub(super) fn new(object: Object, flags: u32) -> Self {
        let path = Arc::default();
        Self {
            object,
            position: 0,
            flags,
            listing: None,
            place: None,
            path,
            text: None,
            changes: 0,
            owner: 0,
            users: 0,
        }
    }

    /// Returns whether SIGIO reports that it has become ready for something.
    const fn signals_changes(&self) -> bool {
        self.flags & O_ASYNC != 0 && self.owner != 0
    }

    /// Sets the path at which the object was opened.
    pub(super) fn at(self, path: Vec<u8>) -> Self {
        Self { path: Arc::new(path), ..self }
    }

    pub(super) const fn is_readable(&self) -> bool {
        self.flags & O_ACCMODE != O_WRONLY && self.flags & O_PATH == 0
    }

    pub(super) const fn is_writable(&self) -> bool {
        self.flags & O_ACCMODE != 0 && self.flags & O_PATH == 0
    }

    /// Returns whether one descriptor refers to it.
    pub(super) const fn is_last(&self) -> bool {
        self.users == 1
    }

    /// Returns whether calls wait until they can transfer something.
    pub(super) const fn does_wait(&self) -> bool {
        self.flags & O_NONBLOCK == 0
    }
}

/// A pipe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pipe {
    /// The bytes that were written and not yet read.
    pub(super) data: VecDeque<u8>,
    /// The number of open file descriptions of either end.
    pub(super) readers: u32,
    pub(super) writers: u32,
    /// The inode of a named pipe.
    pub(super) fifo: Option<InodeNumber>,
    /// How often either end was opened: the reading one, then the writing one.
    pub(super) openings: [u64; 2],
    /// The number of bytes that were read.
    pub(super) taken: u64,
}

impl Pipe {
    /// Removes the first bytes, which were read.
    pub(super) fn take(&mut self, bytes: usize) {
        self.data.drain(..bytes);
        self.taken += bytes as u64;
    }
}

/// A file that exists only while it is open, and that waiting threads watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum EventFile {
    /// `eventfd2`: a counter. A read takes all of it, or 1 of a semaphore.
    Counter { count: u64, is_semaphore: bool },
    /// `timerfd_create`: a timer.
    Timer(TimerFile),
    /// `signalfd4`: the signals of this mask.
    Signals(u64),
    /// `inotify_init1`: what its watches have seen.
    Notices(Notices),
    /// `epoll_create1`: the descriptors that it watches.
    Poll(Vec<Interest>),
}

/// A timer that is read as a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TimerFile {
    pub(super) clock: u64,
    pub(super) times: Expiry,
}

/// The times at which a timer expires, as uptime of the lane in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Expiry {
    /// The next time; `None` if the timer is not armed.
    pub(super) next: Option<u64>,
    /// The time between further expirations; 0 if there are none.
    pub(super) interval: u64,
}

impl Expiry {
    /// Returns how often the timer has expired at a time.
    pub(super) fn count(&self, now: u64) -> u64 {
        match self.next {
            Some(next) if next <= now => 1 + (now - next).checked_div(self.interval).unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns the times after the expirations at a time.
    pub(super) fn after(&self, now: u64) -> Self {
        let count = self.count(now);
        if count == 0 {
            return *self;
        }
        let next = self.next.filter(|_| self.interval > 0);
        Self { next: next.map(|next| next.saturating_add(count.saturating_mul(self.interval))), ..*self }
    }
}

/// A descriptor that an epoll file watches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Interest {
    pub(super) descriptor: u64,
    /// The open file description that the descriptor referred to.
    pub(super) description: u32,
    /// The poll events and the flags of epoll.
    pub(super) events: u32,
    pub(super) data: u64,
    /// The number of changes of the description that were reported, for edge-triggered interests.
    pub(super) seen: Option<u64>,
    /// Whether it waits to be armed again, after a report with `EPOLLONESHOT`.
    pub(super) is_disarmed: bool,
}

/// The open file descriptions of a lane, its pipes and its event files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenFiles {
    descriptions: BTreeMap<u32, Description>,
    pipes: BTreeMap<u32, Pipe>,
    events: BTreeMap<u32, EventFile>,
    pub(super) sockets: Sockets,
    pub(super) locks: Locks,
    pub(super) queues: PosixQueues,
    pub(super) terminals: Terminals,
    /// The owners that still have to get SIGIO in this service.
    pub(super) signalled: Vec<i32>,
    /// The number of the last move that was noted.
    cookie: u32,
    /// The next unused ID. Descriptions, pipes, event files and sockets share one sequence.
    next_id: u32,
}

impl OpenFiles {
    /// Returns the descriptions 0 to 2: console input, output and error output, each with one user.
    pub(super) fn console() -> Self {
        let console = [
            (Object::Input, 0),
            (Object::Output(Stream::Output), O_WRONLY),
            (Object::Output(Stream::Error), O_WRONLY),
        ];
        let open = |(object, flags)| Description { users: 1, ..Description::new(object, flags) };
        let descriptions = (0..).zip(console.map(open)).collect();
        let (pipes, events) = (BTreeMap::new(), BTreeMap::new());
        Self {
            descriptions,
            pipes,
            events,
            sockets: Sockets::new(),
            locks: Locks::default(),
            queues: BTreeMap::new(),
            terminals: Terminals::default(),
            signalled: Vec::new(),
            cookie: 0,
            next_id: 3,
        }
    }

    /// Returns whether all ends of pipes have a pipe that counts them, and all IDs were given out. `users` has the number of
    /// descriptors of each description.
    pub(super) fn is_valid(&self, users: &BTreeMap<u32, u32>) -> bool {
        let ends = |end: fn(u32) -> Object| {
            let descriptions = &self.descriptions;
            move |pipe: u32| descriptions.values().filter(|open| open.object == end(pipe)).count() as u32
        };
        let both = ends(Object::PipeBoth);
        let (readers, writers) = (ends(Object::PipeReader), ends(Object::PipeWriter));
        let has_pipe = |description: &Description| match description.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe) => {
                self.pipes.contains_key(&pipe)
            }
            Object::Event(event) => self.events.contains_key(&event),
            Object::Socket(socket) => self.sockets.get(socket).is_ok(),
            Object::Queue(queue) => self.queues.contains_key(&queue),
            Object::Terminal(number) | Object::TerminalMaster(number) => self.terminals.get(number).is_ok(),
            Object::Inode(_) | Object::Input | Object::Output(_) => true,
        };
        let counts = |(id, pipe): (&u32, &Pipe)| {
            pipe.readers == readers(*id) + both(*id) && pipe.writers == writers(*id) + both(*id)
        };
        let ids = self.descriptions.keys().chain(self.pipes.keys()).chain(self.events.keys());
        let ids = ids.chain(self.sockets.iter().map(|(id, _)| id)).chain(self.queues.keys());
        let count =
            |object: Object| self.descriptions.values().filter(|open| open.object == object).count() as u32;
        let mut terminals = self.terminals.iter();
        self.sockets.is_valid()
            && self.terminals.is_valid()
            && terminals.all(|(number, terminal)| {
                let (slaves, masters) =
                    (count(Object::Terminal(number)), count(Object::TerminalMaster(number)));
                (terminal.slaves, terminal.masters) == (slaves, masters)
            })
            && self.sockets.rights().all(|id| self.descriptions.contains_key(&id))
            && self.sockets.pending().all(|id| self.sockets.get(id).is_ok())
            && self.descriptions.values().all(has_pipe)
            && self.descriptions.iter().all(|(id, open)| users.get(id) == Some(&open.users))
            && self.descriptions.len() == users.len()
            && self.pipes.iter().all(counts)
            && self.pipes.values().all(|pipe| pipe.data.len() <= PIPE_BYTES)
            && ids.max().is_none_or(|id| *id < self.next_id)
    }

    fn new_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    pub(super) fn get(&self, id: u32) -> Result<&Description, Errno> {
        self.descriptions.get(&id).ok_or(EBADF)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Result<&mut Description, Errno> {
        self.descriptions.get_mut(&id).ok_or(EBADF)
    }

    /// Returns the number of descriptions.
    pub(super) fn count(&self) -> usize {
        self.descriptions.len()
    }

    /// Adds a description without users and returns its ID.
    pub(super) fn add(&mut self, description: Description) -> u32 {
        let id = self.new_id();
        match description.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe) => {
                let pipe = self.pipes.entry(pipe).or_default();
                let [reads, writes] = ends_of(description.object);
                (pipe.readers, pipe.writers) = (pipe.readers + reads, pipe.writers + writes);
                pipe.openings = [pipe.openings[0] + u64::from(reads), pipe.openings[1] + u64::from(writes)];
            }
            Object::Inode(_) | Object::Input | Object::Output(_) | Object::Event(_) => {}
            Object::Socket(_) | Object::Queue(_) => {}
            Object::Terminal(number) => {
                if let Ok(terminal) = self.terminals.get_mut(number) {
                    (terminal.slaves, terminal.was_opened) = (terminal.slaves + 1, true);
                }
            }
            Object::TerminalMaster(number) => {
                if let Ok(terminal) = self.terminals.get_mut(number) {
                    terminal.masters += 1;
                }
            }
        }
        self.descriptions.insert(id, description);
        id
    }

    /// Adds a pipe and returns the IDs of its ends: the reader, then the writer.
    pub(super) fn add_pipe(&mut self, flags: u32) -> [u32; 2] {
        let (pipe, status) = (self.new_id(), flags & O_NONBLOCK);
        let ends = [(Object::PipeReader(pipe), status), (Object::PipeWriter(pipe), status | O_WRONLY)];
        ends.map(|(object, flags)| self.add(Description::new(object, flags)))
    }

    /// Returns the path at which an inode was opened, if it is open.
    pub(super) fn path_of(&self, number: InodeNumber) -> Option<Vec<u8>> {
        let open = self.descriptions.values().find(|open| open.object == Object::Inode(number))?;
        Some(open.path.to_vec())
    }

    /// Changes the paths for which `change` returns another one.
    pub(super) fn change_paths(&mut self, change: impl Fn(&[u8]) -> Option<Vec<u8>>) {
        for open in self.descriptions.values_mut() {
            if let Some(path) = change(&open.path) {
                open.path = Arc::new(path);
            }
        }
    }

    /// Counts another descriptor of a description.
    pub(super) fn share(&mut self, id: u32) {
        if let Some(description) = self.descriptions.get_mut(&id) {
            description.users += 1;
        }
    }

    /// Counts a descriptor less. Returns the object of the description if this was its last one, and no other description
    /// refers to the object, and the objects of the descriptions that were on their way to a closed socket likewise.
    pub(super) fn release(&mut self, id: u32) -> Vec<Object> {
        let (mut left, mut released) = (vec![id], Vec::new());
        while let Some(id) = left.pop() {
            let Some(description) = self.descriptions.get_mut(&id) else { continue };
            description.users -= 1;
            if description.users > 0 {
                continue;
            }
            let Some(Description { object, .. }) = self.descriptions.remove(&id) else { continue };
            match object {
                Object::PipeReader(number) | Object::PipeWriter(number) | Object::PipeBoth(number) => {
                    released.extend(self.release_pipe(object, number).map(Object::Inode));
                }
                Object::Terminal(number) => self.terminals.release(number, false),
                Object::TerminalMaster(number) => self.terminals.release(number, true),
                Object::Event(event) if !self.is_open(object) => drop(self.events.remove(&event)),
                Object::Socket(socket) if !self.is_open(object) => left.extend(self.release_socket(socket)),
                Object::Queue(queue)
                    if !self.is_open(object)
                        && self.queues.get(&queue).is_some_and(|queue| queue.name.is_none()) =>
                {
                    self.queues.remove(&queue);
                }
                _ => {}
            }
            self.forget_interests(id);
            self.locks.forget(None, Owner::Description(id));
            released.extend(Some(object).filter(|object| !self.is_open(*object)));
        }
        released
    }

    /// Counts an end of a pipe less. Returns the inode of a named pipe that is open no more.
    fn release_pipe(&mut self, object: Object, number: u32) -> Option<InodeNumber> {
        let pipe = self.pipes.get_mut(&number)?;
        let [reads, writes] = ends_of(object);
        (pipe.readers, pipe.writers) = (pipe.readers - reads, pipe.writers - writes);
        let is_closed = pipe.readers + pipe.writers == 0;
        let fifo = if is_closed { self.pipes.remove(&number)?.fifo } else { None };
        // The other end may be at its end, or without a reader.
        self.note_pipe(number);
        fifo
    }

    /// Notes that the ends of a pipe have become ready for something.
    pub(super) fn note_pipe(&mut self, number: u32) {
        for end in [Object::PipeReader(number), Object::PipeWriter(number), Object::PipeBoth(number)] {
            self.note_change(end);
        }
    }

    /// Notes that a pipe has got bytes.
    pub(super) fn note_write(&mut self, number: u32) {
        if self.reports_changes(number) {
            self.note_change(Object::PipeReader(number));
            self.note_change(Object::PipeBoth(number));
        }
    }

    /// Notes that bytes of a pipe were read, which had `before` bytes. On Linux, only a pipe that was full
    /// has an edge then.
    pub(super) fn note_read(&mut self, number: u32, before: usize) {
        if before + PIPE_ATOMIC_BYTES > PIPE_BYTES && self.reports_changes(number) {
            self.note_change(Object::PipeWriter(number));
            self.note_change(Object::PipeBoth(number));
        }
    }

    /// Returns whether anybody is told of changes of a pipe: an epoll file with an edge-triggered interest in an end, or the owner of
    /// an asynchronous one.
    pub(super) fn reports_changes(&self, number: u32) -> bool {
        let is_end = |open: &Description| open.object.pipe() == Some(number);
        if self.descriptions.values().any(|open| open.signals_changes() && is_end(open)) {
            return true;
        }
        let watched = self.events.values().flat_map(|event| match event {
            EventFile::Poll(interests) => &interests[..],
            _ => &[],
        });
        let mut watched = watched.filter(|interest| interest.events & EPOLLET != 0);
        watched.any(|interest| self.get(interest.description).is_ok_and(is_end))
    }

    /// Opens an end of a named pipe, or both, and returns the ID of the description, which has no users yet, and of the pipe.
    pub(super) fn add_fifo(&mut self, number: InodeNumber, flags: u32) -> (u32, u32) {
        let there = self.pipes.iter().find(|(_, pipe)| pipe.fifo == Some(number)).map(|(id, _)| *id);
        let pipe = there.unwrap_or_else(|| self.new_id());
        let object = match flags & O_ACCMODE {
            0 => Object::PipeReader(pipe),
            O_WRONLY => Object::PipeWriter(pipe),
            _ => Object::PipeBoth(pipe),
        };
        let writers = self.pipes.get(&pipe).map_or(0, |pipe| pipe.openings[1]);
        // The position of a reader counts the writers before it: only the end of a later one is the end of its input.
        let id = self.add(Description { position: writers, ..Description::new(object, flags) });
        if let Some(pipe) = self.pipes.get_mut(&pipe) {
            pipe.fifo = Some(number);
        }
        (id, pipe)
    }

    /// Returns the inode of a named pipe.
    pub(super) fn fifo_of(&self, pipe: u32) -> Option<InodeNumber> {
        self.pipes.get(&pipe)?.fifo
    }

    /// Returns whether the named pipe of an inode is open.
    pub(super) fn has_fifo(&self, number: InodeNumber) -> bool {
        self.pipes.values().any(|pipe| pipe.fifo == Some(number))
    }

    fn release_socket(&mut self, socket: u32) -> Vec<u32> {
        let mut changed = Vec::new();
        let rights = self.sockets.close(socket, &mut changed);
        changed.into_iter().for_each(|socket| self.note_change(Object::Socket(socket)));
        rights
    }

    /// Returns whether there are inotify files.
    pub(super) fn has_notices(&self) -> bool {
        self.events.values().any(|event| matches!(event, EventFile::Notices(_)))
    }

    pub(super) const fn next_cookie(&mut self) -> u32 {
        self.cookie = self.cookie.wrapping_add(1);
        self.cookie
    }

    /// Notes an event of an inode in all inotify files that watch it.
    pub(super) fn note(&mut self, number: InodeNumber, mask: u32, cookie: u32, name: &[u8]) {
        let mut changed = Vec::new();
        for (id, event) in &mut self.events {
            if let EventFile::Notices(notices) = event
                && notices.note(number, mask, cookie, name)
            {
                changed.push(*id);
            }
        }
        changed.into_iter().for_each(|id| self.note_change(Object::Event(id)));
    }

    /// Ends the watches of an inode that is gone.
    pub(super) fn forget_watches(&mut self, number: InodeNumber) {
        for event in self.events.values_mut() {
            if let EventFile::Notices(notices) = event {
                let all = notices.watches.iter();
                let own: Vec<i32> =
                    all.filter(|(_, watch)| watch.number == number).map(|(id, _)| *id).collect();
                own.into_iter().for_each(|id| {
                    notices.remove(id);
                });
            }
        }
    }

    /// Adds a message queue, and returns its ID.
    pub(super) fn add_queue(&mut self, queue: PosixQueue) -> u32 {
        let id = self.new_id();
        self.queues.insert(id, queue);
        id
    }

    /// Adds a socket, and returns its ID.
    pub(super) fn add_socket(&mut self, socket: Socket) -> u32 {
        let id = self.new_id();
        self.sockets.insert(id, socket);
        id
    }

    /// Removes a description that was closed from all epoll files.
    fn forget_interests(&mut self, id: u32) {
        for event in self.events.values_mut() {
            if let EventFile::Poll(interests) = event {
                interests.retain(|interest| interest.description != id);
            }
        }
    }

    /// Adds an event file, and returns the ID of its description.
    pub(super) fn add_event(&mut self, event: EventFile, flags: u32) -> u32 {
        let id = self.new_id();
        self.events.insert(id, event);
        self.add(Description::new(Object::Event(id), flags))
    }

    pub(super) fn event(&self, event: u32) -> Result<&EventFile, Errno> {
        self.events.get(&event).ok_or(EBADF)
    }

    pub(super) fn event_mut(&mut self, event: u32) -> Result<&mut EventFile, Errno> {
        self.events.get_mut(&event).ok_or(EBADF)
    }

    /// Notes that an open file has become ready for something, for edge-triggered interests of epoll and for SIGIO.
    pub(super) fn note_change(&mut self, object: Object) {
        for description in self.descriptions.values_mut().filter(|open| open.object == object) {
            description.changes += 1;
            if description.signals_changes() {
                self.signalled.push(description.owner);
            }
        }
    }

    /// Returns whether an open file description refers to `object`.
    pub(super) fn is_open(&self, object: Object) -> bool {
        self.descriptions.values().any(|description| description.object == object)
    }

    pub(super) fn pipe(&self, pipe: u32) -> Result<&Pipe, Errno> {
        self.pipes.get(&pipe).ok_or(EBADF)
    }

    pub(super) fn pipe_mut(&mut self, pipe: u32) -> Result<&mut Pipe, Errno> {
        self.pipes.get_mut(&pipe).ok_or(EBADF)
    }
}
