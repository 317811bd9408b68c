// Users, scheduling, locked memory, barriers, and signals to threads. The argument names the part.
#include "results.h"
#include <linux/capability.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void put_user(const char *what, long result, const unsigned *ids) {
    put_number(what, result);
    printf("%u %u %u\n", ids[0], ids[1], ids[2]);
}

static void test_users(void) {
    unsigned ids[3] = {9, 9, 9};
    put_user("user", of(syscall(SYS_getresuid, ids, ids + 1, ids + 2)), ids);
    put_user("group", of(syscall(SYS_getresgid, ids, ids + 1, ids + 2)), ids);
    put_number("no room", of(syscall(SYS_getresuid, ids, NULL, ids)));
    put_number("no room", of(syscall(SYS_getresgid, ids, ids, 8L)));
    put_number("setuid", of(syscall(SYS_setuid, 0)));
    put_number("setgid", of(syscall(SYS_setgid, 0)));
    put_number("setreuid", of(syscall(SYS_setreuid, 0, -1)));
    put_number("setreuid", of(syscall(SYS_setreuid, -1, 0)));
    put_number("setregid", of(syscall(SYS_setregid, 0, 0)));
    put_number("setregid", of(syscall(SYS_setregid, -1, -1)));
    put_number("setresuid", of(syscall(SYS_setresuid, -1, 0, -1)));
    put_number("setresgid", of(syscall(SYS_setresgid, 0, -1, 0)));
    put_number("no user", of(syscall(SYS_setuid, -1)));
    put_number("no group", of(syscall(SYS_setgid, -1)));
    put_user("user", of(syscall(SYS_getresuid, ids, ids + 1, ids + 2)), ids);
    put_user("group", of(syscall(SYS_getresgid, ids, ids + 1, ids + 2)), ids);
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct capabilities[2];
    put_number("capabilities", of(syscall(SYS_capget, &header, capabilities)));
    put_number("the same", of(syscall(SYS_capset, &header, capabilities)));
    header.pid = 99999999;
    put_number("other process", of(syscall(SYS_capset, &header, capabilities)));
    header.version = 5;
    put_number("bad version", of(syscall(SYS_capset, &header, capabilities)));
    printf("%x\n", header.version);
    put_number("no header", of(syscall(SYS_capset, NULL, capabilities)));
    put_number("personality", of(personality(0xffffffff)));
    put_number("processor", of(syscall(SYS_getcpu, NULL, NULL, NULL)));
    unsigned processor = 1000000, node = 1000000;
    put_number("processor", of(syscall(SYS_getcpu, &processor, &node, NULL)));
    printf("small=%d %d\n", processor < 10000, node < 10000);
}

static long parameter(void) {
    struct sched_param now = {9};
    long result = of(syscall(SYS_sched_getparam, 0, &now));
    return result ? result : now.sched_priority;
}

static long policy(void) {
    return of(syscall(SYS_sched_getscheduler, 0));
}

static long set_policy(int number, int priority) {
    struct sched_param wanted = {priority};
    return of(syscall(SYS_sched_setscheduler, 0, number, &wanted));
}

static void test_scheduling(void) {
    struct sched_param wanted = {0};
    struct timespec slice = {-1, -1};
    put_number("policy", policy());
    put_number("parameter", parameter());
    put_number("batch", set_policy(SCHED_BATCH, 0));
    put_number("policy", policy());
    put_number("parameter", of(syscall(SYS_sched_setparam, 0, &wanted)));
    put_number("policy", policy());
    pid_t child = fork();
    if (!child)
        _exit(policy());
    int status;
    waitpid(child, &status, 0);
    put_number("of child", status);
    put_number("other", set_policy(SCHED_OTHER, 0));
    put_number("policy", policy());
    put_number("priority", set_policy(SCHED_OTHER, 1));
    put_number("no priority", set_policy(SCHED_FIFO, 0));
    put_number("too much", set_policy(SCHED_RR, 100));
    put_number("negative", set_policy(SCHED_BATCH, -1));
    put_number("bad policy", set_policy(77, 0));
    put_number("negative policy", set_policy(-1, 0));
    put_number("no parameter", of(syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, NULL)));
    put_number("no parameter", of(syscall(SYS_sched_setparam, 0, NULL)));
    put_number("no room", of(syscall(SYS_sched_getparam, 0, NULL)));
    wanted.sched_priority = 1;
    put_number("priority", of(syscall(SYS_sched_setparam, 0, &wanted)));
    wanted.sched_priority = 0;
    put_number("no thread", of(syscall(SYS_sched_setscheduler, 99999999, SCHED_OTHER, &wanted)));
    put_number("no thread", of(syscall(SYS_sched_setparam, 99999999, &wanted)));
    put_number("no thread", of(syscall(SYS_sched_getparam, 99999999, &wanted)));
    put_number("no thread", of(syscall(SYS_sched_getscheduler, 99999999)));
    put_number("negative thread", of(syscall(SYS_sched_getscheduler, -1)));
    put_number("negative thread", of(syscall(SYS_sched_getparam, -1, &wanted)));
    put_number("negative thread", of(syscall(SYS_sched_setscheduler, -1, SCHED_OTHER, &wanted)));
    for (int number = -1; number < 7; number++)
        printf("%d: %ld to %ld\n", number, of(syscall(SYS_sched_get_priority_min, number)),
               of(syscall(SYS_sched_get_priority_max, number)));
    put_number("slice", of(syscall(SYS_sched_rr_get_interval, 0, &slice)));
    printf("slice=%d\n", slice.tv_sec == 0 && slice.tv_nsec >= 0);
    put_number("no thread", of(syscall(SYS_sched_rr_get_interval, 99999999, &slice)));
    put_number("negative thread", of(syscall(SYS_sched_rr_get_interval, -1, &slice)));
    cpu_set_t set;
    put_number("get", of(sched_getaffinity(0, sizeof set, &set)));
    put_number("set", of(sched_setaffinity(0, sizeof set, &set)));
    put_number("no thread", of(sched_setaffinity(99999999, sizeof set, &set)));
    put_number("no set", of(syscall(SYS_sched_setaffinity, 0, sizeof set, NULL)));
    CPU_ZERO(&set);
    put_number("empty set", of(sched_setaffinity(0, sizeof set, &set)));
    put_number("nothing", of(syscall(SYS_sched_setaffinity, 0, 0L, &set)));
    put_number("yield", of(sched_yield()));
    put_number("nice", of(getpriority(PRIO_PROCESS, 0)));
    put_number("set", of(setpriority(PRIO_PROCESS, 0, 5)));
    put_number("nice", of(getpriority(PRIO_PROCESS, 0)));
    put_number("of itself", of(getpriority(PRIO_PROCESS, gettid())));
    put_number("too nice", of(setpriority(PRIO_PROCESS, gettid(), 100)));
    put_number("nice", of(getpriority(PRIO_PROCESS, 0)));
    child = fork();
    if (!child)
        _exit((int)of(getpriority(PRIO_PROCESS, 0)));
    waitpid(child, &status, 0);
    put_number("of child", status);
    put_number("no process", of(getpriority(PRIO_PROCESS, 99999999)));
    put_number("no process", of(setpriority(PRIO_PROCESS, 99999999, 19)));
    put_number("no group", of(getpriority(PRIO_PGRP, 99999999)));
    put_number("bad kind", of(getpriority(3, 0)));
    put_number("bad kind", of(setpriority(-1, 0, 19)));
    put_number("idle", set_policy(SCHED_IDLE, 0));
    put_number("policy", policy());
}

static void test_locks(void) {
    char *pages = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    put_number("lock", of(mlock(pages, 4096)));
    put_number("within pages", of(mlock(pages + 100, 4096)));
    put_number("nothing", of(mlock(pages, 0)));
    put_number("unlock", of(munlock(pages, 3 * 4096)));
    put_number("unlock again", of(munlock(pages, 3 * 4096)));
    munmap(pages + 4 * 4096, 4096);
    put_number("hole", of(mlock(pages, 8 * 4096)));
    put_number("hole", of(munlock(pages + 4 * 4096, 4096)));
    put_number("too much", of(munlock(pages, -4096L)));
    put_number("bad flags", of(mlockall(0)));
    put_number("bad flags", of(mlockall(8)));
    put_number("only on fault", of(mlockall(4)));
    put_number("later ones", of(mlockall(MCL_FUTURE | MCL_ONFAULT)));
    put_number("unlock all", of(munlockall()));
}

static long barrier(int command, unsigned flags) {
    return of(syscall(SYS_membarrier, command, flags, 0));
}

static void test_barriers(void) {
    put_number("query", barrier(MEMBARRIER_CMD_QUERY, 0) & 0x7f);
    put_number("global", barrier(MEMBARRIER_CMD_GLOBAL, 0));
    put_number("not registered", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0));
    put_number("not registered", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0));
    put_number("global", barrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0));
    put_number("register", barrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0));
    put_number("register", barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0));
    put_number("private", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0));
    put_number("not registered", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0));
    put_number("register", barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0));
    put_number("private", barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0));
    put_number("bad flags", barrier(MEMBARRIER_CMD_GLOBAL, 2));
    put_number("bad flags", barrier(MEMBARRIER_CMD_QUERY, 1));
    put_number("two commands", barrier(3, 0));
    put_number("unknown command", barrier(1 << 30, 0));
}

static volatile sig_atomic_t seen;
static siginfo_t last;

static void keep_signal(int number, siginfo_t *info, void *context) {
    seen += number == SIGUSR1 && context;
    last = *info;
}

static void put_signal(const char *what, long result) {
    put_number(what, result);
    printf("seen=%d code=%d sender=%d value=%d\n", (int)seen, last.si_code, last.si_pid == getpid(), last.si_value.sival_int);
}

static int child_thread;
static pthread_barrier_t start, end;

static void *wait_for_end(void *argument) {
    child_thread = gettid();
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&end);
    return argument;
}

static long queue(int process, int thread, int number, siginfo_t *info) {
    return of(syscall(SYS_rt_tgsigqueueinfo, process, thread, number, info));
}

static void test_threads(void) {
    struct sigaction action = {.sa_sigaction = keep_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t id;
    pthread_barrier_init(&start, NULL, 2);
    pthread_barrier_init(&end, NULL, 2);
    int own = gettid(), process = getpid();
    put_signal("tkill", of(syscall(SYS_tkill, own, SIGUSR1)));
    put_signal("tgkill", of(syscall(SYS_tgkill, process, own, SIGUSR1)));
    siginfo_t info = {.si_code = SI_QUEUE, .si_pid = process};
    info.si_value.sival_int = 42;
    put_signal("queue", queue(process, own, SIGUSR1, &info));
    pthread_create(&id, NULL, wait_for_end, NULL);
    pthread_barrier_wait(&start);
    put_number("exists", of(syscall(SYS_tkill, child_thread, 0)));
    put_number("exists", of(syscall(SYS_tgkill, process, child_thread, 0)));
    put_number("exists", queue(process, child_thread, 0, &info));
    put_number("bad signal", of(syscall(SYS_tkill, own, 65)));
    put_number("bad signal", of(syscall(SYS_tgkill, process, own, -1)));
    put_number("bad signal", queue(process, own, 65, &info));
    put_number("no thread", of(syscall(SYS_tkill, 99999999, SIGUSR1)));
    put_number("no thread", of(syscall(SYS_tgkill, process, 99999999, SIGUSR1)));
    put_number("no thread", queue(process, 99999999, SIGUSR1, &info));
    put_number("zero", of(syscall(SYS_tkill, 0, SIGUSR1)));
    put_number("negative", of(syscall(SYS_tkill, -1, SIGUSR1)));
    put_number("zero", of(syscall(SYS_tgkill, 0, own, SIGUSR1)));
    put_number("negative", of(syscall(SYS_tgkill, process, -1, SIGUSR1)));
    put_number("zero", queue(process, 0, SIGUSR1, &info));
    put_number("negative", queue(-1, own, SIGUSR1, &info));
    put_number("other process", of(syscall(SYS_tgkill, getppid() ? getppid() : 1, own, SIGUSR1)));
    put_number("no information", queue(process, own, SIGUSR1, NULL));
    pthread_barrier_wait(&end);
    pthread_join(id, NULL);
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    info.si_code = SI_USER;
    put_number("as the kernel", of(syscall(SYS_rt_sigqueueinfo, child, SIGUSR1, &info)));
    put_number("as the kernel", queue(child, child, SIGUSR1, &info));
    info.si_code = SI_TKILL;
    put_number("as tkill", queue(child, child, SIGUSR1, &info));
    info.si_code = SI_QUEUE;
    put_number("queue", queue(child, child, SIGKILL, &info));
    int status;
    waitpid(child, &status, 0);
    put_number("status", status);
}

int main(int argc, char **argv) {
    const struct part parts[] = {
        {"users", test_users}, {"scheduling", test_scheduling}, {"locks", test_locks}, {"barriers", test_barriers},
        {"threads", test_threads}, {0},
    };
    return run_part(parts, argc, argv);
}
