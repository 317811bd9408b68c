//! The results of `stat` and `statx`, in the layout that the guest reads.

use super::fields::Fields;
use super::files::{Inode, Kind, ROOT, S_IFCHR, S_IFIFO, S_IFREG, S_IFSOCK};
use super::job_control::device_path;
use super::kernel::Kernel;
use super::open_files::Object;
use super::proc_node::is_node;
use crate::console::Stream;

/// The status of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileStatus {
    pub(super) number: u64,
    pub(super) mode: u32,
    link_count: u32,
    owner: u32,
    group: u32,
    device: (u32, u32),
    bytes: u64,
    times: [u64; 3],
}

const S_IFMT: u32 = 0o170_000;
const S_IFLNK: u32 = 0o120_000;

/// The lowest inode numbers of objects that are no files of the tree. Programs compare these numbers to tell files apart.
const PIPES: u64 = 1 << 32;
const SOCKETS: u64 = 2 << 32;
const QUEUES: u64 = 3 << 32;
const EVENTS: u64 = 4 << 32;

const NANOSECONDS: u64 = 1_000_000_000;
const BLOCK: u64 = 4096;

impl FileStatus {
    /// Returns the status of a node of `/proc`, which is as old as the look at it.
    pub(super) const fn of_node(number: u64, mode: u32, link_count: u32, bytes: u64, now: u64) -> Self {
        Self { number, mode, link_count, owner: 0, group: 0, device: (0, 0), bytes, times: [now; 3] }
    }

    pub(super) fn of_inode(number: u64, inode: &Inode) -> Self {
        let device = if let Kind::Device(device) = inode.kind { device.numbers() } else { (0, 0) };
        Self {
            number,
            mode: inode.full_mode(),
            link_count: inode.link_count,
            owner: inode.owner,
            group: inode.group,
            device,
            bytes: inode.bytes(),
            times: inode.times,
        }
    }

    /// Returns the status of an open object. Console streams are pipes, unless they are a terminal.
    pub(super) fn of(object: Object, kernel: &Kernel, now: u64) -> Self {
        /// Major and minor number of `/dev/pts/0`.
        const TERMINAL: (u32, u32) = (136, 0);
        match object {
            Object::Inode(number) => {
                kernel.files.inode(number).map(|inode| Self::of_inode(number, inode)).unwrap_or_default()
            }
            Object::Input | Object::Output(_) if kernel.settings.terminal => {
                Self { device: TERMINAL, ..Self::nameless(terminal_inode(kernel), S_IFCHR | 0o620, now) }
            }
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe)
                if let Some(number) = kernel.open.fifo_of(pipe) =>
            {
                Self::of(Object::Inode(number), kernel, now)
            }
            Object::Terminal(number) => Self::of_device(device_path(number).as_bytes(), kernel),
            Object::TerminalMaster(_) => Self::of_device(b"/dev/ptmx", kernel),
            Object::Socket(socket) => Self::nameless(SOCKETS | u64::from(socket), S_IFSOCK | 0o777, now),
            Object::Queue(queue) => {
                Self { bytes: 80, ..Self::nameless(QUEUES | u64::from(queue), S_IFREG | 0o600, now) }
            }
            // All event files are one inode, without a type.
            Object::Event(_) => Self::nameless(EVENTS, 0o600, now),
            Object::Input => Self::nameless(PIPES | 1, S_IFIFO | 0o600, now),
            Object::Output(Stream::Output) => Self::nameless(PIPES | 2, S_IFIFO | 0o600, now),
            Object::Output(Stream::Error) => Self::nameless(PIPES | 3, S_IFIFO | 0o600, now),
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) | Object::PipeBoth(pipe) => {
                Self::nameless(PIPES | (u64::from(pipe) + 4), S_IFIFO | 0o600, now)
            }
        }
    }

    /// Returns the status of an object that has no name in the tree.
    fn nameless(number: u64, mode: u32, now: u64) -> Self {
        Self { number, mode, link_count: 1, times: [now; 3], ..Self::default() }
    }

    /// Returns the status of the file at the path of a device.
    fn of_device(path: &[u8], kernel: &Kernel) -> Self {
        let place = kernel.files.walk(ROOT, path, true).ok();
        let number = place.and_then(|place| place.inode).unwrap_or(0);
        kernel.files.inode(number).map_or_else(Self::default, |inode| Self::of_inode(number, inode))
    }

    /// Returns whether it is that of a symbolic link.
    pub(super) const fn is_symlink(&self) -> bool {
        self.mode & S_IFMT == S_IFLNK
    }

    const fn blocks(&self) -> u64 {
        // The nodes of `/proc` take no space.
        if is_node(self.number) { 0 } else { self.bytes.next_multiple_of(BLOCK) / 512 }
    }

    /// Returns `struct stat` of AArch64.
    pub(super) fn stat(&self) -> [u8; 128] {
        let mut out = Fields([0; 128]);
        let (major, minor) = self.device;
        out.u64(0, 1);
        out.u64(8, self.number);
        out.u32(16, self.mode);
        out.u32(20, self.link_count);
        out.u32(24, self.owner);
        out.u32(28, self.group);
        out.u64(32, u64::from(major) << 8 | u64::from(minor));
        out.u64(48, self.bytes);
        out.u32(56, BLOCK as u32);
        out.u64(64, self.blocks());
        for (at, time) in [72, 88, 104].into_iter().zip(self.times) {
            out.u64(at, time / NANOSECONDS);
            out.u64(at + 8, time % NANOSECONDS);
        }
        out.0
    }

    /// Returns `struct statx`.
    pub(super) fn statx(&self) -> [u8; 256] {
        /// The fields that are valid: `STATX_BASIC_STATS` and `STATX_BTIME`.
        const BASIC_AND_BIRTH: u32 = 0xfff;
        let mut out = Fields([0; 256]);
        out.u32(0, BASIC_AND_BIRTH);
        out.u32(4, BLOCK as u32);
        out.u32(16, self.link_count);
        out.u32(20, self.owner);
        out.u32(24, self.group);
        out.u32(28, self.mode);
        out.u64(32, self.number);
        out.u64(40, self.bytes);
        out.u64(48, self.blocks());
        let [access, change, status] = self.times;
        for (at, time) in [(64, access), (80, change), (96, status), (112, change)] {
            out.u64(at, time / NANOSECONDS);
            out.u32(at + 8, (time % NANOSECONDS) as u32);
        }
        out.u32(128, self.device.0);
        out.u32(132, self.device.1);
        out.u32(140, 1);
        out.0
    }
}

/// Returns the inode number of the terminal: that of the device by which programs look for its name.
fn terminal_inode(kernel: &Kernel) -> u64 {
    kernel.files.walk(ROOT, b"/dev/pts/0", false).ok().and_then(|place| place.inode).unwrap_or(3)
}
