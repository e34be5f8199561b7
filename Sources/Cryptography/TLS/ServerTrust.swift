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
public struct ServerTrust: Sendable {
    /// A DNS name or an IP address; an IPv6 address with or without brackets.
    public var host: String
    /// Certificates at which a chain may end; each may be an authority or the server's own.
    public var anchors: [Certificate]
    /// Whether a chain may also end at an authority that the system trusts.
    public var usesPublicAnchors: Bool
    public var pins: [PublicKeyPin]
    /// How the certificate must name ``host``.
    public var nameCheck: NameCheck
    /// Returns the time for which certificates are verified, at each handshake; `nil` means the system clock.
    public var judgedAt: (@Sendable () -> Date)?

    public init(
        host: String, anchors: [Certificate] = [], usesPublicAnchors: Bool = false, pins: [PublicKeyPin] = [],
        checksHostName: Bool = true, judgedAt: (@Sendable () -> Date)? = nil
    ) {
        self.host = host
        self.anchors = anchors
        self.usesPublicAnchors = usesPublicAnchors
        self.pins = pins
        nameCheck = checksHostName ? .strict : .off
        self.judgedAt = judgedAt
    }

    /// How a server's certificate must name its host.
    public enum NameCheck: String, Sendable, CaseIterable {
        /// By a subject alternative name, never by the common name (RFC 9525).
        case strict
        /// By the common name too, if the certificate has no DNS name among its subject alternative names, as RFC 2818
        /// section 3.1 had it. An address is never taken from a common name.
        case commonName = "common-name"
        /// Not at all.
        case off
    }

    /// Whether the certificate must be for ``host``. Set to `true`, it means ``NameCheck/strict``.
    public var checksHostName: Bool {
        get { nameCheck != .off }
        set { nameCheck = newValue ? .strict : .off }
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
