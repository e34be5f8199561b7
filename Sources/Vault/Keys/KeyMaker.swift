@_spi(KeyBytes) import Cryptography
import Groundwork

/// Generates keys, and has them made in hardware, on ``NamedThread/keys``: a large RSA key takes seconds on a small
/// board, and a minute in a chip, too long for the cooperative pool, and for messages that wait to be stored.
actor KeyMaker {
    static let shared = KeyMaker()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.keys.asUnownedSerialExecutor() }

    /// Asks a chip for something.
    func run<Result: Sendable>(
        _ body: @Sendable () throws(VaultError) -> Result
    ) throws(VaultError) -> Result { try body() }

    func key(_ algorithm: PrivateKey.Algorithm) throws(CryptographyError) -> PrivateKey {
        #if DEBUG
        if algorithm == .rsa(bits: 2048), let key = GivenKey.taken() { return key }
        #endif
        return try PrivateKey(generating: algorithm)
    }

    func key(pkcs12 file: SecretBytes, password: SecretBytes) throws(CryptographyError) -> PrivateKey {
        try PrivateKey(pkcs12: file, password: password)
    }

    func identities(
        in file: SecretBytes, password: SecretBytes
    ) throws(CryptographyError) -> [IdentityFile.Found] {
        try IdentityFile.identities(in: file, password: password)
    }

    func request(_ subject: DistinguishedName, key: PrivateKey) throws(CryptographyError) -> CertificateRequest {
        try CertificateRequest(subject: subject, key: key)
    }

    func key(
        _ algorithm: PrivateKey.Algorithm, by keeper: any KeyKeeper, name: String, of vaultID: [UInt8]
    ) throws(VaultError) -> KeptKey {
        try keeper.make(algorithm, name: name, of: vaultID)
    }

    func orphans(of keeper: any KeyKeeper, _ vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey] {
        try keeper.orphans(of: vaultID, known: known)
    }

    /// What cannot be destroyed now, such as on a token that is not there, is swept at a later start.
    func destroy(_ key: KeptKey, by keeper: any KeyKeeper, of vaultID: [UInt8]) {
        do throws(VaultError) {
            try keeper.destroy(key, of: vaultID)
        } catch {}
    }
}
