import Cryptography
import HTTPClient

/// A form body whose secrets leave no copy behind: it is written into memory of its final size, which whoever sends it wipes.
enum SecretForm {
    static func bytes(_ secrets: [(name: String, value: SecretBytes)], and fields: FormBody = FormBody()) -> [UInt8] {
        let open = fields.bytes
        var bytes: [UInt8] = []
        // Each byte of a value takes three at most.
        bytes.reserveCapacity(secrets.reduce(open.count) { $0 + $1.name.utf8.count + 2 + 3 * $1.value.count })
        bytes += open
        let digits = Array("0123456789ABCDEF".utf8)
        for secret in secrets {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += Array(secret.name.utf8)
            bytes.append(UInt8(ascii: "="))
            secret.value.withUnsafeBytes { value in
                for byte in value {
                    if ConfigurationParser.isUnreserved(byte) {
                        bytes.append(byte)
                    } else {
                        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                    }
                }
            }
        }
        return bytes
    }
}
