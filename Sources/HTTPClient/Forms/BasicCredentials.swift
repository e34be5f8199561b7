import Cryptography
import Groundwork

/// Basic authentication (RFC 7617).
public enum BasicCredentials {
    /// The value of `Authorization`, or of a similar header: name and secret unchanged, in UTF-8.
    ///
    /// - Parameter name: must not contain a colon, which would end it.
    public static func header(name: String, secret: SecretBytes) -> String {
        let name = Array(name.utf8)
        return secret.withUnsafeBytes { secret in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(name.count + 1 + secret.count)
            bytes += name
            bytes.append(UInt8(ascii: ":"))
            bytes += secret
            defer { wipe(&bytes) }
            return "Basic " + Base64.encode(bytes)
        }
    }
}
