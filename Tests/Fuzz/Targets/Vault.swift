import Cryptography

@testable import Vault

extension FuzzTarget {
    static let vault = [
        FuzzTarget(name: "vault-manifest") { bytes throws(Violation) in
            guard let manifest = Manifest(decoding: bytes) else { return .refused }
            try require(manifest.entries.count <= ManifestRoot.recordLimit, "a list of records is bounded")
            try require(
                manifest.entries.values.allSatisfy { (1...max(1, manifest.generation)).contains($0.version) },
                "no record is newer than the list")
            return .accepted
        },
        FuzzTarget(name: "vault-page") { bytes throws(Violation) in
            guard let page = ManifestPage(decoding: bytes) else { return .refused }
            try require((1...ManifestPage.limit).contains(page.entries.count), "a page has some records, and not many")
            try require(page.encoded() == bytes, "a page has one way to be written")
            return .accepted
        },
        FuzzTarget(name: "vault-root") { bytes throws(Violation) in
            guard let root = ManifestRoot(decoding: bytes) else { return .refused }
            try require(root.count <= ManifestRoot.recordLimit, "a vault has a bounded number of records")
            try require(root.encoded() == bytes, "a root has one way to be written")
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
