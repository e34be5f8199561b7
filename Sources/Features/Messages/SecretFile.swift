import Cryptography
import Groundwork

/// A file with a password in it.
package enum SecretFile {
    /// - Throws: ``BrokerError/passwordUnreadable(path:reason:)``
    package static func password(in passwordFile: String) throws(BrokerError) -> SecretBytes {
        var bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(passwordFile, limit: 4096)
        } catch {
            throw .passwordUnreadable(path: passwordFile, reason: error.description)
        }
        defer { wipe(&bytes) }
        var content: [UInt8]
        do throws(ReceivedText.Fault) {
            content = try ReceivedText.utf8(bytes)
        } catch {
            throw .passwordUnreadable(path: passwordFile, reason: error.reason)
        }
        defer { wipe(&content) }
        // Editors end a file with a line break that is not part of the password.
        var secret = content[...]
        if secret.last == UInt8(ascii: "\n") { secret = secret.dropLast() }
        if secret.count < content.count, secret.last == UInt8(ascii: "\r") { secret = secret.dropLast() }
        guard !secret.isEmpty, !secret.contains(0) else {
            throw .passwordUnreadable(path: passwordFile, reason: "it contains no password")
        }
        return SecretBytes(secret)
    }
}
