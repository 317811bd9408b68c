//! The names and numbers of Linux system calls, and the notes about calls that KVRM does not serve.

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

/// Returns the notes about the calls that a failed program made and KVRM did not serve.
pub(super) fn notes(report: &Report) -> Vec<String> {
    let unknown = calls(&report.unknown_calls, |_| None).map(|calls| {
        format!(
            "note: the program made system calls that KVRM does not serve, which may be why it failed: {calls}; \
             docs/linux.md lists the calls that KVRM serves"
        )
    });
    let refused = calls(&report.refused_calls, |number| find(number).map(|call| call.note)).map(|calls| {
        format!(
            "note: the program made system calls that KVRM refuses, which may be why it failed: {calls}; docs/linux.md \
             lists the calls that KVRM serves"
        )
    });
    unknown.into_iter().chain(refused).collect()
}

/// Returns the names of calls, each with how often it was made, if more than once, and with a remark, if it has one.
fn calls(counts: &BTreeMap<u64, u64>, remark: impl Fn(u64) -> Option<&'static str>) -> Option<String> {
    let call = |(&number, &count): (&u64, &u64)| {
        let times = (count > 1).then(|| format!("{count} times"));
        let remarks: Vec<_> = times.into_iter().chain(remark(number).map(str::to_owned)).collect();
        let name = name(number);
        if remarks.is_empty() { name } else { format!("{name} ({})", remarks.join("; ")) }
    };
    let calls: Vec<_> = counts.iter().map(call).collect();
    (!calls.is_empty()).then(|| calls.join(", "))
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
        assert_eq!(calls(&BTreeMap::new(), |_| None), None, "no calls");
        let text = calls(&[(217, 1), (999, 2)].into(), |_| None);
        assert_eq!(text.as_deref(), Some("add_key, #999 (2 times)"), "names and numbers");
        let text = calls(&[(198, 1), (260, 3)].into(), |number| (number == 260).then_some("none"));
        assert_eq!(text.as_deref(), Some("socket, wait4 (3 times; none)"), "with a remark");
    }
}
