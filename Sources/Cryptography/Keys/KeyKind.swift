import COpenSSL

/// The kinds of keys that this program generates and signs with.
enum KeyKind: Equatable {
    case rsa
    case p256
    /// For TLS alone: no token is signed with it, and none is made.
    case p384

    static let rsaBits = 2048...8192

    /// `nil` for a weak key or another kind.
    init?(of key: OpaquePointer) {
        if EVP_PKEY_is_a(key, "RSA") == 1 {
            guard Self.rsaBits.contains(Int(EVP_PKEY_get_bits(key))) else { return nil }
            self = .rsa
        } else if EVP_PKEY_is_a(key, "EC") == 1, !Self.hasExplicitParameters(key) {
            switch Self.group(of: key) {
            case "prime256v1": self = .p256
            case "secp384r1": self = .p384
            default: return nil
            }
        } else {
            return nil
        }
    }

    /// Such as `RSA of 1024 bits`.
    static func describe(_ key: OpaquePointer) -> String {
        let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown kind"
        return "it is \(name) of \(EVP_PKEY_get_bits(key)) bits"
            + (hasExplicitParameters(key) ? " with a curve of its own" : "")
    }

    static func group(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return name.withUnsafeBytes { String(decoding: $0.prefix(count), as: UTF8.self) }
    }

    /// Whether the key came with the numbers of its curve, not with its name, which RFC 5480 section 2.1.1 forbids: they
    /// need not be those of the curve that they look like.
    private static func hasExplicitParameters(_ key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        var isExplicit: Int32 = 0
        return EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1
            && isExplicit == 1
    }
}
