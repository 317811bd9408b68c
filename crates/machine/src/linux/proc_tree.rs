//! The tree of `/proc`: its directories, links and files, and the lookup of paths through them.

use std::sync::Arc;

use super::errno::{ENOENT, ENOTDIR, Errno};
use super::files::{InodeNumber, Nodes, Place, ROOT, Target, View};
use super::kernel::Kernel;
use super::open_files::{EventFile, O_ACCMODE, O_WRONLY, Object};
use super::proc_node::{Node, Owner, PROC, is_node};
use super::proc_table::Shape::Directory;
use super::proc_table::{
    DESCRIPTOR_INFOS, DESCRIPTORS, PROCESS, PROGRAM, S_IFDIR, S_IFLNK, S_IFREG, SYSTEM, TASKS, TOP, WORKING,
    has_row, shape_mode, system_children,
};
use super::status::FileStatus;

/// The entries of a directory: names and nodes.
type Entries = Vec<(Vec<u8>, Node)>;

/// Parses a number as file names have it: without a sign, spaces or leading zeros.
fn number(name: &[u8]) -> Option<u64> {
    let text =
        std::str::from_utf8(name).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    (text.len() == 1 || !text.starts_with('0')).then(|| text.parse().ok())?
}

impl Kernel {
    /// Returns whether a process or thread exists.
    fn has_owner(&self, owner: Owner) -> bool {
        self.process_of(owner).is_ok()
    }

    /// Returns the open file description of a descriptor of a process.
    fn description_of(&self, owner: Owner, descriptor: u64) -> Result<u32, Errno> {
        let process = self.processes.get(&self.process_of(owner)?).ok_or(ENOENT)?;
        process.descriptors.get(descriptor).map(|descriptor| descriptor.description).map_err(|_| ENOENT)
    }

    /// Returns the entries of a directory of `/proc` without `.` and `..`, in the order in which they are listed.
    fn node_entries(&self, node: Node) -> Result<Entries, Errno> {
        let task = |id: u32, is_task| (id.to_string().into_bytes(), Node::Process(Owner { id, is_task }, 0));
        match node {
            Node::System(0) => {
                let rows = system_children(0).map(|(name, node)| (name.as_bytes().to_vec(), node));
                Ok(rows.chain(self.processes.keys().map(|id| task(*id, false))).collect())
            }
            Node::System(index) if matches!(SYSTEM.get(index), Some((_, Directory(_)))) => {
                Ok(system_children(index).map(|(name, node)| (name.as_bytes().to_vec(), node)).collect())
            }
            Node::Process(owner, 0) => {
                self.process_of(owner).map_err(|_| ENOENT)?;
                let rows = (1..PROCESS.len()).filter(|index| has_row(owner, *index));
                Ok(rows.map(|row| (PROCESS[row].0.as_bytes().to_vec(), Node::Process(owner, row))).collect())
            }
            Node::Process(owner, TASKS) => {
                let process = self.process_of(owner).map_err(|_| ENOENT)?;
                let threads = self.threads.iter().filter(|(_, thread)| thread.process == process);
                Ok(threads.map(|(id, _)| task(*id, true)).collect())
            }
            Node::Process(owner, kind @ (DESCRIPTORS | DESCRIPTOR_INFOS)) => {
                let process = self.process_of(owner).map_err(|_| ENOENT)?;
                let descriptors = self.processes.get(&process).ok_or(ENOENT)?.descriptors.iter();
                let entry = |(number, _): (u64, _)| {
                    let node = match kind {
                        DESCRIPTORS => Node::Descriptor(owner, number),
                        _ => Node::DescriptorInfo(owner, number),
                    };
                    (number.to_string().into_bytes(), node)
                };
                Ok(descriptors.map(entry).collect())
            }
            _ => Err(ENOTDIR),
        }
    }

    /// Returns all entries of a directory of `/proc`, as [`Files::list`] does for others.
    pub(super) fn list(&self, directory: InodeNumber) -> Result<Vec<(Vec<u8>, InodeNumber)>, Errno> {
        let Some(node) = Node::of(directory) else { return self.files.list(directory) };
        let mut list = vec![(b".".to_vec(), directory), (b"..".to_vec(), self.parent(directory)?)];
        list.extend(self.node_entries(node)?.into_iter().map(|(name, node)| (name, node.number())));
        Ok(list)
    }

    /// Looks up a path as [`Files::walk`] does, also through `/proc`.
    pub(super) fn walk(&self, start: InodeNumber, path: &[u8], follow: bool) -> Result<Place, Errno> {
        let view = View { nodes: self, root: self.process().root };
        self.files.walk_with(&view, start, path, follow)
    }

    /// Returns the object that an inode number of a path stands for.
    pub(super) fn object_of(&self, number: InodeNumber) -> Result<Object, Errno> {
        match Node::of(number) {
            Some(Node::Opened(owner, descriptor)) => {
                Ok(self.open.get(self.description_of(owner, descriptor)?)?.object)
            }
            _ => Ok(Object::Inode(number)),
        }
    }

    /// Returns the absolute path of a place that exists.
    pub(super) fn path_of(&self, place: &Place) -> Vec<u8> {
        let is_through_node = is_node(place.parent) && place.inode != Some(PROC);
        match place.inode {
            Some(number) if is_through_node || is_node(number) => self.path_of_inode(number),
            _ => self.files.path_of(place).unwrap_or_default(),
        }
    }

    /// Returns the absolute path of a directory, of a node, of an open file, or of the program of a process; otherwise an empty one.
    pub(super) fn path_of_inode(&self, number: InodeNumber) -> Vec<u8> {
        match Node::of(number) {
            Some(node) => node_path(node).into_bytes(),
            None => {
                let mut programs = self.spaces.values().map(|space| &space.executable);
                let program = programs.find(|program| program.inode == number);
                let opened =
                    || self.open.path_of(number).or_else(|| program.map(|program| program.path.clone()));
                self.files.path(ROOT, number).ok().or_else(opened).unwrap_or_default()
            }
        }
    }

    /// Returns an absolute path as the current process sees it. As on Linux, one outside of its root directory stays as it is.
    pub(super) fn seen(&self, path: Vec<u8>) -> Vec<u8> {
        let root = self.process().root;
        if root == ROOT {
            return path;
        }
        let inside = path.strip_prefix(&self.path_of_inode(root)[..]);
        match inside {
            Some([]) => b"/".to_vec(),
            Some(rest @ [b'/', ..]) => rest.to_vec(),
            _ => path,
        }
    }

    /// Returns what `fd/NUMBER` shows of an open file description.
    fn description_text(&self, id: u32) -> Result<Vec<u8>, Errno> {
        let open = self.open.get(id)?;
        let numbered =
            |kind| format!("{kind}:[{}]", FileStatus::of(open.object, self, 0).number).into_bytes();
        Ok(match open.object {
            Object::Inode(number) => self.inode_text(number, &open.path),
            Object::Input | Object::Output(_) if self.settings.terminal => b"/dev/pts/0".to_vec(),
            Object::Input | Object::Output(_) => numbered("pipe"),
            Object::PipeReader(number) | Object::PipeWriter(number) | Object::PipeBoth(number) => {
                match self.open.fifo_of(number) {
                    Some(fifo) => self.inode_text(fifo, &open.path),
                    None => numbered("pipe"),
                }
            }
            Object::Socket(_) => numbered("socket"),
            Object::Terminal(_) | Object::TerminalMaster(_) => open.path.to_vec(),
            Object::Queue(queue) => match self.open.queues.get(&queue).and_then(|queue| queue.name.clone()) {
                Some(name) => [b"/", &name[..]].concat(),
                None => [&open.path[..], b" (deleted)"].concat(),
            },
            Object::Event(event) => {
                let kind = match self.open.event(event)? {
                    EventFile::Counter { .. } => "eventfd",
                    EventFile::Timer(_) => "timerfd",
                    EventFile::Signals(_) => "signalfd",
                    EventFile::Poll(_) => "eventpoll",
                    EventFile::Notices(_) => return Ok(b"anon_inode:inotify".to_vec()),
                };
                format!("anon_inode:[{kind}]").into_bytes()
            }
        })
    }

    /// Returns the path of an inode that was opened at `path`, with a remark if it is not there any more.
    fn inode_text(&self, number: InodeNumber, path: &[u8]) -> Vec<u8> {
        let view = View { nodes: self, root: ROOT };
        let is_there = |path: &[u8]| {
            let place = self.files.walk_with(&view, ROOT, path, false);
            place.is_ok_and(|place| place.inode == Some(number))
        };
        if is_node(number) || is_there(path) {
            return self.seen(if is_node(number) { self.path_of_inode(number) } else { path.to_vec() });
        }
        [&self.seen(path.to_vec())[..], b" (deleted)"].concat()
    }

    /// Notes that what was at the first path is at the second now.
    pub(super) fn follow_rename(&mut self, [from, to]: &[Vec<u8>; 2]) {
        let moved = |path: &[u8]| {
            let rest = path.strip_prefix(&from[..])?;
            (rest.is_empty() || rest[0] == b'/').then(|| [to, rest].concat())
        };
        self.open.change_paths(moved);
        for space in self.spaces.values_mut() {
            if let Some(path) = moved(&space.executable.path) {
                Arc::make_mut(&mut space.executable).path = path;
            }
        }
    }

    /// Returns the text of a link of `/proc`; `None` if the node is no link.
    pub(super) fn link_text(&self, node: Node) -> Result<Option<Vec<u8>>, Errno> {
        Ok(Some(match node {
            Node::System(index) => match SYSTEM.get(index) {
                Some(("self", _)) => self.process_id().to_string().into_bytes(),
                Some(("thread-self", _)) => {
                    format!("{}/task/{}", self.process_id(), self.turns.current).into_bytes()
                }
                Some(("mounts", _)) => b"self/mounts".to_vec(),
                _ => return Ok(None),
            },
            Node::Process(owner, index @ (WORKING | PROGRAM | TOP)) => {
                let process = &self.processes[&self.process_of(owner)?];
                if process.has_ended() {
                    return Err(ENOENT);
                }
                match index {
                    WORKING => self.seen(self.path_of_inode(process.directory)),
                    TOP => self.seen(self.path_of_inode(process.root)),
                    _ => {
                        let executable = &self.spaces.get(&process.space).ok_or(ENOENT)?.executable;
                        match executable.inode {
                            0 => executable.path.clone(),
                            inode => self.inode_text(inode, &executable.path),
                        }
                    }
                }
            }
            Node::Descriptor(owner, number) => self.description_text(self.description_of(owner, number)?)?,
            _ => return Ok(None),
        }))
    }

    /// Returns the status of a node.
    pub(super) fn node_status(&self, number: InodeNumber, node: Node, now: u64) -> FileStatus {
        let (mode, bytes) = match node {
            Node::System(index) => SYSTEM.get(index).map_or((0, 0), |(_, shape)| shape_mode(shape)),
            Node::Process(_, index) => PROCESS.get(index).map_or((0, 0), |(_, shape)| shape_mode(shape)),
            Node::Descriptor(owner, number) => {
                let open = self.description_of(owner, number).and_then(|id| self.open.get(id));
                let access = open.map_or(0, |open| open.flags & O_ACCMODE);
                let permissions = match access {
                    0 => 0o500,
                    O_WRONLY => 0o300,
                    _ => 0o700,
                };
                (S_IFLNK | permissions, 64)
            }
            Node::Opened(..) => (0, 0),
            Node::DescriptorInfo(..) => (S_IFREG | 0o444, 0),
        };
        // A directory has a link from each directory in it.
        let inside =
            if mode & S_IFDIR == S_IFDIR { self.node_entries(node).unwrap_or_default() } else { Vec::new() };
        let directories = inside.iter().filter(|(_, node)| self.is_directory(node.number())).count();
        let link_count = if mode & S_IFDIR == S_IFDIR { 2 + directories as u32 } else { 1 };
        FileStatus::of_node(number, mode, link_count, bytes, now)
    }
}

/// Returns the absolute path of a node.
fn node_path(node: Node) -> String {
    let directory = |owner: Owner| match owner.is_task {
        // The path through a thread of its own is the shortest that does not need its process.
        true => format!("/proc/{}/task/{}", owner.id, owner.id),
        false => format!("/proc/{}", owner.id),
    };
    let path = match node {
        Node::System(index) => format!("/proc/{}", SYSTEM.get(index).map_or("", |row| row.0)),
        Node::Process(owner, index) => {
            format!("{}/{}", directory(owner), PROCESS.get(index).map_or("", |row| row.0))
        }
        Node::Descriptor(owner, number) | Node::Opened(owner, number) => {
            format!("{}/fd/{number}", directory(owner))
        }
        Node::DescriptorInfo(owner, number) => format!("{}/fdinfo/{number}", directory(owner)),
    };
    path.strip_suffix('/').map_or(path.clone(), str::to_owned)
}

impl Nodes for Kernel {
    fn child(&self, directory: InodeNumber, name: &[u8]) -> Result<InodeNumber, Errno> {
        let node = Node::of(directory).ok_or(ENOTDIR)?;
        let id = || number(name).and_then(|id| u32::try_from(id).ok()).ok_or(ENOENT);
        let found = match node {
            Node::System(0) if name.first().is_some_and(u8::is_ascii_digit) => {
                // As on Linux, threads have a directory here too, which is not listed.
                let owner = Owner { id: id()?, is_task: false };
                self.has_owner(owner).then_some(Node::Process(owner, 0))
            }
            Node::System(index) if matches!(SYSTEM.get(index), Some((_, Directory(_)))) => {
                system_children(index).find(|(other, _)| other.as_bytes() == name).map(|(_, node)| node)
            }
            Node::Process(owner, 0) => {
                self.process_of(owner).map_err(|_| ENOENT)?;
                let row = PROCESS.iter().position(|(other, _)| other.as_bytes() == name);
                row.filter(|row| has_row(owner, *row)).map(|row| Node::Process(owner, row))
            }
            Node::Process(owner, TASKS) => {
                let process = self.process_of(owner).map_err(|_| ENOENT)?;
                let id = id()?;
                let is_there = self.threads.get(&id).is_some_and(|thread| thread.process == process);
                is_there.then_some(Node::Process(Owner { id, is_task: true }, 0))
            }
            Node::Process(owner, kind @ (DESCRIPTORS | DESCRIPTOR_INFOS)) => {
                let descriptor = id()?.into();
                self.description_of(owner, descriptor).map_err(|_| ENOENT)?;
                Some(match kind {
                    DESCRIPTORS => Node::Descriptor(owner, descriptor),
                    _ => Node::DescriptorInfo(owner, descriptor),
                })
            }
            _ => return Err(ENOTDIR),
        };
        found.map(Node::number).ok_or(ENOENT)
    }

    fn parent(&self, directory: InodeNumber) -> Result<InodeNumber, Errno> {
        if !self.is_directory(directory) {
            return Err(ENOTDIR);
        }
        let parent = match Node::of(directory).ok_or(ENOTDIR)? {
            Node::System(0) => return Ok(ROOT),
            Node::System(index) => {
                let path = SYSTEM.get(index).map_or("", |row| row.0);
                let above = path.rsplit_once('/').map_or("", |(above, _)| above);
                Node::System(SYSTEM.iter().position(|row| row.0 == above).unwrap_or(0))
            }
            Node::Process(owner, 0) if owner.is_task => {
                let id = self.process_of(owner).map_err(|_| ENOENT)?;
                Node::Process(Owner { id, is_task: false }, TASKS)
            }
            Node::Process(_, 0) => Node::System(0),
            Node::Process(owner, _)
            | Node::Descriptor(owner, _)
            | Node::Opened(owner, _)
            | Node::DescriptorInfo(owner, _) => Node::Process(owner, 0),
        };
        Ok(parent.number())
    }

    fn target(&self, node: InodeNumber) -> Result<Option<Target>, Errno> {
        let Some(node) = Node::of(node) else { return Ok(None) };
        Ok(Some(match node {
            Node::Process(owner, WORKING) => {
                Target::Inode(self.processes[&self.process_of(owner).map_err(|_| ENOENT)?].directory)
            }
            Node::Process(owner, TOP) => {
                Target::Inode(self.processes[&self.process_of(owner).map_err(|_| ENOENT)?].root)
            }
            Node::Process(owner, PROGRAM) => {
                let process = &self.processes[&self.process_of(owner).map_err(|_| ENOENT)?];
                let space = self.spaces.get(&process.space).filter(|_| !process.has_ended()).ok_or(ENOENT)?;
                match space.executable.inode {
                    0 => Target::Path(space.executable.path.clone()),
                    inode => Target::Inode(inode),
                }
            }
            Node::Descriptor(owner, number) => {
                let object = self.open.get(self.description_of(owner, number)?)?.object;
                match object {
                    Object::Inode(inode) => Target::Inode(inode),
                    Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe)
                        if let Some(fifo) = self.open.fifo_of(pipe) =>
                    {
                        Target::Inode(fifo)
                    }
                    _ => Target::Inode(Node::Opened(owner, number).number()),
                }
            }
            node => match self.link_text(node)? {
                Some(text) => Target::Path(text),
                None => return Ok(None),
            },
        }))
    }

    fn is_directory(&self, node: InodeNumber) -> bool {
        match Node::of(node) {
            Some(Node::System(index)) => matches!(SYSTEM.get(index), Some((_, Directory(_)))),
            Some(Node::Process(_, index)) => matches!(PROCESS.get(index), Some((_, Directory(_)))),
            _ => false,
        }
    }
}
