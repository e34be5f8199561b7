#define _GNU_SOURCE

// libmosquitto asks the C library for as much memory as a packet says it has, up to 256 MB, before anybody else sees the
// packet, and has no option against it. What it reads goes through here: functions of the program's own take the place of a
// shared library's for all other libraries (ld.so(8)).

#include "CReadHook.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

struct ssl_st;

static int (*real_ssl_read)(struct ssl_st *, void *, int);
static int (*real_ssl_write)(struct ssl_st *, const void *, int);
static int (*real_socketpair)(int, int, int, int *);
static _Thread_local const struct latchkey_read_hook *active;
static _Thread_local bool refuses_pairs;
static _Thread_local int connected = -1;

__attribute__((constructor)) static void find_real_functions(void)
{
    real_ssl_read = (int (*)(struct ssl_st *, void *, int))dlsym(RTLD_NEXT, "SSL_read");
    real_ssl_write = (int (*)(struct ssl_st *, const void *, int))dlsym(RTLD_NEXT, "SSL_write");
    real_socketpair = (int (*)(int, int, int, int *))dlsym(RTLD_NEXT, "socketpair");
}

void latchkey_hook_reads(const struct latchkey_read_hook *hook) { active = hook; }

void latchkey_refuse_socket_pairs(bool are_refused) { refuses_pairs = are_refused; }

ssize_t latchkey_read_beneath(void *buffer, size_t count)
{
    if (active->tls == NULL) return recv(active->socket, buffer, count, 0);
    return real_ssl_read(active->tls, buffer, count > INT_MAX ? INT_MAX : (int)count);
}

int SSL_read(struct ssl_st *connection, void *buffer, int count)
{
    const struct latchkey_read_hook *hook = active;
    if (hook == NULL || hook->tls != connection || count <= 0) return real_ssl_read(connection, buffer, count);
    return (int)hook->reader(hook->context, buffer, (size_t)count);
}

int latchkey_write_beneath(const void *buffer, int count) { return real_ssl_write(active->tls, buffer, count); }

int SSL_write(struct ssl_st *connection, const void *buffer, int count)
{
    const struct latchkey_read_hook *hook = active;
    if (hook == NULL || hook->tls != connection || count <= 0) return real_ssl_write(connection, buffer, count);
    return hook->writer(hook->context, buffer, count);
}

void latchkey_connect_to(int socket) { connected = socket; }

extern int __connect(int, const struct sockaddr *, socklen_t);

int connect(int descriptor, const struct sockaddr *address, socklen_t length)
{
    if (connected < 0) return __connect(descriptor, address, length);
    const int source = connected;
    connected = -1;
    return dup3(source, descriptor, O_CLOEXEC) < 0 ? -1 : 0;
}

// Sanitizers watch read(2) and socketpair(2) themselves.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LATCHKEY_HAS_SANITIZER 1
#endif
#endif

#if !defined(LATCHKEY_HAS_SANITIZER)

extern ssize_t __read(int, void *, size_t);

ssize_t read(int descriptor, void *buffer, size_t count)
{
    const struct latchkey_read_hook *hook = active;
    if (hook == NULL || hook->tls != NULL || hook->socket != descriptor) return __read(descriptor, buffer, count);
    return hook->reader(hook->context, buffer, count);
}

int socketpair(int domain, int type, int protocol, int descriptors[2])
{
    if (!refuses_pairs) return real_socketpair(domain, type, protocol, descriptors);
    errno = EMFILE;
    return -1;
}

#endif
