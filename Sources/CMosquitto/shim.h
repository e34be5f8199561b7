/* libmosquitto, and the calls of Linux that its loop needs and Swift cannot name. */
#pragma once
#include <mosquitto.h>
#include <poll.h>
#include <sys/eventfd.h>

/* A counter that wakes poll(2) when it is written to (eventfd(2)); -1 when there is none to have. */
static inline int latchkey_mqtt_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
