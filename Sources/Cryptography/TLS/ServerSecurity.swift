public import FoundationEssentials

/// How the servers that one configuration names must prove their identity, whatever their hosts.
/// ``trust(of:judgedAt:)`` is what one of them has to do.
public struct ServerSecurity: Sendable, Equatable {
    /// The oldest version of TLS that is spoken.
    public enum MinimumTLS: String, Sendable, CaseIterable { case tls12, tls13 }

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

    /// Certificates at which a chain may end; each may be an authority or the server's own.
    public var anchors: [Certificate]
    /// Whether a chain may also end at an authority that the system trusts.
    public var usesPublicAnchors: Bool
    public var pins: [PublicKeyPin]
    public var nameCheck: NameCheck
    public var minimumTLS = MinimumTLS.tls12
    /// Whether a server may be spoken to without TLS: what is sent can then be read and changed on the way.
    public var allowsPlain = false

    public init(
        anchors: [Certificate] = [], usesPublicAnchors: Bool = false, pins: [PublicKeyPin] = [],
        nameCheck: NameCheck = .strict
    ) {
        self.anchors = anchors
        self.usesPublicAnchors = usesPublicAnchors
        self.pins = pins
        self.nameCheck = nameCheck
    }

    /// - Parameter authorities: certificates in PEM; `nil` means those that the system trusts.
    /// - Throws: ``CryptographyError`` if the text has no certificate or something else.
    public init(authorities: String?, allowsPlain: Bool = false) throws(CryptographyError) {
        self.init(
            anchors: try authorities.map { text throws(CryptographyError) in try Certificate.some(inPEM: text) } ?? [],
            usesPublicAnchors: authorities == nil)
        self.allowsPlain = allowsPlain
    }

    /// Whether there is anything by which a server can prove itself.
    public var isProvable: Bool { usesPublicAnchors || !anchors.isEmpty || !pins.isEmpty }

    public func trust(of host: String, judgedAt: (@Sendable () -> Date)? = nil) -> ServerTrust {
        ServerTrust(host: host, self, judgedAt: judgedAt)
    }
}
