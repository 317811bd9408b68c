//! System calls on futexes.

use super::call::{Call, Interrupted};
use super::errno::{EAGAIN, EINVAL, ENOSYS, ETIMEDOUT};
use super::failure::{CallResult, Failure};
use super::wait::{Event, Woken};

/// The operation of `futex` that wakes waiters.
pub(super) const FUTEX_WAKE: u64 = 1;
/// The part of the operation without `FUTEX_PRIVATE_FLAG` and `FUTEX_CLOCK_REALTIME`.
pub(super) const FUTEX_COMMAND: u64 = 0x7f;

pub(super) fn futex(call: &mut Call<'_>) -> CallResult {
    const WAIT: u64 = 0;
    const REQUEUE: u64 = 3;
    const CMP_REQUEUE: u64 = 4;
    const WAKE_OP: u64 = 5;
    const WAIT_BITSET: u64 = 9;
    const WAKE_BITSET: u64 = 10;
    const FUTEX_PRIVATE: u64 = 0x80;
    const CLOCK_REALTIME: u64 = 0x100;
    let [address, operation, value, timeout, other, third] = call.x;
    if !address.is_multiple_of(4) {
        return Err(EINVAL.into());
    }
    // Counts are signed; as on Linux, at least one thread is woken.
    let count = |count: u64| u64::from((count as i32).max(1) as u32);
    let is_private = operation & FUTEX_PRIVATE != 0;
    let [key, other_key] = [address, other].map(|address| call.kernel.futex_key(address, is_private));
    match operation & FUTEX_COMMAND {
        command @ (WAIT | WAIT_BITSET) => {
            let bits = if command == WAIT { u32::MAX } else { third as u32 };
            if bits == 0 {
                return Err(EINVAL.into());
            }
            if let Some((Woken::Event, _)) = call.woken {
                return Ok(0);
            }
            let timeout = call.optional_duration(timeout)?;
            let now = if operation & CLOCK_REALTIME != 0 { call.now() } else { call.uptime() };
            let timeout =
                timeout.map(|timeout| if command == WAIT { timeout } else { timeout.saturating_sub(now) });
            if call.woken.is_none() && call.guest.read_u32(address)? != value as u32 {
                return Err(EAGAIN.into());
            }
            let deadline = call.deadline(timeout);
            let interrupted = if deadline.is_some() { Interrupted::Fails } else { Interrupted::Restarts };
            let event = Event::Futex { key, bits };
            call.wait(event, deadline, interrupted)?;
            Err(ETIMEDOUT.into())
        }
        FUTEX_WAKE => {
            call.guest.read_u32(address)?;
            Ok(call.kernel.wake_futex(key, count(value), u32::MAX))
        }
        WAKE_BITSET if third as u32 == 0 => Err(EINVAL.into()),
        WAKE_BITSET => {
            call.guest.read_u32(address)?;
            Ok(call.kernel.wake_futex(key, count(value), third as u32))
        }
        command @ (REQUEUE | CMP_REQUEUE) => {
            if (value as i32) < 0 || (timeout as i32) < 0 || !other.is_multiple_of(4) {
                return Err(EINVAL.into());
            }
            if command == CMP_REQUEUE && call.guest.read_u32(address)? != third as u32 {
                return Err(EAGAIN.into());
            }
            call.guest.read_u32(other)?;
            let woken = call.kernel.wake_futex(key, u64::from(value as u32), u32::MAX);
            let moved = call.kernel.requeue_futex(key, other_key, u64::from(timeout as u32));
            Ok(woken + if command == CMP_REQUEUE { moved } else { 0 })
        }
        WAKE_OP => {
            if !other.is_multiple_of(4) {
                return Err(EINVAL.into());
            }
            let before = call.change_word(other, third as u32)?;
            let woken = call.kernel.wake_futex(key, count(value), u32::MAX);
            let others = if compares(before, third as u32)? {
                call.kernel.wake_futex(other_key, count(timeout), u32::MAX)
            } else {
                0
            };
            Ok(woken + others)
        }
        _ => Err(ENOSYS.into()),
    }
}

/// Returns a 12-bit field of the operation of `FUTEX_WAKE_OP`, which is signed.
const fn field(operation: u32, low: u32) -> i32 {
    ((operation >> low) << 20) as i32 >> 20
}

/// Returns whether the condition of `FUTEX_WAKE_OP` holds for the value of a word before its change.
fn compares(before: u32, operation: u32) -> Result<bool, Failure> {
    let (before, argument) = (before as i32, field(operation, 0));
    Ok(match operation >> 24 & 0xf {
        0 => before == argument,
        1 => before != argument,
        2 => before < argument,
        3 => before <= argument,
        4 => before > argument,
        5 => before >= argument,
        _ => return Err(ENOSYS.into()),
    })
}

impl Call<'_> {
    /// Changes a word as `FUTEX_WAKE_OP` says, and returns its value before.
    fn change_word(&mut self, address: u64, operation: u32) -> Result<u32, Failure> {
        /// The argument is the number of a bit.
        const OPARG_SHIFT: u32 = 8;
        let code = operation >> 28;
        let argument = field(operation, 12);
        let argument = if code & OPARG_SHIFT == 0 {
            argument as u32
        } else {
            1_u32.checked_shl(argument as u32).ok_or(EINVAL)?
        };
        let before = self.guest.read_u32(address)?;
        let after = match code & 7 {
            0 => argument,
            1 => before.wrapping_add(argument),
            2 => before | argument,
            3 => before & !argument,
            4 => before ^ argument,
            _ => return Err(ENOSYS.into()),
        };
        compares(before, operation)?;
        self.guest.write(address, &after.to_le_bytes())?;
        Ok(before)
    }
}
