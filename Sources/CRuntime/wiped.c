#define _GNU_SOURCE

// What a program frees keeps its bytes until somebody else is given the memory: tokens and passwords that passed through
// libcurl, libmosquitto, libmicrohttpd or a Swift string stay readable for days. Wiping our own buffers does not reach those
// of others, so the whole program frees through here: every block is overwritten before the C library gets it back.
//
// The C library allows its allocator to be replaced (malloc(3)), and everything but free and realloc is left as it is.
// Sanitizers bring allocators of their own, which watch freed memory better than this.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LATCHKEY_HAS_SANITIZER 1
#endif
#endif

#include <errno.h>

#if !defined(LATCHKEY_HAS_SANITIZER) && defined(__GLIBC__)

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

extern void __libc_free(void *);
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);

enum {
    page = 4096,
    // From here on whole pages are given back to the kernel, which hands them out as zeros: writing to them would make
    // resident what was never touched.
    large = 8 * page,
};

static void wipe(void *block)
{
    size_t count = malloc_usable_size(block);
    char *start = block;
    if (count >= large) {
        char *first = (char *)(((uintptr_t)start + page - 1) & ~(uintptr_t)(page - 1));
        char *last = (char *)((uintptr_t)(start + count) & ~(uintptr_t)(page - 1));
        if (madvise(first, (size_t)(last - first), MADV_DONTNEED) == 0) {
            explicit_bzero(start, (size_t)(first - start));
            explicit_bzero(last, (size_t)(start + count - last));
            return;
        }
    }
    explicit_bzero(start, count);
}

void free(void *block)
{
    if (block == NULL) return;
    // Whoever frees on a way out still wants to know why.
    int error = errno;
    wipe(block);
    __libc_free(block);
    errno = error;
}

// The C library would move a block and free the old one by itself.
void *realloc(void *block, size_t count)
{
    if (block == NULL) return __libc_malloc(count);
    if (count == 0) {
        free(block);
        return NULL;
    }
    size_t usable = malloc_usable_size(block);
    if (count <= usable && count >= usable / 2) return block;
    void *moved = __libc_malloc(count);
    if (moved == NULL) return NULL;
    memcpy(moved, block, count < usable ? count : usable);
    free(block);
    return moved;
}

#endif
