/* Calls of Linux that Swift cannot name because they are variadic or GNU extensions. */
#pragma once
#include <fcntl.h>
#include <malloc.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Names the calling thread; at most 15 bytes (PR_SET_NAME, prctl(2)). */
static inline int latchkey_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Reads the calling thread's name into at least 16 bytes. */
static inline int latchkey_thread_name(char *name) { return prctl(PR_GET_NAME, name, 0, 0, 0); }

/* The columns of a terminal; 0 where there is none. Swift takes struct winsize for another module's, depending on the headers. */
static inline int latchkey_terminal_columns(int file) {
    struct winsize size;
    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Forbids core dumps of this process and reading its memory through /proc by others (PR_SET_DUMPABLE), and leaves memory out
   of a core that root takes nevertheless (coredump_filter, core(5); gcore keeps to it). */
static inline int latchkey_forbid_dumps(void) {
    int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (filter >= 0) {
        /* Where it fails, the order below still keeps the kernel from writing any core. */
        ssize_t written = write(filter, "0", 1);
        (void)written;
        close(filter);
    }
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Keeps huge pages from this process (PR_SET_THP_DISABLE): the kernel would make 2 MiB of a thread's stack of which 24 KiB are used. */
static inline int latchkey_forbid_huge_pages(void) { return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

/* Keeps the threads to two of malloc's arenas: with one each, every thread has half-used pages of its own, 250 kB in all. */
static inline int latchkey_share_arenas(void) { return mallopt(M_ARENA_MAX, 2); }

/* Keeps room on the disk for a file up to `bytes`, which its length does not show (fallocate(2)). */
extern int fallocate(int, int, off_t, off_t);
static inline int latchkey_reserve(int file, off_t bytes) { return fallocate(file, 1 /* FALLOC_FL_KEEP_SIZE */, 0, bytes); }

/* Named by the header for GNU programs only. */
extern int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time);

/* Waits for a semaphore until a time of the clock that nobody sets (CLOCK_MONOTONIC). */
static inline int latchkey_semaphore_wait(sem_t *semaphore, const struct timespec *time) {
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, time);
}

/* Limits that a program and those it starts have: no core dumps, and no more rights than it has (prctl(2), setrlimit(2)); those
   that its children leave behind become its own children. */
static inline int latchkey_confine(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Named by the header for GNU programs only. */
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);

/* Starts a program in a session of its own, in the root directory, with these two streams (the second for output and errors),
   every signal as usual, and no other descriptor. Returns 0, or why not, as errno has it. */
static inline int latchkey_spawn(pid_t *child, char *const *words, char *const *variables, int input, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int status = posix_spawn_file_actions_init(&actions);
    if (status != 0) return status;
    status = posix_spawnattr_init(&attributes);
    if (status != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return status;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80 /* POSIX_SPAWN_SETSID */);
    status = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (status == 0) status = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (status == 0) status = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (status == 0) status = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (status == 0) status = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (status == 0) status = posix_spawn(child, words[0], &actions, &attributes, words, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* A descriptor that can be read from once the process has ended (pidfd_open(2)); -1 where there is none. */
static inline int latchkey_watch_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
