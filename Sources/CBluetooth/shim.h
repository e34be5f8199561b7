/* Sockets of the kernel's Bluetooth stack. Addresses and their kinds are packed structures behind macros, which Swift
 * cannot name well; what is sent over the sockets is made in Swift. Only headers of libbluetooth are used: there is nothing
 * to link.
 *
 * Every call returns a descriptor or 0, or the negative errno of what failed. Addresses are in the kernel's order, least
 * significant byte first.
 */
#pragma once
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The ATT bearer's fixed channel on LE (Bluetooth Core, Vol 3 Part A 2.1). */
enum { LATCHKEY_CID_ATT = 4 };

/* The control channel of the kernel's Bluetooth management. */
static inline int latchkey_bluetooth_control(void) {
    int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (descriptor < 0) return -errno;
    struct sockaddr_hci address = { .hci_family = AF_BLUETOOTH, .hci_dev = HCI_DEV_NONE, .hci_channel = HCI_CHANNEL_CONTROL };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

static inline struct sockaddr_l2 latchkey_att_address(const uint8_t bytes[6], uint8_t kind) {
    struct sockaddr_l2 address = { .l2_family = AF_BLUETOOTH, .l2_cid = htobs(LATCHKEY_CID_ATT), .l2_bdaddr_type = kind };
    memcpy(&address.l2_bdaddr, bytes, 6);
    return address;
}

/* A socket of the ATT channel, bound to an adapter's address. */
static inline int latchkey_att_socket(const uint8_t bytes[6], uint8_t kind) {
    int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (descriptor < 0) return -errno;
    struct sockaddr_l2 address = latchkey_att_address(bytes, kind);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

/* Begins to connect; -EINPROGRESS is the usual answer. */
static inline int latchkey_att_connect(int descriptor, const uint8_t bytes[6], uint8_t kind) {
    struct sockaddr_l2 address = latchkey_att_address(bytes, kind);
    return connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
}

/* The next central that has connected, with its address. */
static inline int latchkey_att_accept(int descriptor, uint8_t bytes[6], uint8_t *kind) {
    struct sockaddr_l2 address = { 0 };
    socklen_t length = sizeof address;
    int accepted = accept4(descriptor, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) return -errno;
    memcpy(bytes, &address.l2_bdaddr, 6);
    *kind = address.l2_bdaddr_type;
    return accepted;
}

/* The security level of a connection, BT_SECURITY_LOW and up. */
static inline int latchkey_security_level(int descriptor) {
    struct bt_security security = { 0 };
    socklen_t length = sizeof security;
    return getsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, &length) == 0 ? security.level : -errno;
}

/* Begins to encrypt a connection, by pairing where there is no key. -EINVAL where it is encrypted. */
static inline int latchkey_secure(int descriptor) {
    struct bt_security security = { .level = BT_SECURITY_MEDIUM };
    return setsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) == 0 ? 0 : -errno;
}

/* What became of a connect that was in progress. */
static inline int latchkey_socket_error(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? -error : -errno;
}
