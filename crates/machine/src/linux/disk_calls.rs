//! System calls that write files to the disk or read them ahead. Files are in memory, so the calls only check their arguments.

use super::call::Call;
use super::errno::{EBADF, EINVAL, ESPIPE};
use super::failure::{CallResult, Failure};
use super::files::Kind;
use super::open_files::{Description, O_PATH};

impl Call<'_> {
    /// Returns the open file description of a descriptor that does more than to name a file.
    pub(super) fn opened_file(&self, descriptor: u64) -> Result<&Description, Failure> {
        let open = self.kernel.description(descriptor)?;
        if open.flags & O_PATH != 0 { Err(EBADF.into()) } else { Ok(open) }
    }
}

pub(super) fn fsync(call: &mut Call<'_>) -> CallResult {
    let open = call.opened_file(call.x[0])?;
    let kind = call.inode_of(open).map(|inode| &inode.kind);
    if matches!(kind, Some(Kind::File(_) | Kind::Directory { .. })) { Ok(0) } else { Err(EINVAL.into()) }
}

pub(super) fn syncfs(call: &mut Call<'_>) -> CallResult {
    call.opened_file(call.x[0])?;
    Ok(0)
}

pub(super) fn sync_file_range(call: &mut Call<'_>) -> CallResult {
    /// `SYNC_FILE_RANGE_WAIT_BEFORE`, `SYNC_FILE_RANGE_WRITE`, `SYNC_FILE_RANGE_WAIT_AFTER`.
    const FLAGS: u32 = 7;
    let [descriptor, offset, bytes, flags, ..] = call.x;
    let open = call.opened_file(descriptor)?;
    let end = offset.checked_add(bytes).filter(|end| offset.max(bytes).max(*end) <= i64::MAX as u64);
    if flags as u32 & !FLAGS != 0 || end.is_none() {
        return Err(EINVAL.into());
    }
    let kind = call.inode_of(open).map(|inode| &inode.kind);
    let is_file = matches!(kind, Some(Kind::File(_) | Kind::Directory { .. } | Kind::Symlink(_)));
    if is_file { Ok(0) } else { Err(ESPIPE.into()) }
}

pub(super) fn readahead(call: &mut Call<'_>) -> CallResult {
    let open = call.kernel.description(call.x[0])?;
    if !open.is_readable() {
        return Err(EBADF.into());
    }
    let kind = call.inode_of(open).map(|inode| &inode.kind);
    if matches!(kind, Some(Kind::File(_))) { Ok(0) } else { Err(EINVAL.into()) }
}

pub(super) fn fadvise64(call: &mut Call<'_>) -> CallResult {
    /// The last advice, `POSIX_FADV_NOREUSE`; the first is 0.
    const ADVICE_MAX: u32 = 5;
    let [descriptor, _, bytes, advice, ..] = call.x;
    let open = call.opened_file(descriptor)?;
    if open.object.pipe().is_some() {
        return Err(ESPIPE.into());
    }
    if bytes > i64::MAX as u64 || advice as u32 > ADVICE_MAX {
        return Err(EINVAL.into());
    }
    Ok(0)
}
