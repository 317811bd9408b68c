//! Birth and end of threads and processes.

use std::collections::BTreeMap;

use super::errno::{EAGAIN, Errno};
use super::failure::Failure;
use super::guest::Guest;
use super::kernel::{FIRST, INIT, Kernel};
use super::process::{Process, State, Status};
use super::signals::{SA_NOCLDWAIT, SIG_IGN, SIGCHLD};
use super::space::Space;
use super::thread::{Parked, Thread};

/// The limit on threads of a lane, those of processes that were not waited for included.
const THREADS_MAX: usize = 4096;

/// What a new process does not take over from the current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Birth {
    pub(super) parent: u32,
    pub(super) exit_signal: u64,
    /// The uptime at its birth.
    pub(super) started: u64,
}

impl Kernel {
    /// Returns whether the lane has had one thread only, so far.
    pub(crate) const fn is_single(&self) -> bool {
        self.state.more_threads == 0
    }

    /// Returns the steps that the current process has retired when the lane has retired `steps`.
    pub(super) fn retired(&self, steps: u64) -> u64 {
        self.retired_by(self.process_id(), steps)
    }

    /// Returns the steps that a process has retired when the lane has retired `steps`.
    pub(super) fn retired_by(&self, process: u32, steps: u64) -> u64 {
        let own = self.threads.iter().filter(|(_, thread)| thread.process == process);
        let of_thread = |id: u32, thread: &Thread| {
            if id == self.turns.current { thread.retired_at(steps) } else { thread.retired }
        };
        let of_threads: u64 = own.map(|(id, thread)| of_thread(*id, thread)).sum();
        self.processes.get(&process).map_or(0, |process| process.retired) + of_threads
    }

    /// Returns the name of a thread.
    pub(super) fn thread_name(&self, id: u32) -> Option<[u8; 16]> {
        if id == self.turns.current && self.threads.contains_key(&id) {
            return Some(self.state.name);
        }
        self.threads.get(&id)?.parked.as_ref().map(|parked| parked.name)
    }

    /// Returns the ID of a new thread or process.
    pub(super) fn new_id(&mut self) -> Result<u32, Errno> {
        let ended = self.processes.values().filter(|process| process.has_ended()).count();
        if self.threads.len() + ended >= THREADS_MAX {
            return Err(EAGAIN);
        }
        self.next_id = self.next_id.checked_add(1).filter(|id| *id < 1 << 30).ok_or(EAGAIN)?;
        self.state.more_threads = self.state.more_threads.saturating_add(1);
        Ok(self.next_id - 1)
    }

    /// Adds a thread to the current process. It goes on when it gets its turn.
    pub(super) fn add_thread(&mut self, id: u32, process: u32, started: u64, parked: Parked) {
        let (blocked, scheduling) = (self.thread().blocked, self.thread().scheduling.of_child());
        let parked = Some(Box::new(parked));
        let thread = Thread { parked, blocked, scheduling, started, ..Thread::new(process) };
        self.threads.insert(id, Box::new(thread));
        self.turns.ready.push_back(id);
    }

    /// Adds a child of the current process, which shares its address space unless `space` is a new one.
    pub(super) fn add_process(&mut self, id: u32, birth: &Birth, space: Option<Space>) {
        let &Birth { parent, exit_signal, started } = birth;
        let shared = self.process().space;
        let space = match space {
            Some(space) => {
                self.next_space += 1;
                self.spaces.insert(self.next_space - 1, Box::new(space));
                self.next_space - 1
            }
            None => shared,
        };
        if let Some(space) = self.spaces.get_mut(&space) {
            space.users += 1;
        }
        let pending = super::signals::Pending::NONE;
        let process = Process {
            parent,
            space,
            pending,
            state: State::Running,
            timers: BTreeMap::new(),
            has_executed: false,
            exit_signal,
            started,
            retired: 0,
            children_retired: 0,
            hung_group: 0,
            ..self.process().clone()
        };
        for (_, descriptor) in process.descriptors.iter() {
            self.open.share(descriptor.description);
        }
        self.processes.insert(id, Box::new(process));
    }

    /// Ends the current thread, and with the last one its process.
    pub(super) fn end_thread(&mut self, code: u8, steps: u64, guest: &mut Guest<'_>) -> Result<(), Failure> {
        let (id, process) = (self.turns.current, self.process_id());
        if !self.threads.iter().any(|(other, thread)| *other != id && thread.process == process) {
            self.end_process(process, Status::Exited(code));
            return Ok(());
        }
        self.wake_heirs(guest)?;
        self.trace_end(id, Status::Exited(code));
        let retired = self.thread().retired_at(steps);
        self.process_mut().retired += retired;
        self.threads.remove(&id);
        self.turns.remove(id);
        Ok(())
    }

    /// Tells other threads about the end of the current one: by its robust futexes, and by the futex at its `clear_tid`.
    fn wake_heirs(&mut self, guest: &mut Guest<'_>) -> Result<(), Failure> {
        /// The limit on robust futexes, as on Linux.
        const ROBUST_FUTEXES_MAX: usize = 2048;
        const FUTEX_WAITERS: u32 = 1 << 31;
        const FUTEX_OWNER_DIED: u32 = 1 << 30;
        const FUTEX_TID_MASK: u32 = (1 << 30) - 1;
        let thread = self.turns.current;
        let fails = |failure: Failure| match failure {
            // As on Linux, bad addresses end the list.
            Failure::Errno(_) => Ok(()),
            failure => Err(failure),
        };
        let head = self.state.robust_list;
        let mut walk = || -> Result<(), Failure> {
            let offset = guest.read_u64(head.wrapping_add(8))?;
            let mut entry = guest.read_u64(head)?;
            let pending = guest.read_u64(head.wrapping_add(16))?;
            let mut entries = Vec::new();
            while entry != head && entries.len() < ROBUST_FUTEXES_MAX {
                entries.push(entry & !1);
                entry = guest.read_u64(entry & !1)?;
            }
            for entry in entries.into_iter().chain((pending != 0).then_some(pending & !1)) {
                let address = entry.wrapping_add(offset);
                let word = guest.read_u32(address)?;
                if word & FUTEX_TID_MASK == thread {
                    guest.write(address, &(word & FUTEX_WAITERS | FUTEX_OWNER_DIED).to_le_bytes())?;
                    self.wake_futex(self.futex_key(address, false), 1, u32::MAX);
                }
            }
            Ok(())
        };
        if head != 0 {
            walk().or_else(fails)?;
        }
        let clear_tid = self.state.clear_tid;
        if clear_tid != 0 {
            guest.write(clear_tid, &0_u32.to_le_bytes()).or_else(fails)?;
            self.wake_futex(self.futex_key(clear_tid, false), 1, u32::MAX);
        }
        Ok(())
    }

    /// Removes a thread, with what an unfinished call of it holds. Returns the steps that it has retired in earlier turns.
    fn drop_thread(&mut self, id: u32) -> u64 {
        let Some(thread) = self.threads.remove(&id) else { return 0 };
        self.turns.remove(id);
        if let Some(held) = thread.held {
            self.release_description(held);
        }
        thread.retired
    }

    /// Ends a process with all of its threads.
    pub(super) fn end_process(&mut self, id: u32, status: Status) {
        let name = self.thread_name(id);
        let threads: Vec<u32> =
            self.threads.iter().filter(|(_, thread)| thread.process == id).map(|(id, _)| *id).collect();
        let mut retired = 0;
        for thread in threads {
            self.trace_end(thread, status);
            retired += self.drop_thread(thread);
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.state = State::Zombie(status);
        self.ipc.undo(id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.retired += retired;
        process.name = name.unwrap_or(process.name);
        let (descriptors, directory, root, space, parent) = (
            std::mem::replace(&mut process.descriptors, super::descriptors::Descriptors::new(&[])),
            process.directory,
            process.root,
            process.space,
            process.parent,
        );
        for (_, descriptor) in descriptors.iter() {
            self.unlock_closed(id, descriptor.description);
            self.release_description(descriptor.description);
        }
        self.release_inode(directory);
        self.release_inode(root);
        self.release_space(space);
        self.end_session(id);
        for child in self.processes.values_mut().filter(|child| child.parent == id) {
            child.parent = INIT;
        }
        self.processes.retain(|_, child| child.parent != INIT || !child.has_ended());
        if id == FIRST {
            self.status = Some(status.code());
        }
        let Some(above) = self.processes.get(&parent) else {
            self.processes.remove(&id);
            return;
        };
        let action = above.actions.get(SIGCHLD);
        let is_unwanted = action.handler == SIG_IGN || action.flags & SA_NOCLDWAIT != 0;
        self.tell_end(id, status);
        if is_unwanted {
            self.processes.remove(&id);
        }
    }

    /// Ends all threads of the current process but the current one, which gets the ID of the process.
    pub(super) fn become_only_thread(&mut self, steps: u64) {
        let (current, process) = (self.turns.current, self.process_id());
        let others: Vec<u32> = self
            .threads
            .iter()
            .filter(|(id, thread)| **id != current && thread.process == process)
            .map(|(id, _)| *id)
            .collect();
        for id in others {
            let retired = self.drop_thread(id);
            self.process_mut().retired += retired;
        }
        if current != process
            && let Some(mut thread) = self.threads.remove(&current)
        {
            thread.retired = thread.retired_at(steps);
            thread.turn_start = steps;
            self.threads.insert(process, thread);
            self.turns.current = process;
            self.state.thread = process;
        }
    }

    /// Counts a user of an address space less, and drops its memory with the last one.
    pub(super) fn release_space(&mut self, id: u32) {
        if let Some(space) = self.spaces.get_mut(&id) {
            space.users -= 1;
            if space.users == 0
                && let Some(space) = self.spaces.remove(&id)
            {
                self.release_inode(space.executable.inode);
                self.collect_shared();
            }
        }
    }
}
