//! System calls on the scheduling of threads.

use super::call::Call;
use super::errno::{EINVAL, ESRCH};
use super::failure::{CallResult, Failure};
use super::scheduling::{SCHED_FIFO, SCHED_RR, Scheduling, priorities};
use super::time_calls::{NANOSECONDS, timespec};

/// The time slice of `SCHED_RR`, in nanoseconds.
const SLICE: u64 = 100_000_000;
/// The processors of a lane, as a mask.
const PROCESSORS: u64 = 1;

impl Call<'_> {
    /// Returns the ID of an existing thread. 0 stands for the current one.
    fn known_thread(&self, id: u64) -> Result<u32, Failure> {
        match id as i32 {
            ..0 => Err(EINVAL.into()),
            0 => Ok(self.kernel.turns.current),
            id if self.kernel.threads.contains_key(&id.unsigned_abs()) => Ok(id.unsigned_abs()),
            _ => Err(ESRCH.into()),
        }
    }

    /// Returns the scheduling of a thread that a call names.
    fn scheduling_of(&self, id: u64) -> Result<Scheduling, Failure> {
        Ok(self.kernel.threads[&self.known_thread(id)?].scheduling)
    }

    /// Changes policy and priority of a thread. Without a policy, it keeps its own.
    fn schedule(&mut self, id: u64, policy: Option<u32>, parameter: u64) -> CallResult {
        if parameter == 0 || (id as i32) < 0 || policy.is_some_and(|policy| (policy as i32) < 0) {
            return Err(EINVAL.into());
        }
        let priority = self.guest.read_u32(parameter)?;
        let id = self.known_thread(id)?;
        if let Some(thread) = self.kernel.threads.get_mut(&id) {
            let policy = policy.unwrap_or_else(|| thread.scheduling.policy_word());
            thread.scheduling = thread.scheduling.with_policy(policy, priority)?;
        }
        Ok(0)
    }
}

pub(super) fn sched_setparam(call: &mut Call<'_>) -> CallResult {
    call.schedule(call.x[0], None, call.x[1])
}

pub(super) fn sched_setscheduler(call: &mut Call<'_>) -> CallResult {
    call.schedule(call.x[0], Some(call.x[1] as u32), call.x[2])
}

pub(super) fn sched_getscheduler(call: &mut Call<'_>) -> CallResult {
    Ok(call.scheduling_of(call.x[0])?.policy_word().into())
}

pub(super) fn sched_getparam(call: &mut Call<'_>) -> CallResult {
    if call.x[1] == 0 {
        return Err(EINVAL.into());
    }
    let scheduling = call.scheduling_of(call.x[0])?;
    call.guest.write(call.x[1], &scheduling.priority.to_le_bytes())?;
    Ok(0)
}

pub(super) fn sched_get_priority_max(call: &mut Call<'_>) -> CallResult {
    Ok(priorities(call.x[0] as u32)?[1].into())
}

pub(super) fn sched_get_priority_min(call: &mut Call<'_>) -> CallResult {
    Ok(priorities(call.x[0] as u32)?[0].into())
}

pub(super) fn sched_rr_get_interval(call: &mut Call<'_>) -> CallResult {
    let slice = match call.scheduling_of(call.x[0])?.policy {
        SCHED_FIFO => 0,
        SCHED_RR => SLICE,
        _ => call.kernel.settings.quantum,
    };
    call.guest.write(call.x[1], &timespec(slice / NANOSECONDS, slice % NANOSECONDS))?;
    Ok(0)
}

pub(super) fn sched_setaffinity(call: &mut Call<'_>) -> CallResult {
    let [thread, bytes, address, ..] = call.x;
    let mask = call.guest.read(address, u64::from(bytes as u32).min(8))?;
    call.known_thread(thread).map_err(|_| ESRCH)?;
    let first = mask.first().copied().unwrap_or(0);
    if u64::from(first) & PROCESSORS == 0 { Err(EINVAL.into()) } else { Ok(0) }
}

pub(super) fn sched_getaffinity(call: &mut Call<'_>) -> CallResult {
    let [thread, bytes, address, ..] = call.x;
    if bytes < 8 || !bytes.is_multiple_of(8) {
        return Err(EINVAL.into());
    }
    call.known_thread(thread).map_err(|_| ESRCH)?;
    call.guest.write(address, &PROCESSORS.to_le_bytes())?;
    Ok(8)
}

impl Call<'_> {
    /// Returns the IDs of the threads that `getpriority` and `setpriority` name: one, those of a process group, or all.
    fn threads_of(&self, which: u64, who: u64) -> Result<Vec<u32>, Failure> {
        const PRIO_PROCESS: u32 = 0;
        const PRIO_PGRP: u32 = 1;
        const PRIO_USER: u32 = 2;
        let who = who as u32;
        let in_group = |group: u32| {
            let processes = &self.kernel.processes;
            let threads = self.kernel.threads.iter();
            let members = threads.filter(move |(_, thread)| {
                processes.get(&thread.process).is_some_and(|process| process.group == group)
            });
            members.map(|(id, _)| *id)
        };
        let all: Vec<u32> = match (which as u32, who) {
            (PRIO_PROCESS, 0) => vec![self.kernel.turns.current],
            (PRIO_PROCESS, _) => self.kernel.threads.keys().copied().filter(|id| *id == who).collect(),
            (PRIO_PGRP, 0) => in_group(self.kernel.process().group).collect(),
            (PRIO_PGRP, _) => in_group(who).collect(),
            // All processes run as root.
            (PRIO_USER, 0) => self.kernel.threads.keys().copied().collect(),
            (PRIO_USER, _) => Vec::new(),
            _ => return Err(EINVAL.into()),
        };
        if all.is_empty() { Err(ESRCH.into()) } else { Ok(all) }
    }
}

pub(super) fn setpriority(call: &mut Call<'_>) -> CallResult {
    let [which, who, nice, ..] = call.x;
    for id in call.threads_of(which, who)? {
        if let Some(thread) = call.kernel.threads.get_mut(&id) {
            thread.scheduling.nice = (nice as i32).clamp(-20, 19);
        }
    }
    Ok(0)
}

/// Returns 20 minus the smallest nice value, as on Linux: a negative result would be an error.
pub(super) fn getpriority(call: &mut Call<'_>) -> CallResult {
    let all = call.threads_of(call.x[0], call.x[1])?.into_iter();
    let least = all.filter_map(|id| call.kernel.threads.get(&id)).map(|thread| thread.scheduling.nice).min();
    Ok((20 - least.unwrap_or(0)) as u64)
}
