//! The arguments of system calls, for their trace: what each of them is.

use super::trace_flags as flags;
use super::trace_flags::Names;

/// What an argument is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A signed number of 32 bits, or of 64.
    Int,
    Long,
    /// An unsigned number.
    Size,
    Hex,
    /// An address that is not looked at.
    Pointer,
    /// Permissions.
    Mode,
    /// The permissions of a file that the flags before it create.
    ModeIfCreated,
    /// A descriptor that stands for a directory.
    Directory,
    Path,
    /// Bytes that the call reads, as many as the next argument says.
    Input,
    /// Bytes that the call writes, as many as it returns.
    Output,
    /// Flags, or one of several values.
    Set(Names),
    One(Names),
    OpenFlags,
    MapFlags,
    FutexOperation,
    SocketType,
    CloneFlags,
    CloneArguments,
    Signal,
    /// A signal mask: that the call reads, or that it writes.
    Mask,
    MaskOut,
    Action,
    ActionOut,
    SignalStack,
    SignalStackOut,
    SignalInfo,
    SignalInfoOut,
    /// A `struct timespec`, a pair of them, and a `struct itimerspec`.
    Time,
    TimeOut,
    Times,
    TimerOut,
    Timer,
    /// A `struct timeval`, and a pair of them.
    TimeValueOut,
    TimeValues,
    TimeValuesOut,
    /// Strings, as arguments of a program; the number of variables.
    Strings,
    Variables,
    /// Two descriptors.
    Pair,
    Status,
    FileStatus,
    FileStatusX,
    FileSystem,
    Buffers,
    BuffersOut,
    /// The entries of a directory.
    Entries,
    Polled,
    EpollEvent,
    EpollEventsOut,
    Limit,
    LimitOut,
    /// A number of 32 or 64 bits that the call writes.
    IntOut,
    LongOut,
    LongIn,
    System,
    /// The third argument of `ioctl`, `fcntl` or `prctl`, which depends on the second or first.
    Controlled,
    FcntlArgument,
    PrctlArgument,
    SocketAddress,
}

impl Kind {
    /// Returns whether the argument is known only after the call.
    pub(super) const fn is_output(self) -> bool {
        matches!(
            self,
            Output
                | MaskOut
                | ActionOut
                | SignalStackOut
                | SignalInfoOut
                | TimeOut
                | TimerOut
                | TimeValueOut
                | TimeValuesOut
                | Pair
                | Status
                | FileStatus
                | FileStatusX
                | FileSystem
                | BuffersOut
                | Entries
                | EpollEventsOut
                | LimitOut
                | IntOut
                | LongOut
                | System
                | Controlled
        )
    }
}

use Kind::*;

/// The calls by name, with their arguments.
#[rustfmt::skip] // One line each.
const ARGUMENTS: &[(&str, &[Kind])] = &[
    ("accept", &[Int, Pointer, Pointer]),
    ("accept4", &[Int, Pointer, Pointer, Set(flags::SOCKET_FLAGS)]),
    ("bind", &[Int, SocketAddress, Int]),
    ("brk", &[Pointer]),
    ("capget", &[Pointer, Pointer]),
    ("capset", &[Pointer, Pointer]),
    ("chdir", &[Path]),
    ("clock_getres", &[One(flags::CLOCK), TimeOut]),
    ("clock_gettime", &[One(flags::CLOCK), TimeOut]),
    ("clock_nanosleep", &[One(flags::CLOCK), Set(flags::TIMER), Time, TimeOut]),
    ("clone", &[CloneFlags, Pointer, Pointer, Pointer, Pointer]),
    ("clone3", &[CloneArguments, Size]),
    ("close", &[Int]),
    ("close_range", &[Int, Int, Set(flags::CLOSE_RANGE)]),
    ("connect", &[Int, SocketAddress, Int]),
    ("copy_file_range", &[Int, LongIn, Int, LongIn, Size, Hex]),
    ("dup", &[Int]),
    ("dup3", &[Int, Int, Set(flags::PIPE)]),
    ("epoll_create1", &[Set(flags::EPOLL)]),
    ("epoll_ctl", &[Int, One(flags::EPOLL_OPERATION), Int, EpollEvent]),
    ("epoll_pwait", &[Int, EpollEventsOut, Int, Int, Mask, Size]),
    ("epoll_pwait2", &[Int, EpollEventsOut, Int, Time, Mask, Size]),
    ("eventfd2", &[Int, Set(flags::EVENT_FILE)]),
    ("execve", &[Path, Strings, Variables]),
    ("execveat", &[Directory, Path, Strings, Variables, Set(flags::AT)]),
    ("exit", &[Int]),
    ("exit_group", &[Int]),
    ("faccessat", &[Directory, Path, Set(flags::ACCESS)]),
    ("faccessat2", &[Directory, Path, Set(flags::ACCESS), Set(flags::AT_ACCESS)]),
    ("fadvise64", &[Int, Long, Long, One(flags::FILE_ADVICE)]),
    ("fallocate", &[Int, Set(flags::ALLOCATE), Long, Long]),
    ("fchdir", &[Int]),
    ("fchmod", &[Int, Mode]),
    ("fchmodat", &[Directory, Path, Mode]),
    ("fchown", &[Int, Int, Int]),
    ("fchownat", &[Directory, Path, Int, Int, Set(flags::AT)]),
    ("fcntl", &[Int, One(flags::FCNTL), FcntlArgument]),
    ("fdatasync", &[Int]),
    ("fgetxattr", &[Int, Path, Pointer, Size]),
    ("flistxattr", &[Int, Pointer, Size]),
    ("flock", &[Int, Set(flags::LOCK)]),
    ("fsetxattr", &[Int, Path, Input, Size, Int]),
    ("fstat", &[Int, FileStatus]),
    ("fstatfs", &[Int, FileSystem]),
    ("fsync", &[Int]),
    ("ftruncate", &[Int, Long]),
    ("futex", &[Pointer, FutexOperation, Int, Time, Pointer, Hex]),
    ("get_robust_list", &[Int, LongOut, LongOut]),
    ("getcpu", &[IntOut, IntOut, Pointer]),
    ("getcwd", &[Output, Size]),
    ("getdents64", &[Int, Entries, Size]),
    ("getegid", &[]),
    ("geteuid", &[]),
    ("getgid", &[]),
    ("getgroups", &[Int, Pointer]),
    ("getitimer", &[One(flags::INTERVAL_TIMER), TimeValuesOut]),
    ("getpeername", &[Int, Pointer, Pointer]),
    ("getpgid", &[Int]),
    ("getpid", &[]),
    ("getppid", &[]),
    ("getpriority", &[One(flags::PRIORITY), Int]),
    ("getrandom", &[Output, Size, Set(flags::RANDOM)]),
    ("getresgid", &[IntOut, IntOut, IntOut]),
    ("getresuid", &[IntOut, IntOut, IntOut]),
    ("getrlimit", &[One(flags::RESOURCE), LimitOut]),
    ("getrusage", &[One(flags::USAGE), TimeValuesOut]),
    ("getsid", &[Int]),
    ("getsockname", &[Int, Pointer, Pointer]),
    ("getsockopt", &[Int, Int, Int, Pointer, Pointer]),
    ("gettid", &[]),
    ("gettimeofday", &[TimeValueOut, Pointer]),
    ("getuid", &[]),
    ("getxattr", &[Path, Path, Pointer, Size]),
    ("ioctl", &[Int, One(flags::IOCTL), Controlled]),
    ("kill", &[Int, Signal]),
    ("lgetxattr", &[Path, Path, Pointer, Size]),
    ("linkat", &[Directory, Path, Directory, Path, Set(flags::AT)]),
    ("listen", &[Int, Int]),
    ("listxattr", &[Path, Pointer, Size]),
    ("llistxattr", &[Path, Pointer, Size]),
    ("lseek", &[Int, Long, One(flags::WHENCE)]),
    ("lsetxattr", &[Path, Path, Input, Size, Int]),
    ("madvise", &[Pointer, Size, One(flags::ADVICE)]),
    ("membarrier", &[One(flags::MEMBARRIER), Hex, Int]),
    ("memfd_create", &[Path, Set(flags::MEMORY_FILE)]),
    ("mincore", &[Pointer, Size, Pointer]),
    ("mkdirat", &[Directory, Path, Mode]),
    ("mknodat", &[Directory, Path, Mode, Hex]),
    ("mlock", &[Pointer, Size]),
    ("mlock2", &[Pointer, Size, Hex]),
    ("mlockall", &[Set(flags::MLOCKALL)]),
    ("mmap", &[Pointer, Size, Set(flags::PROTECTION), MapFlags, Int, Hex]),
    ("mprotect", &[Pointer, Size, Set(flags::PROTECTION)]),
    ("mremap", &[Pointer, Size, Size, Set(flags::MREMAP), Pointer]),
    ("msync", &[Pointer, Size, Set(flags::MS)]),
    ("munlock", &[Pointer, Size]),
    ("munlockall", &[]),
    ("munmap", &[Pointer, Size]),
    ("nanosleep", &[Time, TimeOut]),
    ("newfstatat", &[Directory, Path, FileStatus, Set(flags::AT)]),
    ("openat", &[Directory, Path, OpenFlags, ModeIfCreated]),
    ("personality", &[Hex]),
    ("pipe2", &[Pair, Set(flags::PIPE)]),
    ("ppoll", &[Polled, Int, Time, Mask, Size]),
    ("prctl", &[One(flags::PRCTL), PrctlArgument, Hex, Hex, Hex]),
    ("pread64", &[Int, Output, Size, Long]),
    ("preadv", &[Int, BuffersOut, Int, Long]),
    ("preadv2", &[Int, BuffersOut, Int, Long, Hex, Hex]),
    ("prlimit64", &[Int, One(flags::RESOURCE), Limit, LimitOut]),
    ("pselect6", &[Int, Pointer, Pointer, Pointer, Time, Pointer]),
    ("pwrite64", &[Int, Input, Size, Long]),
    ("pwritev", &[Int, Buffers, Int, Long]),
    ("pwritev2", &[Int, Buffers, Int, Long, Hex, Hex]),
    ("read", &[Int, Output, Size]),
    ("readahead", &[Int, Long, Size]),
    ("readlinkat", &[Directory, Path, Output, Size]),
    ("readv", &[Int, BuffersOut, Int]),
    ("recvfrom", &[Int, Output, Size, Set(flags::MESSAGE), Pointer, Pointer]),
    ("recvmsg", &[Int, Pointer, Set(flags::MESSAGE)]),
    ("renameat", &[Directory, Path, Directory, Path]),
    ("renameat2", &[Directory, Path, Directory, Path, Set(flags::RENAME)]),
    ("rseq", &[Pointer, Size, Hex, Hex]),
    ("rt_sigaction", &[Signal, Action, ActionOut, Size]),
    ("rt_sigpending", &[MaskOut, Size]),
    ("rt_sigprocmask", &[One(flags::HOW), Mask, MaskOut, Size]),
    ("rt_sigqueueinfo", &[Int, Signal, SignalInfo]),
    ("rt_sigreturn", &[]),
    ("rt_sigsuspend", &[Mask, Size]),
    ("rt_sigtimedwait", &[Mask, SignalInfoOut, Time, Size]),
    ("rt_tgsigqueueinfo", &[Int, Int, Signal, SignalInfo]),
    ("sched_get_priority_max", &[One(flags::SCHEDULER)]),
    ("sched_get_priority_min", &[One(flags::SCHEDULER)]),
    ("sched_getaffinity", &[Int, Size, Pointer]),
    ("sched_getparam", &[Int, IntOut]),
    ("sched_getscheduler", &[Int]),
    ("sched_rr_get_interval", &[Int, TimeOut]),
    ("sched_setaffinity", &[Int, Size, Pointer]),
    ("sched_setparam", &[Int, Pointer]),
    ("sched_setscheduler", &[Int, One(flags::SCHEDULER), Pointer]),
    ("sched_yield", &[]),
    ("sendfile", &[Int, Int, LongIn, Size]),
    ("sendmsg", &[Int, Pointer, Set(flags::MESSAGE)]),
    ("sendto", &[Int, Input, Size, Set(flags::MESSAGE), SocketAddress, Int]),
    ("set_robust_list", &[Pointer, Size]),
    ("set_tid_address", &[Pointer]),
    ("setgid", &[Int]),
    ("setgroups", &[Int, Pointer]),
    ("sethostname", &[Input, Size]),
    ("setitimer", &[One(flags::INTERVAL_TIMER), TimeValues, TimeValuesOut]),
    ("setpgid", &[Int, Int]),
    ("setpriority", &[One(flags::PRIORITY), Int, Int]),
    ("setregid", &[Int, Int]),
    ("setresgid", &[Int, Int, Int]),
    ("setresuid", &[Int, Int, Int]),
    ("setreuid", &[Int, Int]),
    ("setrlimit", &[One(flags::RESOURCE), Limit]),
    ("setsid", &[]),
    ("setsockopt", &[Int, Int, Int, Pointer, Int]),
    ("setuid", &[Int]),
    ("setxattr", &[Path, Path, Input, Size, Int]),
    ("shutdown", &[Int, One(flags::SHUTDOWN)]),
    ("sigaltstack", &[SignalStack, SignalStackOut]),
    ("signalfd4", &[Int, Mask, Size, Set(flags::SIGNAL_FILE)]),
    ("socket", &[One(flags::DOMAIN), SocketType, Int]),
    ("socketpair", &[One(flags::DOMAIN), SocketType, Int, Pair]),
    ("splice", &[Int, LongIn, Int, LongIn, Size, Set(flags::SPLICE)]),
    ("statfs", &[Path, FileSystem]),
    ("statx", &[Directory, Path, Set(flags::AT), Set(flags::STATX), FileStatusX]),
    ("symlinkat", &[Path, Directory, Path]),
    ("sync", &[]),
    ("sync_file_range", &[Int, Long, Long, Hex]),
    ("syncfs", &[Int]),
    ("sysinfo", &[Pointer]),
    ("tee", &[Int, Int, Size, Set(flags::SPLICE)]),
    ("tgkill", &[Int, Int, Signal]),
    ("timer_create", &[One(flags::CLOCK), Pointer, IntOut]),
    ("timer_delete", &[Int]),
    ("timer_getoverrun", &[Int]),
    ("timer_gettime", &[Int, TimerOut]),
    ("timer_settime", &[Int, Set(flags::TIMER), Timer, TimerOut]),
    ("timerfd_create", &[One(flags::CLOCK), Set(flags::TIMER_FILE)]),
    ("timerfd_gettime", &[Int, TimerOut]),
    ("timerfd_settime", &[Int, Set(flags::TIMER), Timer, TimerOut]),
    ("times", &[Pointer]),
    ("tkill", &[Int, Signal]),
    ("truncate", &[Path, Long]),
    ("umask", &[Mode]),
    ("uname", &[System]),
    ("unlinkat", &[Directory, Path, Set(flags::AT_UNLINK)]),
    ("utimensat", &[Directory, Path, Times, Set(flags::AT)]),
    ("vmsplice", &[Int, Buffers, Int, Set(flags::SPLICE)]),
    ("wait4", &[Int, Status, Set(flags::WAIT), TimeValuesOut]),
    ("waitid", &[One(flags::WAIT_KIND), Int, SignalInfoOut, Set(flags::WAIT), TimeValuesOut]),
    ("write", &[Int, Input, Size]),
    ("writev", &[Int, Buffers, Int]),
];

/// Returns what the arguments of a call are. All six registers of an unknown call are shown.
pub(super) fn arguments(name: &str) -> &'static [Kind] {
    match ARGUMENTS.binary_search_by_key(&name, |row| row.0) {
        Ok(found) => ARGUMENTS[found].1,
        Err(_) => &[Hex; 6],
    }
}

/// Returns whether a call returns an address.
pub(super) fn returns_address(name: &str) -> bool {
    matches!(name, "brk" | "mmap" | "mremap")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_name() {
        assert!(ARGUMENTS.is_sorted_by(|a, b| a.0 < b.0), "`arguments` searches them by bisection");
        assert!(ARGUMENTS.iter().all(|row| row.1.len() <= 6), "a call has six registers for arguments");
    }
}
