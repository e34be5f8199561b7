import Cryptography
import Groundwork

/// The opening handshake of one WebSocket connection for MQTT (RFC 6455 section 4; MQTT 3.1.1 section 6). Pure.
struct WebSocketHandshake {
    /// The name of MQTT as a subprotocol (MQTT 3.1.1 section 6, IANA).
    static let subprotocol = "mqtt"
    /// What every server adds to the key (RFC 6455 section 1.3).
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Why an answer does not open a WebSocket.
    enum Fault: Error, Equatable {
        case status(Int)
        case upgrade
        case key
        case subprotocol
        case extensions

        var reason: String {
            switch self {
            case .status(let status): "it answered with status \(status)"
            case .upgrade: "its answer does not change to the WebSocket protocol"
            case .key: "its answer is not one to this request: Sec-WebSocket-Accept is wrong"
            case .subprotocol: "it does not speak MQTT over WebSocket: it did not choose the subprotocol \"mqtt\""
            case .extensions: "it uses a WebSocket extension that was not offered"
            }
        }
    }

    /// 16 random bytes in base 64 (RFC 6455 section 4.1 number 7).
    let key: String

    /// - Throws: ``CryptographyError``
    init() throws(CryptographyError) { self.init(nonce: try Random.bytes(16)) }
    init(nonce: [UInt8]) { key = Base64.encode(nonce) }

    var accept: String { Base64.encode(SHA1.hash(Array((key + Self.identifier).utf8))) }

    /// - Parameter isSecure: whether the port that is not named is 443 instead of 80.
    func request(to broker: BrokerAddress, isSecure: Bool) -> [UInt8] {
        let host = broker.host.contains(":") ? "[\(broker.certifiedHost)]" : broker.certifiedHost
        let port = broker.port == (isSecure ? 443 : 80) ? "" : ":\(broker.port)"
        return Array(
            """
            GET \(broker.webSocketPath ?? "/") HTTP/1.1\r
            Host: \(host)\(port)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: \(Self.subprotocol)\r
            \r

            """.utf8)
    }

    /// Checks what RFC 6455 section 4.1 demands of an answer.
    func check(_ answer: AnswerHead) throws(Fault) {
        guard answer.status == 101 else { throw .status(answer.status) }
        guard answer.only("upgrade")?.lowercased() == "websocket", answer.elements("connection").contains("upgrade")
        else { throw .upgrade }
        guard answer.only("sec-websocket-accept") == accept else { throw .key }
        guard answer.only("sec-websocket-protocol") == Self.subprotocol else { throw .subprotocol }
        guard answer.elements("sec-websocket-extensions").isEmpty else { throw .extensions }
    }
}
