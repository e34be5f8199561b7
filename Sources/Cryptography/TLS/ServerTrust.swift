import FoundationEssentials

/// How a server must prove its identity in the TLS handshake (MAG 1.4).
///
/// - With anchors, public or given, its chain must end at one of them; with pins too, an element of that verified chain
///   must also match a pin.
/// - With pins alone the chain needs no anchor: it must lead, signature by signature, from the server's own certificate
///   to an element that matches a pin, which may be the server's own. Other certificates that the server sends do not
///   count.
/// - With neither, every server is refused.
/// - If the host name is not checked, only the server's own certificate can match a pin.
///
/// Dates, the allowed usage of every element and the strength of keys and signatures (OpenSSL's security level 2: RSA
/// from 2048 bits, no SHA-1) are always checked.
@dynamicMemberLookup
public struct ServerTrust: Sendable {
    public typealias NameCheck = ServerSecurity.NameCheck

    /// A DNS name or an IP address; an IPv6 address with or without brackets.
    public var host: String
    public var security: ServerSecurity
    /// Returns the time for which certificates are verified, at each handshake; `nil` means the system clock.
    public var judgedAt: (@Sendable () -> Date)?

    public init(host: String, _ security: ServerSecurity, judgedAt: (@Sendable () -> Date)? = nil) {
        self.host = host
        self.security = security
        self.judgedAt = judgedAt
    }

    public init(
        host: String, anchors: [Certificate] = [], usesPublicAnchors: Bool = false, pins: [PublicKeyPin] = [],
        checksHostName: Bool = true, judgedAt: (@Sendable () -> Date)? = nil
    ) {
        self.init(
            host: host,
            ServerSecurity(
                anchors: anchors, usesPublicAnchors: usesPublicAnchors, pins: pins,
                nameCheck: checksHostName ? .strict : .off), judgedAt: judgedAt)
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<ServerSecurity, Value>) -> Value {
        get { security[keyPath: member] }
        set { security[keyPath: member] = newValue }
    }

    /// Whether the certificate must be for ``host``. Set to `true`, it means ``NameCheck/strict``.
    public var checksHostName: Bool {
        get { security.nameCheck != .off }
        set { security.nameCheck = newValue ? .strict : .off }
    }
}

/// A client's identity: its private key and the certificate for it.
public struct TLSIdentity: Sendable {
    public let key: PrivateKey
    /// The key's own certificate first, each followed by its issuer's.
    public let chain: [Certificate]

    public init(key: PrivateKey, chain: [Certificate]) {
        self.key = key
        self.chain = chain
    }
}
