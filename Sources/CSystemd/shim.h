/* sd-bus of libsystemd, loaded when it is first needed: it maps seven more libraries, and a board that does not use
 * Bluetooth through bluetoothd shall not pay for them. The headers are those of libsystemd-dev; nothing is linked.
 */
#pragma once
#include "../CLinux/late.h"
#include <systemd/sd-bus.h>

#define LATCHKEY_BUS_CALLS(CALL) \
    CALL(open_system, sd_bus_open_system) \
    CALL(close_unref, sd_bus_close_unref) \
    CALL(get_fd, sd_bus_get_fd) \
    CALL(get_events, sd_bus_get_events) \
    CALL(get_timeout, sd_bus_get_timeout) \
    CALL(process, sd_bus_process) \
    CALL(add_filter, sd_bus_add_filter) \
    CALL(send, sd_bus_send) \
    CALL(call_async, sd_bus_call_async) \
    CALL(message_ref, sd_bus_message_ref) \
    CALL(message_unref, sd_bus_message_unref) \
    CALL(new_method_call, sd_bus_message_new_method_call) \
    CALL(new_method_return, sd_bus_message_new_method_return) \
    CALL(new_method_error, sd_bus_message_new_method_error) \
    CALL(new_signal, sd_bus_message_new_signal) \
    CALL(set_auto_start, sd_bus_message_set_auto_start) \
    CALL(get_type, sd_bus_message_get_type) \
    CALL(get_cookie, sd_bus_message_get_cookie) \
    CALL(get_reply_cookie, sd_bus_message_get_reply_cookie) \
    CALL(get_path, sd_bus_message_get_path) \
    CALL(get_interface, sd_bus_message_get_interface) \
    CALL(get_member, sd_bus_message_get_member) \
    CALL(get_sender, sd_bus_message_get_sender) \
    CALL(get_error, sd_bus_message_get_error) \
    CALL(append_basic, sd_bus_message_append_basic) \
    CALL(append_array, sd_bus_message_append_array) \
    CALL(open_container, sd_bus_message_open_container) \
    CALL(close_container, sd_bus_message_close_container) \
    CALL(peek_type, sd_bus_message_peek_type) \
    CALL(read_basic, sd_bus_message_read_basic) \
    CALL(read_array, sd_bus_message_read_array) \
    CALL(enter_container, sd_bus_message_enter_container) \
    CALL(exit_container, sd_bus_message_exit_container) \
    CALL(skip, sd_bus_message_skip)
LATCHKEY_LATE_LIBRARY(bus, "libsystemd.so.0", LATCHKEY_BUS_CALLS)
