/* libgpiod 1.6 (Debian 12) and 2.x (Debian 13) behind one set of calls: the two have no function in common that could
 * be called from Swift for both. The header that is installed decides.
 *
 * The library is linked, not loaded at need. Measured on Debian 12 with an empty program, linking it costs 12 kB of private
 * memory, 0.1 MB of RSS and less than a millisecond at the start. Loading it with dlopen would save that on boards without
 * GPIO alone, and would hide its soname, which differs between the two versions, from dpkg-shlibdeps.
 *
 * Every call returns 0, or the errno of what failed. Levels are logical: 1 is active, whatever the wire carries.
 */
#pragma once
#include <errno.h>
#include <gpiod.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Events taken from the kernel in one read; its own queue holds as many for a line. */
enum { LATCHKEY_EDGES = 16 };

/* The kernel's time stamp, of CLOCK_MONOTONIC, and the level from then on. */
struct latchkey_edge {
    uint64_t nanoseconds;
    bool active;
};

enum latchkey_bias { LATCHKEY_BIAS_AS_IS, LATCHKEY_BIAS_DISABLED, LATCHKEY_BIAS_PULL_UP, LATCHKEY_BIAS_PULL_DOWN };

/* The caller hands it zeroed. Texts are cut to what the kernel keeps (GPIO_MAX_NAME_SIZE, linux/gpio.h). */
struct latchkey_line_state {
    char consumer[32];
    bool is_used;
};

static inline int latchkey_chip_open(const char *path, struct gpiod_chip **chip) {
    *chip = gpiod_chip_open(path);
    return *chip ? 0 : errno;
}

#ifdef GPIOD_LINE_BULK_MAX_LINES /* libgpiod 1 */

struct latchkey_line {
    struct gpiod_line *line;
};

/* The caller hands the label zeroed. */
static inline int latchkey_chip_label(struct gpiod_chip *chip, char label[32]) {
    strncpy(label, gpiod_chip_label(chip), 31);
    return 0;
}

static inline int latchkey_chip_line_count(struct gpiod_chip *chip, unsigned *count) {
    *count = gpiod_chip_num_lines(chip);
    return 0;
}

static inline int latchkey_chip_find_line(struct gpiod_chip *chip, const char *name, unsigned *offset) {
    struct gpiod_line *line = gpiod_chip_find_line(chip, name);
    if (!line) return errno;
    *offset = gpiod_line_offset(line);
    return 0;
}

static inline int latchkey_chip_describe_line(struct gpiod_chip *chip, unsigned offset, struct latchkey_line_state *state) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return errno;
    const char *consumer = gpiod_line_consumer(line);
    if (consumer) strncpy(state->consumer, consumer, 31);
    state->is_used = gpiod_line_is_used(line);
    return 0;
}

static inline int latchkey_line_flags(bool active_low, enum latchkey_bias bias) {
    int flags = active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
    switch (bias) {
    case LATCHKEY_BIAS_AS_IS: return flags;
    case LATCHKEY_BIAS_DISABLED: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
    case LATCHKEY_BIAS_PULL_UP: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
    case LATCHKEY_BIAS_PULL_DOWN: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
    }
    return flags;
}

static inline int latchkey_line_request(struct gpiod_chip *chip, unsigned offset, const char *consumer, bool output,
                                        bool active_low, enum latchkey_bias bias, struct latchkey_line *line) {
    const struct gpiod_line_request_config config = {
        .consumer = consumer,
        .request_type = output ? GPIOD_LINE_REQUEST_DIRECTION_OUTPUT : GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES,
        .flags = latchkey_line_flags(active_low, bias),
    };
    line->line = gpiod_chip_get_line(chip, offset);
    return line->line && gpiod_line_request(line->line, &config, 0) == 0 ? 0 : errno;
}

static inline void latchkey_line_release(struct latchkey_line *line) { gpiod_line_release(line->line); }

static inline int latchkey_line_descriptor(struct latchkey_line *line) { return gpiod_line_event_get_fd(line->line); }

/* Waits for an edge where none is queued. */
static inline int latchkey_line_read_edges(struct latchkey_line *line, struct latchkey_edge edges[LATCHKEY_EDGES],
                                           int *count) {
    struct gpiod_line_event events[LATCHKEY_EDGES];
    *count = gpiod_line_event_read_multiple(line->line, events, LATCHKEY_EDGES);
    if (*count < 0) return errno;
    for (int i = 0; i < *count; i++) {
        edges[i].nanoseconds = (uint64_t)events[i].ts.tv_sec * 1000000000u + (uint64_t)events[i].ts.tv_nsec;
        edges[i].active = events[i].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    }
    return 0;
}

static inline int latchkey_line_get(struct latchkey_line *line, int *level) {
    *level = gpiod_line_get_value(line->line);
    return *level < 0 ? errno : 0;
}

static inline int latchkey_line_set(struct latchkey_line *line, int level) {
    return gpiod_line_set_value(line->line, level) == 0 ? 0 : errno;
}

#else /* libgpiod 2 */

struct latchkey_line {
    struct gpiod_line_request *request;
    struct gpiod_edge_event_buffer *events;
    unsigned offset;
};

static inline int latchkey_chip_label(struct gpiod_chip *chip, char label[32]) {
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return errno;
    strncpy(label, gpiod_chip_info_get_label(info), 31);
    gpiod_chip_info_free(info);
    return 0;
}

static inline int latchkey_chip_line_count(struct gpiod_chip *chip, unsigned *count) {
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    if (!info) return errno;
    *count = (unsigned)gpiod_chip_info_get_num_lines(info);
    gpiod_chip_info_free(info);
    return 0;
}

static inline int latchkey_chip_find_line(struct gpiod_chip *chip, const char *name, unsigned *offset) {
    int found = gpiod_chip_get_line_offset_from_name(chip, name);
    if (found < 0) return errno;
    *offset = (unsigned)found;
    return 0;
}

static inline int latchkey_chip_describe_line(struct gpiod_chip *chip, unsigned offset, struct latchkey_line_state *state) {
    struct gpiod_line_info *info = gpiod_chip_get_line_info(chip, offset);
    if (!info) return errno;
    const char *consumer = gpiod_line_info_get_consumer(info);
    if (consumer) strncpy(state->consumer, consumer, 31);
    state->is_used = gpiod_line_info_is_used(info);
    gpiod_line_info_free(info);
    return 0;
}

static inline int latchkey_line_configure(struct gpiod_line_settings *settings, bool output, bool active_low,
                                          enum latchkey_bias bias) {
    static const enum gpiod_line_bias biases[] = { GPIOD_LINE_BIAS_AS_IS, GPIOD_LINE_BIAS_DISABLED,
                                                   GPIOD_LINE_BIAS_PULL_UP, GPIOD_LINE_BIAS_PULL_DOWN };
    gpiod_line_settings_set_active_low(settings, active_low);
    if (gpiod_line_settings_set_bias(settings, biases[bias]) != 0) return -1;
    if (output)
        return gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT) != 0
            ? -1 : gpiod_line_settings_set_output_value(settings, GPIOD_LINE_VALUE_INACTIVE);
    return gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT) != 0
        ? -1 : gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
}

static inline int latchkey_line_request(struct gpiod_chip *chip, unsigned offset, const char *consumer, bool output,
                                        bool active_low, enum latchkey_bias bias, struct latchkey_line *line) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *request = gpiod_request_config_new();
    line->offset = offset;
    line->request = NULL;
    line->events = output ? NULL : gpiod_edge_event_buffer_new(LATCHKEY_EDGES);
    if (settings && lines && request && (output || line->events)
        && latchkey_line_configure(settings, output, active_low, bias) == 0
        && gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0) {
        gpiod_request_config_set_consumer(request, consumer);
        line->request = gpiod_chip_request_lines(chip, request, lines);
    }
    int error = line->request ? 0 : errno;
    if (error && line->events) gpiod_edge_event_buffer_free(line->events);
    if (request) gpiod_request_config_free(request);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    return error;
}

static inline void latchkey_line_release(struct latchkey_line *line) {
    gpiod_line_request_release(line->request);
    if (line->events) gpiod_edge_event_buffer_free(line->events);
}

static inline int latchkey_line_descriptor(struct latchkey_line *line) { return gpiod_line_request_get_fd(line->request); }

/* Waits for an edge where none is queued. */
static inline int latchkey_line_read_edges(struct latchkey_line *line, struct latchkey_edge edges[LATCHKEY_EDGES],
                                           int *count) {
    *count = gpiod_line_request_read_edge_events(line->request, line->events, LATCHKEY_EDGES);
    if (*count < 0) return errno;
    for (int i = 0; i < *count; i++) {
        struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(line->events, (unsigned long)i);
        edges[i].nanoseconds = gpiod_edge_event_get_timestamp_ns(event);
        edges[i].active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    }
    return 0;
}

static inline int latchkey_line_get(struct latchkey_line *line, int *level) {
    enum gpiod_line_value value = gpiod_line_request_get_value(line->request, line->offset);
    if (value == GPIOD_LINE_VALUE_ERROR) return errno;
    *level = value == GPIOD_LINE_VALUE_ACTIVE;
    return 0;
}

static inline int latchkey_line_set(struct latchkey_line *line, int level) {
    enum gpiod_line_value value = level ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE;
    return gpiod_line_request_set_value(line->request, line->offset, value) == 0 ? 0 : errno;
}

#endif
