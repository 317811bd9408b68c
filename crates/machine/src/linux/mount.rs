//! The tree lanes begin with, and directories of the host in it.
//!
//! What is mounted is read once, when the machine is built, so that what lanes see does not depend on when they look.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::files::{Device, Files, Kind, Node, Number, Place, ROOT};
use super::settings::EPOCH;
use crate::error::Error;

/// How many bytes all files of one mounted directory may have.
const MOUNT_BYTES_MAX: u64 = 1 << 30;
/// How deep directories may lie in each other.
pub(super) const DEPTH_MAX: usize = 64;

/// A directory of the host that guests see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where guests see it: an absolute path.
    pub guest: String,
    /// Whether each lane may change what it sees. The host's directory stays as it is.
    pub writable: bool,
}

/// The tree all lanes begin with: a few directories and devices, the program's name, and what is mounted.
///
/// # Errors
/// If a directory cannot be mounted.
pub(crate) fn files(program: &str, mounts: &[Mount], room: u64) -> Result<Files, Error> {
    let mut files = base(program, room);
    mounts.iter().try_for_each(|mount| add(&mut files, mount))?;
    Ok(files.share())
}

const fn directory() -> Kind {
    Kind::Directory { names: BTreeMap::new(), parent: ROOT }
}

/// Adds a node below another. The trees that are built here have room, and no name twice.
fn put(files: &mut Files, parent: Number, name: &str, node: Node) -> Number {
    let found = files.walk(parent, name.as_bytes(), false);
    match found {
        Ok(Place { node: Some(number), .. }) => number,
        Ok(place) => files.add(&place, node).unwrap_or(parent),
        Err(_) => parent,
    }
}

/// Directories, devices, and the name of the program.
fn base(program: &str, room: u64) -> Files {
    let mut files = Files::new(room);
    let make = |kind, mode| Node::new(kind, mode, EPOCH);
    for name in ["bin", "dev", "etc", "home", "proc", "root", "usr", "var"] {
        put(&mut files, ROOT, name, make(directory(), 0o755));
    }
    put(&mut files, ROOT, "tmp", make(directory(), 0o1777));
    put(&mut files, ROOT, "proc/self", make(directory(), 0o555));
    let executable = Kind::Link(executable(program).into_bytes());
    put(&mut files, ROOT, "proc/self/exe", make(executable, 0o777));
    let devices = [
        ("null", Device::Null),
        ("zero", Device::Zero),
        ("full", Device::Full),
        ("random", Device::Random),
        ("urandom", Device::Random),
    ];
    for (name, device) in devices {
        put(&mut files, ROOT, &format!("dev/{name}"), make(Kind::Device(device), 0o666));
    }
    files
}

/// The path a program is told it has.
pub(super) fn executable(program: &str) -> String {
    format!("/bin/{program}")
}

/// Adds a directory of the host.
fn add(files: &mut Files, mount: &Mount) -> Result<(), Error> {
    let fail = |source| Error::Mount { host: mount.host.clone(), guest: mount.guest.clone(), source };
    let invalid = |reason: &str| fail(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason));
    if !mount.guest.starts_with('/') {
        return Err(invalid("the path in the guest has to begin with a slash"));
    }
    let host = Dir::open_ambient_dir(&mount.host, ambient_authority()).map_err(fail)?;
    let mut at = ROOT;
    for name in mount.guest.split('/').filter(|name| !name.is_empty()) {
        if matches!(name, "." | "..") {
            return Err(invalid("the path in the guest must not have . or .. in it"));
        }
        at = put(files, at, name, Node::new(directory(), 0o755, EPOCH));
    }
    let mut copier = Copier { files, left: MOUNT_BYTES_MAX, read_only: !mount.writable };
    copier.copy(at, &host, Path::new(""), 0).map_err(fail)?;
    if !mount.writable
        && at != ROOT
        && let Ok(node) = files.change(at)
    {
        node.read_only = true;
    }
    Ok(())
}

/// What copies directories of the host.
struct Copier<'a> {
    files: &'a mut Files,
    /// How many bytes files may have that are still to come.
    left: u64,
    /// Whether nobody changes what is copied.
    read_only: bool,
}

impl Copier<'_> {
    /// Copies what a directory of the host holds: files, directories and links. Links stay what they are, and are
    /// followed in the guest's tree only; anything else is left out.
    fn copy(&mut self, at: Number, host: &Dir, path: &Path, depth: usize) -> std::io::Result<()> {
        let too_much = |what: &str| std::io::Error::other(format!("{}: {what}", path.display()));
        if depth > DEPTH_MAX {
            return Err(too_much("directories lie too deep in each other"));
        }
        let mut entries = host.entries()?.collect::<Result<Vec<_>, _>>()?;
        // The host's order is not always the same.
        entries.sort_by_key(cap_std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let (path, text) = (path.join(&name), name.to_string_lossy().into_owned());
            let metadata = entry.metadata()?;
            let time = metadata.modified().ok().and_then(|time| {
                let since = time.into_std().duration_since(std::time::UNIX_EPOCH).ok()?;
                u64::try_from(since.as_nanos()).ok()
            });
            let time = time.unwrap_or(EPOCH);
            let read_only = self.read_only;
            let node = |kind, mode| Node { read_only, ..Node::new(kind, mode, time) };
            let kind = metadata.file_type();
            if kind.is_symlink() {
                // Contents of a link are not followed, so that they may say anything.
                let target = host.read_link_contents(&name)?;
                let target = target.to_string_lossy().into_owned().into_bytes();
                put(self.files, at, &text, node(Kind::Link(target), 0o777));
            } else if kind.is_dir() {
                let empty = Node { read_only: false, ..node(directory(), 0o755) };
                let inside = put(self.files, at, &text, empty);
                self.copy(inside, &entry.open_dir()?, &path, depth + 1)?;
                if let Ok(directory) = self.files.change(inside) {
                    directory.times = [time; 3];
                    directory.read_only = read_only;
                }
            } else if kind.is_file() {
                let mut data = Vec::new();
                entry.open()?.take(self.left + 1).read_to_end(&mut data)?;
                let left = self.left.checked_sub(data.len() as u64);
                self.left = left.ok_or_else(|| too_much("more than 1 GiB to mount"))?;
                put(self.files, at, &text, node(Kind::File(Arc::new(data)), mode(&metadata)));
            }
        }
        Ok(())
    }
}

/// Permissions of a file of the host.
#[cfg(unix)]
fn mode(metadata: &cap_std::fs::Metadata) -> u32 {
    use cap_std::fs::MetadataExt as _;
    metadata.mode() & 0o777
}

/// Permissions of a file of the host, which knows no such thing.
#[cfg(not(unix))]
fn mode(_: &cap_std::fs::Metadata) -> u32 {
    0o755
}
