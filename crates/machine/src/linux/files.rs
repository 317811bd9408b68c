//! The file system of a lane: one tree that all lanes share, and nodes that the lane has changed or made.
//!
//! Nodes are numbered. A lane looks a node up among its own and then in the shared tree; the first change to a
//! shared node makes a copy that is the lane's. Contents are shared too until they are written.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::errno::{
    EBUSY, EEXIST, EFBIG, EINVAL, EISDIR, ELOOP, EMLINK, ENAMETOOLONG, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY,
    EPERM, EROFS, Errno,
};

/// The number of a node.
pub(super) type Number = u64;
/// The node all paths begin at.
pub(super) const ROOT: Number = 1;

/// How many symbolic links a path may lead through, as on Linux.
const LINKS_MAX: usize = 40;
/// How many nodes a lane may have of its own.
const NODES_MAX: usize = 65_536;
/// How many names a node may have.
const NAMES_MAX: u32 = 65_000;
/// The longest name.
const NAME_BYTES_MAX: usize = 255;

/// The type of a file, in the bits of its mode.
pub(super) const S_IFIFO: u32 = 0o010_000;
pub(super) const S_IFCHR: u32 = 0o020_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;

/// A device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Null,
    Zero,
    Full,
    Random,
}

impl Device {
    /// The numbers of a device, as Linux has them.
    pub(super) const fn numbers(self) -> (u32, u32) {
        match self {
            Self::Null => (1, 3),
            Self::Zero => (1, 5),
            Self::Full => (1, 7),
            Self::Random => (1, 9),
        }
    }
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    File(Arc<Vec<u8>>),
    Directory { names: BTreeMap<Vec<u8>, Number>, parent: Number },
    Link(Vec<u8>),
    Device(Device),
}

/// A file, directory, link or device.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Permissions, without the type.
    pub(super) mode: u32,
    /// How many names it has.
    pub(super) names: u32,
    /// Nobody changes it, nor what is in it.
    pub(super) read_only: bool,
    /// Times of access, change of contents and change of the node, in nanoseconds.
    pub(super) times: [u64; 3],
}

impl Node {
    pub(super) const fn new(kind: Kind, mode: u32, now: u64) -> Self {
        Self { kind, mode, names: 1, read_only: false, times: [now; 3] }
    }

    /// Type and permissions.
    pub(super) const fn full_mode(&self) -> u32 {
        self.mode
            | match self.kind {
                Kind::File(_) => S_IFREG,
                Kind::Directory { .. } => S_IFDIR,
                Kind::Link(_) => S_IFLNK,
                Kind::Device(_) => S_IFCHR,
            }
    }

    pub(super) fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::File(data) => data.len() as u64,
            Kind::Link(target) => target.len() as u64,
            Kind::Directory { names, .. } => 32 * (names.len() as u64 + 2),
            Kind::Device(_) => 0,
        }
    }

    pub(super) const fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory { .. })
    }
}

/// A file system.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// The shared nodes, by number minus one.
    shared: Arc<Vec<Node>>,
    /// The nodes of the lane. `None` was a shared node that is gone.
    own: BTreeMap<Number, Node>,
    next: Number,
    /// How many bytes files of the lane's own have, and may have.
    used: u64,
    room: u64,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The directory that has or would have the last name.
    pub(super) parent: Number,
    /// The last name; empty if the path ends in `.`, `..` or the root.
    pub(super) name: Vec<u8>,
    /// What is there.
    pub(super) node: Option<Number>,
    /// Whether the path ends in a slash.
    is_directory: bool,
}

impl Place {
    /// What is there, or an error.
    pub(super) fn existing(&self) -> Result<Number, Errno> {
        self.node.ok_or(ENOENT)
    }
}

impl Files {
    /// A tree with nothing but its root, in which a lane may write `room` bytes.
    pub(super) fn new(room: u64) -> Self {
        let root = Kind::Directory { names: BTreeMap::new(), parent: ROOT };
        let nodes = vec![Node { names: 2, ..Node::new(root, 0o755, 0) }];
        Self { shared: Arc::new(nodes), own: BTreeMap::new(), next: ROOT + 1, used: 0, room }
    }

    /// The same tree, all of it shared from now on.
    pub(super) fn share(self) -> Self {
        let mut nodes = Arc::try_unwrap(self.shared).unwrap_or_else(|shared| (*shared).clone());
        // Numbers count up from the last shared one.
        for (number, node) in self.own {
            match nodes.get_mut(number as usize - 1) {
                Some(place) => *place = node,
                None => nodes.push(node),
            }
        }
        Self { shared: Arc::new(nodes), own: BTreeMap::new(), used: 0, ..self }
    }

    pub(super) fn node(&self, number: Number) -> Option<&Node> {
        self.own.get(&number).or_else(|| self.shared.get((number as usize).wrapping_sub(1)))
    }

    fn existing(&self, number: Number) -> Result<&Node, Errno> {
        self.node(number).ok_or(ENOENT)
    }

    /// A node to change, which is the lane's own from now on.
    pub(super) fn change(&mut self, number: Number) -> Result<&mut Node, Errno> {
        if self.existing(number)?.read_only {
            return Err(EROFS);
        }
        if !self.own.contains_key(&number) {
            let copy = self.existing(number)?.clone();
            if self.own.len() >= NODES_MAX {
                return Err(ENOSPC);
            }
            self.own.insert(number, copy);
        }
        self.own.get_mut(&number).ok_or(ENOENT)
    }

    fn names(&self, number: Number) -> Result<(&BTreeMap<Vec<u8>, Number>, Number), Errno> {
        match &self.existing(number)?.kind {
            Kind::Directory { names, parent } => Ok((names, *parent)),
            _ => Err(ENOTDIR),
        }
    }

    fn names_to_change(&mut self, number: Number) -> Result<&mut BTreeMap<Vec<u8>, Number>, Errno> {
        match &mut self.change(number)?.kind {
            Kind::Directory { names, .. } => Ok(names),
            _ => Err(ENOTDIR),
        }
    }

    /// What a directory holds, with itself and its parent.
    pub(super) fn list(&self, number: Number) -> Result<Vec<(Vec<u8>, Number)>, Errno> {
        let (names, parent) = self.names(number)?;
        let mut list = vec![(b".".to_vec(), number), (b"..".to_vec(), parent)];
        list.extend(names.iter().map(|(name, number)| (name.clone(), *number)));
        Ok(list)
    }

    /// The directory that a path leads to.
    pub(crate) fn directory(&self, path: &str) -> Option<Number> {
        let number = self.walk(ROOT, path.as_bytes(), true).ok()?.node?;
        self.node(number).filter(|node| node.is_directory()).map(|_| number)
    }

    /// Follows a path from a directory. Nothing leads out of the root: it is its own parent.
    pub(super) fn walk(&self, start: Number, path: &[u8], follow: bool) -> Result<Place, Errno> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        let mut at = if path[0] == b'/' { ROOT } else { start };
        let split = |path: &[u8]| -> Vec<Vec<u8>> {
            path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
        };
        let mut left: VecDeque<Vec<u8>> = split(path).into();
        let mut is_directory = path.ends_with(b"/");
        let mut links = 0;
        while let Some(name) = left.pop_front() {
            let (names, parent) = self.names(at)?;
            if name.len() > NAME_BYTES_MAX {
                return Err(ENAMETOOLONG);
            }
            let is_last = left.is_empty();
            match &name[..] {
                b"." => continue,
                b".." => {
                    at = parent;
                    continue;
                }
                _ => {}
            }
            let Some(&number) = names.get(&name) else {
                return if is_last {
                    Ok(Place { parent: at, name, node: None, is_directory })
                } else {
                    Err(ENOENT)
                };
            };
            if let Kind::Link(target) = &self.existing(number)?.kind
                && (!is_last || follow || is_directory)
            {
                links += 1;
                if links > LINKS_MAX {
                    return Err(ELOOP);
                }
                if target.first() == Some(&b'/') {
                    at = ROOT;
                }
                is_directory |= is_last && target.ends_with(b"/");
                split(target).into_iter().rev().for_each(|name| left.push_front(name));
                continue;
            }
            if is_last {
                if is_directory && !self.existing(number)?.is_directory() {
                    return Err(ENOTDIR);
                }
                return Ok(Place { parent: at, name, node: Some(number), is_directory });
            }
            at = number;
        }
        let (_, parent) = self.names(at)?;
        Ok(Place { parent, name: Vec::new(), node: Some(at), is_directory: true })
    }

    /// Adds a node where a path leads, and nothing is.
    pub(super) fn add(&mut self, place: &Place, node: Node) -> Result<Number, Errno> {
        if place.node.is_some() {
            return Err(EEXIST);
        }
        if place.is_directory && !node.is_directory() {
            return Err(ENOENT);
        }
        // A directory that was removed, but is still the current one of somebody, takes nothing new.
        if self.existing(place.parent)?.names == 0 {
            return Err(ENOENT);
        }
        if self.own.len() >= NODES_MAX {
            return Err(ENOSPC);
        }
        let number = self.next;
        let (is_directory, now) = (node.is_directory(), node.times[1]);
        self.names_to_change(place.parent)?.insert(place.name.clone(), number);
        self.touch(place.parent, now, if is_directory { 1 } else { 0 })?;
        let names = if is_directory { 2 } else { 1 };
        let node = match node.kind {
            Kind::Directory { names: inside, .. } => {
                Node { kind: Kind::Directory { names: inside, parent: place.parent }, names, ..node }
            }
            _ => Node { names, ..node },
        };
        self.next += 1;
        self.own.insert(number, node);
        Ok(number)
    }

    /// A directory has changed, and has so many more directories in it.
    fn touch(&mut self, directory: Number, now: u64, more: i32) -> Result<(), Errno> {
        let node = self.change(directory)?;
        node.times[1] = now;
        node.times[2] = now;
        node.names = node.names.saturating_add_signed(more);
        Ok(())
    }

    /// Gives a node another name.
    pub(super) fn link(&mut self, number: Number, place: &Place, now: u64) -> Result<(), Errno> {
        let node = self.existing(number)?;
        if node.is_directory() {
            return Err(EPERM);
        }
        if place.node.is_some() {
            return Err(EEXIST);
        }
        if place.is_directory || node.names == 0 || self.existing(place.parent)?.names == 0 {
            return Err(ENOENT);
        }
        if node.names >= NAMES_MAX {
            return Err(EMLINK);
        }
        // Both have to be changeable before one is changed.
        self.change(number)?;
        self.names_to_change(place.parent)?.insert(place.name.clone(), number);
        self.touch(place.parent, now, 0)?;
        let node = self.change(number)?;
        node.names += 1;
        node.times[2] = now;
        Ok(())
    }

    /// Takes a name away. The node stays, for those who have it open, until [`Files::forget`].
    pub(super) fn remove(&mut self, place: &Place, directory: bool, now: u64) -> Result<Number, Errno> {
        let number = place.existing()?;
        if place.name.is_empty() {
            return Err(if number == ROOT { EBUSY } else { EINVAL });
        }
        let node = self.existing(number)?;
        match (&node.kind, directory) {
            (Kind::Directory { names, .. }, true) if !names.is_empty() => return Err(ENOTEMPTY),
            (Kind::Directory { .. }, false) => return Err(EISDIR),
            (Kind::Directory { .. }, true) => {}
            (_, true) => return Err(ENOTDIR),
            (_, false) if place.is_directory => return Err(ENOTDIR),
            (_, false) => {}
        }
        self.change(number)?;
        self.names_to_change(place.parent)?.remove(&place.name);
        self.touch(place.parent, now, if directory { -1 } else { 0 })?;
        let node = self.change(number)?;
        node.names = if directory { 0 } else { node.names - 1 };
        node.times[2] = now;
        Ok(number)
    }

    /// Drops a node that has no name and is not open any more.
    pub(super) fn forget(&mut self, number: Number) {
        if self.own.get(&number).is_some_and(|node| node.names == 0) {
            if let Some(Node { kind: Kind::File(data), .. }) = self.own.get(&number) {
                self.used = self.used.saturating_sub(data.len() as u64);
            }
            // A shared node without names cannot be reached any more, whether it is there or not.
            self.own.remove(&number);
        }
    }

    /// Gives what is at one place another place, and returns what was there and has no name any more.
    pub(super) fn rename(
        &mut self,
        from: &Place,
        to: &Place,
        replace: bool,
        now: u64,
    ) -> Result<Option<Number>, Errno> {
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
        if self.existing(to.parent)?.names == 0 {
            return Err(ENOENT);
        }
        match to.node {
            Some(_) if !replace => return Err(EEXIST),
            Some(there) if there == number => return Ok(None),
            _ => {}
        }
        // All that changes has to be changeable before anything is changed.
        for node in [number, from.parent, to.parent] {
            self.change(node)?;
        }
        let gone = match to.node {
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
        self.names_to_change(from.parent)?.remove(&from.name);
        self.names_to_change(to.parent)?.insert(to.name.clone(), number);
        let moved = i32::from(is_directory);
        self.touch(from.parent, now, -moved)?;
        self.touch(to.parent, now, moved)?;
        let node = self.change(number)?;
        node.times[2] = now;
        if let Kind::Directory { parent, .. } = &mut node.kind {
            *parent = to.parent;
        }
        Ok(gone)
    }

    /// Whether a directory is another one or lies in it.
    fn is_inside(&self, mut directory: Number, other: Number) -> Result<bool, Errno> {
        while directory != other {
            if directory == ROOT {
                return Ok(false);
            }
            (_, directory) = self.names(directory)?;
        }
        Ok(true)
    }

    /// The path of a directory from the root.
    pub(super) fn path(&self, mut directory: Number) -> Result<Vec<u8>, Errno> {
        let mut path = Vec::new();
        while directory != ROOT {
            let (_, parent) = self.names(directory)?;
            let (names, _) = self.names(parent)?;
            let name = names.iter().find(|(_, number)| **number == directory).ok_or(ENOENT)?.0;
            path.splice(0..0, [b"/", &name[..]].concat());
            directory = parent;
        }
        Ok(if path.is_empty() { b"/".to_vec() } else { path })
    }

    /// Writes to a file, which grows as far as it has to.
    pub(super) fn write(
        &mut self,
        number: Number,
        position: u64,
        data: &[u8],
        now: u64,
    ) -> Result<u64, Errno> {
        if data.is_empty() {
            return Ok(0);
        }
        if position >= self.room {
            return Err(EFBIG);
        }
        let end = position + data.len() as u64;
        if end > self.bytes_of(number)? {
            self.resize(number, end, now)?;
        }
        let node = self.own_file(number)?;
        node.times[1] = now;
        node.times[2] = now;
        let Kind::File(contents) = &mut node.kind else { return Err(EINVAL) };
        Arc::make_mut(contents)[position as usize..end as usize].copy_from_slice(data);
        Ok(data.len() as u64)
    }

    fn bytes_of(&self, number: Number) -> Result<u64, Errno> {
        Ok(self.existing(number)?.bytes())
    }

    /// A file to write to: from now on its contents count as the lane's.
    fn own_file(&mut self, number: Number) -> Result<&mut Node, Errno> {
        if !self.own.contains_key(&number) {
            let bytes = self.bytes_of(number)?;
            if self.used + bytes > self.room {
                return Err(ENOSPC);
            }
            self.change(number)?;
            self.used += bytes;
        }
        self.change(number)
    }

    /// Makes a file longer, with zeros, or shorter.
    pub(super) fn resize(&mut self, number: Number, bytes: u64, now: u64) -> Result<(), Errno> {
        match self.existing(number)?.kind {
            Kind::File(_) => {}
            Kind::Directory { .. } => return Err(EISDIR),
            _ => return Err(EINVAL),
        }
        if bytes > self.room {
            return Err(EFBIG);
        }
        let old = self.own_file(number)?.bytes();
        if self.used - old.min(self.used) + bytes > self.room {
            return Err(ENOSPC);
        }
        self.used = self.used - old.min(self.used) + bytes;
        let node = self.own_file(number)?;
        node.times[1] = now;
        node.times[2] = now;
        let Kind::File(contents) = &mut node.kind else { return Err(EINVAL) };
        Arc::make_mut(contents).resize(bytes as usize, 0);
        Ok(())
    }

    /// How many bytes the lane may still write.
    pub(super) const fn free(&self) -> (u64, u64) {
        (self.room, self.room.saturating_sub(self.used))
    }
}
