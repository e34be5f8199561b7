import Cryptography

@testable import Vault

/// What programs give back to the vault, and what the vault keeps for them.
extension FuzzTarget {
    static let vaultObjects = [
        FuzzTarget(name: "crypto-envelope") { bytes throws(Violation) in
            guard let envelope = Envelope(parsing: bytes) else { return .refused }
            try require(envelope.bytes == bytes, "an envelope has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "symmetric-key") { bytes throws(Violation) in
            guard let key = SymmetricKey(decoding: SecretBytes(bytes)) else { return .refused }
            try require(key.encoded().exposed() == bytes, "a key has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "credential") { bytes throws(Violation) in
            guard let (name, credential) = Credential.decode(SecretBytes(bytes)) else { return .refused }
            let again = Credential.decode(credential.encoded(name: name))
            try require(again?.name == name && again?.credential == credential, "a credential reads as it is written")
            return .accepted
        },
    ]
}
