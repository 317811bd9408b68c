//! The tables of `/proc`: its directories, links and files, with the functions that make their texts.

use super::errno::ENOENT;
use super::proc_ipc as ipc;
use super::proc_maps as maps;
use super::proc_net as net;
use super::proc_node::{Node, Owner};
use super::proc_process as process;
use super::proc_system as system;
use super::proc_text::{Look, Text};

pub(super) const S_IFDIR: u32 = 0o040_000;
pub(super) const S_IFREG: u32 = 0o100_000;
pub(super) const S_IFLNK: u32 = 0o120_000;

/// What a row of a table describes. The numbers are permissions.
#[derive(Clone, Copy)]
pub(super) enum Shape<F> {
    Directory(u32),
    Symlink,
    File(u32, F),
    /// A file that always has the same text.
    Constant(&'static str),
}

pub(super) type SystemFile = fn(&mut Look<'_, '_>) -> Text;
pub(super) type ProcessFile = fn(&mut Look<'_, '_>, Owner) -> Text;

use Shape::{Constant, Directory, File, Symlink};

const MOUNTS: &str = "none / tmpfs rw 0 0\nproc /proc proc rw 0 0\n";
const FILE_SYSTEMS: &str = "nodev\tproc\nnodev\ttmpfs\nnodev\tpipefs\nnodev\tdevpts\n";

/// The nodes about the system, each with its path below `/proc`. The place in the table is part of the inode number.
#[rustfmt::skip] // One line each.
pub(super) const SYSTEM: &[(&str, Shape<SystemFile>)] = &[
    ("", Directory(0o555)),
    ("self", Symlink),
    ("thread-self", Symlink),
    ("mounts", Symlink),
    ("cmdline", Constant("\n")),
    ("cpuinfo", File(0o444, system::cpuinfo)),
    ("devices", Constant("Character devices:\n  1 mem\n  5 /dev/tty\n  5 /dev/ptmx\n136 pts\n\nBlock devices:\n")),
    ("filesystems", Constant(FILE_SYSTEMS)),
    ("loadavg", File(0o444, system::loadavg)),
    ("meminfo", File(0o444, system::meminfo)),
    ("partitions", Constant("major minor  #blocks  name\n\n")),
    ("stat", File(0o444, system::stat)),
    ("swaps", Constant("Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")),
    ("uptime", File(0o444, system::uptime)),
    ("version", File(0o444, system::version)),
    ("sys", Directory(0o555)),
    ("sys/fs", Directory(0o555)),
    ("sys/fs/file-max", Constant("9223372036854775807\n")),
    ("sys/fs/file-nr", File(0o444, system::file_nr)),
    ("sys/fs/nr_open", File(0o444, system::nr_open)),
    ("sys/fs/pipe-max-size", File(0o444, system::pipe_max_size)),
    ("sys/kernel", Directory(0o555)),
    ("sys/kernel/cap_last_cap", Constant("40\n")),
    ("sys/kernel/core_pattern", Constant("core\n")),
    ("sys/kernel/domainname", File(0o444, system::domainname)),
    ("sys/kernel/hostname", File(0o444, system::hostname)),
    ("sys/kernel/ngroups_max", Constant("65536\n")),
    ("sys/kernel/osrelease", File(0o444, system::osrelease)),
    ("sys/kernel/ostype", File(0o444, system::ostype)),
    ("sys/kernel/overflowgid", Constant("65534\n")),
    ("sys/kernel/overflowuid", Constant("65534\n")),
    // IDs are below 2^30, but programs size columns by this number.
    ("sys/kernel/pid_max", Constant("4194304\n")),
    ("sys/kernel/random", Directory(0o555)),
    ("sys/kernel/random/boot_id", File(0o444, system::boot_id)),
    ("sys/kernel/random/entropy_avail", Constant("256\n")),
    ("sys/kernel/random/poolsize", Constant("256\n")),
    ("sys/kernel/random/uuid", File(0o444, system::random_uuid)),
    ("sys/kernel/randomize_va_space", Constant("0\n")),
    ("sys/kernel/threads-max", Constant("4096\n")),
    ("sys/kernel/version", File(0o444, system::os_version)),
    ("sys/vm", Directory(0o555)),
    ("sys/vm/max_map_count", Constant("65530\n")),
    ("sys/vm/mmap_min_addr", Constant("4096\n")),
    ("sys/vm/overcommit_memory", Constant("1\n")),
    ("sys/vm/overcommit_ratio", Constant("50\n")),
    ("sys/vm/swappiness", Constant("60\n")),
    ("locks", File(0o444, ipc::locks)),
    ("net", Directory(0o555)),
    ("net/tcp", File(0o444, net::tcp)),
    ("net/tcp6", File(0o444, net::tcp6)),
    ("net/udp", File(0o444, net::udp)),
    ("net/udp6", File(0o444, net::udp6)),
    ("net/unix", File(0o444, net::unix)),
    ("sysvipc", Directory(0o555)),
    ("sysvipc/msg", File(0o444, ipc::message_queues)),
    ("sysvipc/sem", File(0o444, ipc::semaphores)),
    ("sysvipc/shm", File(0o444, ipc::segments)),
];

/// The directories of a process that are no rows with fixed entries, and the link to its program, by index in the table.
pub(super) const DESCRIPTORS: usize = 1;
pub(super) const DESCRIPTOR_INFOS: usize = 2;
pub(super) const TASKS: usize = 3;
pub(super) const WORKING: usize = 4;
pub(super) const PROGRAM: usize = 5;
pub(super) const TOP: usize = 6;
/// The file that a process writes its name to.
const NAME: usize = 7;

/// The nodes about a process or thread.
#[rustfmt::skip] // One line each.
pub(super) const PROCESS: &[(&str, Shape<ProcessFile>)] = &[
    ("", Directory(0o555)),
    ("fd", Directory(0o500)),
    ("fdinfo", Directory(0o555)),
    ("task", Directory(0o555)),
    ("cwd", Symlink),
    ("exe", Symlink),
    ("root", Symlink),
    ("comm", File(0o644, process::comm)),
    ("auxv", File(0o400, process::auxv)),
    ("cgroup", Constant("0::/\n")),
    ("children", File(0o444, process::children)),
    ("cmdline", File(0o444, process::cmdline)),
    ("environ", File(0o400, process::environ)),
    ("gid_map", Constant("         0          0 4294967295\n")),
    ("limits", File(0o444, process::resource_limits)),
    ("loginuid", Constant("4294967295")),
    ("maps", File(0o444, maps::maps)),
    ("mountinfo", Constant("1 0 0:1 / / rw - tmpfs none rw\n2 1 0:2 / /proc rw - proc proc rw\n")),
    ("mounts", Constant(MOUNTS)),
    ("oom_adj", Constant("0\n")),
    ("oom_score", Constant("0\n")),
    ("oom_score_adj", Constant("0\n")),
    ("personality", File(0o400, process::personality)),
    ("schedstat", File(0o444, process::schedstat)),
    ("sessionid", Constant("4294967295")),
    ("setgroups", Constant("allow\n")),
    ("smaps", File(0o444, maps::smaps)),
    ("smaps_rollup", File(0o444, maps::smaps_rollup)),
    ("stat", File(0o444, process::stat)),
    ("statm", File(0o444, maps::statm)),
    ("status", File(0o444, process::status)),
    ("timerslack_ns", Constant("50000\n")),
    ("uid_map", Constant("         0          0 4294967295\n")),
    ("wchan", Constant("0")),
];

/// Returns whether a process has a row, and a thread in its directory `task`.
pub(super) fn has_row(owner: Owner, index: usize) -> bool {
    // A thread has no threads, and only a thread has children.
    index > 0 && if owner.is_task { index != TASKS } else { PROCESS[index].0 != "children" }
}

/// The children of the directory in row `index` of the table about the system.
pub(super) fn system_children(index: usize) -> impl Iterator<Item = (&'static str, Node)> {
    let prefix = SYSTEM[index].0;
    (1..SYSTEM.len()).filter_map(move |row| {
        let rest = SYSTEM[row].0.strip_prefix(prefix)?;
        let name = if prefix.is_empty() { rest } else { rest.strip_prefix('/')? };
        (!name.contains('/')).then_some((name, Node::System(row)))
    })
}

/// Returns the mode of a row, with its type, and its size.
pub(super) const fn shape_mode<F: Copy>(shape: &Shape<F>) -> (u32, u64) {
    match shape {
        Directory(mode) => (S_IFDIR | *mode, 0),
        Symlink => (S_IFLNK | 0o777, 0),
        File(mode, _) => (S_IFREG | *mode, 0),
        Constant(_) => (S_IFREG | 0o444, 0),
    }
}

impl Look<'_, '_> {
    /// Returns the text of a file of `/proc`.
    pub(super) fn text(&mut self, node: Node) -> Text {
        match node {
            Node::System(index) => match SYSTEM.get(index).map(|row| row.1) {
                Some(File(_, make)) => make(self),
                Some(Constant(text)) => Ok(text.into()),
                _ => Err(ENOENT.into()),
            },
            Node::Process(owner, index) => match PROCESS.get(index).map(|row| row.1) {
                Some(File(_, make)) => make(self, owner),
                Some(Constant(text)) => {
                    self.kernel.process_of(owner)?;
                    Ok(text.into())
                }
                _ => Err(ENOENT.into()),
            },
            Node::DescriptorInfo(owner, number) => process::descriptor_info(self, owner, number),
            Node::Descriptor(..) | Node::Opened(..) => Err(ENOENT.into()),
        }
    }
}

/// Returns the process or thread whose name a file of `/proc` is.
pub(super) fn named_by(node: Node) -> Option<Owner> {
    match node {
        Node::Process(owner, NAME) => Some(owner),
        _ => None,
    }
}
