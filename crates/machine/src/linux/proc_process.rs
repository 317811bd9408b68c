//! The files of `/proc/PID` and `/proc/PID/task/TID`, except those about its mappings.

use std::fmt::Write as _;

use super::descriptors::DESCRIPTORS_MAX;
use super::errno::{ENOENT, ESRCH, Errno};
use super::failure::Failure;
use super::kernel::Kernel;
use super::limits::UNLIMITED;
use super::open_files::{EventFile, O_CLOEXEC, Object};
use super::proc_maps::Sizes;
use super::proc_node::Owner;
use super::proc_text::{Look, Text};
use super::process::{Process, State};
use super::scheduling::Scheduling;
use super::status::FileStatus;
use super::time_calls::{NANOSECONDS, TICKS};
use crate::pages::PAGE_BYTES;

/// The nanoseconds of a clock tick.
pub(super) const TICK: u64 = NANOSECONDS / TICKS;
/// The major number of terminals, 136, in the number of a device.
const TERMINAL: u32 = 136 << 8;

impl Kernel {
    /// Returns the ID of the process that a node is about. A process that is gone is `ESRCH`.
    pub(super) fn process_of(&self, owner: Owner) -> Result<u32, Errno> {
        let is_process = !owner.is_task && self.processes.contains_key(&owner.id);
        if is_process {
            return Ok(owner.id);
        }
        self.threads.get(&owner.id).map(|thread| thread.process).ok_or(ESRCH)
    }

    fn owner(&self, owner: Owner) -> Result<(u32, &Process), Errno> {
        let id = self.process_of(owner)?;
        Ok((id, self.processes.get(&id).ok_or(ESRCH)?))
    }

    /// Returns the letter and the name of the state of a thread. A process has that of its first thread.
    fn thread_state(&self, id: u32, process: &Process) -> (char, &'static str) {
        if process.has_ended() {
            return ('Z', "zombie");
        }
        let Some(thread) = self.threads.get(&id) else { return ('Z', "zombie") };
        match process.state {
            State::Stopped { .. } => ('T', "stopped"),
            _ if thread.wait.is_some() => ('S', "sleeping"),
            _ => ('R', "running"),
        }
    }

    /// Returns the name of a process or thread, up to its NUL.
    fn command(&self, owner: Owner) -> Result<Vec<u8>, Errno> {
        let (_, process) = self.owner(owner)?;
        let name = self.thread_name(owner.id).unwrap_or(process.name);
        Ok(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
    }

    fn thread_count(&self, process: u32) -> usize {
        self.threads.values().filter(|thread| thread.process == process).count()
    }

    /// Returns the steps that a process or thread has retired.
    fn retired_of(&self, owner: Owner, steps: u64) -> u64 {
        match self.threads.get(&owner.id).filter(|_| owner.is_task) {
            Some(thread) if owner.id == self.turns.current => thread.retired + (steps - thread.turn_start),
            Some(thread) => thread.retired,
            None => self.retired_by(owner.id, steps),
        }
    }
}

/// Escapes a name as `status` shows it.
fn escaped(name: &[u8]) -> String {
    let escaped = name.iter().flat_map(|byte| match byte {
        b'\n' => b"\\n".to_vec(),
        b'\\' => b"\\\\".to_vec(),
        byte => vec![*byte],
    });
    String::from_utf8_lossy(&escaped.collect::<Vec<_>>()).into_owned()
}

pub(super) fn stat(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    /// `PF_FORKNOEXEC`.
    const HAS_NOT_EXECUTED: u64 = 0x40;
    let sizes = look.sizes(look.kernel.process_of(owner)?)?;
    let kernel = &*look.kernel;
    let (id, process) = kernel.owner(owner)?;
    let (state, _) = kernel.thread_state(owner.id, process);
    let thread = kernel.threads.get(&owner.id);
    let (ignored, caught) = process.actions.masks();
    let (terminal, foreground) = match process.terminal {
        Some(number) => {
            let of_pseudo = kernel.open.terminals.get(number).map(|terminal| terminal.foreground);
            (TERMINAL | number, i64::from(of_pseudo.unwrap_or(kernel.foreground)))
        }
        None => (0, -1),
    };
    let ticks = kernel.retired_of(owner, look.steps) / TICK;
    let started = thread.filter(|_| owner.is_task).map_or(process.started, |thread| thread.started);
    let space = look.space(id);
    let program = space.map(|space| &space.executable);
    let range = |address: u64, bytes: usize| (address, address + bytes as u64);
    let (arguments, environment) = program.map_or(((0, 0), (0, 0)), |program| {
        let (first, second) = (&program.arguments, &program.environment);
        (range(first.address, first.bytes.len()), range(second.address, second.bytes.len()))
    });
    let mut text = format!("{} (", owner.id).into_bytes();
    text.extend(kernel.command(owner)?);
    let Sizes { all, resident, program: (code_start, code_end), .. } = sizes;
    let flags = if process.has_executed { 0 } else { HAS_NOT_EXECUTED };
    let (pending, blocked) = thread.map_or((0, 0), |thread| (thread.pending.mask(), thread.blocked));
    let scheduling = thread.map_or(Scheduling::USUAL, |thread| thread.scheduling);
    // The bytes and pages of `vsize` and `rss`, then the limit of `rss`.
    let head = format!(
        ") {state} {} {} {} {terminal} {foreground} {flags} 0 0 0 0 {ticks} 0 {} 0 {} {} {} 0 {} {} {resident} {}",
        process.parent,
        process.group,
        process.session,
        process.children_retired / TICK,
        scheduling.shown_priority(),
        scheduling.nice,
        kernel.thread_count(id),
        started / TICK,
        all * PAGE_BYTES as u64,
        u64::MAX,
    );
    text.extend(head.bytes());
    let small = |mask: u64| mask & 0x7fff_ffff;
    let words = [
        code_start,
        code_end,
        program.map_or(0, |program| program.stack.start),
        0,
        0,
        small(pending),
        small(blocked),
        small(ignored),
        small(caught),
        u64::from(state == 'S'),
        0,
        0,
        process.exit_signal,
        0,
        scheduling.priority.into(),
        scheduling.policy.into(),
        0,
        0,
        0,
        0,
        0,
        space.map_or(0, |space| space.areas.heap.start),
        arguments.0,
        arguments.1,
        environment.0,
        environment.1,
        match process.state {
            State::Zombie(status) => status.word().into(),
            _ => 0,
        },
    ];
    words.iter().for_each(|word| text.extend(format!(" {word}").bytes()));
    text.push(b'\n');
    Ok(text)
}

pub(super) fn status(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let sizes = look.sizes(look.kernel.process_of(owner)?)?;
    let kernel = &*look.kernel;
    let (id, process) = kernel.owner(owner)?;
    let (letter, state) = kernel.thread_state(owner.id, process);
    let thread = kernel.threads.get(&owner.id);
    let pending = thread.map_or(0, |thread| thread.pending.mask());
    let blocked = thread.map_or(0, |thread| thread.blocked);
    let (ignored, caught) = process.actions.masks();
    let size = |pages: u64| format!("{:>8} kB", pages * (PAGE_BYTES as u64 / 1024));
    let owned = |value: &str| value.to_owned();
    // Descriptor tables grow in steps of 64.
    let descriptors = process.descriptors.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
    let mut rows = vec![
        ("Name", escaped(&kernel.command(owner)?)),
        ("Umask", format!("{:04o}", process.umask)),
        ("State", format!("{letter} ({state})")),
        ("Tgid", id.to_string()),
        ("Ngid", owned("0")),
        ("Pid", owner.id.to_string()),
        ("PPid", process.parent.to_string()),
        ("TracerPid", owned("0")),
        ("Uid", owned("0\t0\t0\t0")),
        ("Gid", owned("0\t0\t0\t0")),
        ("FDSize", descriptors.next_multiple_of(64).max(64).to_string()),
        ("Groups", owned(" ")),
        ("NStgid", id.to_string()),
        ("NSpid", owner.id.to_string()),
        ("NSpgid", process.group.to_string()),
        ("NSsid", process.session.to_string()),
    ];
    if !process.has_ended() {
        let anonymous = sizes.resident - sizes.resident_files;
        rows.extend([
            ("VmPeak", size(sizes.all)),
            ("VmSize", size(sizes.all)),
            ("VmLck", size(0)),
            ("VmPin", size(0)),
            ("VmHWM", size(sizes.resident)),
            ("VmRSS", size(sizes.resident)),
            ("RssAnon", size(anonymous)),
            ("RssFile", size(sizes.resident_files)),
            ("RssShmem", size(0)),
            ("VmData", size(sizes.data)),
            ("VmStk", size(sizes.stack)),
            ("VmExe", size(sizes.code)),
            ("VmLib", size(sizes.libraries)),
            ("VmPTE", size(sizes.all.div_ceil(512))),
            ("VmSwap", size(0)),
            ("HugetlbPages", size(0)),
            ("CoreDumping", owned("0")),
            ("THP_enabled", owned("0")),
        ]);
    }
    let queued = pending.count_ones() + process.pending.mask().count_ones();
    rows.extend([
        ("Threads", kernel.thread_count(id).to_string()),
        ("SigQ", format!("{queued}/1024")),
        ("SigPnd", format!("{pending:016x}")),
        ("ShdPnd", format!("{:016x}", process.pending.mask())),
        ("SigBlk", format!("{blocked:016x}")),
        ("SigIgn", format!("{ignored:016x}")),
        ("SigCgt", format!("{caught:016x}")),
        ("CapInh", owned("0000000000000000")),
        ("CapPrm", owned("000001ffffffffff")),
        ("CapEff", owned("000001ffffffffff")),
        ("CapBnd", owned("000001ffffffffff")),
        ("CapAmb", owned("0000000000000000")),
        ("NoNewPrivs", owned("0")),
        ("Seccomp", owned("0")),
        ("Seccomp_filters", owned("0")),
        ("Speculation_Store_Bypass", owned("not vulnerable")),
        ("SpeculationIndirectBranch", owned("not affected")),
        ("Cpus_allowed", owned("1")),
        ("Cpus_allowed_list", owned("0")),
        ("Mems_allowed", owned("1")),
        ("Mems_allowed_list", owned("0")),
        ("voluntary_ctxt_switches", owned("0")),
        ("nonvoluntary_ctxt_switches", owned("0")),
    ]);
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name}:\t{value}");
    }
    Ok(text.into_bytes())
}

pub(super) fn cmdline(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let process = look.kernel.process_of(owner)?;
    look.texts(process, |space| &space.executable.arguments)
}

pub(super) fn environ(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let process = look.kernel.process_of(owner)?;
    look.texts(process, |space| &space.executable.environment)
}

pub(super) fn auxv(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let process = look.kernel.process_of(owner)?;
    let words = look.space(process).map(|space| &space.executable.auxiliary);
    Ok(words.into_iter().flatten().flat_map(|word| word.to_le_bytes()).collect())
}

pub(super) fn comm(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    Ok([&look.kernel.command(owner)?[..], b"\n"].concat())
}

/// The resources in the order of their numbers: name and unit.
const RESOURCES: [(&str, &str); 16] = [
    ("Max cpu time", "seconds"),
    ("Max file size", "bytes"),
    ("Max data size", "bytes"),
    ("Max stack size", "bytes"),
    ("Max core file size", "bytes"),
    ("Max resident set", "bytes"),
    ("Max processes", "processes"),
    ("Max open files", "files"),
    ("Max locked memory", "bytes"),
    ("Max address space", "bytes"),
    ("Max file locks", "locks"),
    ("Max pending signals", "signals"),
    ("Max msgqueue size", "bytes"),
    ("Max nice priority", ""),
    ("Max realtime priority", ""),
    ("Max realtime timeout", "us"),
];

pub(super) fn resource_limits(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let process = look.kernel.process_of(owner)?;
    let limits = &look.kernel.processes.get(&process).ok_or(ESRCH)?.limits;
    let row = |name: &str, soft: &str, hard: &str, unit: &str| {
        format!("{name:<25} {soft:<20} {hard:<20} {unit:<10}\n")
    };
    let mut text = row("Limit", "Soft Limit", "Hard Limit", "Units");
    let shown = |limit: u64| if limit == UNLIMITED { "unlimited".to_owned() } else { limit.to_string() };
    for ((name, unit), limit) in RESOURCES.iter().zip(limits.iter()) {
        text.push_str(&row(name, &shown(limit.soft), &shown(limit.hard), unit));
    }
    Ok(text.into_bytes())
}

pub(super) fn personality(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    Ok(format!("{:08x}\n", look.kernel.owner(owner)?.1.personality).into_bytes())
}

/// Returns the IDs of the children of a thread: those of its process, for its first thread.
pub(super) fn children(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let process = look.kernel.process_of(owner)?;
    let all = look.kernel.processes.iter();
    let children = all.filter(|(_, child)| owner.id == process && child.parent == process);
    Ok(children.flat_map(|(id, _)| format!("{id} ").into_bytes()).collect())
}

/// Returns the time that a thread has run; it counts neither its waits nor its turns.
pub(super) fn schedstat(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    look.kernel.process_of(owner)?;
    Ok(format!("{} 0 1\n", look.kernel.retired_of(owner, look.steps)).into_bytes())
}

/// Returns the text of `fdinfo/NUMBER`.
pub(super) fn descriptor_info(look: &mut Look<'_, '_>, owner: Owner, number: u64) -> Text {
    let kernel = &*look.kernel;
    let (_, process) = kernel.owner(owner)?;
    let descriptor = process.descriptors.get(number).map_err(|_| Failure::from(ENOENT))?;
    let open = kernel.open.get(descriptor.description)?;
    let flags = open.flags | if descriptor.close_on_exec { O_CLOEXEC } else { 0 };
    let inode = match open.object {
        Object::Inode(inode) => inode,
        object => FileStatus::of(object, kernel, 0).number,
    };
    let position = open.position;
    let mut text = format!("pos:\t{position}\nflags:\t0{flags:o}\nmnt_id:\t1\nino:\t{inode}\n");
    if let Object::Event(event) = open.object {
        let more = match kernel.open.event(event)? {
            EventFile::Counter { count, .. } => format!("eventfd-count: {count:16x}\n"),
            EventFile::Timer(timer) => {
                format!("clockid: {}\nticks: {}\n", timer.clock, timer.times.count(kernel.uptime(look.steps)))
            }
            EventFile::Signals(mask) => format!("sigmask:\t{mask:016x}\n"),
            EventFile::Notices(notices) => {
                notices.watches.iter().fold(String::new(), |mut text, (id, watch)| {
                    let (number, mask) = (watch.number, watch.mask);
                    let _ = writeln!(
                        text,
                        "inotify wd:{id:x} ino:{number:x} sdev:1 mask:{mask:x} ignored_mask:0 "
                    );
                    text
                })
            }
            EventFile::Poll(interests) => interests.iter().fold(String::new(), |mut text, interest| {
                let _ = writeln!(
                    text,
                    "tfd: {:8} events: {:8x} data: {:16x} ",
                    interest.descriptor, interest.events, interest.data
                );
                text
            }),
        };
        text.push_str(&more);
    }
    Ok(text.into_bytes())
}

/// The descriptors that a process can have, as a check of the room that numbers of nodes have for them.
const _: () = assert!(DESCRIPTORS_MAX < 1 << 29, "a node has room for the number of a descriptor");
