//! Copying files of a lane to a directory of the host.

use std::io;

use cap_std::fs::Dir;

use super::files::{Files, InodeNumber, Kind};
use super::mount::DEPTH_MAX;

/// Writes the files and directories below `directory` to `host`.
///
/// Skips symbolic links, devices, sockets and named pipes, so that nothing a guest has created leads elsewhere on the host.
pub(super) fn save(files: &Files, directory: InodeNumber, host: &Dir, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("directories are nested more than 64 levels deep"));
    }
    let list = files
        .list(directory)
        .map_err(|_| io::Error::other("the guest's directory does not exist any more"))?;
    for (name, number) in list.into_iter().filter(|(name, _)| !matches!(&name[..], b"." | b"..")) {
        let name = String::from_utf8_lossy(&name).into_owned();
        match files.inode(number).map(|inode| &inode.kind) {
            Some(Kind::File(data)) => host.write(&name, &data[..])?,
            Some(Kind::Directory { .. }) => {
                host.create_dir(&name)?;
                save(files, number, &host.open_dir(&name)?, depth + 1)?;
            }
            Some(Kind::Symlink(_) | Kind::Device(_) | Kind::Socket | Kind::Fifo) | None => {}
        }
    }
    Ok(())
}
