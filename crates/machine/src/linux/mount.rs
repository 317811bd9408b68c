//! The initial file system of lanes, with directories mounted from the host.
//!
//! Mounted directories are read once, when the machine is built, so lanes see the same contents whenever they look.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::files::{Device, Files, Inode, InodeNumber, Kind, Place, ROOT};
use super::settings::EPOCH;
use crate::error::Error;

/// The limit on the size of all files of one mounted directory together.
const MOUNT_BYTES_MAX: u64 = 1 << 30;
/// The limit on the nesting depth of directories.
pub(super) const DEPTH_MAX: usize = 64;

/// A directory of the host that is copied into the file system of each lane when the machine is built.
///
/// ```
/// use kvrm_machine::linux::Mount;
///
/// let mount = Mount { host: "docs".into(), guest: "/docs".to_owned(), writable: false };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The path on the host.
    pub host: PathBuf,
    /// The absolute path at which guests see it, without `.` and `..`.
    pub guest: String,
    /// Whether lanes may change their copies. The directory of the host never changes.
    pub writable: bool,
}

/// Builds the file system that all lanes start with: standard directories and devices, `/proc/self/exe`, and mounts.
///
/// Private files of a lane may hold `room` bytes.
///
/// # Errors
/// [`Error::Mount`] if a directory cannot be mounted.
pub(crate) fn initial_files(program: &str, mounts: &[Mount], room: u64) -> Result<Files, Error> {
    let mut files = base(program, room);
    mounts.iter().try_for_each(|mount| mount_directory(&mut files, mount))?;
    Ok(files.share())
}

const fn directory() -> Kind {
    Kind::Directory { entries: BTreeMap::new(), parent: ROOT }
}

/// Adds an inode at the path `name` below `parent` and returns its number, or that of an existing inode.
///
/// On failure, such as a full tree, it adds nothing and returns `parent`.
fn ensure(files: &mut Files, parent: InodeNumber, name: &str, inode: Inode) -> InodeNumber {
    let found = files.walk(parent, name.as_bytes(), false);
    match found {
        Ok(Place { inode: Some(number), .. }) => number,
        Ok(place) => files.add(&place, inode).unwrap_or(parent),
        Err(_) => parent,
    }
}

/// Builds the standard directories, the devices, and the link `/proc/self/exe`.
fn base(program: &str, room: u64) -> Files {
    let mut files = Files::new(room);
    let make = |kind, mode| Inode::new(kind, mode, EPOCH);
    for name in ["bin", "dev", "etc", "home", "proc", "root", "usr", "var"] {
        ensure(&mut files, ROOT, name, make(directory(), 0o755));
    }
    ensure(&mut files, ROOT, "tmp", make(directory(), 0o1777));
    ensure(&mut files, ROOT, "proc/self", make(directory(), 0o555));
    let executable = Kind::Symlink(executable_path(program).into_bytes());
    ensure(&mut files, ROOT, "proc/self/exe", make(executable, 0o777));
    let devices = [
        ("null", Device::Null),
        ("zero", Device::Zero),
        ("full", Device::Full),
        ("random", Device::Random),
        ("urandom", Device::Random),
    ];
    for (name, device) in devices {
        ensure(&mut files, ROOT, &format!("dev/{name}"), make(Kind::Device(device), 0o666));
    }
    files
}

/// Returns the guest path of a program: that of `AT_EXECFN` and `/proc/self/exe`.
pub(super) fn executable_path(program: &str) -> String {
    format!("/bin/{program}")
}

/// Copies a directory of the host into the tree.
fn mount_directory(files: &mut Files, mount: &Mount) -> Result<(), Error> {
    let fail = |source| Error::Mount { host: mount.host.clone(), guest: mount.guest.clone(), source };
    let invalid = |reason: &str| fail(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason));
    if !mount.guest.starts_with('/') {
        return Err(invalid("the guest path must begin with a slash"));
    }
    let host = Dir::open_ambient_dir(&mount.host, ambient_authority()).map_err(fail)?;
    let mut at = ROOT;
    for name in mount.guest.split('/').filter(|name| !name.is_empty()) {
        if matches!(name, "." | "..") {
            return Err(invalid("the guest path must not contain . or .."));
        }
        at = ensure(files, at, name, Inode::new(directory(), 0o755, EPOCH));
    }
    let mut copier = Copier { files, bytes_left: MOUNT_BYTES_MAX, read_only: !mount.writable };
    copier.copy(at, &host, Path::new(""), 0).map_err(fail)?;
    if !mount.writable
        && at != ROOT
        && let Ok(inode) = files.inode_mut(at)
    {
        inode.read_only = true;
    }
    Ok(())
}

/// The state of copying one directory of the host.
struct Copier<'a> {
    files: &'a mut Files,
    /// The number of bytes that the remaining files may have.
    bytes_left: u64,
    /// Whether lanes cannot change the copies.
    read_only: bool,
}

impl Copier<'_> {
    /// Copies the files, directories and symbolic links of a host directory; skips anything else.
    ///
    /// Links are copied as links, so they are only ever followed in the guest's tree.
    fn copy(&mut self, at: InodeNumber, host: &Dir, path: &Path, depth: usize) -> std::io::Result<()> {
        let too_much = |what: &str| std::io::Error::other(format!("{}: {what}", path.display()));
        if depth > DEPTH_MAX {
            return Err(too_much("directories are nested more than 64 levels deep"));
        }
        let mut entries = host.entries()?.collect::<Result<Vec<_>, _>>()?;
        // The host lists entries in no particular order; sort them so that inode numbers are reproducible.
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
            let inode = |kind, mode| Inode { read_only, ..Inode::new(kind, mode, time) };
            let kind = metadata.file_type();
            if kind.is_symlink() {
                // The target is copied unchecked, because it is never followed on the host.
                let target = host.read_link_contents(&name)?;
                let target = target.to_string_lossy().into_owned().into_bytes();
                ensure(self.files, at, &text, inode(Kind::Symlink(target), 0o777));
            } else if kind.is_dir() {
                let empty = Inode { read_only: false, ..inode(directory(), 0o755) };
                let inside = ensure(self.files, at, &text, empty);
                self.copy(inside, &entry.open_dir()?, &path, depth + 1)?;
                if let Ok(directory) = self.files.inode_mut(inside) {
                    directory.times = [time; 3];
                    directory.read_only = read_only;
                }
            } else if kind.is_file() {
                let mut data = Vec::new();
                entry.open()?.take(self.bytes_left + 1).read_to_end(&mut data)?;
                let left = self.bytes_left.checked_sub(data.len() as u64);
                self.bytes_left = left.ok_or_else(|| too_much("the mounted files exceed 1 GiB in total"))?;
                ensure(self.files, at, &text, inode(Kind::File(Arc::new(data)), mode(&metadata)));
            }
        }
        Ok(())
    }
}

/// Returns the permission bits of a host file.
#[cfg(unix)]
fn mode(metadata: &cap_std::fs::Metadata) -> u32 {
    use cap_std::fs::MetadataExt as _;
    metadata.mode() & 0o777
}

/// Returns default permission bits, because the host has none.
#[cfg(not(unix))]
fn mode(_: &cap_std::fs::Metadata) -> u32 {
    0o755
}
