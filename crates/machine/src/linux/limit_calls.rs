//! System calls on resource limits, and the limits that other calls check.

use super::call::Call;
use super::descriptors::DESCRIPTORS_MAX;
use super::errno::{EFBIG, EINVAL, EPERM, ESRCH};
use super::failure::{CallResult, Failure};
use super::fields::u64_at;
use super::kernel::Kernel;
use super::limits::{Limit, Limits, Resource};
use super::signals::{SIGXFSZ, siginfo};

impl Call<'_> {
    /// Reads a `struct rlimit`; `None` if the address is 0.
    fn limit_at(&mut self, address: u64) -> Result<Option<Limit>, Failure> {
        if address == 0 {
            return Ok(None);
        }
        let raw: [u8; 16] = self.guest.array(address)?;
        Ok(Some(Limit { soft: u64_at(&raw, 0), hard: u64_at(&raw, 8) }))
    }

    /// Writes the limits of a process on a resource to an address unless it is 0, and replaces them if there are new ones.
    fn exchange_limit(&mut self, process: u32, resource: u64, new: Option<Limit>, old: u64) -> CallResult {
        let resource = u64::from(resource as u32);
        let process = self.kernel.processes.get_mut(&process).ok_or(ESRCH)?;
        let before = *process.limits.numbered(resource).ok_or(EINVAL)?;
        if let Some(new) = new {
            if new.soft > new.hard {
                return Err(EINVAL.into());
            }
            if resource == Resource::OpenFiles as u64 && new.hard > DESCRIPTORS_MAX {
                return Err(EPERM.into());
            }
        }
        let written = self.guest.write_optional(old, &rlimit(before));
        // As on Linux, a bad address does not keep the limits as they are.
        if let Err(failure @ (Failure::Stop(_) | Failure::Engine(_))) = written {
            return Err(failure);
        }
        if let Some(new) = new
            && let Some(limit) = process.limits.numbered(resource)
        {
            // The process runs as root, which may raise hard limits.
            *limit = new;
            self.kernel.note_limits();
        }
        written.map(|()| 0)
    }

    /// Returns how many of `bytes` bytes a process may write to a file from a position on. If it may write none, it gets SIGXFSZ.
    pub(super) fn writable_bytes(&mut self, position: u64, bytes: u64) -> Result<u64, Failure> {
        let limit = self.kernel.process().limits.soft(Resource::FileBytes);
        if bytes == 0 || position < limit {
            return Ok(bytes.min(limit.saturating_sub(position)));
        }
        let (thread, info) = (self.kernel.turns.current, siginfo(SIGXFSZ, 0, 0));
        self.kernel.send_to_thread(thread, SIGXFSZ, info)?;
        Err(EFBIG.into())
    }

    /// Checks that a process may extend a file with `before` bytes to `bytes` bytes. If it may not, it gets SIGXFSZ.
    pub(super) fn check_file_bytes(&mut self, before: u64, bytes: u64) -> Result<(), Failure> {
        if bytes > before { self.writable_bytes(bytes - 1, 1).map(drop) } else { Ok(()) }
    }
}

impl Kernel {
    /// Tells the executor whether the limits of the current process are other than those of the machine, which it knows.
    pub(super) fn note_limits(&mut self) {
        let is_changed = self.process().limits != Limits::new(self.settings.areas.stack_bytes);
        self.state.limits_changed = u32::from(is_changed);
    }
}

const fn rlimit(limit: Limit) -> [u8; 16] {
    let mut out = [0; 16];
    let (soft, hard) = out.split_at_mut(8);
    soft.copy_from_slice(&limit.soft.to_le_bytes());
    hard.copy_from_slice(&limit.hard.to_le_bytes());
    out
}

pub(super) fn getrlimit(call: &mut Call<'_>) -> CallResult {
    let [resource, address, ..] = call.x;
    // Unlike `prlimit64`, it has no address that stands for none.
    call.guest.writable(address, 16)?;
    call.exchange_limit(call.kernel.process_id(), resource, None, address)
}

pub(super) fn setrlimit(call: &mut Call<'_>) -> CallResult {
    let raw: [u8; 16] = call.guest.array(call.x[1])?;
    let new = Limit { soft: u64_at(&raw, 0), hard: u64_at(&raw, 8) };
    call.exchange_limit(call.kernel.process_id(), call.x[0], Some(new), 0)
}

pub(super) fn prlimit64(call: &mut Call<'_>) -> CallResult {
    let [id, resource, new, old, ..] = call.x;
    let new = call.limit_at(new)?;
    let process = match id as u32 {
        0 => call.kernel.process_id(),
        id => call.kernel.threads.get(&id).map_or(id, |thread| thread.process),
    };
    call.exchange_limit(process, resource, new, old)
}
