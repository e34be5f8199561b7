import CMosquitto
import Glibc

/// Why a call of the library failed. Its codes, and those of the system beside them, have no name outside this file and
/// `MosquittoClient`.
struct ClientFault {
    private let status: Int32
    private let code: Int32
    /// Whether messages of QoS 2 are the cause, which the library reports as something else.
    var isOfUnreleased = false

    /// - Parameters:
    ///   - status: the library's.
    ///   - code: `errno` after the call.
    init(_ status: Int32, _ code: Int32) { (self.status, self.code) = (status, code) }

    /// The peer closed the connection, which the library did not notice.
    static func connectionLost(errno code: Int32) -> ClientFault { ClientFault(MOSQ_ERR_CONN_LOST.code, code) }
    static func system(_ code: Int32) -> ClientFault { ClientFault(MOSQ_ERR_ERRNO.code, code) }

    /// The library reports EPROTO for every break below TLS.
    var isReset: Bool { code == ECONNRESET || code == EPIPE || code == EPROTO }
    var isConnectionLost: Bool { status == MOSQ_ERR_CONN_LOST.code }

    /// Whether a peer answered: then other addresses need not be tried.
    var hasReachedPeer: Bool { status == MOSQ_ERR_TLS.code || (status == MOSQ_ERR_ERRNO.code && isReset) }

    /// Whether the peer closed the connection, or sent something that forces it closed; otherwise the peer vanished.
    var isHangUp: Bool {
        switch status {
        case MOSQ_ERR_ERRNO.code: isReset
        case MOSQ_ERR_KEEPALIVE.code: false
        default: true
        }
    }

    var reason: String {
        if isOfUnreleased { return "it sent messages of QoS 2 without end and did not release them" }
        return switch status {
        case MOSQ_ERR_ERRNO.code where code == EPROTO: "TLS or the network connection was cut off"
        case MOSQ_ERR_ERRNO.code: String(cString: strerror(code))
        case MOSQ_ERR_EAI.code: "the host is unknown"
        case MOSQ_ERR_KEEPALIVE.code: "it did not answer a ping"
        case MOSQ_ERR_SUCCESS.code, MOSQ_ERR_CONN_LOST.code: "the broker closed it"
        case MOSQ_ERR_PROTOCOL.code, MOSQ_ERR_MALFORMED_PACKET.code: "what it sent is not MQTT 3.1.1"
        default: String(cString: mosquitto_strerror(status))
        }
    }
}

extension mosq_err_t {
    /// The code as the library's functions return it.
    var code: Int32 { rawValue }
}
