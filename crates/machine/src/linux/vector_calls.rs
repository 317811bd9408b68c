//! System calls that read and write several buffers.

use super::call::Call;
use super::errno::EOPNOTSUPP;
use super::failure::{CallResult, Failure};
use super::open_files::{O_APPEND, O_NONBLOCK};

pub(super) fn readv(call: &mut Call<'_>) -> CallResult {
    let buffers = call.guest.iovecs(call.x[1], call.x[2])?;
    call.read_into(call.x[0], &buffers, None)
}

pub(super) fn writev(call: &mut Call<'_>) -> CallResult {
    let buffers = call.guest.iovecs(call.x[1], call.x[2])?;
    call.write_from(call.x[0], &buffers, None)
}

pub(super) fn preadv(call: &mut Call<'_>) -> CallResult {
    let (at, buffers) = (call.position(3)?, call.guest.iovecs(call.x[1], call.x[2])?);
    call.read_into(call.x[0], &buffers, at)
}

pub(super) fn pwritev(call: &mut Call<'_>) -> CallResult {
    let (at, buffers) = (call.position(3)?, call.guest.iovecs(call.x[1], call.x[2])?);
    call.write_from(call.x[0], &buffers, at)
}

/// The flags of `preadv2` and `pwritev2`. `RWF_HIPRI`, `RWF_DSYNC` and `RWF_SYNC` change nothing that a process can observe.
const RWF_ALL: u32 = 0b1_1111;
const RWF_NOWAIT: u32 = 8;
const RWF_APPEND: u32 = 16;

/// Returns the status flags that the flags of the call add to those of its descriptor.
fn status_flags(call: &Call<'_>) -> Result<u32, Failure> {
    let flags = call.x[5] as u32;
    if flags & !RWF_ALL != 0 {
        return Err(EOPNOTSUPP.into());
    }
    let status = |flag, status| if flags & flag != 0 { status } else { 0 };
    Ok(status(RWF_NOWAIT, O_NONBLOCK) | status(RWF_APPEND, O_APPEND))
}

pub(super) fn preadv2(call: &mut Call<'_>) -> CallResult {
    let has_position = call.x[3] != u64::MAX;
    let flags = status_flags(call)?;
    call.with_flags([call.x[0]; 2], flags, if has_position { preadv } else { readv })
}

pub(super) fn pwritev2(call: &mut Call<'_>) -> CallResult {
    let has_position = call.x[3] != u64::MAX;
    let flags = status_flags(call)?;
    call.with_flags([call.x[0]; 2], flags, if has_position { pwritev } else { writev })
}
