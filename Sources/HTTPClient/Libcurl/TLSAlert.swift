/// Why the peer ended TLS (RFC 8446 section 6).
struct TLSAlert: Equatable {
    let number: UInt8

    init(number: UInt8) { self.number = number }

    /// - Parameter message: a TLS message without its record header. An alert has two bytes, level and number; no other
    ///   message has: a handshake message begins with four, and a change of cipher is one.
    init?(message: some Collection<UInt8>) {
        guard message.count == 2, let level = message.first, level == 1 || level == 2 else { return nil }
        number = message[message.index(after: message.startIndex)]
    }

    private static let names: [UInt8: String] = [
        41: "no certificate", 42: "bad certificate", 43: "unsupported certificate", 44: "certificate revoked",
        45: "certificate expired", 46: "certificate unknown", 48: "unknown CA", 49: "access denied",
        116: "certificate required",
    ]

    /// Whether it concerns the client's certificate, when it comes from a server.
    var refusesCertificate: Bool { Self.names[number] != nil }

    var name: String { Self.names[number] ?? "alert \(number)" }
}
