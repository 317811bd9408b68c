//! The initial file system of lanes, with directories mounted from the host.
//!
//! Mounted directories are read once, when the machine is built, so lanes see the same contents whenever they look.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::defaults::add_defaults;
use super::errno::{ENOSPC, ENOTDIR, ENOTEMPTY, EROFS, Errno};
use super::files::{Device, Files, Inode, InodeNumber, Kind, ROOT};
use super::proc_node::{PROC, is_node};
use super::settings::EPOCH;
use crate::error::Error;
use crate::program::Program;

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

/// The properties of the file system of lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The number of bytes that private files of a lane may hold.
    pub(crate) room: u64,
    /// Whether there is a terminal.
    pub(crate) terminal: bool,
}

/// Builds the file system that all lanes start with: standard directories and devices, `/proc`, mounts, and the defaults of what is
/// still missing.
///
/// # Errors
/// [`Error::Mount`] if a directory cannot be mounted.
pub(crate) fn initial_files(
    program: &Program,
    executable: &str,
    mounts: &[Mount],
    options: Options,
) -> Result<Files, Error> {
    let mut files = base(options);
    mounts.iter().try_for_each(|mount| mount_directory(&mut files, mount))?;
    if !program.file.is_empty() {
        add_program(&mut files, executable, &program.file).map_err(|errno| {
            let source = std::io::Error::other(format!("it cannot be added, errno {}", errno.0));
            Error::Mount { host: PathBuf::from(&program.name), guest: executable.to_owned(), source }
        })?;
    }
    add_defaults(&mut files, EPOCH);
    Ok(files.share())
}

/// Adds the file of the program at its path, and the directories above it. It replaces a file that is there.
fn add_program(files: &mut Files, path: &str, file: &Arc<Vec<u8>>) -> Result<(), Errno> {
    let mut at = ROOT;
    let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let inode = if names.peek().is_some() {
            // A link leads to the directory.
            if let Some(number) = files.walk(at, name.as_bytes(), true)?.inode {
                at = number;
                continue;
            }
            Inode::new(directory(), 0o755, EPOCH)
        } else {
            Inode::new(Kind::File(Arc::clone(file)), 0o755, EPOCH)
        };
        at = add(files, at, name.as_bytes(), inode)?;
    }
    Ok(())
}

const fn directory() -> Kind {
    Kind::Directory { entries: BTreeMap::new(), parent: ROOT }
}

/// Adds an inode at the path `name` below `parent` and returns its number.
///
/// A directory that exists already stays. Anything else replaces what exists, unless that is a directory with entries.
fn add(files: &mut Files, parent: InodeNumber, name: &[u8], inode: Inode) -> Result<InodeNumber, Errno> {
    if is_node(parent) {
        return Err(ENOTEMPTY);
    }
    let mut place = files.walk(parent, name, false)?;
    if let Some(number) = place.inode {
        if is_node(number) {
            return if inode.is_directory() { Ok(number) } else { Err(ENOTEMPTY) };
        }
        let is_directory = files.inode(number).is_some_and(Inode::is_directory);
        if inode.is_directory() {
            return if is_directory { Ok(number) } else { Err(ENOTDIR) };
        }
        // The inode stays in the list of inodes, whose numbers are consecutive, but no path leads to it.
        files.remove(&place, is_directory, inode.times[1])?;
        place = files.walk(parent, name, false)?;
    }
    files.add(&place, inode)
}

/// Builds the standard directories, the devices, and `/proc`.
fn base(Options { room, terminal }: Options) -> Files {
    let mut files = Files::new(room);
    let added = files.add_nodes(b"proc", PROC, EPOCH);
    debug_assert!(added.is_ok(), "the new tree has room");
    let mut make = |path: &str, kind, mode| {
        let added = add(&mut files, ROOT, path.as_bytes(), Inode::new(kind, mode, EPOCH));
        debug_assert!(added.is_ok(), "{path}: {added:?}: the new tree has room, and each parent comes first");
    };
    for name in ["bin", "dev", "dev/pts", "etc", "home", "root", "sys", "usr", "var"] {
        make(name, directory(), 0o755);
    }
    for name in ["tmp", "dev/shm"] {
        make(name, directory(), 0o1777);
    }
    let devices = [
        ("null", Device::Null),
        ("zero", Device::Zero),
        ("full", Device::Full),
        ("random", Device::Random),
        ("urandom", Device::Random),
        ("tty", Device::Terminal),
        ("ptmx", Device::Multiplexer),
        ("pts/0", Device::Console),
    ];
    for (name, device) in devices.into_iter().filter(|(_, device)| terminal || *device != Device::Console) {
        let mode = if device == Device::Console { 0o620 } else { 0o666 };
        make(&format!("dev/{name}"), Kind::Device(device), mode);
    }
    files
}

/// Returns the path at which a guest sees its program if the machine names no other: that of `AT_EXECFN` and `/proc/self/exe`.
pub(crate) fn executable_path(program: &str) -> String {
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
    let mut copier = Copier { files, bytes_left: MOUNT_BYTES_MAX, read_only: !mount.writable, host: &host };
    let mut at = ROOT;
    for name in mount.guest.split('/').filter(|name| !name.is_empty()) {
        if matches!(name, "." | "..") {
            return Err(invalid("the guest path must not contain . or .."));
        }
        let parent = Inode::new(directory(), 0o755, EPOCH);
        at = copier.add(at, name.as_bytes(), Path::new(&mount.guest), parent).map_err(fail)?;
    }
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
    /// The directory to copy.
    host: &'a Dir,
}

impl Copier<'_> {
    /// Adds an inode as [`add`] does. `path` is its path in messages.
    fn add(
        &mut self,
        parent: InodeNumber,
        name: &[u8],
        path: &Path,
        inode: Inode,
    ) -> std::io::Result<InodeNumber> {
        add(self.files, parent, name, inode).map_err(|errno| {
            if errno == ENOSPC {
                return self.too_many();
            }
            let reason = match errno {
                EROFS => "an earlier mount has made this place read-only; mount the inner directory first"
                    .to_owned(),
                ENOTDIR => {
                    "the guest has a file or a link here; mount the directory at another place".to_owned()
                }
                ENOTEMPTY => {
                    "the guest has a directory with entries here; mount the directory at another place"
                        .to_owned()
                }
                Errno(number) => format!("it cannot be added, errno {number}"),
            };
            std::io::Error::other(format!("{}: {reason}", path.display()))
        })
    }

    /// Returns the error of a directory with too many files.
    fn too_many(&self) -> std::io::Error {
        let limit = self.files.inodes_max;
        match count(self.host, 0) {
            Ok(count) => std::io::Error::other(format!(
                "the directory has {count} files, directories and links, but all mounts together may have at most \
                 {limit}; mount a smaller directory"
            )),
            Err(error) => error,
        }
    }

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
            let path = path.join(&name);
            let text = name.as_encoded_bytes();
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
                let target = target.as_os_str().as_encoded_bytes().to_vec();
                self.add(at, text, &path, inode(Kind::Symlink(target), 0o777))?;
            } else if kind.is_dir() {
                let empty = Inode { read_only: false, ..inode(directory(), 0o755) };
                let inside = self.add(at, text, &path, empty)?;
                // The contents of `/proc` are those of the lane.
                if is_node(inside) {
                    continue;
                }
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
                self.add(at, text, &path, inode(Kind::File(Arc::new(data)), mode(&metadata)))?;
            }
        }
        Ok(())
    }
}

/// Counts the files, directories and links that a copy of a directory has, at most as deep as copies are.
fn count(host: &Dir, depth: usize) -> std::io::Result<u64> {
    let mut total = 0;
    for entry in host.entries()? {
        let entry = entry?;
        let kind = entry.file_type()?;
        total += u64::from(kind.is_file() || kind.is_dir() || kind.is_symlink());
        if kind.is_dir() && depth < DEPTH_MAX {
            total += count(&entry.open_dir()?, depth + 1)?;
        }
    }
    Ok(total)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a new folder with a directory, five files and a link.
    fn seven_inodes() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("the host has a folder for temporary files");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("the folder is empty");
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), name).expect("the folder can be written");
        }
        for name in ["d", "e"] {
            std::fs::write(inner.join(name), name).expect("the folder can be written");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("../a", inner.join("link")).expect("the folder can be written");
        #[cfg(not(unix))]
        std::fs::write(inner.join("link"), "a").expect("the folder can be written");
        folder
    }

    fn mount_at(files: &mut Files, host: &Path, guest: &str, writable: bool) -> Result<(), String> {
        let mount = Mount { host: host.to_owned(), guest: guest.to_owned(), writable };
        mount_directory(files, &mount).map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            format!("{error}: {source}")
        })
    }

    /// Returns the contents of a file of the guest.
    fn contents(files: &Files, path: &str) -> Option<Vec<u8>> {
        let number = files.walk(ROOT, path.as_bytes(), true).ok()?.inode?;
        match &files.inode(number)?.kind {
            Kind::File(data) => Some(data.to_vec()),
            _ => None,
        }
    }

    #[test]
    fn a_mount_with_too_many_files_is_an_error_that_counts_them() {
        let folder = seven_inodes();
        let mut files = base(Options { room: 0, terminal: false });
        // The mount point, and the seven inodes in it.
        files.inodes_max = files.private_inodes() + 8;
        mount_at(&mut files, folder.path(), "/data", false).expect("there is room for exactly these");
        assert_eq!(contents(&files, "/data/inner/link").as_deref(), Some(&b"a"[..]), "the last file");
        let limit = files.private_inodes() - 1;
        let mut files = base(Options { room: 0, terminal: false });
        files.inodes_max = limit;
        let error = mount_at(&mut files, folder.path(), "/data", false).expect_err("there is room for six");
        let expected = format!(
            "cannot mount {} at /data: the directory has 7 files, directories and links, but all mounts together may \
             have at most {limit}; mount a smaller directory",
            folder.path().display()
        );
        assert_eq!(error, expected, "directory, number and limit");
    }

    #[test]
    fn lanes_share_more_inodes_than_one_may_change() {
        let mut files = base(Options { room: 0, terminal: false });
        for number in 0..70_000 {
            let file = Inode::new(Kind::File(Arc::default()), 0o644, EPOCH);
            add(&mut files, ROOT, format!("{number}").as_bytes(), file).expect("there is room");
        }
        let mut files = files.share();
        assert_eq!(contents(&files, "/69999"), Some(Vec::new()), "none is lost");
        let file = || Inode::new(Kind::File(Arc::default()), 0o644, EPOCH);
        let made = (0..70_000)
            .take_while(|number| add(&mut files, ROOT, format!("new{number}").as_bytes(), file()).is_ok())
            .count();
        // The root directory is private, too.
        assert_eq!(made, 65_535, "the limit on private inodes");
    }

    #[test]
    fn mounts_that_meet_are_merged_or_an_error() {
        let folder = seven_inodes();
        let mut files = base(Options { room: 0, terminal: false });
        mount_at(&mut files, folder.path(), "/etc", false).expect("an empty directory");
        let error = mount_at(&mut files, folder.path(), "/etc", false).expect_err("files are there");
        assert!(error.contains("a: an earlier mount has made this place read-only"), "{error}");
        let error = mount_at(&mut files, folder.path(), "/etc/new", true).expect_err("below that");
        assert!(error.contains("mount the inner directory first"), "{error}");
        let error = mount_at(&mut files, folder.path(), "/dev/null/x", false).expect_err("a device");
        assert!(error.contains("/dev/null/x: the guest has a file or a link here"), "{error}");
        std::fs::write(folder.path().join("var"), "a file").expect("the folder can be written");
        mount_at(&mut files, folder.path(), "/", true).expect("/var is empty");
        assert_eq!(contents(&files, "/var").as_deref(), Some(&b"a file"[..]), "the file replaces it");
        std::fs::write(folder.path().join("dev"), "a file").expect("the folder can be written");
        let error = mount_at(&mut files, folder.path(), "/", true).expect_err("/dev has entries");
        assert!(error.contains("dev: the guest has a directory with entries here"), "{error}");
    }
}
