import Cryptography
import Groundwork

extension FormBody {
    /// The form with secrets after its own fields. No copy of the secrets is left behind: the form is written into
    /// memory of its final size, which the sender wipes.
    public func bytes(with secrets: [(name: String, value: SecretBytes)]) -> [UInt8] {
        let open = bytes
        var bytes: [UInt8] = []
        // Each byte of a value takes three at most.
        bytes.reserveCapacity(secrets.reduce(open.count) { $0 + $1.name.utf8.count + 2 + 3 * $1.value.count })
        bytes += open
        for secret in secrets {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += Array(secret.name.utf8)
            bytes.append(UInt8(ascii: "="))
            secret.value.withUnsafeBytes { PercentEncoding.append($0, to: &bytes) }
        }
        return bytes
    }
}
