// Timers of descriptors and of processes, signals that are read, waits of epoll, and semaphores with a timeout. The argument
// names the part. Times that pass are only compared with bounds.
#include "results.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECOND = 1000000 };

static struct itimerspec now, before;
static const struct itimerspec past = {{0, 0}, {0, 1}};

static const struct itimerspec *spec(long interval, long first) {
    static struct itimerspec times;
    times.it_interval = (struct timespec){interval / 1000, interval % 1000 * MILLISECOND};
    times.it_value = (struct timespec){first / 1000, first % 1000 * MILLISECOND};
    return &times;
}

static long milliseconds(struct timespec time) {
    return time.tv_sec * 1000 + time.tv_nsec / MILLISECOND;
}

// Prints an interval, and whether the rest of a time is at most a number of milliseconds and no less than a second before.
static void put_times(const char *what, long result, const struct itimerspec *times, long most) {
    put_number(what, result);
    long left = milliseconds(times->it_value);
    printf("interval=%ld set=%d near=%d\n", milliseconds(times->it_interval), left > 0, left <= most && left >= most - 1000);
}

static void test_descriptors(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    uint64_t count = 0;
    put_times("new", of(timerfd_gettime(timer, &now)), &now, 0);
    put_number("read", of(read(timer, &count, 8)));
    put_number("short", of(read(timer, &count, 7)));
    put_number("write", of(write(timer, &count, 8)));
    put_number("set", of(timerfd_settime(timer, 0, spec(2000, 50000), NULL)));
    put_times("get", of(timerfd_gettime(timer, &now)), &now, 50000);
    put_times("again", of(timerfd_settime(timer, 0, spec(3000, 90000), &before)), &before, 50000);
    put_times("get", of(timerfd_gettime(timer, &now)), &now, 90000);
    put_times("stop", of(timerfd_settime(timer, 0, spec(4000, 0), &before)), &before, 90000);
    put_times("stopped", of(timerfd_gettime(timer, &now)), &now, 0);
    put_number("past", of(timerfd_settime(timer, TFD_TIMER_ABSTIME, &past, NULL)));
    put_number("read", of(read(timer, &count, 8)));
    put_number("count", (long)count);
    put_number("again", of(read(timer, &count, 8)));
    put_times("expired", of(timerfd_gettime(timer, &now)), &now, 0);
    put_number("soon", of(timerfd_settime(timer, 0, spec(1, 1), NULL)));
    usleep(50000);
    put_number("read", of(read(timer, &count, 8)));
    printf("many=%d\n", count >= 40);
    put_number("bad flags", of(timerfd_settime(timer, 4, spec(0, 1), NULL)));
    struct itimerspec bad = {{0, 0}, {0, 1000000000}};
    put_number("bad time", of(timerfd_settime(timer, 0, &bad, NULL)));
    bad = (struct itimerspec){{0, -1}, {1, 0}};
    put_number("bad interval", of(timerfd_settime(timer, 0, &bad, NULL)));
    put_number("no time", of(timerfd_settime(timer, 0, NULL, NULL)));
    put_number("no descriptor", of(timerfd_gettime(99, &now)));
    put_number("no descriptor", of(timerfd_settime(99, 0, spec(0, 1), NULL)));
    put_number("no timer", of(timerfd_gettime(0, &now)));
    put_number("no timer", of(timerfd_settime(0, 0, spec(0, 1), NULL)));
    put_number("bad clock", of(timerfd_create(77, 0)));
    put_number("clock of processor", of(timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0)));
    put_number("bad flags", of(timerfd_create(CLOCK_REALTIME, 1)));
}

static volatile sig_atomic_t seen[65];

static void count_signal(int number) {
    seen[number]++;
}

static void put_interval(const char *what, int which) {
    struct itimerval times;
    put_number(what, of(getitimer(which, &times)));
    printf("interval=%ld %ld set=%d\n", (long)times.it_interval.tv_sec, (long)times.it_interval.tv_usec,
           times.it_value.tv_sec > 0);
}

static void test_intervals(void) {
    struct sigaction action = {.sa_handler = count_signal};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGVTALRM, &action, NULL);
    struct itimerval long_ones = {{3, 500}, {1000, 1}}, none = {{3, 0}, {0, 0}}, soon = {{0, 0}, {0, 1000}}, old;
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        put_interval("new", which);
        put_number("set", of(setitimer(which, &long_ones, NULL)));
        put_interval("get", which);
        put_number("stop", of(setitimer(which, &none, &old)));
        printf("interval=%ld set=%d\n", (long)old.it_interval.tv_sec, old.it_value.tv_sec >= 990);
        put_interval("stopped", which);
    }
    put_number("soon", of(setitimer(ITIMER_REAL, &soon, NULL)));
    while (!seen[SIGALRM])
        pause();
    put_number("alarms", seen[SIGALRM]);
    put_interval("expired", ITIMER_REAL);
    put_number("of processor", of(setitimer(ITIMER_VIRTUAL, &soon, NULL)));
    while (!seen[SIGVTALRM])
        ;
    put_number("alarms", seen[SIGVTALRM]);
    alarm(77);
    put_interval("alarm", ITIMER_REAL);
    put_number("rest", alarm(0) > 70);
    put_interval("stopped", ITIMER_REAL);
    put_number("bad timer", of(getitimer(3, &old)));
    put_number("bad timer", of(setitimer(-1, &soon, NULL)));
    soon.it_value.tv_usec = 1000000;
    put_number("bad time", of(setitimer(ITIMER_REAL, &soon, NULL)));
}

// The C library has other timer IDs than the kernel.
static long get_time(int timer, struct itimerspec *times) {
    return of(syscall(SYS_timer_gettime, timer, times));
}

static long set_time(int timer, int flags, const struct itimerspec *times, struct itimerspec *old) {
    return of(syscall(SYS_timer_settime, timer, flags, times, old));
}

static void test_timers(void) {
    struct sigaction action = {.sa_handler = count_signal};
    sigaction(SIGUSR1, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    int timer = -1, quiet = -1, other = -1;
    put_number("create", of(syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer)));
    put_times("new", get_time(timer, &now), &now, 0);
    put_number("set", set_time(timer, 0, spec(2000, 60000), NULL));
    put_times("get", get_time(timer, &now), &now, 60000);
    put_times("again", set_time(timer, 0, spec(3000, 70000), &before), &before, 60000);
    put_times("stop", set_time(timer, 0, spec(3000, 0), &before), &before, 70000);
    put_times("stopped", get_time(timer, &now), &now, 0);
    put_number("overrun", of(syscall(SYS_timer_getoverrun, timer)));
    put_number("past", set_time(timer, TIMER_ABSTIME, &past, NULL));
    while (!seen[SIGUSR1])
        usleep(1000);
    put_number("signals", seen[SIGUSR1]);
    put_number("overrun", of(syscall(SYS_timer_getoverrun, timer)));
    put_times("expired", get_time(timer, &now), &now, 0);
    event.sigev_notify = SIGEV_NONE;
    put_number("quiet", of(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &quiet)));
    put_number("set", set_time(quiet, 0, spec(0, 80000), NULL));
    put_times("get", get_time(quiet, &now), &now, 80000);
    put_number("of processor", of(syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &other)));
    put_number("set", set_time(other, 0, spec(5000, 80000), NULL));
    put_times("get", get_time(other, &now), &now, 80000);
    put_number("delete", of(syscall(SYS_timer_delete, timer)));
    put_number("delete again", of(syscall(SYS_timer_delete, timer)));
    put_number("gone", get_time(timer, &now));
    put_number("gone", set_time(timer, 0, spec(0, 1), NULL));
    put_number("gone", of(syscall(SYS_timer_getoverrun, timer)));
    put_number("unknown", get_time(1234, &now));
    put_number("no time", set_time(quiet, 0, NULL, NULL));
    struct itimerspec bad = {{0, 0}, {0, 1000000000}};
    put_number("bad time", set_time(quiet, 0, &bad, NULL));
    put_number("bad clock", of(syscall(SYS_timer_create, 77, &event, &other)));
    event.sigev_notify = 99;
    put_number("bad event", of(syscall(SYS_timer_create, CLOCK_REALTIME, &event, &other)));
}

static void test_signals(void) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    int file = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    put_number("new", file);
    put_number("flags", fcntl(file, F_GETFL) & O_NONBLOCK);
    put_number("close on exec", fcntl(file, F_GETFD));
    struct signalfd_siginfo info;
    put_number("empty", of(read(file, &info, sizeof info)));
    put_number("short", of(read(file, &info, sizeof info - 1)));
    put_number("write", of(write(file, &info, sizeof info)));
    struct pollfd one = {file, POLLIN | POLLOUT, 0};
    put_number("ready", of(poll(&one, 1, 0)));
    sigaddset(&mask, SIGUSR2);
    put_number("change", of(signalfd(file, &mask, 0)));
    put_number("no descriptor", of(signalfd(99, &mask, 0)));
    put_number("no file of signals", of(signalfd(0, &mask, 0)));
    put_number("bad flags", of(signalfd(-1, &mask, 1)));
}

static void put_event(const char *what, long count, const struct epoll_event *events) {
    put_number(what, count);
    for (long n = 0; n < count; n++)
        printf("events=%x data=%lx\n", events[n].events, (long)events[n].data.u64);
}

static void test_epoll(void) {
    int poller = epoll_create1(0), event = eventfd(0, EFD_NONBLOCK);
    struct epoll_event interest = {.events = EPOLLIN | EPOLLOUT, .data.u64 = 0x123456789abcdef}, ready[4];
    sigset_t mask;
    sigfillset(&mask);
    put_number("add", of(epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest)));
    put_event("ready", of(epoll_pwait(poller, ready, 4, 0, &mask)), ready);
    put_number("write", of(eventfd_write(event, 3)));
    put_event("ready", of(epoll_pwait(poller, ready, 4, -1, NULL)), ready);
    interest.events = EPOLLIN | EPOLLONESHOT;
    put_number("modify", of(epoll_ctl(poller, EPOLL_CTL_MOD, event, &interest)));
    put_event("once", of(epoll_pwait(poller, ready, 4, 10, NULL)), ready);
    put_event("once", of(epoll_pwait(poller, ready, 4, 10, NULL)), ready);
    put_number("no events", of(epoll_pwait(poller, ready, 0, 0, NULL)));
    put_number("negative", of(epoll_pwait(poller, ready, -1, 0, NULL)));
    put_number("no poller", of(epoll_pwait(event, ready, 1, 0, NULL)));
    put_number("no descriptor", of(epoll_pwait(99, ready, 1, 0, NULL)));
    put_number("add again", of(epoll_ctl(poller, EPOLL_CTL_ADD, event, &interest)));
    put_number("itself", of(epoll_ctl(poller, EPOLL_CTL_ADD, poller, &interest)));
    put_number("bad operation", of(epoll_ctl(poller, 4, event, &interest)));
    put_number("no event", of(epoll_ctl(poller, EPOLL_CTL_MOD, event, NULL)));
    put_number("delete", of(epoll_ctl(poller, EPOLL_CTL_DEL, event, NULL)));
    put_number("delete again", of(epoll_ctl(poller, EPOLL_CTL_DEL, event, NULL)));
    put_number("directory", of(epoll_ctl(poller, EPOLL_CTL_ADD, open(".", O_RDONLY), &interest)));
}

static long operate(int set, struct sembuf *operations, long count, long timeout) {
    struct timespec time = {timeout / 1000, timeout % 1000 * MILLISECOND};
    return of(semtimedop(set, operations, count, &time));
}

static void test_semaphores(void) {
    int set = semget(IPC_PRIVATE, 2, 0600);
    struct sembuf up = {0, 2, 0}, down = {0, -1, 0}, zero = {1, 0, 0}, both[] = {{0, -1, 0}, {1, 1, 0}};
    struct sembuf impatient = {0, -5, IPC_NOWAIT}, far = {2, 1, 0}, large = {0, 32767, 0};
    put_number("up", operate(set, &up, 1, 1000));
    put_number("down", operate(set, &down, 1, 1000));
    put_number("zero", operate(set, &zero, 1, 1000));
    put_number("both", operate(set, both, 2, 1000));
    put_number("values", semctl(set, 0, GETVAL) * 10 + semctl(set, 1, GETVAL));
    put_number("timeout", operate(set, &down, 1, 5));
    put_number("timeout for zero", operate(set, &zero, 1, 5));
    put_number("no time", operate(set, &down, 1, 0));
    put_number("both or none", operate(set, both, 2, 5));
    put_number("values", semctl(set, 0, GETVAL) * 10 + semctl(set, 1, GETVAL));
    put_number("no wait", operate(set, &impatient, 1, 1000));
    pid_t child = fork();
    if (!child) {
        usleep(10000);
        _exit(semop(set, &up, 1) ? 1 : 0);
    }
    put_number("waited", operate(set, &down, 1, 60000));
    put_number("for ever", of(semtimedop(set, &down, 1, NULL)));
    waitpid(child, NULL, 0);
    put_number("no semaphore", operate(set, &far, 1, 0));
    put_number("too large", operate(set, &up, 1, 0) + operate(set, &large, 1, 0));
    put_number("no operations", operate(set, &up, 0, 0));
    put_number("too many", operate(set, &up, 501, 0));
    put_number("no set", operate(-1, &up, 1, 0));
    put_number("negative time", of(semtimedop(set, &down, 1, &(struct timespec){-1, 0})));
    put_number("bad time", of(semtimedop(set, &down, 1, &(struct timespec){0, 1000000000})));
    child = fork();
    if (!child) {
        usleep(10000);
        _exit(semctl(set, 0, IPC_RMID) ? 1 : 0);
    }
    struct sembuf much = {0, -100, 0};
    put_number("removed", operate(set, &much, 1, 60000));
    waitpid(child, NULL, 0);
    put_number("gone", operate(set, &up, 1, 0));
}

int main(int argc, char **argv) {
    const struct part parts[] = {
        {"descriptors", test_descriptors}, {"intervals", test_intervals}, {"timers", test_timers},
        {"signals", test_signals}, {"epoll", test_epoll}, {"semaphores", test_semaphores}, {0},
    };
    return run_part(parts, argc, argv);
}
