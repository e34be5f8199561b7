/* Lets the lab decide who may connect to its Mosquitto and which topics they may use.
 *
 * Mosquitto keeps TLS and MQTT; the plugin (interface version 5) asks the lab over a Unix socket, one line each way:
 *
 *     connect <client id> <connection> <user name> <password> <certificate> -> allow | deny
 *     publish <client id> <qos> <retain> <size> <topic> <payload>           -> allow | deny [<topic> <payload>]
 *     subscribe <client id> <filter>                                        -> allow | deny
 *     bye <client id> <connection>                                          (no answer)
 *
 * Texts and bytes are hexadecimal, "-" where there are none; numbers are decimal; the certificate is DER; of a
 * payload the first 1024 bytes are sent. A denial with a topic and a payload is published as a message.
 * Every failure counts as a denial, also no answer within ten seconds.
 * A connection is a number that no other has at the same time. When a client id is taken over, the new connection
 * comes before the old one has gone.
 * Deliveries are not checked: a client may read what it may subscribe to. The broker ends when the lab ends. */
#ifndef LAB_BROKER_PLUGIN_H
#define LAB_BROKER_PLUGIN_H

enum {
    LAB_ANSWER_SECONDS = 10,
    /* Longest client id, user name, password or topic in a question, in bytes. */
    LAB_FIELD_LIMIT = 4096,
    LAB_PAYLOAD_LIMIT = 1024,
    LAB_CERTIFICATE_LIMIT = 16384,
    /* Longest answer, with its line feed. */
    LAB_ANSWER_LIMIT = 4096,
    LAB_LINE_LIMIT = 2 * (3 * LAB_FIELD_LIMIT + LAB_CERTIFICATE_LIMIT) + 64,
};

#endif
