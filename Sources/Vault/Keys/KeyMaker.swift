@_spi(KeyBytes) import Cryptography
import Groundwork

/// Generates keys on the storage thread: a large RSA key takes seconds on a small board, too long for the cooperative
/// pool.
actor KeyMaker {
    static let shared = KeyMaker()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    func key(_ algorithm: PrivateKey.Algorithm) throws(CryptographyError) -> PrivateKey {
        #if DEBUG
        if algorithm == .rsa(bits: 2048), let key = GivenKey.taken() { return key }
        #endif
        return try PrivateKey(generating: algorithm)
    }

    func key(pkcs12 file: SecretBytes, password: SecretBytes) throws(CryptographyError) -> PrivateKey {
        try PrivateKey(pkcs12: file, password: password)
    }
}
