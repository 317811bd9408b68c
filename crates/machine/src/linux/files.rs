//! The file system of a lane: a tree that all lanes share, and the inodes that this lane has changed or created.
//!
//! A lane looks an inode up among its private inodes first, then in the shared tree. The first change to a shared inode
//! makes a private copy of it. File contents are shared too, until they are written.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errno::{
    EBUSY, EEXIST, EFBIG, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY,
    EPERM, EROFS, Errno,
};
use super::proc_node::is_node;
use crate::shared::share;

/// The number of an inode.
pub(super) type InodeNumber = u64;
/// The inode of the root directory.
pub(super) const ROOT: InodeNumber = 1;

/// The limit on symbolic links followed in one path lookup, as on Linux.
const SYMLINKS_MAX: usize = 40;
/// The limit on private inodes of a lane.
const INODES_MAX: usize = 65_536;
/// The limit on the inodes that all lanes share.
const SHARED_INODES_MAX: usize = 1 << 20;
/// The limit on hard links to an inode.
const LINKS_MAX: u32 = 65_000;
/// The length of the longest file name.
const NAME_BYTES_MAX: usize = 255;

/// The file types, as bits of the mode.
pub(super) const S_IFIFO: u32 = 0o010_000;
pub(super) const S_IFCHR: u32 = 0o020_000;
pub(super) const S_ISGID: u32 = 0o2000;
const S_IFDIR: u32 = 0o040_000;
pub(super) const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;
pub(super) const S_IFSOCK: u32 = 0o140_000;

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Device {
    Null,
    Zero,
    Full,
    Random,
    /// `/dev/tty`: the terminal of the process.
    Terminal,
    /// The terminal of the standard streams.
    Console,
    /// `/dev/ptmx`, which makes pseudo terminals.
    Multiplexer,
    /// The pseudo terminal with this number.
    Pseudo(u32),
}

impl Device {
    /// Returns the device with a major and minor number.
    pub(super) fn of(numbers: (u32, u32)) -> Option<Self> {
        [Self::Null, Self::Zero, Self::Full, Self::Random]
            .into_iter()
            .find(|device| device.numbers() == numbers)
    }

    /// Returns the number of a pseudo terminal.
    pub(super) const fn pseudo_terminal(self) -> Option<u32> {
        if let Self::Pseudo(number) = self { Some(number) } else { None }
    }

    /// Returns whether its files are opened as those of a terminal.
    pub(super) const fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal | Self::Console | Self::Multiplexer | Self::Pseudo(_))
    }

    /// Returns the major and minor device number on Linux.
    pub(super) const fn numbers(self) -> (u32, u32) {
        match self {
            Self::Null => (1, 3),
            Self::Zero => (1, 5),
            Self::Full => (1, 7),
            Self::Random => (1, 9),
            Self::Terminal => (5, 0),
            Self::Console => (136, 0),
            Self::Multiplexer => (5, 2),
            Self::Pseudo(number) => (136, number),
        }
    }
}

/// The type of an inode, with its contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Kind {
    /// A regular file and its contents.
    File(#[serde(with = "crate::interned")] Arc<Vec<u8>>),
    /// A directory: its entries by name, without `.` and `..`, and its parent.
    Directory { entries: BTreeMap<Vec<u8>, InodeNumber>, parent: InodeNumber },
    /// A symbolic link and its target.
    Symlink(Vec<u8>),
    /// A character device.
    Device(Device),
    /// The name of a Unix socket.
    Socket,
    /// A pipe with a name.
    Fifo,
}

/// A regular file, directory, symbolic link or device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Inode {
    pub(super) kind: Kind,
    /// The permission bits, without the file type.
    pub(super) mode: u32,
    /// The IDs of the user and the group that own it.
    pub(super) owner: u32,
    pub(super) group: u32,
    /// The extended attributes by name.
    pub(super) attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The number of hard links. 0 if it has been removed and is only still open.
    pub(super) link_count: u32,
    /// Whether the inode and its contents cannot be changed.
    pub(super) read_only: bool,
    /// The times of last access, modification and status change, in nanoseconds since 1970.
    pub(super) times: [u64; 3],
}

impl Inode {
    /// Creates an inode with one link whose times are all `now`.
    pub(super) const fn new(kind: Kind, mode: u32, now: u64) -> Self {
        let attributes = BTreeMap::new();
        Self { kind, mode, owner: 0, group: 0, attributes, link_count: 1, read_only: false, times: [now; 3] }
    }

    /// Returns the mode: file type and permission bits.
    pub(super) const fn full_mode(&self) -> u32 {
        self.mode
            | match self.kind {
                Kind::File(_) => S_IFREG,
                Kind::Directory { .. } => S_IFDIR,
                Kind::Symlink(_) => S_IFLNK,
                Kind::Device(_) => S_IFCHR,
                Kind::Socket => S_IFSOCK,
                Kind::Fifo => S_IFIFO,
            }
    }

    /// Returns the size that `stat` reports.
    pub(super) fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::File(data) => data.len() as u64,
            Kind::Symlink(target) => target.len() as u64,
            Kind::Directory { entries, .. } => 32 * (entries.len() as u64 + 2),
            Kind::Device(_) | Kind::Socket | Kind::Fifo => 0,
        }
    }

    pub(super) const fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory { .. })
    }
}

/// The file system of a lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Files {
    /// The shared inodes; inode `n` has index `n - 1`.
    #[serde(with = "crate::interned")]
    shared: Arc<Vec<Inode>>,
    /// The private inodes of the lane, which take precedence over shared inodes of the same number.
    own: BTreeMap<InodeNumber, Inode>,
    /// The limit on private inodes.
    pub(super) inodes_max: usize,
    /// The number of the next new inode.
    next: InodeNumber,
    /// The bytes in the lane's private files.
    used: u64,
    /// The limit on `used`.
    capacity: u64,
}

/// Where a link of `/proc` leads.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// To this path.
    Path(Vec<u8>),
    /// To this inode, wherever it is.
    Inode(InodeNumber),
}

/// The nodes of `/proc`, which are made when they are looked at.
pub(super) trait Nodes {
    /// Returns the child of a directory with a name.
    fn child(&self, directory: InodeNumber, name: &[u8]) -> Result<InodeNumber, Errno>;

    /// Returns the parent of a directory.
    fn parent(&self, directory: InodeNumber) -> Result<InodeNumber, Errno>;

    /// Returns where a link leads; `None` if the node is no link.
    fn target(&self, node: InodeNumber) -> Result<Option<Target>, Errno>;

    /// Returns whether the node is a directory.
    fn is_directory(&self, node: InodeNumber) -> bool;
}

/// What a lookup of a path sees besides the files.
pub(super) struct View<'a> {
    pub(super) nodes: &'a dyn Nodes,
    /// The root directory.
    pub(super) root: InodeNumber,
}

/// The nodes before a lane runs: there are none.
struct NoNodes;

impl Nodes for NoNodes {
    fn child(&self, _: InodeNumber, _: &[u8]) -> Result<InodeNumber, Errno> {
        Err(ENOENT)
    }

    fn parent(&self, _: InodeNumber) -> Result<InodeNumber, Errno> {
        Ok(ROOT)
    }

    fn target(&self, _: InodeNumber) -> Result<Option<Target>, Errno> {
        Ok(None)
    }

    fn is_directory(&self, _: InodeNumber) -> bool {
        true
    }
}

/// The result of a path lookup.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The directory that contains the last name of the path, or would contain it.
    pub(super) parent: InodeNumber,
    /// The last name of the path; empty if the path ends in `.` or `..` or is the root.
    pub(super) name: Vec<u8>,
    /// The inode, if the path exists.
    pub(super) inode: Option<InodeNumber>,
    /// Whether the path has to name a directory, because it ends in `/`, `.` or `..`.
    is_directory: bool,
}

impl Place {
    /// Returns the place after an inode was put there.
    pub(super) fn with(self, inode: InodeNumber) -> Self {
        Self { inode: Some(inode), ..self }
    }

    /// Returns the inode, or `ENOENT` if the path does not exist.
    pub(super) fn existing(&self) -> Result<InodeNumber, Errno> {
        self.inode.ok_or(ENOENT)
    }
}

impl Files {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(super) fn assign(&mut self, source: &Self) {
        let Self { shared, own, inodes_max, next, used, capacity } = source;
        share(&mut self.shared, shared);
        self.own.clone_from(own);
        (self.inodes_max, self.next, self.used, self.capacity) = (*inodes_max, *next, *used, *capacity);
    }

    /// Creates a tree with only a root directory, to which all that lanes share can be added before [`Files::share`].
    /// Private files of a lane may hold `capacity` bytes.
    pub(super) fn new(capacity: u64) -> Self {
        let root = Kind::Directory { entries: BTreeMap::new(), parent: ROOT };
        let inodes = vec![Inode { link_count: 2, ..Inode::new(root, 0o755, 0) }];
        Self {
            shared: Arc::new(inodes),
            own: BTreeMap::new(),
            inodes_max: SHARED_INODES_MAX,
            next: ROOT + 1,
            used: 0,
            capacity,
        }
    }

    /// Turns all private inodes into shared ones. From now on, the limit on private inodes is that of a lane.
    pub(super) fn share(self) -> Self {
        let mut inodes = Arc::try_unwrap(self.shared).unwrap_or_else(|shared| (*shared).clone());
        // New inodes are numbered consecutively after the last shared one.
        for (number, inode) in self.own {
            match inodes.get_mut(number as usize - 1) {
                Some(place) => *place = inode,
                None => inodes.push(inode),
            }
        }
        Self { shared: Arc::new(inodes), own: BTreeMap::new(), inodes_max: INODES_MAX, used: 0, ..self }
    }

    /// Returns whether the root is a directory, and all inodes that directories name exist.
    pub(super) fn is_valid(&self) -> bool {
        let exists = |number: &InodeNumber| is_node(*number) || self.inode(*number).is_some();
        let is_whole = |inode: &Inode| match &inode.kind {
            Kind::Directory { entries, parent } => exists(parent) && entries.values().all(exists),
            _ => true,
        };
        self.inode(ROOT).is_some_and(Inode::is_directory)
            && self.shared.iter().chain(self.own.values()).all(is_whole)
            && self.own.len() <= self.inodes_max
            && self.next > self.shared.len() as InodeNumber
            && self.own.keys().all(|number| (ROOT..self.next).contains(number))
    }

    /// Returns the number of private inodes.
    #[cfg(test)]
    pub(super) fn private_inodes(&self) -> usize {
        self.own.len()
    }

    pub(super) fn inode(&self, number: InodeNumber) -> Option<&Inode> {
        self.own.get(&number).or_else(|| self.shared.get((number as usize).wrapping_sub(1)))
    }

    /// Returns an inode, or the error of a change to a node of `/proc`.
    fn existing(&self, number: InodeNumber) -> Result<&Inode, Errno> {
        self.inode(number).ok_or(if is_node(number) { EPERM } else { ENOENT })
    }

    /// Returns an inode for modification. A shared inode is copied first, to become private to the lane.
    pub(super) fn inode_mut(&mut self, number: InodeNumber) -> Result<&mut Inode, Errno> {
        if self.existing(number)?.read_only {
            return Err(EROFS);
        }
        if !self.own.contains_key(&number) {
            let copy = self.existing(number)?.clone();
            if self.own.len() >= self.inodes_max {
                return Err(ENOSPC);
            }
            self.own.insert(number, copy);
        }
        self.own.get_mut(&number).ok_or(ENOENT)
    }

    /// Returns the entries and the parent of a directory.
    fn entries(&self, number: InodeNumber) -> Result<(&BTreeMap<Vec<u8>, InodeNumber>, InodeNumber), Errno> {
        match &self.existing(number)?.kind {
            Kind::Directory { entries, parent } => Ok((entries, *parent)),
            _ => Err(ENOTDIR),
        }
    }

    /// Returns the entries of a directory for modification.
    fn entries_mut(&mut self, number: InodeNumber) -> Result<&mut BTreeMap<Vec<u8>, InodeNumber>, Errno> {
        match &mut self.inode_mut(number)?.kind {
            Kind::Directory { entries, .. } => Ok(entries),
            _ => Err(ENOTDIR),
        }
    }

    /// Returns whether a directory has this entry.
    pub(super) fn has_entry(&self, directory: InodeNumber, name: &[u8], number: InodeNumber) -> bool {
        self.entries(directory).is_ok_and(|(entries, _)| entries.get(name) == Some(&number))
    }

    /// Lists the entries of a directory, starting with `.` and `..`.
    pub(super) fn list(&self, number: InodeNumber) -> Result<Vec<(Vec<u8>, InodeNumber)>, Errno> {
        let (entries, parent) = self.entries(number)?;
        let mut list = vec![(b".".to_vec(), number), (b"..".to_vec(), parent)];
        list.extend(entries.iter().map(|(name, number)| (name.clone(), *number)));
        Ok(list)
    }

    /// Returns the directory at an absolute path, or `None` if there is none.
    pub(crate) fn directory(&self, path: &str) -> Option<InodeNumber> {
        let number = self.walk(ROOT, path.as_bytes(), true).ok()?.inode?;
        self.inode(number).filter(|inode| inode.is_directory()).map(|_| number)
    }

    /// Looks up a path as [`Files::walk_with`] does, without nodes of `/proc`.
    pub(super) fn walk(&self, start: InodeNumber, path: &[u8], follow: bool) -> Result<Place, Errno> {
        self.walk_with(&View { nodes: &NoNodes, root: ROOT }, start, path, follow)
    }

    /// Looks up a path; a relative one starts at the directory `start`.
    ///
    /// A symbolic link at the end is followed if `follow` is set or a slash follows it. No path leads out of the root,
    /// which is its own parent.
    pub(super) fn walk_with(
        &self,
        &View { nodes, root }: &View<'_>,
        start: InodeNumber,
        path: &[u8],
        follow: bool,
    ) -> Result<Place, Errno> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        let mut at = if path[0] == b'/' { root } else { start };
        let split = |path: &[u8]| -> Vec<Vec<u8>> {
            path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
        };
        let mut left: VecDeque<Vec<u8>> = split(path).into();
        let mut is_directory = path.ends_with(b"/");
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            let parent = self.parent_of(nodes, at)?;
            if name.len() > NAME_BYTES_MAX {
                return Err(ENAMETOOLONG);
            }
            let is_last = left.is_empty();
            match &name[..] {
                b"." => continue,
                b".." => {
                    at = if at == root { root } else { parent };
                    continue;
                }
                _ => {}
            }
            let Some(mut number) = self.child(nodes, at, &name)? else {
                return if is_last {
                    Ok(Place { parent: at, name, inode: None, is_directory })
                } else {
                    Err(ENOENT)
                };
            };
            if (!is_last || follow || is_directory)
                && let Some(target) = self.target(nodes, number)?
            {
                links += 1;
                if links > SYMLINKS_MAX {
                    return Err(ELOOP);
                }
                match target {
                    Target::Path(target) => {
                        if target.first() == Some(&b'/') {
                            at = root;
                        }
                        is_directory |= is_last && target.ends_with(b"/");
                        split(&target).into_iter().rev().for_each(|name| left.push_front(name));
                        continue;
                    }
                    Target::Inode(inode) => number = inode,
                }
            }
            if is_last {
                if is_directory && !self.is_directory(nodes, number) {
                    return Err(ENOTDIR);
                }
                return Ok(Place { parent: at, name, inode: Some(number), is_directory });
            }
            at = number;
        }
        let parent = self.parent_of(nodes, at)?;
        Ok(Place { parent, name: Vec::new(), inode: Some(at), is_directory: true })
    }

    /// Returns the parent of a directory or of a node that is one.
    fn parent_of(&self, nodes: &dyn Nodes, directory: InodeNumber) -> Result<InodeNumber, Errno> {
        if is_node(directory) { nodes.parent(directory) } else { Ok(self.entries(directory)?.1) }
    }

    /// Returns the child of a directory, if it has one with this name.
    fn child(
        &self,
        nodes: &dyn Nodes,
        directory: InodeNumber,
        name: &[u8],
    ) -> Result<Option<InodeNumber>, Errno> {
        if is_node(directory) {
            return nodes.child(directory, name).map(Some);
        }
        Ok(self.entries(directory)?.0.get(name).copied())
    }

    /// Returns where a symbolic link leads; `None` if it is none.
    fn target(&self, nodes: &dyn Nodes, number: InodeNumber) -> Result<Option<Target>, Errno> {
        if is_node(number) {
            return nodes.target(number);
        }
        Ok(match &self.existing(number)?.kind {
            Kind::Symlink(target) => Some(Target::Path(target.clone())),
            _ => None,
        })
    }

    fn is_directory(&self, nodes: &dyn Nodes, number: InodeNumber) -> bool {
        if is_node(number) {
            nodes.is_directory(number)
        } else {
            self.inode(number).is_some_and(Inode::is_directory)
        }
    }

    /// Puts `/proc`, whose nodes are made when they are looked at, at the empty place `name` in the root.
    pub(super) fn add_nodes(&mut self, name: &[u8], root: InodeNumber, now: u64) -> Result<(), Errno> {
        self.entries_mut(ROOT)?.insert(name.to_vec(), root);
        self.touch(ROOT, now, 1)
    }

    /// Returns the absolute path of a place, without links.
    pub(super) fn path_of(&self, place: &Place) -> Result<Vec<u8>, Errno> {
        if place.name.is_empty() {
            return self.path(ROOT, place.existing()?);
        }
        let directory = self.path(ROOT, place.parent)?;
        Ok([directory.strip_suffix(b"/").unwrap_or(&directory), b"/", &place.name].concat())
    }

    /// Adds an inode at a path that does not exist yet, and returns its number.
    pub(super) fn add(&mut self, place: &Place, inode: Inode) -> Result<InodeNumber, Errno> {
        if place.inode.is_some() {
            return Err(EEXIST);
        }
        if place.is_directory && !inode.is_directory() {
            return Err(ENOENT);
        }
        // A removed directory can still be open or the current directory, but takes no new entries.
        if self.existing(place.parent)?.link_count == 0 {
            return Err(ENOENT);
        }
        if self.own.len() >= self.inodes_max {
            return Err(ENOSPC);
        }
        let number = self.next;
        let (is_directory, now) = (inode.is_directory(), inode.times[1]);
        let above = self.existing(place.parent)?;
        let inode = if above.mode & S_ISGID == 0 {
            inode
        } else {
            // The group of such a directory is that of all that is made in it.
            let more = if is_directory { S_ISGID } else { 0 };
            Inode { group: above.group, mode: inode.mode | more, ..inode }
        };
        self.entries_mut(place.parent)?.insert(place.name.clone(), number);
        self.touch(place.parent, now, if is_directory { 1 } else { 0 })?;
        let link_count = if is_directory { 2 } else { 1 };
        let inode = match inode.kind {
            Kind::Directory { entries: inside, .. } => {
                Inode { kind: Kind::Directory { entries: inside, parent: place.parent }, link_count, ..inode }
            }
            _ => Inode { link_count, ..inode },
        };
        self.next += 1;
        self.own.insert(number, inode);
        Ok(number)
    }

    /// Adds a file to which no path leads, and returns its number.
    pub(super) fn add_unlinked(&mut self, inode: Inode) -> Result<InodeNumber, Errno> {
        if self.own.len() >= self.inodes_max {
            return Err(ENOSPC);
        }
        self.next += 1;
        self.own.insert(self.next - 1, Inode { link_count: 0, ..inode });
        Ok(self.next - 1)
    }

    /// Updates the times of a changed directory, and its link count by `more`, the number of subdirectories added.
    fn touch(&mut self, directory: InodeNumber, now: u64, more: i32) -> Result<(), Errno> {
        let inode = self.inode_mut(directory)?;
        inode.times[1] = now;
        inode.times[2] = now;
        inode.link_count = inode.link_count.saturating_add_signed(more);
        Ok(())
    }

    /// Adds a hard link to an inode at a path that does not exist yet.
    pub(super) fn link(&mut self, number: InodeNumber, place: &Place, now: u64) -> Result<(), Errno> {
        let inode = self.existing(number)?;
        if inode.is_directory() {
            return Err(EPERM);
        }
        if place.inode.is_some() {
            return Err(EEXIST);
        }
        if place.is_directory || inode.link_count == 0 || self.existing(place.parent)?.link_count == 0 {
            return Err(ENOENT);
        }
        if inode.link_count >= LINKS_MAX {
            return Err(EMLINK);
        }
        // Make both inodes private first, so that a failure leaves nothing half done.
        self.inode_mut(number)?;
        self.entries_mut(place.parent)?.insert(place.name.clone(), number);
        self.touch(place.parent, now, 0)?;
        let inode = self.inode_mut(number)?;
        inode.link_count += 1;
        inode.times[2] = now;
        Ok(())
    }

    /// Removes a directory entry and returns its inode. The inode stays until [`Files::forget`], as it may be open.
    ///
    /// `directory` says whether the entry has to be a directory (`rmdir`) or must not be one (`unlink`).
    pub(super) fn remove(&mut self, place: &Place, directory: bool, now: u64) -> Result<InodeNumber, Errno> {
        let number = place.existing()?;
        if place.name.is_empty() {
            return Err(if number == ROOT { EBUSY } else { EINVAL });
        }
        let inode = self.existing(number)?;
        match (&inode.kind, directory) {
            (Kind::Directory { entries, .. }, true) if !entries.is_empty() => return Err(ENOTEMPTY),
            (Kind::Directory { .. }, false) => return Err(EISDIR),
            (Kind::Directory { .. }, true) => {}
            (_, true) => return Err(ENOTDIR),
            (_, false) if place.is_directory => return Err(ENOTDIR),
            (_, false) => {}
        }
        self.inode_mut(number)?;
        self.entries_mut(place.parent)?.remove(&place.name);
        self.touch(place.parent, now, if directory { -1 } else { 0 })?;
        let inode = self.inode_mut(number)?;
        inode.link_count = if directory { 0 } else { inode.link_count - 1 };
        inode.times[2] = now;
        Ok(number)
    }

    /// Frees an inode that has no links. The caller has made sure that it is not in use.
    pub(super) fn forget(&mut self, number: InodeNumber) {
        if self.own.get(&number).is_some_and(|inode| inode.link_count == 0) {
            if let Some(Inode { kind: Kind::File(data), .. }) = self.own.get(&number) {
                self.used = self.used.saturating_sub(data.len() as u64);
            }
            // A shared inode of this number becomes visible again, but no path or descriptor leads to it.
            self.own.remove(&number);
        }
    }

    /// Moves an entry from one path to another. Returns the inode of an entry that it replaced, if any.
    ///
    /// If `replace` is not set, an existing target is `EEXIST`.
    pub(super) fn rename(
        &mut self,
        from: &Place,
        to: &Place,
        replace: bool,
        now: u64,
    ) -> Result<Option<InodeNumber>, Errno> {
        let number = from.existing()?;
        if from.name.is_empty() || to.name.is_empty() {
            return Err(EBUSY);
        }
        let is_directory = self.existing(number)?.is_directory();
        if is_directory && self.is_inside(to.parent, number)? {
            return Err(EINVAL);
        }
        if to.is_directory && !is_directory {
            return Err(ENOTDIR);
        }
        if self.existing(to.parent)?.link_count == 0 {
            return Err(ENOENT);
        }
        match to.inode {
            Some(_) if !replace => return Err(EEXIST),
            Some(there) if there == number => return Ok(None),
            _ => {}
        }
        // Make all inodes private first, so that a failure leaves nothing half done.
        for inode in [number, from.parent, to.parent] {
            self.inode_mut(inode)?;
        }
        let gone = match to.inode {
            None => None,
            Some(there) => {
                let there_is_directory = self.existing(there)?.is_directory();
                match (is_directory, there_is_directory) {
                    (true, false) => return Err(ENOTDIR),
                    (false, true) => return Err(EISDIR),
                    _ => Some(self.remove(to, is_directory, now)?),
                }
            }
        };
        self.entries_mut(from.parent)?.remove(&from.name);
        self.entries_mut(to.parent)?.insert(to.name.clone(), number);
        let moved = i32::from(is_directory);
        self.touch(from.parent, now, -moved)?;
        self.touch(to.parent, now, moved)?;
        let inode = self.inode_mut(number)?;
        inode.times[2] = now;
        if let Kind::Directory { parent, .. } = &mut inode.kind {
            *parent = to.parent;
        }
        Ok(gone)
    }

    /// Returns whether `directory` is `other` or lies below it.
    fn is_inside(&self, mut directory: InodeNumber, other: InodeNumber) -> Result<bool, Errno> {
        while directory != other {
            if directory == ROOT {
                return Ok(false);
            }
            (_, directory) = self.entries(directory)?;
        }
        Ok(true)
    }

    /// Returns the absolute path of a directory below a root directory.
    pub(super) fn path(&self, root: InodeNumber, mut directory: InodeNumber) -> Result<Vec<u8>, Errno> {
        let mut path = Vec::new();
        while directory != root {
            if directory == ROOT {
                // As on Linux, the path of a directory outside of the root directory is marked.
                return Ok([&b"(unreachable)"[..], if path.is_empty() { b"/" } else { &path }].concat());
            }
            let (_, parent) = self.entries(directory)?;
            let (entries, _) = self.entries(parent)?;
            let name = entries.iter().find(|(_, number)| **number == directory).ok_or(ENOENT)?.0;
            path.splice(0..0, [b"/", &name[..]].concat());
            directory = parent;
        }
        Ok(if path.is_empty() { b"/".to_vec() } else { path })
    }

    /// Writes all of `data` to a file, which grows as needed, and returns the number of bytes.
    pub(super) fn write(
        &mut self,
        number: InodeNumber,
        position: u64,
        data: &[u8],
        now: u64,
    ) -> Result<u64, Errno> {
        if data.is_empty() {
            return Ok(0);
        }
        if position >= self.capacity {
            return Err(EFBIG);
        }
        let end = position + data.len() as u64;
        if end > self.bytes_of(number)? {
            self.resize(number, end, now)?;
        }
        let inode = self.own_file(number)?;
        inode.times[1] = now;
        inode.times[2] = now;
        let Kind::File(contents) = &mut inode.kind else { return Err(EINVAL) };
        Arc::make_mut(contents)[position as usize..end as usize].copy_from_slice(data);
        Ok(data.len() as u64)
    }

    fn bytes_of(&self, number: InodeNumber) -> Result<u64, Errno> {
        Ok(self.existing(number)?.bytes())
    }

    /// Returns a file for modification. A shared file becomes private, and its size counts as used space from now on.
    fn own_file(&mut self, number: InodeNumber) -> Result<&mut Inode, Errno> {
        if !self.own.contains_key(&number) {
            let bytes = self.bytes_of(number)?;
            if self.used + bytes > self.capacity {
                return Err(ENOSPC);
            }
            self.inode_mut(number)?;
            self.used += bytes;
        }
        self.inode_mut(number)
    }

    /// Truncates a file or extends it with zeros.
    pub(super) fn resize(&mut self, number: InodeNumber, bytes: u64, now: u64) -> Result<(), Errno> {
        match self.existing(number)?.kind {
            Kind::File(_) => {}
            Kind::Directory { .. } => return Err(EISDIR),
            _ => return Err(EINVAL),
        }
        if bytes > self.capacity {
            return Err(EFBIG);
        }
        let old = self.own_file(number)?.bytes();
        if self.used - old.min(self.used) + bytes > self.capacity {
            return Err(ENOSPC);
        }
        self.used = self.used - old.min(self.used) + bytes;
        let inode = self.own_file(number)?;
        inode.times[1] = now;
        inode.times[2] = now;
        let Kind::File(contents) = &mut inode.kind else { return Err(EINVAL) };
        Arc::make_mut(contents).resize(bytes as usize, 0);
        Ok(())
    }

    /// Returns the capacity and the free space, in bytes.
    pub(super) const fn space(&self) -> (u64, u64) {
        (self.capacity, self.capacity.saturating_sub(self.used))
    }
}
