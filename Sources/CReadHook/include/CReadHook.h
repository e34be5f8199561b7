// Lets a program see, and change, what a library reads from a socket or a TLS connection, refuse it pairs of sockets,
// and give it a connection that the program made.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// As read(2): how many bytes it wrote to `buffer`; 0 at the end, -1 with `errno` for a failure.
typedef ssize_t (*latchkey_reader)(void *context, void *buffer, size_t count);

// As SSL_write: how many bytes it took, at most 0 for a failure.
typedef int (*latchkey_writer)(void *context, const void *buffer, int count);

struct latchkey_read_hook {
    int socket;
    // The `SSL *` of the connection; NULL without TLS.
    void *tls;
    latchkey_reader reader;
    // With TLS alone.
    latchkey_writer writer;
    void *context;
};

// Has a library's reads of the connection go to the reader, and its writes to the writer, on this thread, until it is
// called with NULL. The hook stays the caller's, who keeps it until then.
void latchkey_hook_reads(const struct latchkey_read_hook *hook);

// For a reader, while it is called: reads as the library would have.
ssize_t latchkey_read_beneath(void *buffer, size_t count);

// For a writer, while it is called: writes as the library would have.
int latchkey_write_beneath(const void *buffer, int count);

// Has socketpair(2) fail with EMFILE on this thread, until it is called with `false`. Without effect under sanitizers.
void latchkey_refuse_socket_pairs(bool are_refused);

// Has the next connect(2) of this thread replace its socket by a copy of this connected one, and succeed; with -1 it
// connects as usual.
void latchkey_connect_to(int connected);
