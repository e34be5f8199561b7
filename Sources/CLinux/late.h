/* A library that is loaded when it is first needed: what of it is called is listed once, and becomes a table.
 *
 *     #define LATCHKEY_PNG_CALLS(CALL) CALL(create, png_create) CALL(free, png_free)
 *     LATCHKEY_LATE_LIBRARY(png, "libpng16.so.16", LATCHKEY_PNG_CALLS)
 *
 * gives `struct latchkey_png_calls` with a member for each call, and `latchkey_load_png`, which fills one: it returns NULL,
 * or the name of what is missing. The library stays loaded. The types of the table are the declarations' own, so that a
 * library whose header differs does not compile. Swift's side is `LoadedLibrary` of Groundwork.
 *
 * To be included by the headers of such libraries; it is part of no module.
 */
#pragma once
#include <dlfcn.h>
#include <stddef.h>

#define LATCHKEY_LATE_MEMBER(member, function) __typeof__(&(function)) member;
#define LATCHKEY_LATE_LOAD(member, function) \
    if (!(calls->member = (__typeof__(calls->member))dlsym(library, #function))) return #function;

#define LATCHKEY_LATE_LIBRARY(name, file, LIST) \
    struct latchkey_##name##_calls { LIST(LATCHKEY_LATE_MEMBER) }; \
    static inline const char *latchkey_load_##name(struct latchkey_##name##_calls *calls) { \
        void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL); \
        if (!library) return file; \
        LIST(LATCHKEY_LATE_LOAD) \
        return NULL; \
    }
