@_spi(KeyBytes) import Cryptography
import Groundwork

/// Generates keys on ``NamedThread/keys``: a large RSA key takes seconds on a small board, too long for the cooperative
/// pool, and for messages that wait to be stored.
actor KeyMaker {
    static let shared = KeyMaker()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.keys.asUnownedSerialExecutor() }

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
