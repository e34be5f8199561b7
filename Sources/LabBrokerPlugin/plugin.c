/* The plugin that LabBrokerPlugin.h describes. */

#include "LabBrokerPlugin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#include <openssl/crypto.h>
#include <openssl/x509.h>

struct gate {
    mosquitto_plugin_id_t *plugin;
    struct sockaddr_un address;
    int socket; /* -1 while not connected */
    size_t length;
    bool overflow;
    char line[LAB_LINE_LIMIT];
};

static void gate_close(struct gate *gate)
{
    if (gate->socket >= 0) close(gate->socket);
    gate->socket = -1;
}

static bool gate_open(struct gate *gate)
{
    struct timeval limit = {.tv_sec = LAB_ANSWER_SECONDS};

    if (gate->socket >= 0) return true;
    gate->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (gate->socket < 0) return false;
    if (setsockopt(gate->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0
        && setsockopt(gate->socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0
        && connect(gate->socket, (const struct sockaddr *)&gate->address, sizeof gate->address) == 0) {
        return true;
    }
    gate_close(gate);
    return false;
}

static void begin(struct gate *gate, const char *verb)
{
    gate->overflow = false;
    gate->length = (size_t)snprintf(gate->line, sizeof gate->line, "%s", verb);
}

static void append(struct gate *gate, const void *bytes, size_t count, size_t limit)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *byte = bytes;

    /* Room for the blank, two digits a byte, and the line end. */
    if (count > limit || gate->length + 2 * count + 3 > sizeof gate->line) {
        gate->overflow = true;
        return;
    }
    gate->line[gate->length++] = ' ';
    if (count == 0) gate->line[gate->length++] = '-';
    for (size_t index = 0; index < count; index++) {
        gate->line[gate->length++] = digits[byte[index] >> 4];
        gate->line[gate->length++] = digits[byte[index] & 15];
    }
}

static void append_text(struct gate *gate, const char *text)
{
    append(gate, text, text ? strlen(text) : 0, LAB_FIELD_LIMIT);
}

static void append_number(struct gate *gate, unsigned long number)
{
    int written = snprintf(gate->line + gate->length, sizeof gate->line - gate->length, " %lu", number);

    if (written < 0 || (size_t)written >= sizeof gate->line - gate->length) {
        gate->overflow = true;
    } else {
        gate->length += (size_t)written;
    }
}

/* Its address: no other connection has it at the same time. */
static void append_connection(struct gate *gate, const struct mosquitto *client)
{
    append_number(gate, (unsigned long)(uintptr_t)client);
}

static bool send_line(struct gate *gate)
{
    size_t sent = 0;

    if (gate->overflow || gate->length + 1 > sizeof gate->line || !gate_open(gate)) return false;
    gate->line[gate->length++] = '\n';
    while (sent < gate->length) {
        ssize_t count = send(gate->socket, gate->line + sent, gate->length - sent, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            gate_close(gate);
            return false;
        }
        sent += (size_t)count;
    }
    return true;
}

/* Sends the line and waits for the verdict, whose text is put in answer. A socket with a late or malformed answer is
 * closed, so that no later question receives the answer to an earlier one. */
static bool get_verdict(struct gate *gate, char answer[LAB_ANSWER_LIMIT])
{
    size_t length = 0;

    if (!send_line(gate)) return false;
    do {
        ssize_t count = recv(gate->socket, answer + length, LAB_ANSWER_LIMIT - length, 0);

        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            gate_close(gate);
            return false;
        }
        length += (size_t)count;
    } while (answer[length - 1] != '\n' && length < LAB_ANSWER_LIMIT);
    if (answer[length - 1] != '\n') {
        gate_close(gate);
        return false;
    }
    answer[length - 1] = '\0';
    return true;
}

/* Decodes hexadecimal in place. Returns the number of bytes; -1 for anything else. */
static int decode(char *text)
{
    int length = 0;

    while (text[2 * length] != '\0') {
        unsigned int byte;

        if (text[2 * length + 1] == '\0' || sscanf(text + 2 * length, "%2x", &byte) != 1) return -1;
        text[length++] = (char)byte;
    }
    text[length] = '\0';
    return length;
}

/* Publishes the message of a denial: whoever subscribed to its topic gets it. */
static void report(char *topic)
{
    char *payload = strchr(topic, ' ');
    int length;

    if (!payload) return;
    *payload++ = '\0';
    length = decode(payload);
    if (length < 0 || decode(topic) <= 0) return;
    mosquitto_broker_publish_copy(NULL, topic, length, payload, 0, false, NULL);
}

/* Asks the question. */
static bool is_allowed(struct gate *gate)
{
    static const char denial[] = "deny ";
    char answer[LAB_ANSWER_LIMIT];

    if (!get_verdict(gate, answer)) return false;
    if (strncmp(answer, denial, sizeof denial - 1) == 0) report(answer + sizeof denial - 1);
    return strcmp(answer, "allow") == 0;
}

static int on_connect(int event, void *event_data, void *user_data)
{
    struct mosquitto_evt_basic_auth *attempt = event_data;
    struct gate *gate = user_data;
    X509 *certificate = mosquitto_client_certificate(attempt->client);
    unsigned char *der = NULL;
    int der_length = certificate ? i2d_X509(certificate, &der) : 0;
    bool allowed;

    (void)event;
    X509_free(certificate);
    begin(gate, "connect");
    append_text(gate, mosquitto_client_id(attempt->client));
    append_connection(gate, attempt->client);
    append_text(gate, attempt->username);
    append_text(gate, attempt->password);
    append(gate, der, der_length > 0 ? (size_t)der_length : 0, LAB_CERTIFICATE_LIMIT);
    allowed = is_allowed(gate);
    /* The line held a password. */
    OPENSSL_cleanse(gate->line, sizeof gate->line);
    OPENSSL_free(der);
    return allowed ? MOSQ_ERR_SUCCESS : MOSQ_ERR_AUTH;
}

static int on_access(int event, void *event_data, void *user_data)
{
    struct mosquitto_evt_acl_check *access = event_data;
    struct gate *gate = user_data;

    (void)event;
    switch (access->access) {
    case MOSQ_ACL_READ:
    case MOSQ_ACL_UNSUBSCRIBE:
        return MOSQ_ERR_SUCCESS;
    case MOSQ_ACL_SUBSCRIBE:
        begin(gate, "subscribe");
        append_text(gate, mosquitto_client_id(access->client));
        append_text(gate, access->topic);
        break;
    case MOSQ_ACL_WRITE:
        begin(gate, "publish");
        append_text(gate, mosquitto_client_id(access->client));
        append_number(gate, access->qos);
        append_number(gate, access->retain);
        append_number(gate, access->payloadlen);
        append_text(gate, access->topic);
        append(gate, access->payload, access->payloadlen < LAB_PAYLOAD_LIMIT ? access->payloadlen : LAB_PAYLOAD_LIMIT,
            LAB_PAYLOAD_LIMIT);
        break;
    default:
        return MOSQ_ERR_ACL_DENIED;
    }
    return is_allowed(gate) ? MOSQ_ERR_SUCCESS : MOSQ_ERR_ACL_DENIED;
}

static int on_disconnect(int event, void *event_data, void *user_data)
{
    struct mosquitto_evt_disconnect *leaving = event_data;
    struct gate *gate = user_data;

    (void)event;
    begin(gate, "bye");
    append_text(gate, mosquitto_client_id(leaving->client));
    append_connection(gate, leaving->client);
    send_line(gate);
    return MOSQ_ERR_SUCCESS;
}

/* Ends the broker when the lab has closed its side: a lab that was killed leaves nothing behind. */
static int on_tick(int event, void *event_data, void *user_data)
{
    struct gate *gate = user_data;
    char byte;
    ssize_t waiting;

    (void)event;
    (void)event_data;
    waiting = gate_open(gate) ? recv(gate->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 0;
    if (waiting == 0 || (waiting < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        mosquitto_log_printf(MOSQ_LOG_NOTICE, "the lab has ended, so its broker ends too");
        gate_close(gate);
        raise(SIGTERM);
    }
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_plugin_version(int supported_version_count, const int *supported_versions)
{
    for (int index = 0; index < supported_version_count; index++) {
        if (supported_versions[index] == 5) return 5;
    }
    return -1;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *identifier, void **user_data, struct mosquitto_opt *options,
    int option_count)
{
    struct gate *gate = calloc(1, sizeof *gate);
    sigset_t signals;

    if (!gate) return MOSQ_ERR_NOMEM;
    /* The parent process may have blocked SIGTERM, and a blocked signal stays blocked in a child. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    gate->plugin = identifier;
    gate->socket = -1;
    gate->address.sun_family = AF_UNIX;
    for (int index = 0; index < option_count; index++) {
        if (strcmp(options[index].key, "socket") == 0 && strlen(options[index].value) < sizeof gate->address.sun_path) {
            strcpy(gate->address.sun_path, options[index].value);
        }
    }
    if (gate->address.sun_path[0] == '\0' || !gate_open(gate)) {
        mosquitto_log_printf(MOSQ_LOG_ERR, "plugin_opt_socket does not name the socket of a running lab");
        free(gate);
        return MOSQ_ERR_INVAL;
    }
    *user_data = gate;
    if (mosquitto_callback_register(identifier, MOSQ_EVT_BASIC_AUTH, on_connect, NULL, gate) != MOSQ_ERR_SUCCESS
        || mosquitto_callback_register(identifier, MOSQ_EVT_ACL_CHECK, on_access, NULL, gate) != MOSQ_ERR_SUCCESS
        || mosquitto_callback_register(identifier, MOSQ_EVT_DISCONNECT, on_disconnect, NULL, gate) != MOSQ_ERR_SUCCESS
        || mosquitto_callback_register(identifier, MOSQ_EVT_TICK, on_tick, NULL, gate) != MOSQ_ERR_SUCCESS) {
        return MOSQ_ERR_INVAL;
    }
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_plugin_cleanup(void *user_data, struct mosquitto_opt *options, int option_count)
{
    struct gate *gate = user_data;

    (void)options;
    (void)option_count;
    mosquitto_callback_unregister(gate->plugin, MOSQ_EVT_BASIC_AUTH, on_connect, NULL);
    mosquitto_callback_unregister(gate->plugin, MOSQ_EVT_ACL_CHECK, on_access, NULL);
    mosquitto_callback_unregister(gate->plugin, MOSQ_EVT_DISCONNECT, on_disconnect, NULL);
    mosquitto_callback_unregister(gate->plugin, MOSQ_EVT_TICK, on_tick, NULL);
    gate_close(gate);
    free(gate);
    return MOSQ_ERR_SUCCESS;
}
