//! The names and numbers of Linux system calls, and the note about calls that KVRM does not serve.

use std::collections::BTreeMap;

use kvrm::Report;
use kvrm::linux::{CALLS, SystemCall};

/// The system calls of arm64 that KVRM does not serve, up to Linux 6.10, sorted by number.
#[rustfmt::skip] // Several on a line.
const OTHERS: &[(u64, &str)] = &[
    (0, "io_setup"), (1, "io_destroy"), (2, "io_submit"), (3, "io_cancel"), (4, "io_getevents"),
    (18, "lookup_dcookie"),
    (30, "ioprio_set"), (31, "ioprio_get"), (39, "umount2"),
    (40, "mount"), (41, "pivot_root"), (42, "nfsservctl"), (58, "vhangup"), (60, "quotactl"),
    (89, "acct"), (97, "unshare"), (104, "kexec_load"), (105, "init_module"), (106, "delete_module"),
    (112, "clock_settime"), (116, "syslog"), (117, "ptrace"), (128, "restart_syscall"), (142, "reboot"),
    (151, "setfsuid"), (152, "setfsgid"), (162, "setdomainname"), (170, "settimeofday"), (171, "adjtimex"),
    (217, "add_key"), (218, "request_key"), (219, "keyctl"),
    (224, "swapon"), (225, "swapoff"), (234, "remap_file_pages"), (235, "mbind"), (236, "get_mempolicy"),
    (237, "set_mempolicy"), (238, "migrate_pages"), (239, "move_pages"), (241, "perf_event_open"),
    (262, "fanotify_init"), (263, "fanotify_mark"), (264, "name_to_handle_at"),
    (265, "open_by_handle_at"), (266, "clock_adjtime"), (268, "setns"), (270, "process_vm_readv"),
    (271, "process_vm_writev"), (272, "kcmp"), (273, "finit_module"), (274, "sched_setattr"), (275, "sched_getattr"),
    (277, "seccomp"), (280, "bpf"), (282, "userfaultfd"), (288, "pkey_mprotect"), (289, "pkey_alloc"),
    (290, "pkey_free"), (292, "io_pgetevents"), (294, "kexec_file_load"), (424, "pidfd_send_signal"),
    (425, "io_uring_setup"), (426, "io_uring_enter"), (427, "io_uring_register"), (428, "open_tree"),
    (429, "move_mount"), (430, "fsopen"), (431, "fsconfig"), (432, "fsmount"), (433, "fspick"), (434, "pidfd_open"),
    (437, "openat2"), (438, "pidfd_getfd"), (440, "process_madvise"), (442, "mount_setattr"), (443, "quotactl_fd"),
    (444, "landlock_create_ruleset"), (445, "landlock_add_rule"), (446, "landlock_restrict_self"),
    (447, "memfd_secret"), (448, "process_mrelease"), (449, "futex_waitv"), (450, "set_mempolicy_home_node"),
    (451, "cachestat"), (452, "fchmodat2"), (453, "map_shadow_stack"), (454, "futex_wake"), (455, "futex_wait"),
    (456, "futex_requeue"), (457, "statmount"), (458, "listmount"), (459, "lsm_get_self_attr"),
    (460, "lsm_set_self_attr"), (461, "lsm_list_modules"), (462, "mseal"),
];

/// Returns the row of a call in the table of KVRM.
fn find(number: u64) -> Option<&'static SystemCall> {
    CALLS.iter().find(|call| call.number == number)
}

/// Returns the name of a system call, or its number such as `#999` if it has no name.
pub(super) fn name(number: u64) -> String {
    let other = || OTHERS.iter().find(|(other, _)| *other == number).map(|(_, name)| *name);
    find(number).map(|call| call.name).or_else(other).map_or_else(|| format!("#{number}"), str::to_owned)
}

/// Returns the number of a system call.
pub(super) fn number(name: &str) -> Option<u64> {
    let served = CALLS.iter().map(|call| (call.number, call.name));
    served.chain(OTHERS.iter().copied()).find(|(_, other)| *other == name).map(|(number, _)| number)
}

/// What helps against a call that is not served: the beginnings of names, and the advice.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["socket"],
        "a lane has no network but its own: give the program its data as files, by --mount, --copy, --sysroot or --stdin",
    ),
    (
        &["mount", "umount", "fsopen", "fsmount", "move_mount"],
        "--mount and --copy add directories of the host",
    ),
    (&["pivot_root"], "--sysroot makes a directory of the host the root directory"),
    (&["clock_set", "settimeofday", "adjtimex", "clock_adj"], "--real-time shows the clock of the host"),
    (
        &["ptrace", "process_vm", "perf_event"],
        "--strace, kvrm trace, --break and --watch show what a program does",
    ),
];

/// Returns a note about the calls that a failed program made and KVRM did not serve, with what may help.
pub(super) fn unserved(report: &Report) -> Option<String> {
    let rows = rows(&report.unknown_calls, &report.refused_calls);
    if rows.is_empty() {
        return None;
    }
    let names: Vec<String> =
        report.unknown_calls.keys().chain(report.refused_calls.keys()).map(|number| name(*number)).collect();
    let is_about = |beginnings: &[&str]| {
        names.iter().any(|name| beginnings.iter().any(|beginning| name.starts_with(beginning)))
    };
    let mut advice: Vec<&str> =
        ADVICE.iter().filter(|(beginnings, _)| is_about(beginnings)).map(|(_, advice)| *advice).collect();
    advice.push("--strace shows the calls with their arguments; docs/linux.md lists those that KVRM serves");
    let mut text =
        "note: the program failed, perhaps because KVRM did not serve these system calls:".to_owned();
    rows.iter().for_each(|row| text.push_str(&format!("\n  {row}")));
    advice.iter().for_each(|advice| text.push_str(&format!("\nhint: {advice}")));
    Some(text)
}

/// Returns a row for each call: its name, how often it was made if more than once, and for a refused one what KVRM serves of it.
fn rows(unknown: &BTreeMap<u64, u64>, refused: &BTreeMap<u64, u64>) -> Vec<String> {
    let times = |count: u64| if count > 1 { format!(", {count} times") } else { String::new() };
    let unknown =
        unknown.iter().map(|(number, count)| format!("{}: unknown{}", name(*number), times(*count)));
    let refused = refused.iter().map(|(number, count)| {
        let reason = find(*number).map_or("", |call| call.note);
        format!("{}: refused{} (served: {reason})", name(*number), times(*count))
    });
    unknown.chain(refused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_one_name_each() {
        assert!(OTHERS.is_sorted_by(|a, b| a.0 < b.0), "sorted by number");
        for (number, name) in OTHERS {
            let served = CALLS.iter().find(|call| call.number == *number || call.name == *name);
            assert!(served.is_none(), "{number} {name} is also {served:?}");
        }
        assert_eq!([198, 425, 999].map(name), ["socket", "io_uring_setup", "#999"], "served, other, none");
    }

    #[test]
    fn calls_are_named_and_counted() {
        let none = BTreeMap::new();
        assert_eq!(rows(&none, &none), [""; 0], "no calls");
        let found = rows(&[(217, 1), (999, 2)].into(), &[(198, 3)].into());
        let socket = find(198).map_or("", |call| call.note);
        let expected = [
            "add_key: unknown".to_owned(),
            "#999: unknown, 2 times".to_owned(),
            format!("socket: refused, 3 times (served: {socket})"),
        ];
        assert_eq!(found, expected, "names, counts and reasons");
    }
}
