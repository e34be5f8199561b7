import Cryptography
import Groundwork

/// Makes keys on the storage thread: a large RSA key takes seconds on a small board, too long for the cooperative pool.
public actor KeyMaker {
    public static let shared = KeyMaker()
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    /// - Throws: `CryptographyError`
    public func key(_ algorithm: PrivateKey.Algorithm) throws -> PrivateKey { try PrivateKey(generating: algorithm) }
}
