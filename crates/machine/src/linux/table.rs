//! The table of system calls: number, name, status and implementation of each. `docs/linux.md` is generated from it.

use super::advice_calls as advice;
use super::call::Call;
use super::connect_calls as connects;
use super::disk_calls as disk;
use super::errno::{ENOSYS, Errno};
use super::failure::CallResult;
use super::memory_lock_calls as memory_locks;
use super::notice_calls as notices;
use super::scheduling_calls as scheduling;
use super::semaphore_calls as semaphores;
use super::sharing_calls as sharing;
use super::splice_calls as splices;
use super::vector_calls as vectors;
use super::{attribute_calls as attributes, limit_calls as limits, lock_calls as locks};
use super::{clone_calls as clones, descriptor_calls as descriptors, directory_calls as directories};
use super::{event_calls as events, timer_calls as timers};
use super::{exec_calls as exec, file_calls as files, futex_calls as futexes, id_calls as ids};
use super::{memory_calls as memory, message_calls as messages, process_calls as process};
use super::{posix_queue_calls as queues, queue_calls as message_queues, segment_calls as segments};
use super::{signal_calls as signals, socket_calls as sockets, socket_options as options};
use super::{time_calls as time, wait_calls as wait};

/// The extent to which a system call behaves as on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Complete, as far as a single-threaded process can observe.
    Complete,
    /// Partial; the note names the parts.
    Partial,
    /// Reports success and does nothing; the process cannot observe the difference.
    Accepted,
    /// Fails, as on a Linux system that lacks the feature. The report counts such calls, because the program may fail
    /// without the feature.
    Refused,
    /// Fails with `ENOSYS`, as on a Linux kernel that is older than the call. C libraries try it at the start of every
    /// program and do without it, so the report does not count it.
    Absent,
}

/// A system call that KVRM serves.
#[derive(Clone, Copy, Debug)]
pub struct SystemCall {
    /// The number, passed in X8.
    pub number: u64,
    /// The name on Linux.
    pub name: &'static str,
    /// The extent to which it behaves as on Linux.
    pub status: Status,
    /// A remark for the documentation, such as a limit; may be empty.
    pub note: &'static str,
    pub(super) implementation: Implementation,
}

/// The implementation of a system call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Implementation {
    Function(fn(&mut Call<'_>) -> CallResult),
    /// The call always returns this value, whatever its arguments.
    Constant(Result<u64, Errno>),
}

macro_rules! implementation {
    ($function:path) => {
        Implementation::Function($function)
    };
    (=> $answer:expr) => {
        Implementation::Constant($answer)
    };
}

macro_rules! calls {
    ($($number:literal $name:ident $status:ident $($function:path)? $(=> $answer:expr)?, $note:literal;)*) => {
        /// All system calls that are served, sorted by number. Any other call returns `ENOSYS` and is counted in the
        /// report.
        pub const CALLS: &[SystemCall] = &[$(SystemCall {
            number: $number,
            name: stringify!($name),
            status: Status::$status,
            note: $note,
            implementation: implementation!($($function)? $(=> $answer)?),
        },)*];
    };
}

#[rustfmt::skip] // One line each.
calls! {
      5 setxattr          Complete attributes::setxattr, "";
      6 lsetxattr         Complete attributes::setxattr, "";
      7 fsetxattr         Complete attributes::setxattr, "";
      8 getxattr          Complete attributes::getxattr, "";
      9 lgetxattr         Complete attributes::getxattr, "";
     10 fgetxattr         Complete attributes::getxattr, "";
     11 listxattr         Complete attributes::listxattr, "";
     12 llistxattr        Complete attributes::listxattr, "";
     13 flistxattr        Complete attributes::listxattr, "";
     14 removexattr       Complete attributes::removexattr, "";
     15 lremovexattr      Complete attributes::removexattr, "";
     16 fremovexattr      Complete attributes::removexattr, "";
     17 getcwd            Complete directories::getcwd, "";
     19 eventfd2          Complete events::eventfd2, "";
     20 epoll_create1     Complete events::epoll_create1, "";
     21 epoll_ctl         Complete events::epoll_ctl, "";
     22 epoll_pwait       Complete events::epoll_pwait, "";
     23 dup               Complete descriptors::dup, "";
     24 dup3              Complete descriptors::dup3, "";
     25 fcntl             Partial  descriptors::fcntl, "F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETPIPE_SZ, F_SETOWN, F_GETOWN, record locks of processes and of open files";
     26 inotify_init1     Complete notices::inotify_init1, "";
     27 inotify_add_watch Partial  notices::inotify_add_watch, "the execution of a program is no access";
     28 inotify_rm_watch  Complete notices::inotify_rm_watch, "";
     29 ioctl             Partial  descriptors::ioctl, "FIONREAD, FIOCLEX, FIONCLEX, FIONBIO, FIOASYNC; those of terminals except TIOCPKT, TIOCEXCL and old forms";
     32 flock             Complete locks::flock, "";
     33 mknodat           Complete directories::mknodat, "devices other than those in /dev are EPERM";
     34 mkdirat           Complete directories::mkdirat, "";
     35 unlinkat          Complete directories::unlinkat, "";
     36 symlinkat         Complete directories::symlinkat, "";
     37 linkat            Complete directories::linkat, "";
     38 renameat          Complete directories::renameat, "";
     43 statfs            Complete directories::statfs, "";
     44 fstatfs           Complete directories::fstatfs, "";
     45 truncate          Complete files::truncate, "";
     46 ftruncate         Complete files::ftruncate, "";
     47 fallocate         Partial  files::fallocate, "only mode 0";
     48 faccessat         Complete directories::faccessat, "the process runs as root";
     49 chdir             Complete directories::chdir, "";
     50 fchdir            Complete directories::fchdir, "";
     51 chroot            Complete directories::chroot, "";
     52 fchmod            Complete directories::fchmod, "";
     53 fchmodat          Complete directories::fchmodat, "";
     54 fchownat          Complete directories::fchownat, "";
     55 fchown            Complete directories::fchown, "";
     56 openat            Partial  files::openat, "a file of O_TMPFILE cannot be linked later";
     57 close             Complete descriptors::close, "";
     59 pipe2             Complete descriptors::pipe2, "";
     61 getdents64        Complete directories::getdents64, "the entries are those of the first call";
     62 lseek             Complete files::lseek, "SEEK_DATA and SEEK_HOLE treat files as free of holes";
     63 read              Complete files::read, "";
     64 write             Complete files::write, "";
     65 readv             Complete vectors::readv, "";
     66 writev            Complete vectors::writev, "";
     67 pread64           Complete files::pread64, "";
     68 pwrite64          Complete files::pwrite64, "";
     69 preadv            Complete vectors::preadv, "";
     70 pwritev           Complete vectors::pwritev, "";
     71 sendfile          Complete splices::sendfile, "";
     72 pselect6          Complete descriptors::pselect6, "";
     73 ppoll             Complete descriptors::ppoll, "";
     74 signalfd4         Complete events::signalfd4, "";
     75 vmsplice          Complete splices::vmsplice, "";
     76 splice            Complete splices::splice, "";
     77 tee               Complete splices::tee, "";
     78 readlinkat        Complete directories::readlinkat, "";
     79 newfstatat        Complete directories::newfstatat, "";
     80 fstat             Complete directories::fstat, "";
     81 sync              Accepted => Ok(0), "";
     82 fsync             Accepted disk::fsync, "";
     83 fdatasync         Accepted disk::fsync, "";
     84 sync_file_range   Accepted disk::sync_file_range, "";
     85 timerfd_create    Complete events::timerfd_create, "";
     86 timerfd_settime   Complete events::timerfd_settime, "";
     87 timerfd_gettime   Complete events::timerfd_gettime, "";
     88 utimensat         Complete directories::utimensat, "";
     90 capget            Complete process::capget, "root has all capabilities";
     91 capset            Accepted process::capset, "capabilities stay";
     92 personality       Accepted process::personality, "the value is kept";
     93 exit              Complete process::exit, "";
     94 exit_group        Complete process::exit_group, "";
     95 waitid            Complete wait::waitid, "";
     96 set_tid_address   Complete process::set_tid_address, "";
     98 futex             Partial  futexes::futex, "no operations of priority inheritance";
     99 set_robust_list   Complete process::set_robust_list, "";
    100 get_robust_list   Complete process::get_robust_list, "";
    101 nanosleep         Complete time::nanosleep, "the clock advances at once";
    102 getitimer         Complete timers::getitimer, "";
    103 setitimer         Complete timers::setitimer, "";
    107 timer_create      Complete timers::timer_create, "";
    108 timer_gettime     Complete timers::timer_gettime, "";
    109 timer_getoverrun  Complete timers::timer_getoverrun, "";
    110 timer_settime     Complete timers::timer_settime, "";
    111 timer_delete      Complete timers::timer_delete, "";
    113 clock_gettime     Complete time::clock_gettime, "one nanosecond per step, plus the time slept";
    114 clock_getres      Complete time::clock_getres, "";
    115 clock_nanosleep   Complete time::clock_nanosleep, "the clock advances at once";
    118 sched_setparam    Accepted scheduling::sched_setparam, "";
    119 sched_setscheduler Accepted scheduling::sched_setscheduler, "";
    120 sched_getscheduler Complete scheduling::sched_getscheduler, "";
    121 sched_getparam    Complete scheduling::sched_getparam, "";
    122 sched_setaffinity Accepted scheduling::sched_setaffinity, "";
    123 sched_getaffinity Complete scheduling::sched_getaffinity, "one processor";
    124 sched_yield       Complete process::sched_yield, "";
    125 sched_get_priority_max Complete scheduling::sched_get_priority_max, "";
    126 sched_get_priority_min Complete scheduling::sched_get_priority_min, "";
    127 sched_rr_get_interval Complete scheduling::sched_rr_get_interval, "the quantum";
    129 kill              Complete signals::kill, "";
    130 tkill             Complete signals::tkill, "";
    131 tgkill            Complete signals::tgkill, "";
    132 sigaltstack       Complete signals::sigaltstack, "";
    133 rt_sigsuspend     Complete signals::rt_sigsuspend, "";
    134 rt_sigaction      Complete signals::rt_sigaction, "";
    135 rt_sigprocmask    Complete signals::rt_sigprocmask, "";
    136 rt_sigpending     Complete signals::rt_sigpending, "";
    137 rt_sigtimedwait   Complete signals::rt_sigtimedwait, "";
    138 rt_sigqueueinfo   Complete signals::rt_sigqueueinfo, "";
    139 rt_sigreturn      Complete signals::rt_sigreturn, "";
    140 setpriority       Accepted scheduling::setpriority, "";
    141 getpriority       Complete scheduling::getpriority, "returns 20 minus the nice value, as on Linux";
    143 setregid          Accepted => Ok(0), "the process runs as root";
    144 setgid            Accepted process::set_id, "the process runs as root";
    145 setreuid          Accepted => Ok(0), "the process runs as root";
    146 setuid            Accepted process::set_id, "the process runs as root";
    147 setresuid         Accepted => Ok(0), "the process runs as root";
    148 getresuid         Complete process::getres, "";
    149 setresgid         Accepted => Ok(0), "the process runs as root";
    150 getresgid         Complete process::getres, "";
    153 times             Complete time::times, "";
    154 setpgid           Complete ids::setpgid, "";
    155 getpgid           Complete ids::getpgid, "";
    156 getsid            Complete ids::getsid, "";
    157 setsid            Complete ids::setsid, "";
    158 getgroups         Complete process::getgroups, "";
    159 setgroups         Accepted => Ok(0), "the process runs as root";
    160 uname             Complete process::uname, "";
    161 sethostname       Accepted process::sethostname, "the name stays";
    163 getrlimit         Complete limits::getrlimit, "";
    164 setrlimit         Complete limits::setrlimit, "";
    165 getrusage         Partial  time::getrusage, "ru_utime and ru_maxrss, the memory that was mapped";
    166 umask             Complete process::umask, "";
    167 prctl             Partial  process::prctl, "PR_SET_NAME, PR_GET_NAME, PR_PAC_RESET_KEYS, PR_PAC_SET_ENABLED_KEYS, PR_PAC_GET_ENABLED_KEYS";
    168 getcpu            Complete process::getcpu, "one processor";
    169 gettimeofday      Complete time::gettimeofday, "";
    172 getpid            Complete ids::getpid, "";
    173 getppid           Complete ids::getppid, "";
    174 getuid            Complete => Ok(0), "";
    175 geteuid           Complete => Ok(0), "";
    176 getgid            Complete => Ok(0), "";
    177 getegid           Complete => Ok(0), "";
    178 gettid            Complete ids::gettid, "";
    179 sysinfo           Complete time::sysinfo, "";
    180 mq_open           Complete queues::mq_open, "";
    181 mq_unlink         Complete queues::mq_unlink, "";
    182 mq_timedsend      Complete queues::mq_timedsend, "";
    183 mq_timedreceive   Complete queues::mq_timedreceive, "";
    184 mq_notify         Partial  queues::mq_notify, "no SIGEV_THREAD";
    185 mq_getsetattr     Complete queues::mq_getsetattr, "";
    186 msgget            Complete message_queues::msgget, "";
    187 msgctl            Partial  message_queues::msgctl, "IPC_STAT, IPC_SET, IPC_RMID";
    188 msgrcv            Partial  message_queues::msgrcv, "no MSG_COPY";
    189 msgsnd            Complete message_queues::msgsnd, "";
    190 semget            Complete semaphores::semget, "";
    191 semctl            Partial  semaphores::semctl, "no SEM_STAT, no SEM_INFO";
    192 semtimedop        Complete semaphores::semtimedop, "";
    193 semop             Complete semaphores::semop, "";
    194 shmget            Complete segments::shmget, "";
    195 shmctl            Partial  segments::shmctl, "IPC_STAT, IPC_SET, IPC_RMID, SHM_LOCK, SHM_UNLOCK";
    196 shmat             Complete segments::shmat, "";
    197 shmdt             Complete segments::shmdt, "";
    198 socket            Partial  sockets::socket, "Unix sockets, and TCP and UDP over the loopback interface of the lane";
    199 socketpair        Complete sockets::socketpair, "";
    200 bind              Complete sockets::bind, "";
    201 listen            Complete sockets::listen, "";
    202 accept            Complete sockets::accept, "";
    203 connect           Complete connects::connect, "ENETUNREACH for addresses other than loopback";
    204 getsockname       Complete sockets::getsockname, "";
    205 getpeername       Complete sockets::getpeername, "";
    206 sendto            Partial  messages::sendto, "no MSG_OOB";
    207 recvfrom          Partial  messages::recvfrom, "no MSG_OOB, no MSG_ERRQUEUE";
    208 setsockopt        Partial  options::setsockopt, "options without an effect on a loopback interface are kept";
    209 getsockopt        Partial  options::getsockopt, "TCP_INFO has only the state";
    210 shutdown          Complete sockets::shutdown, "";
    211 sendmsg           Partial  messages::sendmsg, "as sendto; SCM_RIGHTS and SCM_CREDENTIALS";
    212 recvmsg           Partial  messages::recvmsg, "as recvfrom";
    213 readahead         Accepted disk::readahead, "";
    214 brk               Complete memory::brk, "";
    215 munmap            Complete memory::munmap, "";
    216 mremap            Complete memory::mremap, "";
    220 clone             Partial  clones::clone, "threads, and processes that share nothing, or the address space until they execute a program";
    221 execve            Complete exec::execve, "";
    222 mmap              Partial  memory::mmap, "private mappings of files are read when they are made; two shared mappings of the same page agree after the next call or switch";
    223 fadvise64         Accepted disk::fadvise64, "";
    226 mprotect          Complete memory::mprotect, "";
    227 msync             Complete sharing::msync, "";
    228 mlock             Accepted memory_locks::check_mapped, "";
    229 munlock           Accepted memory_locks::check_mapped, "";
    230 mlockall          Accepted memory_locks::mlockall, "";
    231 munlockall        Accepted => Ok(0), "";
    232 mincore           Complete memory::mincore, "every mapped page is in memory";
    233 madvise           Partial  advice::madvise, "hints are ignored; pages of the program itself keep what was written after MADV_DONTNEED";
    240 rt_tgsigqueueinfo Complete signals::rt_tgsigqueueinfo, "";
    242 accept4           Complete sockets::accept4, "";
    243 recvmmsg          Partial  messages::recvmmsg, "as recvmsg; waits for the first message only";
    260 wait4             Complete wait::wait4, "";
    261 prlimit64         Complete limits::prlimit64, "";
    267 syncfs            Accepted disk::syncfs, "";
    269 sendmmsg          Partial  messages::sendmmsg, "as sendmsg";
    276 renameat2         Partial  directories::renameat2, "no RENAME_EXCHANGE, no RENAME_WHITEOUT";
    278 getrandom         Complete process::getrandom, "a function of seed, lane and position";
    279 memfd_create      Partial  files::memfd_create, "no seals";
    281 execveat          Complete exec::execveat, "";
    283 membarrier        Complete process::membarrier, "";
    284 mlock2            Accepted memory_locks::mlock2, "";
    285 copy_file_range   Complete splices::copy_file_range, "";
    286 preadv2           Complete vectors::preadv2, "";
    287 pwritev2          Complete vectors::pwritev2, "";
    291 statx             Complete directories::statx, "";
    293 rseq              Absent   => Err(ENOSYS), "ENOSYS: C libraries work without it";
    435 clone3            Partial  clones::clone3, "as clone; no pidfd, no cgroup";
    436 close_range       Complete descriptors::close_range, "";
    439 faccessat2        Complete directories::faccessat, "the process runs as root";
    441 epoll_pwait2      Complete events::epoll_pwait2, "";
}

/// Returns the system call with this number.
pub(super) fn find(number: u64) -> Option<&'static SystemCall> {
    CALLS.binary_search_by_key(&number, |call| call.number).ok().map(|index| &CALLS[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_number() {
        assert!(CALLS.is_sorted_by(|a, b| a.number < b.number), "`find` searches them by bisection");
    }
}
