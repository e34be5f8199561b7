import Cryptography
import Groundwork

/// Generates keys on the storage thread: a large RSA key takes seconds on a small board, too long for the cooperative
/// pool.
actor KeyMaker {
    static let shared = KeyMaker()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    func key(_ algorithm: PrivateKey.Algorithm) throws(CryptographyError) -> PrivateKey {
        try PrivateKey(generating: algorithm)
    }
}
