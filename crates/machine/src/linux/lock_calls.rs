//! System calls that lock files.

use super::call::{Call, Interrupted};
use super::errno::{EAGAIN, EBADF, EDEADLK, EINVAL, EOVERFLOW};
use super::failure::{CallResult, Failure};
use super::fields::u64_at;
use super::files::InodeNumber;
use super::kernel::Kernel;
use super::locks::{Lock, Owner};
use super::open_files::{O_PATH, Object};
use super::wait::{Event, Wait};

const F_RDLCK: u16 = 0;
const F_WRLCK: u16 = 1;
const F_UNLCK: u16 = 2;

/// A request of `fcntl`: the file, the lock, and whether it is removed.
struct Request {
    /// `None` if the descriptor is no file with an inode, on which every lock is granted.
    number: Option<InodeNumber>,
    lock: Lock,
    kind: u16,
}

pub(super) fn flock(call: &mut Call<'_>) -> CallResult {
    const LOCK_SH: u32 = 1;
    const LOCK_EX: u32 = 2;
    const LOCK_NB: u32 = 4;
    const LOCK_UN: u32 = 8;
    let [descriptor, operation, ..] = call.x;
    let operation = operation as u32;
    let description = call.kernel.opened(descriptor)?;
    let kind = operation & !LOCK_NB;
    if !matches!(kind, LOCK_SH | LOCK_EX | LOCK_UN) {
        return Err(EINVAL.into());
    }
    let open = call.kernel.open.get(description)?;
    if open.flags & O_PATH != 0 {
        return Err(EBADF.into());
    }
    let Object::Inode(number) = open.object else { return Ok(0) };
    let owner = Owner::Description(description);
    let lock = Lock { owner, is_whole: true, is_exclusive: kind == LOCK_EX, first: 0, last: u64::MAX };
    if kind == LOCK_UN {
        call.kernel.open.locks.unlock(number, &lock);
        return Ok(0);
    }
    // As on Linux, another kind of lock is given back before the new one is taken.
    call.kernel.open.locks.unlock(number, &lock);
    call.take_lock(number, lock, operation & LOCK_NB == 0)
}

impl Call<'_> {
    /// Takes a lock, or waits until nothing excludes it.
    fn take_lock(&mut self, number: InodeNumber, lock: Lock, waits: bool) -> CallResult {
        if self.kernel.open.locks.conflict(number, &lock).is_none() {
            self.kernel.open.locks.lock(number, lock)?;
            return Ok(0);
        }
        if !waits {
            return Err(EAGAIN.into());
        }
        if self.kernel.would_deadlock(number, &lock) {
            return Err(EDEADLK.into());
        }
        let event = Event::Lock { number, wanted: lock };
        Err(self.wait(event, None, Interrupted::Restarts).err().unwrap_or(Failure::Errno(EAGAIN)))
    }

    /// Reads a `struct flock`.
    fn lock_request(
        &mut self,
        descriptor: u64,
        is_of_description: bool,
        address: u64,
    ) -> Result<Request, Failure> {
        let raw: [u8; 32] = self.guest.array(address)?;
        let half = |at: usize| u16::from_le_bytes([raw[at], raw[at + 1]]);
        let word = |at| u64_at(&raw, at) as i64;
        let (kind, whence, start, bytes) = (half(0), half(2), word(8), word(16));
        let owner = if is_of_description {
            if raw[24..28] != [0; 4] {
                return Err(EINVAL.into());
            }
            Owner::Description(self.kernel.opened(descriptor)?)
        } else {
            Owner::Process(self.kernel.process_id())
        };
        let open = self.kernel.description(descriptor)?;
        let number = match open.object {
            Object::Inode(number) => Some(number),
            _ => None,
        };
        let base = match whence {
            0 => 0,
            1 => open.position as i64,
            2 => number
                .and_then(|number| self.kernel.files.inode(number))
                .map_or(0, |inode| inode.bytes() as i64),
            _ => return Err(EINVAL.into()),
        };
        let start = base.checked_add(start).ok_or(EOVERFLOW)?;
        let (first, last) = match bytes {
            0 => (start, i64::MAX),
            1.. => (start, start.checked_add(bytes - 1).ok_or(EOVERFLOW)?),
            _ => (start.checked_add(bytes).ok_or(EINVAL)?, start - 1),
        };
        if first < 0 || kind > F_UNLCK {
            return Err(EINVAL.into());
        }
        let (first, last) = (first as u64, last as u64);
        let lock = Lock { owner, is_whole: false, is_exclusive: kind == F_WRLCK, first, last };
        Ok(Request { number, lock, kind })
    }

    /// Serves `F_SETLK` and `F_SETLKW`, and those of open file descriptions.
    pub(super) fn set_lock(
        &mut self,
        descriptor: u64,
        is_of_description: bool,
        waits: bool,
        address: u64,
    ) -> CallResult {
        let Request { number, lock, kind } = self.lock_request(descriptor, is_of_description, address)?;
        let open = self.kernel.description(descriptor)?;
        if kind == F_RDLCK && !open.is_readable() || kind == F_WRLCK && !open.is_writable() {
            return Err(EBADF.into());
        }
        let Some(number) = number else { return Ok(0) };
        if kind == F_UNLCK {
            self.kernel.open.locks.unlock(number, &lock);
            return Ok(0);
        }
        self.take_lock(number, lock, waits)
    }

    /// Serves `F_GETLK`: writes the first lock that excludes the one that is asked for.
    pub(super) fn find_lock(&mut self, descriptor: u64, is_of_description: bool, address: u64) -> CallResult {
        let Request { number, lock, kind } = self.lock_request(descriptor, is_of_description, address)?;
        if kind == F_UNLCK {
            return Err(EINVAL.into());
        }
        let found = number.and_then(|number| self.kernel.open.locks.conflict(number, &lock).copied());
        let Some(found) = found else {
            self.guest.write(address, &F_UNLCK.to_le_bytes())?;
            return Ok(0);
        };
        let mut raw = [0; 32];
        raw[..2].copy_from_slice(&(if found.is_exclusive { F_WRLCK } else { F_RDLCK }).to_le_bytes());
        let bytes = if found.last == i64::MAX as u64 { 0 } else { found.last - found.first + 1 };
        let process = if let Owner::Process(process) = found.owner { process } else { u32::MAX };
        raw[8..16].copy_from_slice(&found.first.to_le_bytes());
        raw[16..24].copy_from_slice(&bytes.to_le_bytes());
        raw[24..28].copy_from_slice(&process.to_le_bytes());
        self.guest.write(address, &raw)?;
        Ok(0)
    }
}

impl Kernel {
    /// Returns whether a process would wait for itself: the holder of a lock waits for one of a process that waits for one of the first.
    fn would_deadlock(&self, number: InodeNumber, wanted: &Lock) -> bool {
        let Owner::Process(_) = wanted.owner else { return false };
        let mut blocker = self.open.locks.conflict(number, wanted).map(|lock| lock.owner);
        // Each process waits for one lock at most; a longer chain goes in a circle without this process.
        for _ in 0..self.threads.len() {
            let Some(owner @ Owner::Process(_)) = blocker else { return false };
            if owner == wanted.owner {
                return true;
            }
            blocker = self.threads.values().find_map(|thread| match &thread.wait {
                Some(Wait { event: Event::Lock { number, wanted }, .. }) if wanted.owner == owner => {
                    self.open.locks.conflict(*number, wanted).map(|lock| lock.owner)
                }
                _ => None,
            });
        }
        false
    }
}
