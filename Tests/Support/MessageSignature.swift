import COpenSSL
import Cryptography

/// Signatures as OpenSSL asks a key for them, with any hash and salt.
package enum MessageSignature {
    package struct Failed: Error {}

    /// - Parameters:
    ///   - key: an `EVP_PKEY`.
    ///   - saltBytes: of RSASSA-PSS; `nil` for another scheme.
    package static func make(
        _ message: [UInt8], by key: OpaquePointer, _ hash: Digest, saltBytes: Int? = nil
    ) throws -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw Failed() }
        defer { EVP_MD_CTX_free(context) }
        var parameters: OpaquePointer?
        guard EVP_DigestSignInit_ex(context, &parameters, hash.rawValue, nil, nil, key, nil) == 1 else {
            throw Failed()
        }
        if let saltBytes {
            guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, Int32(saltBytes)) == 1
            else { throw Failed() }
        }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
        var count = signature.count
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { throw Failed() }
        return Array(signature.prefix(count))
    }
}
