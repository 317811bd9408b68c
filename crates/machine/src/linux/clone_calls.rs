//! System calls that make threads and processes.

use std::sync::Arc;

use super::call::Call;
use super::errno::{EINVAL, ENOSYS};
use super::failure::{CallResult, Failure};
use super::life::Birth;
use super::signals::SIGNAL_MAX;
use super::space::Space;
use super::thread::Parked;
use super::wait::{Event, Wait};

const CLONE_VM: u64 = 0x100;
const CLONE_FS: u64 = 0x200;
const CLONE_FILES: u64 = 0x400;
const CLONE_SIGHAND: u64 = 0x800;
const CLONE_VFORK: u64 = 0x4000;
const CLONE_PARENT: u64 = 0x8000;
const CLONE_THREAD: u64 = 0x1_0000;
const CLONE_SYSVSEM: u64 = 0x4_0000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_DETACHED: u64 = 0x40_0000;
const CLONE_UNTRACED: u64 = 0x80_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
const CLONE_IO: u64 = 0x8000_0000;
const CLONE_CLEAR_SIGHAND: u64 = 1 << 32;

/// What a thread shares with its process, all of it or nothing.
const SHARED: u64 = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
/// The other flags that are known.
const OTHERS: u64 = CLONE_VFORK
    | CLONE_PARENT
    | CLONE_SYSVSEM
    | CLONE_SETTLS
    | CLONE_PARENT_SETTID
    | CLONE_CHILD_CLEARTID
    | CLONE_DETACHED
    | CLONE_UNTRACED
    | CLONE_CHILD_SETTID
    | CLONE_IO
    | CLONE_CLEAR_SIGHAND;

/// The arguments of a `clone`.
struct Clone {
    flags: u64,
    exit_signal: u64,
    /// The stack pointer of the new thread; 0 for that of the current one.
    stack: u64,
    parent_tid: u64,
    child_tid: u64,
    tls: u64,
}

pub(super) fn clone(call: &mut Call<'_>) -> CallResult {
    let [flags, stack, parent_tid, tls, child_tid, _] = call.x;
    let (flags, exit_signal) = (flags & 0xffff_ff00, flags & 0xff);
    call.clone(&Clone { flags, exit_signal, stack, parent_tid, child_tid, tls })
}

pub(super) fn clone3(call: &mut Call<'_>) -> CallResult {
    /// The sizes of `struct clone_args`: the first version, and the latest.
    const BYTES: std::ops::RangeInclusive<u64> = 64..=88;
    let [address, bytes, ..] = call.x;
    if !BYTES.contains(&bytes) {
        return Err(EINVAL.into());
    }
    let [flags, _pidfd, child_tid, parent_tid, exit_signal, start, size, tls] = call.doublewords(address)?;
    if (start == 0) != (size == 0) || flags & 0xff != 0 {
        return Err(EINVAL.into());
    }
    call.clone(&Clone { flags, exit_signal, stack: start.wrapping_add(size), parent_tid, child_tid, tls })
}

impl Call<'_> {
    /// Makes a thread or a process, and returns its ID.
    fn clone(&mut self, clone: &Clone) -> CallResult {
        let &Clone { flags, exit_signal, parent_tid, child_tid, .. } = clone;
        if exit_signal > SIGNAL_MAX {
            return Err(EINVAL.into());
        }
        let has = |flag: u64| flags & flag != 0;
        let is_thread = has(CLONE_THREAD);
        let is_known = match flags & SHARED {
            SHARED => true,
            // A child may borrow the address space, but nothing else is shared between processes.
            shared => shared & !CLONE_VM == 0,
        };
        // Namespaces, process file descriptors and processes that share some tables are not served.
        if !is_known || flags & !(SHARED | OTHERS) != 0 {
            return Err(if is_thread { EINVAL } else { ENOSYS }.into());
        }
        let id = self.kernel.new_id()?;
        let id_bytes = id.to_le_bytes();
        if has(CLONE_PARENT_SETTID) {
            self.guest.write(parent_tid, &id_bytes)?;
        }
        let parked = self.registers_of_child(clone)?;
        if is_thread {
            if has(CLONE_CHILD_SETTID) {
                self.guest.write(child_tid, &id_bytes)?;
            }
            let process = self.kernel.process_id();
            self.kernel.add_thread(id, process, self.uptime(), parked);
            return Ok(u64::from(id));
        }
        let space = if has(CLONE_VM) { None } else { Some(self.copy_space(clone, id)?) };
        let own = self.kernel.process_id();
        let now = self.uptime();
        let parent = if has(CLONE_PARENT) { self.kernel.process().parent } else { own };
        let birth = Birth { parent, exit_signal, started: now };
        self.kernel.add_process(id, &birth, space);
        self.kernel.add_thread(id, id, now, parked);
        let stack = self.kernel.thread().stack;
        if let Some(thread) = self.kernel.threads.get_mut(&id)
            && !has(CLONE_VM)
        {
            thread.stack = stack;
        }
        if has(CLONE_CLEAR_SIGHAND)
            && let Some(process) = self.kernel.processes.get_mut(&id)
        {
            process.actions.remove_handlers();
        }
        if has(CLONE_VFORK) {
            let event = Event::Vfork { child: id };
            return Err(Failure::Wait(Wait { event, deadline: None, value: Some(u64::from(id)) }));
        }
        Ok(u64::from(id))
    }

    /// Returns the registers of a new thread.
    fn registers_of_child(&mut self, clone: &Clone) -> Result<Parked, Failure> {
        let mut cpu = self.cpu.clone();
        (cpu.v, cpu.monitor) = (self.guest.lane.vectors()?, None);
        cpu.set_x(0, 0);
        if clone.stack != 0 {
            cpu.sp = clone.stack;
        }
        if clone.flags & CLONE_SETTLS != 0 {
            cpu.tpidr_el0 = clone.tls;
        }
        let clear_tid = if clone.flags & CLONE_CHILD_CLEARTID != 0 { clone.child_tid } else { 0 };
        Ok(Parked { cpu, robust_list: 0, clear_tid, name: self.kernel.state.name })
    }

    /// Returns a copy of the current address space for a new process.
    fn copy_space(&mut self, clone: &Clone, id: u32) -> Result<Space, Failure> {
        self.sync_shared()?;
        let kernel = &*self.kernel;
        let Space { areas, executable, files, shared, advice, barriers, .. } = kernel.space();
        let mut space = Space {
            areas: areas.clone(),
            memory: None,
            heap_end: kernel.state.heap_end,
            users: 0,
            executable: Arc::clone(executable),
            files: files.clone(),
            shared: shared.clone(),
            advice: advice.clone(),
            barriers: *barriers,
        };
        // The ID is written into the memory of the child only.
        let before = if clone.flags & CLONE_CHILD_SETTID != 0 {
            let before: [u8; 4] = self.guest.array(clone.child_tid)?;
            self.guest.write(clone.child_tid, &id.to_le_bytes())?;
            Some(before)
        } else {
            None
        };
        let mut memory = self.guest.lane.memory()?;
        if let Some(before) = before {
            self.guest.write(clone.child_tid, &before)?;
        }
        space.advice.follow(&mut memory);
        space.memory = Some(memory);
        for range in space.advice.absent().to_vec() {
            space.unshare(&range);
            space.forget(&range);
        }
        Ok(space)
    }
}
