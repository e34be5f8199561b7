import CMosquitto
import Glibc

/// What the library's codes mean.
extension ConnectionLoop {
    /// EPROTO is the library's word for everything that breaks off below TLS.
    static func isReset(_ code: Int32) -> Bool { code == ECONNRESET || code == EPIPE || code == EPROTO }

    /// Whether the other side ended the connection, or sent what ends it; else it had gone.
    static func isHangUp(_ status: Int32, _ code: Int32) -> Bool {
        switch status {
        case MOSQ_ERR_ERRNO.code: isReset(code)
        case MOSQ_ERR_KEEPALIVE.code: false
        default: true
        }
    }

    static func reason(_ status: Int32, _ code: Int32) -> String {
        switch status {
        case MOSQ_ERR_ERRNO.code where code == EPROTO: "TLS or the network broke off"
        case MOSQ_ERR_ERRNO.code: String(cString: strerror(code))
        case MOSQ_ERR_EAI.code: "the host is not known"
        case MOSQ_ERR_KEEPALIVE.code: "it did not answer to a ping"
        case MOSQ_ERR_SUCCESS.code, MOSQ_ERR_CONN_LOST.code: "the broker ended it"
        case MOSQ_ERR_PROTOCOL.code, MOSQ_ERR_MALFORMED_PACKET.code: "what it sent is not MQTT 3.1.1"
        default: String(cString: mosquitto_strerror(status))
        }
    }
}
