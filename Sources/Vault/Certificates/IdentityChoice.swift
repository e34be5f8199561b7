import Cryptography
public import FoundationEssentials

/// Which identity a server is shown (OAMMS C6).
public enum IdentityChoice {
    /// - Parameter host: as `host:port`.
    /// - Returns: the identity that was named for the host; `nil` if there is none, or it has expired or no certificate yet.
    public static func identity(
        for host: String, among identities: [ClientIdentity], at now: Date
    ) -> ClientIdentity? {
        identities.first { identity in
            identity.hosts.contains(host) && identity.certificate.map { $0.notAfter > now } ?? false
        }
    }
}
