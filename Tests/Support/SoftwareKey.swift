import COpenSSL
@_spi(KeyBytes) import Cryptography
import Groundwork
import Synchronization

/// A key in the place of one in a chip: OpenSSL asks it for signatures, and it has an ordinary key to make them. On
/// request it does what broken chips do.
package final class SoftwareKey: ForeignKey {
    package enum Fault: Sendable, CaseIterable {
        /// Says that it is not there.
        case absent
        /// Gives the right number of wrong bytes.
        case garbage
        case short, long, nothing
        /// Signs something else.
        case other
    }

    package struct Absent: Explained {
        package let explanation = Explanation(
            "test.absent", .temporary, "the token is not there", remedy: "put it in")
        package static let examples = [Absent()]
    }

    package struct Failed: Error {}

    /// What the key was asked to sign.
    package var asked: [UnsignedDigest] { signed.withLock { $0 } }

    private let signed = Mutex<[UnsignedDigest]>([])
    private let fault: Fault?
    /// An `EVP_PKEY` of the default library context, which nothing changes.
    private nonisolated(unsafe) let handle: OpaquePointer

    package init(_ key: PrivateKey, fault: Fault? = nil) throws {
        let read = try key.pkcs8().withUnsafeBytes { bytes in
            var position = bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            return d2i_AutoPrivateKey(nil, &position, bytes.count)
        }
        guard let read else { throw Failed() }
        handle = read
        self.fault = fault
    }

    deinit { EVP_PKEY_free(handle) }

    package func sign(_ digest: UnsignedDigest) throws -> [UInt8] {
        signed.withLock { $0.append(digest) }
        switch fault {
        case nil: return try signature(of: digest)
        case .absent: throw Absent()
        case .garbage: return try signature(of: digest).map { $0 ^ 0x5A }
        case .short: return [0x30, 0x01]
        case .long: return try signature(of: digest) + [UInt8](repeating: 0, count: 1000)
        case .nothing: return []
        case .other:
            return try signature(of: UnsignedDigest(digest.bytes.reversed(), by: digest.hash, digest.scheme))
        }
    }

    private func signature(of digest: UnsignedDigest) throws -> [UInt8] {
        guard let context = EVP_PKEY_CTX_new(handle, nil) else { throw Failed() }
        defer { EVP_PKEY_CTX_free(context) }
        var isReady =
            EVP_PKEY_sign_init(context) == 1
            && EVP_PKEY_CTX_set_signature_md(context, EVP_get_digestbyname(digest.hash.rawValue)) == 1
        if case .pss(let saltBytes) = digest.scheme {
            isReady =
                isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(saltBytes)) == 1
        }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(handle)))
        var count = signature.count
        guard isReady, EVP_PKEY_sign(context, &signature, &count, digest.bytes, digest.bytes.count) == 1 else {
            throw Failed()
        }
        return Array(signature.prefix(count))
    }
}

extension PrivateKey {
    /// The same key, as if its bytes were elsewhere.
    package func elsewhere(_ fault: SoftwareKey.Fault? = nil) throws -> PrivateKey {
        try PrivateKey(foreign: SoftwareKey(self, fault: fault), publicKey: publicKey)
    }
}
