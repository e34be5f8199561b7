/* Publishes at QoS 1 with libmosquitto and nothing else, so many messages in flight: what the broker takes at most.
 *
 *   ceiling FORM WINDOW COUNT BYTES TOPIC HOST PORT CLIENT USER PASSWORD CA CERTIFICATE KEY
 *
 * FORM is `direct`, a write for each message as libmosquitto does by itself, or `together`, one for all that fit the
 * window. Prints wall and processor seconds from the first message to the last acknowledgement.
 */
#include <errno.h>
#include <mosquitto.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int is_open;
static long acknowledged;

static void fail(const char *what, int status) {
    fprintf(stderr, "ceiling: %s: %s\n", what, mosquitto_strerror(status));
    exit(1);
}

static void opened(struct mosquitto *client, void *unused, int code) {
    (void)client, (void)unused;
    if (code) fail("the broker refuses", MOSQ_ERR_CONN_REFUSED);
    is_open = 1;
}

static void finished(struct mosquitto *client, void *unused, int id) {
    (void)client, (void)unused, (void)id;
    acknowledged++;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* A buffer below TLS, as the agent has one. */
static void put_together(SSL *tls) {
    BIO *socket = SSL_get_rbio(tls), *buffer = BIO_new(BIO_f_buffer());
    if (!buffer || BIO_set_buffer_size(buffer, 16384 + 256) != 1) fail("make a buffer", MOSQ_ERR_NOMEM);
    BIO_up_ref(socket);
    BIO_push(buffer, socket);
    SSL_set_bio(tls, buffer, buffer);
}

/* Waits, then reads and writes what there is. */
static void turn(struct mosquitto *client, int is_together) {
    BIO *written = is_together ? SSL_get_wbio(mosquitto_ssl_get(client)) : NULL;
    BIO *read = is_together ? SSL_get_rbio(mosquitto_ssl_get(client)) : NULL;
    if (written) (void)BIO_flush(written);
    int waits = mosquitto_want_write(client) || (written && BIO_ctrl_wpending(written) > 0);
    struct pollfd at = {.fd = mosquitto_socket(client), .events = POLLIN | (waits ? POLLOUT : 0)};
    if (poll(&at, 1, 1000) < 0 && errno != EINTR) fail("wait", MOSQ_ERR_ERRNO);
    int status;
    if (at.revents & ~POLLOUT) {
        do {
            if ((status = mosquitto_loop_read(client, 1))) fail("read", status);
        } while (read && BIO_ctrl_pending(read) > 0);
    }
    if (waits && (status = mosquitto_loop_write(client, 1))) fail("write", status);
    if ((status = mosquitto_loop_misc(client))) fail("keep alive", status);
}

int main(int count, char **words) {
    if (count != 14) fail("wrong words", MOSQ_ERR_INVAL);
    int is_together = strcmp(words[1], "together") == 0;
    long window = atol(words[2]), messages = atol(words[3]), sent = 0;
    int bytes = atoi(words[4]), status;
    char *payload = malloc(bytes + 1);
    memset(payload, 'x', bytes);
    mosquitto_lib_init();
    struct mosquitto *client = mosquitto_new(words[8], 1, NULL);
    if (!client || !payload) fail("begin", MOSQ_ERR_NOMEM);
    mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_int_option(client, MOSQ_OPT_SEND_MAXIMUM, 0);
    mosquitto_username_pw_set(client, words[9], words[10]);
    if ((status = mosquitto_tls_set(client, words[11], NULL, words[12], words[13], NULL))) fail("read certificates", status);
    mosquitto_connect_callback_set(client, opened);
    mosquitto_publish_callback_set(client, finished);
    if ((status = mosquitto_connect(client, words[6], atoi(words[7]), 60))) fail("connect", status);
    while (!is_open) turn(client, 0);
    if (is_together) put_together(mosquitto_ssl_get(client));
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (acknowledged < messages) {
        /* Half of the window at a time, as the agent does. */
        if (sent - acknowledged <= window / 2) {
            for (; sent < messages && sent - acknowledged < window; sent++) {
                snprintf(payload, bytes + 1, "%010ld", sent);
                payload[10] = 'x';
                if ((status = mosquitto_publish(client, NULL, words[5], bytes, payload, 1, false))) fail("publish", status);
            }
        }
        turn(client, is_together);
    }
    printf("%f %f\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    return 0;
}
