import Cryptography

@testable import Vault

extension FuzzTarget {
    static let vault = [
        FuzzTarget(name: "vault-manifest") { bytes throws(Violation) in
            guard let manifest = Manifest(decoding: bytes) else { return .refused }
            try require(manifest.entries.count <= Manifest.limit, "a manifest has at most \(Manifest.limit) entries")
            try require(
                Manifest(decoding: manifest.encoded()) == manifest, "a manifest that was written reads as the same")
            return .accepted
        },
        FuzzTarget(name: "passphrase-parameters") { bytes throws(Violation) in
            guard let parameters = Passphrase.Parameters(decoding: bytes) else { return .refused }
            try require(parameters.encoded() == bytes, "parameters have one way to be written")
            guard parameters.isBounded else { return .refused }
            try require(128 * parameters.cost.n * parameters.cost.r <= Passphrase.memoryLimit, "memory is bounded")
            return .accepted
        },
    ]
}
