/* libmosquitto, and the calls of Linux that its loop needs and Swift cannot name. */
#pragma once
#include <mosquitto.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

/* Names the calling thread; at most 15 bytes (PR_SET_NAME, prctl(2)). */
static inline int latchkey_mqtt_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

/* A counter that wakes poll(2) when it is written to (eventfd(2)); -1 when there is none to have. */
static inline int latchkey_mqtt_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
