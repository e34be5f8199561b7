/* Calls of Linux that Swift cannot name because they are variadic or GNU extensions. */
#pragma once
#include <sys/prctl.h>

/* Names the calling thread; at most 15 bytes (PR_SET_NAME, prctl(2)). */
static inline int latchkey_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Reads the calling thread's name into at least 16 bytes. */
static inline int latchkey_thread_name(char *name) { return prctl(PR_GET_NAME, name, 0, 0, 0); }

/* Forbids core dumps of this process and reading its memory through /proc by others (PR_SET_DUMPABLE). */
static inline int latchkey_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
