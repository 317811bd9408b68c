//! System calls on the process: exit, futexes, names, random numbers.

use kvrm_arm64::semantics::pauth;

use super::call::Call;
use super::errno::{EINVAL, EPERM, ESRCH, Errno};
use super::failure::{CallResult, Failure};
use super::guest::TRANSFER_BYTES_MAX;
use super::process::Status;

/// The operation of `prctl` that returns the name of the process.
pub(super) const PR_GET_NAME: u64 = 16;
/// The flags that `getrandom` accepts: `GRND_NONBLOCK`, `GRND_RANDOM`, `GRND_INSECURE`.
pub(super) const RANDOM_FLAGS: u64 = 7;
/// The size of `struct robust_list_head`, in bytes; any other size is refused.
pub(super) const ROBUST_LIST_BYTES: u64 = 24;

/// What `uname` returns: system, host, release, version, machine, domain.
pub(super) const SYSTEM_NAMES: [&str; 6] = ["Linux", "kvrm", "6.1.0", "#1 KVRM", "aarch64", "(none)"];

pub(super) fn exit(call: &mut Call<'_>) -> CallResult {
    Err(Failure::ExitThread(call.x[0] as u8))
}

pub(super) fn exit_group(call: &mut Call<'_>) -> CallResult {
    Err(Failure::Exit(Status::Exited(call.x[0] as u8)))
}

/// Ends the turn of the thread.
pub(super) fn sched_yield(call: &mut Call<'_>) -> CallResult {
    call.kernel.turns.end = call.cpu.steps;
    Ok(0)
}

pub(super) fn set_tid_address(call: &mut Call<'_>) -> CallResult {
    call.kernel.state.clear_tid = call.x[0];
    Ok(u64::from(call.kernel.state.thread))
}

impl Call<'_> {
    /// Returns the ID of a process that has not been waited for. 0 stands for the current one.
    pub(super) fn known_process(&self, id: u64) -> Result<u32, Errno> {
        let id = if id as u32 == 0 { self.kernel.process_id() } else { id as u32 };
        if self.kernel.processes.contains_key(&id) { Ok(id) } else { Err(ESRCH) }
    }
}

pub(super) fn set_robust_list(call: &mut Call<'_>) -> CallResult {
    let [head, bytes, ..] = call.x;
    if bytes != ROBUST_LIST_BYTES {
        return Err(EINVAL.into());
    }
    call.kernel.state.robust_list = head;
    Ok(0)
}

pub(super) fn get_robust_list(call: &mut Call<'_>) -> CallResult {
    let [thread, head, bytes, ..] = call.x;
    let list = if matches!(thread as u32, 0) || thread as u32 == call.kernel.turns.current {
        call.kernel.state.robust_list
    } else {
        let thread = call.kernel.threads.get(&(thread as u32)).ok_or(ESRCH)?;
        thread.parked.as_ref().map_or(0, |parked| parked.robust_list)
    };
    call.guest.write(head, &list.to_le_bytes())?;
    call.guest.write(bytes, &ROBUST_LIST_BYTES.to_le_bytes())?;
    Ok(0)
}

pub(super) fn getres(call: &mut Call<'_>) -> CallResult {
    for address in &call.x[..3] {
        call.guest.write(*address, &[0; 4])?;
    }
    Ok(0)
}

pub(super) fn getgroups(call: &mut Call<'_>) -> CallResult {
    if (call.x[0] as i32) < 0 { Err(EINVAL.into()) } else { Ok(0) }
}

pub(super) fn uname(call: &mut Call<'_>) -> CallResult {
    let mut out = [0; 6 * 65];
    for (place, field) in out.chunks_exact_mut(65).zip(SYSTEM_NAMES) {
        place[..field.len()].copy_from_slice(field.as_bytes());
    }
    call.guest.write(call.x[0], &out)?;
    Ok(0)
}

pub(super) fn umask(call: &mut Call<'_>) -> CallResult {
    let new = call.x[0] as u32 & 0o777;
    Ok(std::mem::replace(&mut call.kernel.process_mut().umask, new).into())
}

pub(super) fn prctl(call: &mut Call<'_>) -> CallResult {
    const PR_SET_NAME: u64 = 15;
    match call.x[0] {
        PR_SET_NAME => {
            let mut name: [u8; 16] = call.guest.array(call.x[1])?;
            name[15] = 0;
            call.kernel.state.name = name;
        }
        PR_GET_NAME => {
            let name = call.kernel.state.name;
            call.guest.write(call.x[1], &name)?;
        }
        operation if call.kernel.settings.features.pauth => return pointer_authentication(call, operation),
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}

/// Operations of `prctl` on the keys of pointer authentication, of which each thread has its own.
fn pointer_authentication(call: &mut Call<'_>, operation: u64) -> CallResult {
    const PR_PAC_RESET_KEYS: u64 = 54;
    const PR_PAC_SET_ENABLED_KEYS: u64 = 60;
    const PR_PAC_GET_ENABLED_KEYS: u64 = 61;
    /// The keys for addresses: bit `n` stands for the key with this number.
    const ADDRESSES: u64 = 0b1111;
    const ALL: u64 = (1 << pauth::KEYS) - 1;
    let [_, chosen, enabled, rest @ ..] = call.x;
    let keys = &mut call.cpu.keys;
    match operation {
        PR_PAC_RESET_KEYS if chosen & !ALL == 0 && enabled == 0 && rest[..2] == [0, 0] => {
            if chosen == 0 {
                let disabled = *keys & ADDRESSES << pauth::KEYS_DISABLED;
                *keys = call.kernel.take_keys() | disabled;
            } else {
                let chosen = (0..pauth::KEYS).filter(|number| chosen >> number & 1 == 1);
                *keys = chosen.fold(*keys, pauth::reset_key);
            }
            Ok(0)
        }
        PR_PAC_SET_ENABLED_KEYS
            if chosen & !ADDRESSES == 0 && enabled & !chosen == 0 && rest[..2] == [0, 0] =>
        {
            *keys = *keys & !(chosen << pauth::KEYS_DISABLED) | (chosen & !enabled) << pauth::KEYS_DISABLED;
            Ok(0)
        }
        PR_PAC_GET_ENABLED_KEYS if [chosen, enabled, rest[0], rest[1]] == [0; 4] => {
            Ok(!(*keys >> pauth::KEYS_DISABLED) & ADDRESSES)
        }
        _ => Err(EINVAL.into()),
    }
}

pub(super) fn getcpu(call: &mut Call<'_>) -> CallResult {
    call.guest.write_optional(call.x[0], &[0; 4])?;
    call.guest.write_optional(call.x[1], &[0; 4])?;
    Ok(0)
}

pub(super) fn getrandom(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, flags, ..] = call.x;
    if flags & !RANDOM_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    let bytes = call.guest.writable(address, bytes.min(TRANSFER_BYTES_MAX))?;
    let data = call.kernel.random_bytes(bytes as usize);
    call.guest.write(address, &data)?;
    call.kernel.state.random += bytes;
    Ok(bytes)
}

/// All threads of a lane share its processor, so they see all stores of each other in order.
pub(super) fn membarrier(call: &mut Call<'_>) -> CallResult {
    const QUERY: u32 = 0;
    const PRIVATE_EXPEDITED: u32 = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: u32 = 1 << 4;
    const PRIVATE_EXPEDITED_SYNC_CORE: u32 = 1 << 5;
    const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: u32 = 1 << 6;
    /// Global, global expedited and its registration, private expedited and its registration, both for cores.
    const COMMANDS: u32 = 0b111_1111;
    let [command, flags, ..] = call.x.map(|word| word as u32);
    if flags != 0 || command & !COMMANDS != 0 || command.count_ones() > 1 {
        return Err(EINVAL.into());
    }
    let barriers = &mut call.kernel.space_mut().barriers;
    let needed = match command {
        QUERY => return Ok(COMMANDS.into()),
        PRIVATE_EXPEDITED => REGISTER_PRIVATE_EXPEDITED,
        PRIVATE_EXPEDITED_SYNC_CORE => REGISTER_PRIVATE_EXPEDITED_SYNC_CORE,
        _ => 0,
    };
    if *barriers & needed != needed {
        return Err(EPERM.into());
    }
    if matches!(command, REGISTER_PRIVATE_EXPEDITED | REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) {
        *barriers |= command;
    }
    Ok(0)
}

pub(super) fn personality(call: &mut Call<'_>) -> CallResult {
    let process = call.kernel.process_mut();
    let before = process.personality;
    if call.x[0] as u32 != u32::MAX {
        process.personality = call.x[0] as u32;
    }
    Ok(before.into())
}

/// Reads the header of `capget` or `capset` and returns the ID of the process, or `None` if the version is unknown. The known one
/// is then written to the header.
fn capability_header(call: &mut Call<'_>) -> Result<Option<u32>, Failure> {
    /// `_LINUX_CAPABILITY_VERSION_3`.
    const VERSION: u32 = 0x2008_0522;
    let header = call.x[0];
    let (version, process) = (call.guest.read_u32(header)?, call.guest.read_u32(header.wrapping_add(4))?);
    if version == VERSION {
        return Ok(Some(process));
    }
    call.guest.write(header, &VERSION.to_le_bytes())?;
    Ok(None)
}

pub(super) fn capget(call: &mut Call<'_>) -> CallResult {
    let data = call.x[1];
    let Some(process) = capability_header(call)? else {
        return if data == 0 { Ok(0) } else { Err(EINVAL.into()) };
    };
    call.known_process(process.into())?;
    // Root has all capabilities: effective, permitted, and none that is inherited.
    let all = [[u32::MAX, u32::MAX, 0], [0x1ff, 0x1ff, 0]];
    call.guest
        .write_optional(data, &all.concat().into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
    Ok(0)
}

pub(super) fn capset(call: &mut Call<'_>) -> CallResult {
    let process = capability_header(call)?.ok_or(EINVAL)?;
    if process != 0 && process != call.kernel.turns.current {
        // A thread has only its own capabilities.
        return Err(EPERM.into());
    }
    call.guest.read(call.x[1], 24)?;
    Ok(0)
}

/// `setuid` and `setgid`: everything runs as root, so only an ID that is none fails.
pub(super) fn set_id(call: &mut Call<'_>) -> CallResult {
    if call.x[0] as u32 == u32::MAX { Err(EINVAL.into()) } else { Ok(0) }
}

pub(super) fn sethostname(call: &mut Call<'_>) -> CallResult {
    call.guest.read(call.x[0], call.x[1].min(64))?;
    Ok(0)
}
