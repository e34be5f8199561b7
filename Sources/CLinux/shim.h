/* Calls of Linux that Swift cannot name because they are variadic or GNU extensions. */
#pragma once
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Names the calling thread; at most 15 bytes (PR_SET_NAME, prctl(2)). */
static inline int latchkey_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Reads the calling thread's name into at least 16 bytes. */
static inline int latchkey_thread_name(char *name) { return prctl(PR_GET_NAME, name, 0, 0, 0); }

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

/* The beginning of struct dl_phdr_info, which the header names for GNU programs only (dl_iterate_phdr(3)). */
struct latchkey_object {
    ElfW(Addr) base;
    const char *name;
    const ElfW(Phdr) *segments;
    ElfW(Half) count;
};
extern int dl_iterate_phdr(int (*visit)(struct latchkey_object *, size_t, void *), void *context);

static inline int latchkey_release_constants_of(struct latchkey_object *object, size_t size, void *context) {
    ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
    (void)size, (void)context;
    /* The program itself has no name here; the kernel's own object has one, but no file. */
    if (object->name[0] != 0 && object->name[0] != '/') return 0;
    for (ElfW(Half) index = 0; index < object->count; index++) {
        const ElfW(Phdr) *segment = &object->segments[index];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
        /* Whole pages only: nothing beside the segment is touched. */
        ElfW(Addr) start = (object->base + segment->p_vaddr + page - 1) / page * page;
        ElfW(Addr) end = (object->base + segment->p_vaddr + segment->p_filesz) / page * page;
        /* A refusal leaves the pages where they are. */
        if (start < end) (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

/* Gives back the pages of the program and its libraries that nobody writes: their text and their constants. The loader's lock
   is held meanwhile, so what is given back is what it has mapped. */
static inline void latchkey_release_constants(void) { (void)dl_iterate_phdr(latchkey_release_constants_of, 0); }
