import FoundationEssentials

/// What a server must prove in the TLS handshake (MAG 1.4).
///
/// - With anchors, public or given, its chain must end at one of them; with pins as well, an element of that verified
///   chain must fit a pin.
/// - With pins alone the chain needs no anchor: it must lead, signature by signature, from the server's own certificate
///   to an element that fits a pin, or the server's own fits. What is sent along outside this path does not count.
/// - With neither, every server is refused.
/// - Where the host name is not checked, a pin is one of the server's own certificate.
///
/// Dates, the fitness of every element for its place and the strength of keys and signatures (OpenSSL's security level 2:
/// RSA from 2048 bits, no SHA-1) are judged in each case.
public struct ServerTrust: Sendable {
    /// A DNS name or an IP address; an IPv6 address with or without brackets.
    public var host: String
    /// Certificates at which a chain may end; each may be an authority or the server's own.
    public var anchors: [Certificate]
    /// Also end at the authorities that the system trusts.
    public var usesPublicAnchors: Bool
    public var pins: [PublicKeyPin]
    /// Whether the certificate must be for ``host``: a subject alternative name, never the common name (RFC 9525).
    public var checksHostName: Bool
    /// The time at which certificates are judged, asked at each handshake; `nil` is the system clock.
    public var judgedAt: (@Sendable () -> Date)?

    public init(
        host: String, anchors: [Certificate] = [], usesPublicAnchors: Bool = false, pins: [PublicKeyPin] = [],
        checksHostName: Bool = true, judgedAt: (@Sendable () -> Date)? = nil
    ) {
        self.host = host
        self.anchors = anchors
        self.usesPublicAnchors = usesPublicAnchors
        self.pins = pins
        self.checksHostName = checksHostName
        self.judgedAt = judgedAt
    }
}

/// What a client shows of itself: its private key and the certificate issued for it.
public struct TLSIdentity: Sendable {
    public let key: PrivateKey
    /// The key's own certificate first, each followed by its issuer's.
    public let chain: [Certificate]

    public init(key: PrivateKey, chain: [Certificate]) {
        self.key = key
        self.chain = chain
    }
}
