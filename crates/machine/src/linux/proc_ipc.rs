//! The files of `/proc` about locks of files and about objects of System V.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::files::InodeNumber;
use super::ipc::Permission;
use super::kernel::Kernel;
use super::locks::{Lock, Owner};
use super::proc_text::{Look, Text};
use super::shared_objects::Source;
use super::wait::Event;
use crate::pages::PAGE_BYTES;

/// The last byte of a lock that has no end.
const NO_END: u64 = i64::MAX as u64;

/// Returns a process that has a descriptor of a description, or -1 as Linux does for locks without a process.
fn holder(kernel: &Kernel, lock: &Lock) -> i64 {
    match lock.owner {
        Owner::Process(process) => process.into(),
        Owner::Description(description) if lock.is_whole => {
            let mut all = kernel.processes.iter();
            let has = |(_, descriptor): (u64, &super::descriptors::Descriptor)| {
                descriptor.description == description
            };
            let found = all.find(|(_, process)| process.descriptors.iter().any(has));
            found.map_or(0, |(id, _)| i64::from(*id))
        }
        Owner::Description(_) => -1,
    }
}

/// Returns the part of a row that follows its number.
fn lock_row(kernel: &Kernel, number: InodeNumber, lock: &Lock) -> String {
    let kind = match lock.owner {
        _ if lock.is_whole => "FLOCK ",
        Owner::Process(_) => "POSIX ",
        Owner::Description(_) => "OFDLCK",
    };
    let access = if lock.is_exclusive { "WRITE" } else { "READ" };
    let process = holder(kernel, lock);
    let range = match (lock.is_whole, lock.last) {
        (true, _) => "0 EOF".to_owned(),
        (false, NO_END..) => format!("{} EOF", lock.first),
        (false, last) => format!("{} {last}", lock.first),
    };
    // The device is that which `stat` shows.
    format!("{kind} ADVISORY  {access} {process} 00:01:{number} {range}\n")
}

/// Lists the locks, each followed by those that wait for it.
pub(super) fn locks(look: &mut Look<'_, '_>) -> Text {
    let kernel = &*look.kernel;
    let mut text = String::new();
    let waits = kernel.turns.waiting.iter().filter_map(|id| kernel.threads.get(id)?.wait.as_ref());
    let wanted: Vec<(InodeNumber, &Lock)> = waits
        .filter_map(|wait| match &wait.event {
            Event::Lock { number, wanted } => Some((*number, wanted)),
            _ => None,
        })
        .collect();
    for (index, (number, lock)) in (1..).zip(kernel.open.locks.iter()) {
        let _ = write!(text, "{index}: {}", lock_row(kernel, number, lock));
        for (_, waiting) in wanted.iter().filter(|(file, wanted)| {
            *file == number && kernel.open.locks.conflict(number, wanted) == Some(lock)
        }) {
            let _ = write!(text, "{index}: -> {}", lock_row(kernel, number, waiting));
        }
    }
    Ok(text.into_bytes())
}

/// Returns user and group of the owner and of the maker.
fn owners(permission: &Permission) -> String {
    format!("{:5} {:5} {:5} {:5}", permission.owner, permission.group, 0, 0)
}

/// Returns key, ID and mode of an object.
fn names(id: u32, permission: &Permission) -> String {
    format!("{:10} {id:10}  {:4o}", permission.key as i32, permission.mode)
}

pub(super) fn message_queues(look: &mut Look<'_, '_>) -> Text {
    let mut text = "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  cgid      stime      \
                    rtime      ctime\n"
        .to_owned();
    for (id, queue) in &look.kernel.ipc.queues.all {
        let ([sender, receiver], [sent, received, changed]) = (queue.processes, queue.times);
        let _ = writeln!(
            text,
            "{}  {:10} {:10} {sender:5} {receiver:5} {} {sent:10} {received:10} {changed:10}",
            names(*id, &queue.permission),
            queue.bytes(),
            queue.messages.len(),
            owners(&queue.permission),
        );
    }
    Ok(text.into_bytes())
}

pub(super) fn semaphores(look: &mut Look<'_, '_>) -> Text {
    let mut text =
        "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      ctime\n".to_owned();
    for (id, set) in &look.kernel.ipc.sets.all {
        let [used, changed] = set.times;
        let _ = writeln!(
            text,
            "{} {:10} {} {used:10} {changed:10}",
            names(*id, &set.permission),
            set.semaphores.len(),
            owners(&set.permission),
        );
    }
    Ok(text.into_bytes())
}

pub(super) fn segments(look: &mut Look<'_, '_>) -> Text {
    let kernel = &*look.kernel;
    let mut attached: BTreeMap<u32, u32> = BTreeMap::new();
    let mappings = kernel.spaces.values().flat_map(|space| &space.shared);
    mappings
        .filter(|mapping| mapping.is_segment)
        .for_each(|mapping| *attached.entry(mapping.object).or_default() += 1);
    let mut text =
        "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      \
                    atime      dtime      ctime                   rss                  swap\n"
            .to_owned();
    for (id, segment) in &kernel.ipc.segments.all {
        let [attach, detach, change] = segment.times;
        let pages = match kernel.shared.objects.get(&segment.object).map(|object| &object.source) {
            Some(Source::Pages(pages)) => pages.len(),
            _ => 0,
        };
        let _ = writeln!(
            text,
            "{} {:21} {:5} {:5}  {:5} {} {attach:10} {detach:10} {change:10} {:21} {:21}",
            names(*id, &segment.permission),
            segment.bytes,
            segment.creator,
            segment.last,
            attached.get(&segment.object).copied().unwrap_or(0),
            owners(&segment.permission),
            pages * PAGE_BYTES,
            0,
        );
    }
    Ok(text.into_bytes())
}
