import Cryptography
import Groundwork
import Synchronization
import TestSupport

@testable import Vault

/// A keeper whose hardware is this process's memory.
final class MemoryKeeper: KeyKeeper {
    private let keys = Mutex<[SecretBytes: (signer: SoftwareKey, publicKey: PublicKey)]>([:])
    /// The public keys of those that were destroyed.
    let destroyed = AsyncStream<PublicKey>.makeStream()
    /// What happens while it makes a key.
    private let meanwhile: @Sendable () throws -> Void

    init(meanwhile: @escaping @Sendable () throws -> Void = {}) { self.meanwhile = meanwhile }

    var count: Int { keys.withLock { $0.count } }

    func make(
        _ algorithm: PrivateKey.Algorithm, name: String, of vaultID: [UInt8]
    ) throws(VaultError) -> KeptKey {
        try explained {
            try meanwhile()
            let key = try PrivateKey(generating: algorithm)
            let handle = try SecretBytes.random(16)
            let signer = try SoftwareKey(key)
            keys.withLock { $0[handle] = (signer, key.publicKey) }
            return KeptKey(publicKey: key.publicKey, handle: handle)
        }
    }

    func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey {
        guard let signer = keys.withLock({ $0[key.handle]?.signer }) else { throw .keeperMissing(.tpm) }
        return signer
    }

    func destroy(_ key: KeptKey, of vaultID: [UInt8]) throws(VaultError) {
        keys.withLock { $0[key.handle] = nil }
        destroyed.continuation.yield(key.publicKey)
    }

    func orphans(of vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey] {
        let known = Set(known.map(\.handle))
        return keys.withLock { keys in
            keys.filter { !known.contains($0.key) }.map { KeptKey(publicKey: $0.value.publicKey, handle: $0.key) }
        }
    }
}

extension SecretBytes: Hashable {
    public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}
