import CKeyProvider
import COpenSSL
import Groundwork
import Synchronization

/// Carries what OpenSSL wants signed to a ``ForeignKey``, verifies the signature, and keeps why the newest one failed.
final class ForeignSigner: Sendable {
    let key: any ForeignKey
    private let publicKey: PublicKey
    private let newest = Mutex<CryptographyError?>(nil)

    init(_ key: any ForeignKey, publicKey: PublicKey) {
        self.key = key
        self.publicKey = publicKey
    }

    /// Why the newest signature failed: `nil` if it was made, and before the first. Of several threads, it is that of the
    /// last one to end.
    var failure: CryptographyError? { newest.withLock { $0 } }

    /// An `EVP_PKEY` that signs by this, and keeps it alive.
    func makeHandle() throws(CryptographyError) -> OpaquePointer {
        try check(
            "use a key that is elsewhere",
            latchkey_foreign_key(
                publicKey.handle,
                { reference, signing, output, capacity in
                    guard let reference, let signing, let output,
                        let digest = UnsignedDigest(signing.pointee),
                        let signature = ForeignSigner.from(reference).signature(of: digest), signature.count <= capacity
                    else { return 0 }
                    output.update(from: signature, count: signature.count)
                    return signature.count
                }, Unmanaged.passRetained(self).toOpaque(),
                { reference in
                    if let reference { Unmanaged<ForeignSigner>.fromOpaque(reference).release() }
                }))
    }

    private static func from(_ reference: UnsafeMutableRawPointer) -> ForeignSigner {
        Unmanaged<ForeignSigner>.fromOpaque(reference).takeUnretainedValue()
    }

    /// - Returns: `nil` for a failure, which ``failure`` then has.
    private func signature(of digest: UnsignedDigest) -> [UInt8]? {
        do {
            let signature = try key.sign(digest)
            // A chip may be broken, and a token may have another key by now.
            guard publicKey.verifies(signature, of: digest) else {
                throw CryptographyError.signatureInvalid(.privateKey)
            }
            newest.withLock { $0 = nil }
            return signature
        } catch {
            newest.withLock { $0 = .foreignKey(Explanation(of: error)) }
            return nil
        }
    }
}

extension UnsignedDigest {
    /// `nil` for a hash that is not one of ``Digest``.
    fileprivate init?(_ signing: latchkey_signing) {
        switch signing.hash {
        case NID_sha256: hash = .sha256
        case NID_sha384: hash = .sha384
        case NID_sha512: hash = .sha512
        default: return nil
        }
        switch signing.scheme {
        case LATCHKEY_RSA_PKCS1: scheme = .pkcs1
        case LATCHKEY_RSA_PSS: scheme = .pss(saltBytes: signing.salt)
        case LATCHKEY_ECDSA: scheme = .ecdsa
        default: return nil
        }
        bytes = Array(UnsafeBufferPointer(start: signing.digest, count: signing.digest_count))
    }
}
