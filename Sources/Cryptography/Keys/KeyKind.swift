import COpenSSL

/// The kinds of keys that this program generates and signs with.
enum KeyKind: Equatable {
    case rsa
    case p256

    static let rsaBits = 2048...8192

    /// `nil` for a weak key or another kind.
    init?(of key: OpaquePointer) {
        if EVP_PKEY_is_a(key, "RSA") == 1 {
            guard Self.rsaBits.contains(Int(EVP_PKEY_get_bits(key))) else { return nil }
            self = .rsa
        } else if EVP_PKEY_is_a(key, "EC") == 1, Self.group(of: key) == "prime256v1" {
            self = .p256
        } else {
            return nil
        }
    }

    /// Such as `RSA of 1024 bits`.
    static func describe(_ key: OpaquePointer) -> String {
        let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown kind"
        return "it is \(name) of \(EVP_PKEY_get_bits(key)) bits"
    }

    static func group(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return name.withUnsafeBytes { String(decoding: $0.prefix(count), as: UTF8.self) }
    }
}
