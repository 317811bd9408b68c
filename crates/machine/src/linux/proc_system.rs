//! The files of `/proc` about the lane as a whole.

use super::descriptors::DESCRIPTORS_MAX;
use super::failure::Failure;
use super::initial_stack::capabilities;
use super::kernel::Kernel;
use super::mix::{GOLDEN, mixed};
use super::open_files::PIPE_BYTES;
use super::proc_process::TICK;
use super::proc_text::{Look, Text};
use super::process_calls::SYSTEM_NAMES;
use super::time_calls::NANOSECONDS;
use crate::pages::PAGE_BYTES;

/// The names of the bits of `AT_HWCAP`, and of `AT_HWCAP2`, in the order of the bits.
#[rustfmt::skip] // Several on a line.
const FEATURES: [&[&str]; 2] = [
    &["fp", "asimd", "evtstrm", "aes", "pmull", "sha1", "sha2", "crc32", "atomics", "fphp", "asimdhp", "cpuid",
      "asimdrdm", "jscvt", "fcma", "lrcpc", "dcpop", "sha3", "sm3", "sm4", "asimddp", "sha512", "sve", "asimdfhm",
      "dit", "uscat", "ilrcpc", "flagm", "ssbs", "sb", "paca", "pacg"],
    &["dcpodp", "sve2", "sveaes", "svepmull", "svebitperm", "svesha3", "svesm4", "flagm2", "frint", "svei8mm",
      "svef32mm", "svef64mm", "svebf16", "i8mm", "bf16", "dgh", "rng", "bti"],
];

pub(super) fn cpuinfo(look: &mut Look<'_, '_>) -> Text {
    let capabilities = capabilities(look.kernel.settings.features);
    let names = FEATURES.iter().zip(capabilities).flat_map(|(names, bits)| {
        let has = move |bit: &usize| bits >> bit & 1 == 1;
        (0..names.len()).filter(has).map(|bit| names[bit])
    });
    let names: Vec<&str> = names.collect();
    // The counter has 1 GHz. No register tells a program the model, so it is that of software (implementer 0).
    Ok(format!(
        "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: {}\nCPU implementer\t: 0x00\nCPU architecture: 8\n\
         CPU variant\t: 0x0\nCPU part\t: 0x000\nCPU revision\t: 0\n\n",
        names.join(" ")
    )
    .into_bytes())
}

/// The memory of a lane, in bytes: all of it, and what is free.
pub(super) fn memory(look: &mut Look<'_, '_>) -> Result<(u64, u64), Failure> {
    let areas = &look.kernel.space().areas;
    let total = areas.arena.end - areas.arena.start;
    let spaces: Vec<u32> = look.kernel.spaces.keys().copied().collect();
    let mut used = 0;
    for space in spaces {
        used += look.resident(space)? * PAGE_BYTES as u64;
    }
    let (room, free) = look.kernel.files.space();
    Ok((total, total.saturating_sub(used).saturating_sub(room - free)))
}

pub(super) fn meminfo(look: &mut Look<'_, '_>) -> Text {
    let (total, free) = memory(look)?;
    let (room, left) = look.kernel.files.space();
    // Changed files are in memory.
    let cached = room - left;
    let anonymous = total.saturating_sub(free).saturating_sub(cached);
    let rows = [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", cached),
        ("SwapCached", 0),
        ("Active", anonymous),
        ("Inactive", cached),
        ("Active(anon)", anonymous),
        ("Inactive(anon)", 0),
        ("Active(file)", 0),
        ("Inactive(file)", cached),
        ("Unevictable", 0),
        ("Mlocked", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Dirty", 0),
        ("Writeback", 0),
        ("AnonPages", anonymous),
        ("Mapped", anonymous),
        ("Shmem", cached),
        ("KReclaimable", 0),
        ("Slab", 0),
        ("SReclaimable", 0),
        ("SUnreclaim", 0),
        ("KernelStack", 0),
        ("PageTables", 0),
        ("NFS_Unstable", 0),
        ("Bounce", 0),
        ("WritebackTmp", 0),
        ("CommitLimit", total),
        ("Committed_AS", anonymous),
        ("VmallocTotal", 0),
        ("VmallocUsed", 0),
        ("VmallocChunk", 0),
    ];
    let row = |(name, bytes): (&str, u64)| format!("{:<16}{:>8} kB\n", format!("{name}:"), bytes / 1024);
    let mut text: String = rows.into_iter().map(row).collect();
    text.push_str("HugePages_Total:       0\nHugePages_Free:        0\nHugepagesize:       2048 kB\n");
    Ok(text.into_bytes())
}

impl Look<'_, '_> {
    /// Returns the nanoseconds since the start of the lane, and those of them in which it slept.
    fn times(&self) -> (u64, u64) {
        let uptime = self.kernel.uptime(self.steps);
        let idle = if self.kernel.settings.real_time.is_some() { 0 } else { self.kernel.state.slept };
        (uptime, idle)
    }

    /// Returns the numbers of threads that can go on, and of all threads.
    fn threads(&self) -> (usize, usize) {
        let kernel = &*self.kernel;
        let can_go_on = kernel.threads.values().filter(|thread| thread.wait.is_none());
        (can_go_on.count(), kernel.threads.len())
    }
}

/// Returns nanoseconds as seconds with two digits after the point.
fn hundredths(nanoseconds: u64) -> String {
    format!("{}.{:02}", nanoseconds / NANOSECONDS, nanoseconds % NANOSECONDS / TICK)
}

pub(super) fn uptime(look: &mut Look<'_, '_>) -> Text {
    let (uptime, idle) = look.times();
    Ok(format!("{} {}\n", hundredths(uptime), hundredths(idle)).into_bytes())
}

pub(super) fn stat(look: &mut Look<'_, '_>) -> Text {
    let (uptime, idle) = look.times();
    let cpu = format!("{} 0 0 {} 0 0 0 0 0 0", (uptime - idle.min(uptime)) / TICK, idle / TICK);
    let start = look.kernel.now(look.steps).saturating_sub(uptime) / NANOSECONDS;
    let (running, _) = look.threads();
    let born = look.kernel.next_id - super::kernel::FIRST;
    Ok(format!(
        "cpu  {cpu}\ncpu0 {cpu}\nintr 0\nctxt 0\nbtime {start}\nprocesses {born}\nprocs_running {running}\n\
         procs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )
    .into_bytes())
}

/// The averages are 0: the kernel takes no samples while threads run.
pub(super) fn loadavg(look: &mut Look<'_, '_>) -> Text {
    let (running, all) = look.threads();
    Ok(format!("0.00 0.00 0.00 {running}/{all} {}\n", look.kernel.next_id - 1).into_bytes())
}

pub(super) fn version(_: &mut Look<'_, '_>) -> Text {
    let [system, _, release, version, ..] = SYSTEM_NAMES;
    Ok(format!("{system} version {release} (kvrm@kvrm) {version}\n").into_bytes())
}

pub(super) fn ostype(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\n", SYSTEM_NAMES[0]).into_bytes())
}

pub(super) fn hostname(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\n", SYSTEM_NAMES[1]).into_bytes())
}

pub(super) fn osrelease(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\n", SYSTEM_NAMES[2]).into_bytes())
}

pub(super) fn os_version(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\n", SYSTEM_NAMES[3]).into_bytes())
}

pub(super) fn domainname(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\n", SYSTEM_NAMES[5]).into_bytes())
}

/// Returns random bytes as a UUID of version 4.
fn uuid(mut bytes: [u8; 16]) -> Vec<u8> {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text.push('\n');
    text.into_bytes()
}

/// A UUID that is new in each look.
pub(super) fn random_uuid(look: &mut Look<'_, '_>) -> Text {
    Ok(uuid(look.kernel.take_auxiliary_random()))
}

/// The UUID of the lane, a hash of the seed and its number.
pub(super) fn boot_id(look: &mut Look<'_, '_>) -> Text {
    let Kernel { settings, lane, .. } = &*look.kernel;
    let mut state = mixed(settings.seed ^ lane.wrapping_mul(GOLDEN));
    let mut word = || {
        state = state.wrapping_add(GOLDEN);
        mixed(state).to_le_bytes()
    };
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&word());
    bytes[8..].copy_from_slice(&word());
    Ok(uuid(bytes))
}

pub(super) fn file_nr(look: &mut Look<'_, '_>) -> Text {
    Ok(format!("{}\t0\t{}\n", look.kernel.open.count(), u64::MAX >> 1).into_bytes())
}

pub(super) fn nr_open(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{DESCRIPTORS_MAX}\n").into_bytes())
}

pub(super) fn pipe_max_size(_: &mut Look<'_, '_>) -> Text {
    Ok(format!("{PIPE_BYTES}\n").into_bytes())
}
