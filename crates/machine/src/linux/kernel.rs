//! The kernel of a lane: what Linux keeps for all of its processes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::descriptors::{DESCRIPTORS_MAX, Descriptors};
use super::files::{Files, InodeNumber, ROOT};
use super::ipc::Ipc;
use super::limits::Limits;
use super::mix::{GOLDEN, mixed};
use super::open_files::{Object, OpenFiles};
use super::pipe_windows::PipeWindows;
use super::proc_node::is_node;
use super::process::{Process, State, command_name};
use super::save::save;
use super::settings::{EPOCH, Settings};
use super::shared_objects::SharedMemory;
use super::signals::{Actions, Pending, SIGCHLD};
use super::space::{SharedMapping, Space};
use super::thread::Thread;
use super::trace::Trace;
use super::turns::Turns;
use super::unserved::UnservedCall;
use crate::call_table::ProcessState;
use crate::console::Stream;
use crate::error::Error;
use crate::image::Image;
use crate::shared::share;

/// The ID of the parent of the first process. It is not a process of the lane.
pub(super) const INIT: u32 = 1;
/// The ID of the first process, and of its first thread.
pub(super) const FIRST: u32 = 2;

/// The console output of a lane during one service, in order: stream and bytes.
pub(super) type ConsoleOutput = Vec<(Stream, Vec<u8>)>;

/// The effects of a service outside of its lane.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) console: ConsoleOutput,
    /// The system calls that KVRM did not serve.
    pub(crate) unserved: Vec<UnservedCall>,
    /// The lines of the trace.
    pub(crate) trace: String,
}

/// The kernel of a lane: its files, processes and threads.
///
/// It does not hold the [`ProcessState`], which belongs to the executor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kernel {
    /// The number of the lane, from which its random numbers follow.
    pub(super) lane: u64,
    pub(super) files: Files,
    pub(super) open: OpenFiles,
    /// The console input.
    #[serde(with = "crate::interned")]
    pub(super) input: Arc<[u8]>,
    /// The number of bytes of the console input that have been read.
    pub(super) input_position: usize,
    #[serde(with = "crate::interned")]
    pub(super) settings: Arc<Settings>,
    /// The process state, copied from the executor while a call is served.
    pub(super) state: ProcessState,
    /// The processes by ID, with those that have ended and were not waited for. Boxes keep the nodes of maps small: nearly all lanes
    /// have one entry, and a node has room for eleven.
    pub(super) processes: BTreeMap<u32, Box<Process>>,
    /// The threads by ID. The first thread of a process has its ID.
    pub(super) threads: BTreeMap<u32, Box<Thread>>,
    pub(super) spaces: BTreeMap<u32, Box<Space>>,
    /// The memory that spaces share.
    pub(super) shared: SharedMemory,
    /// The objects of System V.
    pub(super) ipc: Ipc,
    pub(super) turns: Turns,
    /// The ID of the space whose memory the executor has.
    pub(super) loaded: u32,
    /// The next unused ID of threads and processes, and of spaces.
    pub(super) next_id: u32,
    pub(super) next_space: u32,
    /// The exit status of the first process, once it has ended.
    pub(super) status: Option<i32>,
    /// The process group in the foreground of the terminal.
    pub(super) foreground: u32,
    /// The pipes that the executor may read and write.
    #[serde(skip)]
    pub(super) windows: PipeWindows,
    /// The trace of system calls.
    #[serde(skip)]
    pub(super) trace: Trace,
}

impl Kernel {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(crate) fn assign(&mut self, source: &Self) {
        let Self { lane, files, open, input, input_position, settings, state, .. } = source;
        let Self {
            processes,
            threads,
            spaces,
            shared,
            ipc,
            turns,
            loaded,
            next_id,
            next_space,
            status,
            foreground,
            windows,
            trace,
            ..
        } = source;
        self.files.assign(files);
        share(&mut self.input, input);
        share(&mut self.settings, settings);
        // In most cases these are equal, and a comparison allocates no memory.
        assign_if_different(&mut self.open, open);
        assign_each(&mut self.processes, processes);
        assign_each(&mut self.threads, threads);
        assign_each(&mut self.spaces, spaces);
        assign_if_different(&mut self.shared, shared);
        assign_if_different(&mut self.ipc, ipc);
        assign_if_different(&mut self.turns, turns);
        (self.lane, self.input_position, self.state) = (*lane, *input_position, *state);
        (self.loaded, self.next_id, self.next_space) = (*loaded, *next_id, *next_space);
        (self.status, self.foreground, self.windows) = (*status, *foreground, *windows);
        self.trace.clone_from(trace);
    }

    pub(crate) fn new(
        lane: u64,
        files: Files,
        directory: InodeNumber,
        settings: Arc<Settings>,
        input: Arc<[u8]>,
    ) -> Self {
        let name = command_name(settings.executable.as_bytes());
        let areas = settings.areas.clone();
        let process = Process {
            parent: INIT,
            group: FIRST,
            session: FIRST,
            space: 0,
            descriptors: Descriptors::new(&[0, 1, 2]),
            directory,
            root: ROOT,
            pages_max: 0,
            umask: 0o022,
            personality: 0,
            actions: Actions::default(),
            pending: Pending::NONE,
            state: State::Running,
            timers: BTreeMap::new(),
            has_executed: true,
            exit_signal: SIGCHLD,
            started: 0,
            name,
            retired: 0,
            children_retired: 0,
            limits: Limits::new(areas.stack_bytes),
            // The console is terminal 0 if it is one.
            terminal: settings.terminal.then_some(0),
            hung_group: 0,
        };
        let state = ProcessState {
            heap_end: areas.heap.start,
            heap_limit: areas.heap.end,
            name,
            process: FIRST,
            thread: FIRST,
            parent: INIT,
            ..ProcessState::default()
        };
        let space = Space::new(areas);
        Self {
            lane,
            files,
            open: OpenFiles::console(),
            input,
            input_position: 0,
            state,
            settings,
            processes: BTreeMap::from([(FIRST, Box::new(process))]),
            threads: BTreeMap::from([(FIRST, Box::new(Thread::new(FIRST)))]),
            spaces: BTreeMap::from([(0, Box::new(space))]),
            shared: SharedMemory::default(),
            ipc: Ipc::default(),
            turns: Turns::new(FIRST),
            loaded: 0,
            next_id: FIRST + 1,
            next_space: 1,
            status: None,
            foreground: FIRST,
            windows: PipeWindows::default(),
            trace: Trace::default(),
        }
    }

    /// Sets whether system calls are traced.
    pub(crate) const fn set_trace(&mut self, is_on: bool) {
        self.trace.is_on = is_on;
    }

    /// Sets the seed of the schedule; `None` lets threads take turns in order.
    pub(crate) const fn set_schedule(&mut self, seed: Option<u64>) {
        self.turns.schedule = seed;
    }

    /// Prepares the lane for the image of a fork, which has the memory of the lane and not that of the program before its first step.
    pub(crate) fn change_image(&mut self, from: &Image, to: &Image) {
        self.trace = Trace::default();
        self.settings = Arc::new(Settings { program: Arc::default(), ..(*self.settings).clone() });
        for space in self.spaces.values_mut() {
            if let Some(memory) = &mut space.memory {
                memory.rebase(from, to);
            }
        }
    }

    /// Returns whether the position is within the input, and all inodes, descriptions, processes and spaces that are named exist. A
    /// kernel from a file may break that.
    pub(crate) fn is_valid(&self) -> bool {
        let mut users = BTreeMap::new();
        for process in self.processes.values() {
            for (number, descriptor) in process.descriptors.iter() {
                if number >= DESCRIPTORS_MAX {
                    return false;
                }
                *users.entry(descriptor.description).or_default() += 1;
            }
        }
        let held = self.threads.values().filter_map(|thread| thread.held);
        for description in self.open.sockets.rights().chain(held) {
            *users.entry(description).or_default() += 1;
        }
        let is_there = |number: &InodeNumber| is_node(*number) || self.files.inode(*number).is_some();
        let is_whole = |process: &Process| {
            process.has_ended()
                || [process.directory, process.root].iter().all(is_there)
                    && self.spaces.contains_key(&process.space)
        };
        let users_of = |space: u32| {
            self.processes.values().filter(|other| !other.has_ended() && other.space == space).count() as u32
        };
        let ids = self.processes.keys().chain(self.threads.keys());
        self.input_position <= self.input.len()
            && self.files.is_valid()
            && self.open.is_valid(&users)
            && self.processes.values().all(|process| is_whole(process))
            && self.spaces.iter().all(|(id, space)| space.users == users_of(*id) && *id < self.next_space)
            && self.spaces.iter().all(|(id, space)| space.memory.is_none() == (*id == self.loaded))
            && ids.max().is_none_or(|id| *id < self.next_id)
            && self.shared.is_valid()
            && self.spaces.values().flat_map(|space| &space.shared).all(SharedMapping::is_valid)
            && self.turns.is_valid(&self.threads)
            && self.threads.iter().all(|(id, thread)| {
                let process = self.processes.get(&thread.process);
                process.is_some_and(|process| !process.has_ended())
                    && thread.parked.is_none() == (*id == self.turns.current)
            })
    }

    /// Copies the guest directory `guest` to `host`, a directory that must not exist yet.
    pub(crate) fn save(&self, guest: &str, host: &Path) -> Result<(), Error> {
        let number = self.files.directory(guest);
        let number = number.ok_or_else(|| Error::GuestDirectory { path: guest.to_owned() })?;
        let all = || {
            std::fs::create_dir_all(host.parent().unwrap_or(host))?;
            std::fs::create_dir(host)?;
            save(&self.files, number, &Dir::open_ambient_dir(host, ambient_authority())?, 0)
        };
        all().map_err(|source| Error::Save { guest: guest.to_owned(), host: host.to_owned(), source })
    }

    /// Replaces the console input; reading starts at its beginning.
    pub(crate) fn set_input(&mut self, input: Arc<[u8]>) {
        (self.input, self.input_position) = (input, 0);
    }

    /// Returns the descriptors from 1 to 31 of the current process that write to console output, as a mask for
    /// [`Executor::set_console`](crate::Executor::set_console). Bit 0 is always set: it permits the executor to serve
    /// console output at all.
    pub(crate) fn console(&self) -> u32 {
        let Some(thread) = self.threads.get(&self.turns.current) else { return 1 };
        let descriptors = self.processes[&thread.process].descriptors.iter();
        let is_console = |description: u32| {
            let found = self.open.get(description);
            found.is_ok_and(|found| found.is_writable() && found.object == Object::Output(Stream::Output))
        };
        descriptors
            .filter(|(number, of)| (1..32).contains(number) && is_console(of.description))
            .fold(1, |bits, (number, _)| bits | 1 << number)
    }

    /// Returns the current thread.
    pub(super) fn thread(&self) -> &Thread {
        &self.threads[&self.turns.current]
    }

    /// Returns the current thread for changes.
    pub(super) fn thread_mut(&mut self) -> &mut Thread {
        self.threads
            .get_mut(&self.turns.current)
            .expect("the current thread exists while a call of it is served")
    }

    /// Returns the ID of the current process.
    pub(super) fn process_id(&self) -> u32 {
        self.thread().process
    }

    /// Returns the current process.
    pub(super) fn process(&self) -> &Process {
        &self.processes[&self.process_id()]
    }

    /// Returns the current process for changes.
    pub(super) fn process_mut(&mut self) -> &mut Process {
        let id = self.process_id();
        self.processes.get_mut(&id).expect("the process of the current thread exists")
    }

    /// Returns the address space that the executor has.
    pub(super) fn space(&self) -> &Space {
        &self.spaces[&self.loaded]
    }

    /// Returns the address space that the executor has, for changes.
    pub(super) fn space_mut(&mut self) -> &mut Space {
        self.spaces.get_mut(&self.loaded).expect("the space that the executor has exists")
    }

    /// Returns the nanoseconds since the start of a lane that has retired `steps`, including sleep. With real time, it counts from
    /// when the machine was built.
    pub(super) fn uptime(&self, steps: u64) -> u64 {
        match self.settings.real_time {
            Some(begin) => begin.elapsed().as_nanos() as u64,
            None => steps.wrapping_add(self.state.slept),
        }
    }

    /// Returns the time of day, in nanoseconds since 1970.
    pub(super) fn now(&self, steps: u64) -> u64 {
        if self.settings.real_time.is_some() {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            return since.map_or(0, |since| since.as_nanos() as u64);
        }
        EPOCH.wrapping_add(self.uptime(steps))
    }

    /// Returns the next random bytes, a hash of seed, lane and position, without advancing the position.
    pub(super) fn random_bytes(&self, bytes: usize) -> Vec<u8> {
        let byte = |at: u64| {
            let mut hash = self.settings.seed ^ self.lane.wrapping_mul(GOLDEN);
            // The finalizer of SplitMix64, applied twice: once for the lane, once for the position.
            for word in [0, at / 8] {
                hash = mixed(hash.wrapping_add(word).wrapping_add(GOLDEN));
            }
            hash.to_le_bytes()[at as usize % 8]
        };
        (0..bytes as u64).map(|at| byte(self.state.random.wrapping_add(at))).collect()
    }
}

fn assign_if_different<T: PartialEq + Clone>(target: &mut T, source: &T) {
    if target != source {
        target.clone_from(source);
    }
}

/// Makes a map equal to another one. Entries of both are changed in place.
fn assign_each<T: PartialEq + Clone>(target: &mut BTreeMap<u32, T>, source: &BTreeMap<u32, T>) {
    if !target.keys().eq(source.keys()) {
        target.clone_from(source);
        return;
    }
    target.values_mut().zip(source.values()).for_each(|(target, source)| assign_if_different(target, source));
}
