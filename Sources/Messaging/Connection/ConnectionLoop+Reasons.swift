import CMosquitto
import Glibc

/// The meaning of the library's codes.
extension ConnectionLoop {
    /// The library reports EPROTO for every break below TLS.
    static func isReset(_ code: Int32) -> Bool { code == ECONNRESET || code == EPIPE || code == EPROTO }

    /// Whether the peer closed the connection, or sent something that forces it closed; otherwise the peer vanished.
    static func isHangUp(_ status: Int32, _ code: Int32) -> Bool {
        switch status {
        case MOSQ_ERR_ERRNO.code: isReset(code)
        case MOSQ_ERR_KEEPALIVE.code: false
        default: true
        }
    }

    static func reason(_ status: Int32, _ code: Int32) -> String {
        switch status {
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
