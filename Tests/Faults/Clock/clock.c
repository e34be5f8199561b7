/* A clock of its own for one program: preloaded, it moves the wall clock by seconds that a file holds, and lets the
 * clocks that nobody sets, and what is waited for by them, run faster by a factor.
 *
 * LATCHKEY_CLOCK names the file, which holds the seconds as 64 bits and may change at any time; LATCHKEY_CLOCK_PACE is
 * the factor. Waits without a limit stay so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift;
static int64_t pace = 1;
static const int64_t second = 1000000000;

static int real_time(clockid_t clock, struct timespec *time) { return (int)syscall(SYS_clock_gettime, clock, time); }
static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * second + time->tv_nsec; }
static struct timespec as_time(int64_t value) { return (struct timespec){value / second, value % second}; }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("LATCHKEY_CLOCK"), *factor = getenv("LATCHKEY_CLOCK_PACE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *page = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) shift = page;
        close(file);
    }
    if (factor && atoi(factor) > 1) pace = atoi(factor);
}

/* Clocks count from the machine's start, so that a process which begins later sees the same time. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    int status = real_time(clock, time);
    if (status != 0) return status;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        if (shift) time->tv_sec += *shift;
        break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME: *time = as_time(nanoseconds(time) * pace); break;
    default: break;
    }
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

/* Rounded up, so that what waits for a moment does not find itself just before it again and again. */
static int shorter(int milliseconds) {
    return milliseconds <= 0 ? milliseconds : (int)((milliseconds + pace - 1) / pace);
}

int poll(struct pollfd *files, nfds_t count, int milliseconds) {
    struct timespec limit = as_time((int64_t)shorter(milliseconds) * 1000000);
    return (int)syscall(SYS_ppoll, files, count, milliseconds < 0 ? NULL : &limit, NULL, 0);
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int milliseconds) {
    return (int)syscall(SYS_epoll_pwait, epoll, events, count, shorter(milliseconds), NULL, 0);
}

/* Timers of the wall clock, which only jumps, are set in its real time. */
static unsigned char is_of_wall_clock[4096];

int timerfd_create(int clock, int flags) {
    int timer = (int)syscall(SYS_timerfd_create, clock, flags);
    if (timer >= 0 && timer < 4096) is_of_wall_clock[timer] = clock == CLOCK_REALTIME;
    return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *next, struct itimerspec *last) {
    struct itimerspec real = *next;
    if (timer < 4096 && is_of_wall_clock[timer]) {
        if (shift && (flags & TFD_TIMER_ABSTIME) && real.it_value.tv_sec > 0) {
            real.it_value.tv_sec -= *shift;
            if (real.it_value.tv_sec < 0) real.it_value = (struct timespec){0, 1};
        }
    } else {
        int64_t value = nanoseconds(&real.it_value);
        real.it_value = as_time((value + pace - 1) / pace);
        real.it_interval = as_time(nanoseconds(&real.it_interval) / pace);
    }
    return (int)syscall(SYS_timerfd_settime, timer, flags, &real, last);
}
