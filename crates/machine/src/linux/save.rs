//! Files of a lane, written to a directory of the host.

use std::io;

use cap_std::fs::Dir;

use super::files::{Files, Kind, Number};
use super::mount::DEPTH_MAX;

/// Writes what a directory holds: files and directories. Links and devices are left out, so that nothing that a guest has
/// made leads anywhere on the host.
pub(super) fn save(files: &Files, directory: Number, host: &Dir, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("directories lie too deep in each other"));
    }
    let list = files.list(directory).map_err(|_| io::Error::other("the directory is gone"))?;
    for (name, number) in list.into_iter().filter(|(name, _)| !matches!(&name[..], b"." | b"..")) {
        let name = String::from_utf8_lossy(&name).into_owned();
        match files.node(number).map(|node| &node.kind) {
            Some(Kind::File(data)) => host.write(&name, &data[..])?,
            Some(Kind::Directory { .. }) => {
                host.create_dir(&name)?;
                save(files, number, &host.open_dir(&name)?, depth + 1)?;
            }
            Some(Kind::Link(_) | Kind::Device(_)) | None => {}
        }
    }
    Ok(())
}
