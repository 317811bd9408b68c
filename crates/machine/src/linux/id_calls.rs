//! System calls on the IDs of threads, processes, process groups and sessions.

use super::call::Call;
use super::errno::{EACCES, EINVAL, EPERM, ESRCH};
use super::failure::CallResult;

pub(super) fn getpid(call: &mut Call<'_>) -> CallResult {
    Ok(u64::from(call.kernel.state.process))
}

pub(super) fn gettid(call: &mut Call<'_>) -> CallResult {
    Ok(u64::from(call.kernel.state.thread))
}

pub(super) fn getppid(call: &mut Call<'_>) -> CallResult {
    Ok(u64::from(call.kernel.process().parent))
}

pub(super) fn getpgid(call: &mut Call<'_>) -> CallResult {
    let id = call.known_process(call.x[0])?;
    Ok(u64::from(call.kernel.processes[&id].group))
}

pub(super) fn getsid(call: &mut Call<'_>) -> CallResult {
    let id = call.known_process(call.x[0])?;
    Ok(u64::from(call.kernel.processes[&id].session))
}

pub(super) fn setpgid(call: &mut Call<'_>) -> CallResult {
    let [process, group, ..] = call.x;
    if (group as i32) < 0 {
        return Err(EINVAL.into());
    }
    let (own, id) = (call.kernel.process_id(), call.known_process(process)?);
    let group = if group as u32 == 0 { id } else { group as u32 };
    let (of, session) = (&call.kernel.processes[&id], call.kernel.process().session);
    if id != own && of.parent != own {
        return Err(ESRCH.into());
    }
    if of.session != session || of.session == id {
        return Err(EPERM.into());
    }
    if id != own && of.has_executed {
        return Err(EACCES.into());
    }
    let mut others = call.kernel.processes.values();
    if group != id && !others.any(|other| other.group == group && other.session == session) {
        return Err(EPERM.into());
    }
    if let Some(process) = call.kernel.processes.get_mut(&id) {
        process.group = group;
    }
    Ok(0)
}

pub(super) fn setsid(call: &mut Call<'_>) -> CallResult {
    let id = call.kernel.process_id();
    if call.kernel.processes.values().any(|other| other.group == id) {
        return Err(EPERM.into());
    }
    let process = call.kernel.process_mut();
    (process.group, process.session) = (id, id);
    (process.terminal, process.hung_group) = (None, 0);
    Ok(u64::from(id))
}
