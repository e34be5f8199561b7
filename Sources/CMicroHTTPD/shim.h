/* libmicrohttpd for Swift, loaded when the agent begins to listen: nine more libraries come with it, GnuTLS among them, and
   the commands do without. The headers are those of libmicrohttpd-dev; nothing is linked.

   And what Swift cannot name itself: its variadic start, its unions, and the GNU extensions that tell who is at the other
   end of a Unix socket. */
#pragma once
#include "../CLinux/late.h"
#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The kernel's struct ucred (unix(7)). */
struct latchkey_peer { pid_t pid; uid_t uid; gid_t gid; };

/* Who connected (SO_PEERCRED, unix(7)); 0, or -1 with errno. */
static inline int latchkey_peer_of(int descriptor, struct latchkey_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

/* The supplementary groups with which it connected (SO_PEERGROUPS). `*bytes` is the room at `groups`, and then what
   was needed; 0, or -1 with errno, ERANGE where the room is too small. */
static inline int latchkey_groups_of(int descriptor, gid_t *groups, socklen_t *bytes) {
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, bytes);
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* The next connection of a listening socket, or -1. accept4(2) has no declaration here without _GNU_SOURCE. The flags are those of
   open(2), which the kernel has for sockets too: named here, SOCK_CLOEXEC would belong to this module, and in an optimized build
   be unknown to who imports Glibc alone. */
static inline int latchkey_accept(int listening, int flags) {
    return (int)syscall(SYS_accept4, listening, NULL, NULL, flags);
}

/* A pidfd of the process that connected, or -1. `*is_certain`: the kernel kept it since then (SO_PEERPIDFD, Linux 6.5);
   otherwise it is of the process that has that number now. */
static inline int latchkey_process_of(int descriptor, pid_t pid, int *is_certain) {
    int process = -1;
    socklen_t length = sizeof process;
    *is_certain = getsockopt(descriptor, SOL_SOCKET, SO_PEERPIDFD, &process, &length) == 0;
    return *is_certain ? process : (int)syscall(SYS_pidfd_open, pid, 0);
}

#define LATCHKEY_HTTP_CALLS(CALL) \
    CALL(start_daemon, MHD_start_daemon) \
    CALL(quiesce_daemon, MHD_quiesce_daemon) \
    CALL(stop_daemon, MHD_stop_daemon) \
    CALL(add_connection, MHD_add_connection) \
    CALL(suspend_connection, MHD_suspend_connection) \
    CALL(resume_connection, MHD_resume_connection) \
    CALL(get_connection_info, MHD_get_connection_info) \
    CALL(get_connection_values, MHD_get_connection_values) \
    CALL(create_response_from_buffer, MHD_create_response_from_buffer) \
    CALL(create_response_from_callback, MHD_create_response_from_callback) \
    CALL(destroy_response, MHD_destroy_response) \
    CALL(add_response_header, MHD_add_response_header) \
    CALL(queue_response, MHD_queue_response)
LATCHKEY_LATE_LIBRARY(http, "libmicrohttpd.so.12", LATCHKEY_HTTP_CALLS)

struct latchkey_http_limits {
    unsigned connections;     /* at the same time */
    unsigned stall_seconds;   /* in which a connection that does not sleep moves nothing */
    size_t connection_memory; /* bytes, for the head of a request and what is being written */
};

struct latchkey_http_callbacks {
    MHD_NotifyConnectionCallback connection;
    void *(*begun)(void *, const char *, struct MHD_Connection *);
    MHD_AccessHandlerCallback handler;
    MHD_RequestCompletedCallback completed;
    size_t (*unescape)(void *, struct MHD_Connection *, char *);
};

#if MHD_VERSION >= 0x00097701
#define LATCHKEY_STRICT_PARSING MHD_OPTION_CLIENT_DISCIPLINE_LVL
#else
#define LATCHKEY_STRICT_PARSING MHD_OPTION_STRICT_FOR_CLIENT
#endif

/* Starts a daemon on a socket that listens already: one thread, which sleeps in epoll(7). NULL on failure. */
static inline struct MHD_Daemon *latchkey_http_start(
    const struct latchkey_http_calls *http, int listening, struct latchkey_http_limits limits,
    struct latchkey_http_callbacks callbacks, void *context) {
    return http->start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
        callbacks.handler, context, MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections, MHD_OPTION_CONNECTION_TIMEOUT, limits.stall_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.connection_memory, LATCHKEY_STRICT_PARSING, 1,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection, context,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks.begun, context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, context,
        MHD_OPTION_UNESCAPE_CALLBACK, callbacks.unescape, context, MHD_OPTION_END);
}

/* The descriptor of a connection's socket, or -1. */
static inline int latchkey_http_descriptor(const struct latchkey_http_calls *http, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = http->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* What the connection callback stored with a connection, or NULL. */
static inline void *latchkey_http_stored(const struct latchkey_http_calls *http, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = http->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Bytes of the head of the request that is being handled. */
static inline size_t latchkey_http_head_size(const struct latchkey_http_calls *http, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = http->get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/* What a content reader returns when there is no more: a cast, which Swift does not import. */
static const ssize_t latchkey_http_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;

/* What a content reader returns when the rest will never come: the connection is closed. */
static const ssize_t latchkey_http_broken_stream = MHD_CONTENT_READER_END_WITH_ERROR;
