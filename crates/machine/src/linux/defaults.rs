//! The small files that programs expect on every system: `/etc`, `/sys`, and links of `/dev`. Mounted directories come first; these
//! files are added only where nothing is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::errno::{ENOTDIR, Errno};
use super::files::{Files, Inode, InodeNumber, Kind, ROOT};

/// The files of `/etc`.
const ETC: &[(&str, &str)] = &[
    ("etc/group", "root:x:0:\ntty:x:5:\nusers:x:100:\nnogroup:x:65534:\n"),
    ("etc/hostname", "kvrm\n"),
    ("etc/hosts", "127.0.0.1\tlocalhost kvrm\n::1\tlocalhost ip6-localhost ip6-loopback\n"),
    (
        "etc/nsswitch.conf",
        "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\nprotocols: files\nservices: files\n",
    ),
    (
        "etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    ),
    ("etc/resolv.conf", "# There is no network.\n"),
];

/// The files of `/sys`: a system of one processor and one memory node.
const SYS: &[(&str, &str)] = &[
    ("sys/devices/system/cpu/cpu0/online", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/cluster_id", "-1\n"),
    ("sys/devices/system/cpu/cpu0/topology/core_cpus", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0\n"),
    ("sys/devices/system/cpu/cpu0/topology/core_id", "0\n"),
    ("sys/devices/system/cpu/cpu0/topology/core_siblings", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/core_siblings_list", "0\n"),
    ("sys/devices/system/cpu/cpu0/topology/package_cpus", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0\n"),
    ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"),
    ("sys/devices/system/cpu/cpu0/topology/thread_siblings", "1\n"),
    ("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n"),
    ("sys/devices/system/cpu/isolated", "\n"),
    ("sys/devices/system/cpu/kernel_max", "0\n"),
    ("sys/devices/system/cpu/offline", "\n"),
    ("sys/devices/system/cpu/online", "0\n"),
    ("sys/devices/system/cpu/possible", "0\n"),
    ("sys/devices/system/cpu/present", "0\n"),
    ("sys/devices/system/node/has_cpu", "0\n"),
    ("sys/devices/system/node/node0/cpulist", "0\n"),
    ("sys/devices/system/node/node0/cpumap", "1\n"),
    ("sys/devices/system/node/node0/distance", "10\n"),
    ("sys/devices/system/node/online", "0\n"),
    ("sys/devices/system/node/possible", "0\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"),
];

/// Links that many programs rely on.
const LINKS: &[(&str, &str)] = &[
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
    ("etc/mtab", "../proc/self/mounts"),
];

/// Directories, with their permissions.
const DIRECTORIES: &[(&str, u32)] = &[
    ("mnt", 0o755),
    ("opt", 0o755),
    ("run", 0o755),
    ("srv", 0o755),
    ("sys/block", 0o555),
    ("sys/class/net", 0o555),
    ("sys/fs/cgroup", 0o555),
];

/// Returns `/etc/localtime`: UTC, as version 2 of the format of RFC 8536.
fn utc() -> Vec<u8> {
    let block = |characters: u8| {
        let mut header = b"TZif2".to_vec();
        header.resize(20, 0);
        // No leap seconds and transitions; one type of time, whose designation has these bytes.
        for count in [0, 0, 0, 0, 1, characters] {
            header.extend(u32::from(count).to_be_bytes());
        }
        // An offset of 0 from UTC, no daylight saving, the designation at 0.
        header.extend([0; 6]);
        header.extend(b"UTC\0");
        header
    };
    [block(4), block(4), b"\nUTC0\n".to_vec()].concat()
}

/// Adds the files to the tree, where nothing is. A read-only directory stays as it is.
pub(super) fn add_defaults(files: &mut Files, now: u64) {
    let contents = |text: &[u8]| Kind::File(Arc::new(text.to_vec()));
    let fixed = |kind, now| Inode { read_only: true, ..Inode::new(kind, 0o444, now) };
    for (path, mode) in DIRECTORIES {
        let kind = Kind::Directory { entries: BTreeMap::new(), parent: ROOT };
        let _ = add_missing(files, path, Inode::new(kind, *mode, now));
    }
    for (path, text) in ETC {
        let _ = add_missing(files, path, Inode::new(contents(text.as_bytes()), 0o644, now));
    }
    let _ = add_missing(files, "etc/localtime", Inode::new(contents(&utc()), 0o644, now));
    for (path, text) in SYS {
        let _ = add_missing(files, path, fixed(contents(text.as_bytes()), now));
    }
    for (path, target) in LINKS {
        let _ = add_missing(files, path, Inode::new(Kind::Symlink(target.as_bytes().to_vec()), 0o777, now));
    }
}

/// Adds an inode at a path, with the directories above it, unless the path exists.
fn add_missing(files: &mut Files, path: &str, inode: Inode) -> Result<(), Errno> {
    let mut at: InodeNumber = ROOT;
    let now = inode.times[1];
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    for directory in above.split('/').filter(|name| !name.is_empty()) {
        let place = files.walk(at, directory.as_bytes(), true)?;
        at = match place.inode {
            Some(number) if files.inode(number).is_some_and(Inode::is_directory) => number,
            Some(_) => return Err(ENOTDIR),
            None => {
                let kind = Kind::Directory { entries: BTreeMap::new(), parent: at };
                files.add(&place, Inode::new(kind, 0o755, now))?
            }
        };
    }
    let place = files.walk(at, name.as_bytes(), false)?;
    if place.inode.is_none() {
        files.add(&place, inode)?;
    }
    Ok(())
}
