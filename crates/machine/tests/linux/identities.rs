//! Tests of scheduling, memory locks, barriers and IDs, whose results were not those of Linux.

use crate::support::{AT_FDCWD, CODE, Caller, DATA};

const EPERM: i64 = -1;
const ENOENT: i64 = -2;
const ESRCH: i64 = -3;
const ENOMEM: i64 = -12;
const EFAULT: i64 = -14;
const EINVAL: i64 = -22;

#[test]
fn a_policy_of_scheduling_is_kept_and_checked() {
    let (set_parameter, set, get, get_parameter, slice) = (118, 119, 120, 121, 127);
    let (other, fifo, round_robin, batch) = (0, 1, 2, 3);
    let mut caller = Caller::new();
    let mut schedule = |policy, priority: u32| {
        caller.write(DATA, &priority.to_le_bytes());
        caller.call(set, &[0, policy, DATA])
    };
    assert_eq!(schedule(other, 1), EINVAL, "a priority without real time");
    assert_eq!(schedule(fifo, 0), EINVAL, "real time without a priority");
    assert_eq!(schedule(round_robin, 100), EINVAL, "too high a priority");
    assert_eq!(schedule(77, 0), EINVAL, "an unknown policy");
    assert_eq!(schedule(batch, 0), 0, "batches");
    assert_eq!(caller.call(get, &[0]), batch as i64, "the policy is kept");
    caller.write(DATA, &10_u32.to_le_bytes());
    assert_eq!(caller.call(set, &[2, round_robin, DATA]), 0, "real time");
    caller.write(DATA, &11_u32.to_le_bytes());
    assert_eq!(caller.call(set_parameter, &[0, DATA]), 0, "another priority");
    assert_eq!(caller.call(get_parameter, &[0, DATA + 8]), 0, "sched_getparam");
    assert_eq!(caller.read(DATA + 8, 4), 11_u32.to_le_bytes(), "the priority is kept");
    assert_eq!(caller.call(slice, &[0, DATA]), 0, "sched_rr_get_interval");
    assert_eq!(caller.read(DATA, 16), [0, 100_000_000_u64].map(u64::to_le_bytes).concat(), "100 ms");
    for call in [set_parameter, get_parameter] {
        assert_eq!(caller.call(call, &[0, 0]), EINVAL, "call {call} without a parameter");
        assert_eq!(caller.call(call, &[99, DATA]), ESRCH, "no thread");
    }
    assert_eq!(caller.call(get, &[99]), ESRCH, "no thread");
    assert_eq!(caller.call(get, &[u64::MAX]), EINVAL, "a negative ID");
    let stat = caller.open("/proc/self/stat", 0);
    let text = String::from_utf8(caller.contents(stat)).expect("the file is text");
    let fields: Vec<&str> = text.rsplit(") ").next().expect("a name").split_whitespace().collect();
    assert_eq!((fields[15], fields[37], fields[38]), ("-12", "11", "2"), "priority and policy in {text}");
}

#[test]
fn a_nice_value_is_kept() {
    let (set, get) = (140, 141);
    let mut caller = Caller::new();
    assert_eq!(caller.call(set, &[0, 0, 5]), 0, "setpriority");
    assert_eq!(caller.call(get, &[0, 0]), 15, "20 minus the nice value");
    assert_eq!(caller.call(set, &[1, 0, -100_i64 as u64]), 0, "of the process group");
    assert_eq!(caller.call(get, &[2, 0]), 40, "the least nice value is -20");
    assert_eq!(caller.call(set, &[0, 99, 0]), ESRCH, "no thread");
    assert_eq!(caller.call(get, &[3, 0]), EINVAL, "an unknown kind of IDs");
}

#[test]
fn a_set_of_processors_has_to_contain_the_one_there_is() {
    let set = 122;
    let mut caller = Caller::new();
    caller.write(DATA, &[1, 0, 0, 0, 0, 0, 0, 0, 2]);
    assert_eq!(caller.call(set, &[0, 8, DATA]), 0, "processor 0");
    assert_eq!(caller.call(set, &[0, 8, DATA + 8]), EINVAL, "processor 1");
    assert_eq!(caller.call(set, &[0, 0, DATA]), EINVAL, "no processor");
    assert_eq!(caller.call(set, &[99, 8, DATA]), ESRCH, "no thread");
    assert_eq!(caller.call(set, &[0, 8, 0]), EFAULT, "no set");
}

#[test]
fn only_mapped_memory_can_be_locked() {
    let (lock, unlock, lock_all, lock_with_flags) = (228, 229, 230, 284);
    let mut caller = Caller::new();
    assert_eq!(caller.call(lock, &[DATA + 100, 4096]), 0, "a part of two pages");
    assert_eq!(caller.call(lock, &[0, 4096]), ENOMEM, "no memory");
    assert_eq!(caller.call(unlock, &[CODE, 0x20_0000]), ENOMEM, "a hole");
    assert_eq!(caller.call(lock, &[DATA, -4096_i64 as u64]), EINVAL, "the sum overflows");
    assert_eq!(caller.call(lock, &[0, 0]), 0, "nothing");
    assert_eq!(caller.call(lock_with_flags, &[DATA, 1, 1]), 0, "MLOCK_ONFAULT");
    assert_eq!(caller.call(lock_with_flags, &[DATA, 1, 2]), EINVAL, "an unknown flag");
    for (flags, expected) in [(1, 0), (7, 0), (0, EINVAL), (4, EINVAL), (8, EINVAL)] {
        assert_eq!(caller.call(lock_all, &[flags]), expected, "mlockall with {flags}");
    }
}

#[test]
fn a_private_barrier_needs_a_registration() {
    let barrier = 283;
    let mut caller = Caller::new();
    assert_eq!(caller.call(barrier, &[0, 0]), 0x7f, "the known commands");
    for (command, registration) in [(8, 16), (32, 64)] {
        assert_eq!(caller.call(barrier, &[command, 0]), EPERM, "command {command} before the registration");
        assert_eq!(caller.call(barrier, &[registration, 0]), 0, "registration {registration}");
        assert_eq!(caller.call(barrier, &[command, 0]), 0, "command {command}");
    }
    assert_eq!(caller.call(barrier, &[1, 0]), 0, "a global barrier");
    assert_eq!(caller.call(barrier, &[3, 0]), EINVAL, "two commands");
    assert_eq!(caller.call(barrier, &[0, 1]), EINVAL, "a flag");
}

#[test]
fn ids_that_cannot_exist_are_invalid() {
    let (kill_thread, kill_thread_of, queue, queue_to) = (130, 131, 138, 240);
    let mut caller = Caller::new();
    for id in [0, u64::MAX] {
        assert_eq!(caller.call(kill_thread, &[id, 0]), EINVAL, "tkill of {id}");
        assert_eq!(caller.call(kill_thread_of, &[id, 2, 0]), EINVAL, "tgkill in {id}");
        assert_eq!(caller.call(kill_thread_of, &[2, id, 0]), EINVAL, "tgkill of {id}");
        assert_eq!(caller.call(queue_to, &[2, id, 0, DATA]), EINVAL, "rt_tgsigqueueinfo of {id}");
    }
    assert_eq!(caller.call(queue, &[99, 0, DATA]), EPERM, "only the kernel sends such a signal to others");
    assert_eq!(caller.call(queue, &[2, 0, DATA]), 0, "a process may send it to itself");
    let minus_one = u64::from(u32::MAX);
    for call in [144, 146] {
        assert_eq!(caller.call(call, &[minus_one]), EINVAL, "call {call}: no user and no group has this ID");
        assert_eq!(caller.call(call, &[0]), 0, "call {call}");
    }
}

#[test]
fn capabilities_are_set_only_with_a_known_version() {
    let set = 91;
    let mut caller = Caller::new();
    assert_eq!(caller.call(set, &[0, 0]), EFAULT, "no header");
    caller.write(DATA, &[0x2008_0522_u32, 0].map(u32::to_le_bytes).concat());
    assert_eq!(caller.call(set, &[DATA, DATA + 64]), 0, "of itself");
    assert_eq!(caller.call(set, &[DATA, 0]), EFAULT, "no capabilities");
    caller.write(DATA, &[0x2008_0522_u32, 1].map(u32::to_le_bytes).concat());
    assert_eq!(caller.call(set, &[DATA, DATA + 64]), EPERM, "of another process");
    caller.write(DATA, &5_u32.to_le_bytes());
    assert_eq!(caller.call(set, &[DATA, DATA + 64]), EINVAL, "an unknown version");
    assert_eq!(caller.read(DATA, 4), 0x2008_0522_u32.to_le_bytes(), "the known version");
}

#[test]
fn a_script_that_is_closed_on_execution_cannot_be_executed() {
    const EMPTY_PATH: u64 = 0x1000;
    const CLOSE_ON_EXEC: u64 = 0o2_000_000;
    let execute = 281;
    let mut caller = Caller::new();
    let file = caller.open("/tmp/script", 0o102) as u64;
    caller.write(DATA, b"#!/bin/sh\n");
    assert_eq!(caller.call(64, &[file, DATA, 10]), 10, "write");
    assert_eq!(caller.call(52, &[file, 0o755]), 0, "fchmod");
    let closed = caller.open("/tmp/script", CLOSE_ON_EXEC) as u64;
    caller.write(DATA, &[0; 8]);
    assert_eq!(
        caller.call(execute, &[closed, DATA, 0, 0, EMPTY_PATH]),
        ENOENT,
        "the shell could not open it"
    );
    let path = caller.path("/tmp/script");
    assert_eq!(caller.call(execute, &[AT_FDCWD, path, 0, 0, 1]), EINVAL, "an unknown flag");
    assert_eq!(caller.call(execute, &[file, DATA, 0, 0, 0]), ENOENT, "an empty path");
}
