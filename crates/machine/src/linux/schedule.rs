//! The schedule: which threads are woken, which one goes on, and how another one gets the lane.
//!
//! Threads take turns. A turn ends when the thread waits or ends, or after a quantum of steps if another thread can go on. So which
//! instructions of which thread follow each other depends on nothing but the program, its input and the schedule.

use kvrm_arm64::Cpu;

use super::failure::Failure;
use super::guest::Guest;
use super::kernel::Kernel;
use super::process::Status;
use super::readiness::Asker;
use super::signals::SIGKILL;
use super::terminals::Terminal;
use super::thread::Parked;
use super::wait::{Event, FutexKey, Wait, Woken};

impl Kernel {
    /// Lets the current thread wait.
    pub(super) fn begin_wait(&mut self, wait: Wait) {
        let id = self.turns.current;
        self.thread_mut().wait = Some(wait);
        self.turns.waiting.push(id);
    }

    /// Wakes all threads whose waits are over when the lane has retired `steps`.
    pub(super) fn wake(&mut self, steps: u64) {
        self.fire_timers(steps);
        if self.turns.waiting.is_empty() {
            return;
        }
        let now = self.uptime(steps);
        let waiting = std::mem::take(&mut self.turns.waiting);
        for id in waiting {
            match self.reason_to_wake(id, now) {
                Some(reason) => self.wake_thread(id, reason),
                None => self.turns.waiting.push(id),
            }
        }
    }

    /// Makes a thread that waits able to go on. It is not in the list of waiting threads any more.
    fn wake_thread(&mut self, id: u32, reason: Woken) {
        if let Some(thread) = self.threads.get_mut(&id) {
            if let Some(Wait { deadline, value: None, .. }) = thread.wait.take() {
                thread.woken = Some((reason, deadline));
            }
            self.turns.ready.push_back(id);
        }
    }

    fn reason_to_wake(&self, id: u32, now: u64) -> Option<Woken> {
        let thread = self.threads.get(&id)?;
        let Wait { event, deadline, .. } = thread.wait.as_ref()?;
        let has_happened = match event {
            Event::Signal | Event::Futex { .. } => false,
            Event::BlockedSignal(mask) => self.waiting_signals(id) & mask != 0,
            Event::Ready(all) => {
                let asker = Asker { thread: id, now };
                all.iter().any(|(open, events)| self.ready_for(*open, asker) & events != 0)
            }
            Event::Input { description, terminal, bytes } => {
                let has_input = |terminal: &Terminal| terminal.has_input(*bytes);
                self.is_dead(*description)
                    || !self.open.terminals.get(*terminal).is_ok_and(|terminal| !has_input(terminal))
            }
            Event::Room(socket) => !self.open.sockets.get(*socket).is_ok_and(|socket| !socket.has_room()),
            Event::Opened { pipe, end, before } => {
                !self.open.pipe(*pipe).is_ok_and(|pipe| pipe.openings[*end] == *before)
            }
            Event::Lock { number, wanted } => self.open.locks.conflict(*number, wanted).is_none(),
            Event::Semaphore { set, seen, .. } => {
                !self.ipc.sets.get(u64::from(*set)).is_ok_and(|set| set.version == *seen)
            }
            Event::Queue { queue, seen } => {
                !self.ipc.queues.get(u64::from(*queue)).is_ok_and(|queue| queue.version == *seen)
            }
            Event::Child(children) => self.child_with_news(thread.process, children).is_some(),
            Event::Vfork { child } => {
                self.processes.get(child).is_none_or(|child| child.has_ended() || child.has_executed)
            }
        };
        if has_happened {
            Some(Woken::Event)
        } else if deadline.is_some_and(|deadline| deadline <= now) {
            Some(Woken::Time)
        } else if matches!(event, Event::Vfork { .. }) {
            // Only the end of the process interrupts this wait.
            None
        } else {
            self.deliverable(id).map(|_| Woken::Signal)
        }
    }

    /// Returns the key of a futex at an address of the current address space. One in shared memory is the same in all spaces, unless the
    /// call says that it is private.
    pub(super) fn futex_key(&self, address: u64, is_private: bool) -> FutexKey {
        match self.shared_place(address).filter(|_| !is_private) {
            Some((object, address)) => FutexKey { is_shared: true, home: object, address },
            None => FutexKey { is_shared: false, home: self.loaded, address },
        }
    }

    /// Wakes at most `count` threads that wait at a futex of the current address space with one of these bits. Returns their number.
    pub(super) fn wake_futex(&mut self, key: FutexKey, count: u64, bits: u32) -> u64 {
        self.woken_at_futex(key, count, bits).into_iter().map(|id| self.wake_thread(id, Woken::Event)).count()
            as u64
    }

    /// Moves at most `count` threads that wait at a futex of the current address space to another one. Returns their number.
    pub(super) fn requeue_futex(&mut self, from: FutexKey, to: FutexKey, count: u64) -> u64 {
        let moved = self.woken_at_futex(from, count, u32::MAX);
        for id in &moved {
            if let Some(Wait { event: Event::Futex { key, .. }, .. }) =
                self.threads.get_mut(id).and_then(|thread| thread.wait.as_mut())
            {
                *key = to;
            }
        }
        // As on Linux, they come after those that wait there already.
        self.turns.waiting.extend(&moved);
        moved.len() as u64
    }

    /// Removes the first `count` threads that wait at a futex from the list of waiting threads, and returns them.
    fn woken_at_futex(&mut self, key: FutexKey, count: u64, bits: u32) -> Vec<u32> {
        let threads = &self.threads;
        let mut found = Vec::new();
        self.turns.waiting.retain(|id| {
            let event = threads.get(id).and_then(|thread| Some(&thread.wait.as_ref()?.event));
            let is_there = matches!(event, Some(Event::Futex { key: own, bits: own_bits }) if *own == key && own_bits & bits != 0);
            let is_woken = is_there && (found.len() as u64) < count;
            if is_woken {
                found.push(*id);
            }
            !is_woken
        });
        found
    }

    /// Returns whether the current thread keeps the lane.
    pub(super) fn keeps_lane(&self, steps: u64) -> bool {
        let thread = self.threads.get(&self.turns.current);
        let can_go_on = thread.is_some_and(|thread| {
            thread.wait.is_none() && thread.woken.is_none() && self.processes[&thread.process].is_running()
        });
        can_go_on && (self.turns.ready.is_empty() || steps < self.turns.end)
    }

    /// Returns the number of steps of the lane at which the kernel has to be asked how to go on.
    pub(crate) fn turn_end(&self, steps: u64) -> u64 {
        if !self.keeps_lane(steps) || self.deliverable(self.turns.current).is_some() {
            return steps;
        }
        let turn = if self.turns.ready.is_empty() { u64::MAX } else { self.turns.end };
        let turn = turn.min(self.first_processor_timer(steps).unwrap_or(u64::MAX));
        let Some(deadline) = self.first_deadline(self.uptime(steps)) else { return turn };
        let wait = if self.settings.real_time.is_some() {
            // The clock of the host does not tell after how many steps it will be time.
            self.settings.quantum
        } else {
            deadline.saturating_sub(self.uptime(steps))
        };
        turn.min(steps.saturating_add(wait))
    }

    /// Returns the first time at which a wait ends or a timer expires.
    fn first_deadline(&self, now: u64) -> Option<u64> {
        let waits = self.turns.waiting.iter().filter_map(|id| self.threads.get(id)?.wait.as_ref());
        let ends = waits.filter_map(|wait| {
            let expiry = match &wait.event {
                Event::Ready(all) => all.iter().filter_map(|(open, _)| self.first_expiry(*open, now)).min(),
                _ => None,
            };
            wait.deadline.into_iter().chain(expiry).min()
        });
        ends.chain(self.first_timer()).min()
    }

    /// Returns the thread that gets the lane next. If the turn of the current thread is over, it is one of the candidates.
    pub(super) fn next_thread(&mut self) -> Option<u32> {
        let current = self.turns.current;
        if let Some(thread) = self.threads.get(&current)
            && thread.wait.is_none()
            && !self.turns.ready.contains(&current)
        {
            self.turns.ready.push_back(current);
        }
        let (threads, processes) = (&self.threads, &self.processes);
        let may_run =
            |id: u32| threads.get(&id).is_some_and(|thread| processes[&thread.process].is_running());
        self.turns.take_next(may_run)
    }

    /// Lets time pass until the first deadline. Returns whether there is one.
    pub(super) fn sleep_until_deadline(&mut self, steps: u64) -> bool {
        let Some(deadline) = self.first_deadline(self.uptime(steps)) else { return false };
        let wait = deadline.saturating_sub(self.uptime(steps));
        if self.settings.real_time.is_some() {
            std::thread::sleep(std::time::Duration::from_nanos(wait));
        } else {
            self.state.slept = self.state.slept.saturating_add(wait);
        }
        true
    }

    /// Returns the number of threads that wait at a futex.
    pub(super) fn futex_waiters(&self) -> u32 {
        let waits = self.turns.waiting.iter().filter_map(|id| self.threads.get(id)?.wait.as_ref());
        waits.filter(|wait| matches!(wait.event, Event::Futex { .. })).count() as u32
    }

    /// Gives the lane to a thread, with its registers and its memory.
    pub(super) fn switch_to(
        &mut self,
        next: u32,
        guest: &mut Guest<'_>,
        cpu: &mut Cpu,
    ) -> Result<(), Failure> {
        let (current, steps) = (self.turns.current, cpu.steps);
        self.turns.begin(next, steps, self.settings.quantum);
        if next == current {
            return Ok(());
        }
        if let Some(thread) = self.threads.get_mut(&current) {
            let mut own = cpu.clone();
            own.v = guest.lane.vectors()?;
            // As an exception would, the switch has lost the exclusive reservation.
            own.monitor = None;
            let state = &self.state;
            let parked = Parked {
                cpu: own,
                robust_list: state.robust_list,
                clear_tid: state.clear_tid,
                name: state.name,
            };
            thread.parked = Some(Box::new(parked));
            thread.retired = thread.retired_at(steps);
        }
        let Some(thread) = self.threads.get_mut(&next) else { return Ok(()) };
        thread.turn_start = steps;
        let process = thread.process;
        if let Some(parked) = thread.parked.take() {
            let Parked { cpu: own, robust_list, clear_tid, name } = *parked;
            guest.lane.set_vectors(&own.v)?;
            *cpu = own;
            cpu.steps = steps;
            (self.state.robust_list, self.state.clear_tid, self.state.name) = (robust_list, clear_tid, name);
        }
        let above = &self.processes[&process];
        let space = above.space;
        (self.state.process, self.state.thread, self.state.parent) = (process, next, above.parent);
        self.note_limits();
        self.load_space(space, process, guest, steps)
    }

    /// Gives the memory of an address space to the executor, and takes back that of the space that it has.
    fn load_space(
        &mut self,
        id: u32,
        process: u32,
        guest: &mut Guest<'_>,
        steps: u64,
    ) -> Result<(), Failure> {
        if id == self.loaded {
            return Ok(());
        }
        if self.spaces.contains_key(&self.loaded) {
            let now = self.now(steps);
            self.store_shared(guest, now)?;
            let Some(space) = self.spaces.get_mut(&self.loaded) else { return Ok(()) };
            space.memory = Some(guest.lane.memory()?);
            space.heap_end = self.state.heap_end;
        }
        self.loaded = id;
        let Some(space) = self.spaces.get_mut(&id) else { return Ok(()) };
        (self.state.heap_end, self.state.heap_limit) = (space.heap_end, space.areas.heap.end);
        let Some(mut memory) = space.memory.take() else { return Ok(()) };
        self.update_memory(id, &mut memory);
        self.windows.forget_bytes();
        if guest.lane.set_memory(&memory)?.is_err() {
            // The limit on frames was lowered meanwhile. Linux would end the process for lack of memory, too.
            self.end_process(process, Status::killed_by(SIGKILL));
        }
        Ok(())
    }

    /// Ends the wait of a thread whose call can be made again, if there is one: of the current thread, or else of that which has
    /// waited longest. Returns its ID.
    pub(super) fn take_waiting(&mut self) -> Option<u32> {
        let threads = &self.threads;
        let can_repeat = |id: &u32| {
            let wait = threads.get(id).and_then(|thread| thread.wait.as_ref());
            wait.is_some_and(|wait| wait.value.is_none())
        };
        let mut able = self.turns.waiting.iter().copied().filter(can_repeat);
        let id = able.clone().find(|id| *id == self.turns.current).or_else(|| able.next())?;
        self.turns.remove(id);
        self.threads.get_mut(&id)?.wait = None;
        Some(id)
    }
}
