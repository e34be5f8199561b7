/* sd-bus of libsystemd, loaded when it is first needed: it maps seven more libraries, and a board that does not use
 * Bluetooth through bluetoothd shall not pay for them. The headers are those of libsystemd-dev; nothing is linked.
 *
 * The types of the table are the declarations' own, so that a library whose header differs does not compile.
 */
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

struct latchkey_bus_calls {
    __typeof__(&sd_bus_open_system) open_system;
    __typeof__(&sd_bus_close_unref) close_unref;
    __typeof__(&sd_bus_get_fd) get_fd;
    __typeof__(&sd_bus_get_events) get_events;
    __typeof__(&sd_bus_get_timeout) get_timeout;
    __typeof__(&sd_bus_process) process;
    __typeof__(&sd_bus_add_filter) add_filter;
    __typeof__(&sd_bus_send) send;
    __typeof__(&sd_bus_call_async) call_async;
    __typeof__(&sd_bus_message_ref) message_ref;
    __typeof__(&sd_bus_message_unref) message_unref;
    __typeof__(&sd_bus_message_new_method_call) new_method_call;
    __typeof__(&sd_bus_message_new_method_return) new_method_return;
    __typeof__(&sd_bus_message_new_method_error) new_method_error;
    __typeof__(&sd_bus_message_new_signal) new_signal;
    __typeof__(&sd_bus_message_set_auto_start) set_auto_start;
    __typeof__(&sd_bus_message_get_type) get_type;
    __typeof__(&sd_bus_message_get_cookie) get_cookie;
    __typeof__(&sd_bus_message_get_reply_cookie) get_reply_cookie;
    __typeof__(&sd_bus_message_get_path) get_path;
    __typeof__(&sd_bus_message_get_interface) get_interface;
    __typeof__(&sd_bus_message_get_member) get_member;
    __typeof__(&sd_bus_message_get_sender) get_sender;
    __typeof__(&sd_bus_message_get_error) get_error;
    __typeof__(&sd_bus_message_append_basic) append_basic;
    __typeof__(&sd_bus_message_append_array) append_array;
    __typeof__(&sd_bus_message_open_container) open_container;
    __typeof__(&sd_bus_message_close_container) close_container;
    __typeof__(&sd_bus_message_peek_type) peek_type;
    __typeof__(&sd_bus_message_read_basic) read_basic;
    __typeof__(&sd_bus_message_read_array) read_array;
    __typeof__(&sd_bus_message_enter_container) enter_container;
    __typeof__(&sd_bus_message_exit_container) exit_container;
    __typeof__(&sd_bus_message_skip) skip;
};

/* Fills the table; NULL, or what is missing. The library stays loaded. */
static inline const char *latchkey_load_bus(struct latchkey_bus_calls *calls) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return "libsystemd.so.0";
#define LATCHKEY_LOAD(field, name) \
    if (!(calls->field = (__typeof__(&name))dlsym(library, #name))) return #name
    LATCHKEY_LOAD(open_system, sd_bus_open_system);
    LATCHKEY_LOAD(close_unref, sd_bus_close_unref);
    LATCHKEY_LOAD(get_fd, sd_bus_get_fd);
    LATCHKEY_LOAD(get_events, sd_bus_get_events);
    LATCHKEY_LOAD(get_timeout, sd_bus_get_timeout);
    LATCHKEY_LOAD(process, sd_bus_process);
    LATCHKEY_LOAD(add_filter, sd_bus_add_filter);
    LATCHKEY_LOAD(send, sd_bus_send);
    LATCHKEY_LOAD(call_async, sd_bus_call_async);
    LATCHKEY_LOAD(message_ref, sd_bus_message_ref);
    LATCHKEY_LOAD(message_unref, sd_bus_message_unref);
    LATCHKEY_LOAD(new_method_call, sd_bus_message_new_method_call);
    LATCHKEY_LOAD(new_method_return, sd_bus_message_new_method_return);
    LATCHKEY_LOAD(new_method_error, sd_bus_message_new_method_error);
    LATCHKEY_LOAD(new_signal, sd_bus_message_new_signal);
    LATCHKEY_LOAD(set_auto_start, sd_bus_message_set_auto_start);
    LATCHKEY_LOAD(get_type, sd_bus_message_get_type);
    LATCHKEY_LOAD(get_cookie, sd_bus_message_get_cookie);
    LATCHKEY_LOAD(get_reply_cookie, sd_bus_message_get_reply_cookie);
    LATCHKEY_LOAD(get_path, sd_bus_message_get_path);
    LATCHKEY_LOAD(get_interface, sd_bus_message_get_interface);
    LATCHKEY_LOAD(get_member, sd_bus_message_get_member);
    LATCHKEY_LOAD(get_sender, sd_bus_message_get_sender);
    LATCHKEY_LOAD(get_error, sd_bus_message_get_error);
    LATCHKEY_LOAD(append_basic, sd_bus_message_append_basic);
    LATCHKEY_LOAD(append_array, sd_bus_message_append_array);
    LATCHKEY_LOAD(open_container, sd_bus_message_open_container);
    LATCHKEY_LOAD(close_container, sd_bus_message_close_container);
    LATCHKEY_LOAD(peek_type, sd_bus_message_peek_type);
    LATCHKEY_LOAD(read_basic, sd_bus_message_read_basic);
    LATCHKEY_LOAD(read_array, sd_bus_message_read_array);
    LATCHKEY_LOAD(enter_container, sd_bus_message_enter_container);
    LATCHKEY_LOAD(exit_container, sd_bus_message_exit_container);
    LATCHKEY_LOAD(skip, sd_bus_message_skip);
#undef LATCHKEY_LOAD
    return NULL;
}
