import Cryptography

@testable import Vault

/// What the vault keeps of keys in hardware, and what names them.
extension FuzzTarget {
    static let vaultHardware = [
        FuzzTarget(name: "kept-key") { bytes throws(Violation) in
            guard let key = KeptKey(decoding: SecretBytes(bytes)) else { return .refused }
            try require(key.encoded().exposed() == bytes, "a key has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "tpm-slot") { bytes throws(Violation) in
            guard let parameters = TPMSlot.Parameters(decoding: bytes) else { return .refused }
            try require(parameters.encoded() == bytes, "parameters have one way to be written")
            return .accepted
        },
        FuzzTarget(name: "tpm-key") { bytes throws(Violation) in
            guard let handle = TPMKeyHandle(decoding: SecretBytes(bytes)) else { return .refused }
            try require(handle.encoded().exposed() == bytes, "a handle has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "token-slot") { bytes throws(Violation) in
            guard let parameters = TokenSlot.Parameters(decoding: bytes) else { return .refused }
            try require(parameters.encoded == bytes, "parameters have one way to be written")
            return .accepted
        },
        FuzzTarget(name: "token-key") { bytes throws(Violation) in
            guard let handle = try? TokenKeyHandle(SecretBytes(bytes)) else { return .refused }
            try require(handle.encoded.exposed() == bytes, "a handle has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "token-uri") { bytes throws(Violation) in
            guard let text = String(validating: bytes, as: UTF8.self), let uri = try? TokenURI(text) else {
                return .refused
            }
            try require(uri.description.utf8.count <= 4 * TokenURI.limit, "a URI is bounded")
            try require((try? TokenURI(uri.description)) == uri, "a URI is read as it is written")
            return .accepted
        },
    ]
}
