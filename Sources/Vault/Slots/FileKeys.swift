import Cryptography
import Glibc

/// A credential that systemd gives the service (`LoadCredentialEncrypted=`), sealed on disk by the TPM or the host key.
public struct SystemdCredential: SlotKey {
    public let kind = Slot.Kind.systemdCredential
    /// Its name in the unit file.
    public let name: String
    public let directory: String?

    /// - Parameter directory: the directory of the credentials; by default the value of `CREDENTIALS_DIRECTORY`, which
    ///   systemd sets.
    public init(name: String, directory: String? = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }) {
        self.name = name
        self.directory = directory
    }

    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        try SaltedKey.make(kind, from: secret())
    }

    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        try SaltedKey.derive(kind, from: secret(), parameters: parameters)
    }

    private func secret() throws(VaultError) -> SecretBytes {
        guard let directory, !name.isEmpty, !name.contains("/"),
            let secret = try KeyFile.read("\(directory)/\(name)", .systemd)
        else { throw VaultError.credentialMissing(name: name, directory: directory) }
        return secret
    }
}

/// The content of a new credential, given by its creator: for a slot that systemd's credential can open from the next
/// start on.
public struct GivenCredential: SlotKey {
    public let kind = Slot.Kind.systemdCredential
    private let secret: SecretBytes

    public init(_ secret: SecretBytes) { self.secret = secret }

    /// - Throws: ``VaultError/credentialLength(bytes:least:most:)``
    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        let length = KeyFile.length
        guard length.contains(secret.count) else {
            throw VaultError.credentialLength(bytes: secret.count, least: length.lowerBound, most: length.upperBound)
        }
        return try SaltedKey.make(kind, from: secret)
    }

    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        try SaltedKey.derive(kind, from: secret, parameters: parameters)
    }
}

/// An unencrypted key file, for development only: anyone with the disk can open the vault.
///
/// Created with mode 0600 together with a vault or slot if the file does not exist yet.
public struct DevelopmentKeyFile: SlotKey {
    public let kind = Slot.Kind.developmentFile
    public let path: String

    public init(_ path: String) { self.path = path }

    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        if let secret = try KeyFile.read(path, .strict) { return try SaltedKey.make(kind, from: secret) }
        let secret = try explained { try SecretBytes.random(Seal.keyBytes) }
        try KeyFile.create(path, secret)
        return try SaltedKey.make(kind, from: secret)
    }

    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        guard let secret = try KeyFile.read(path, .strict) else { throw VaultError.keyFileMissing(path: path) }
        return try SaltedKey.derive(kind, from: secret, parameters: parameters)
    }
}

/// Derives a key from random or equally unpredictable bytes: HKDF-SHA256 (RFC 5869). The slot's parameters are the
/// salt.
private enum SaltedKey {
    static let saltBytes = 16

    static func make(_ kind: Slot.Kind, from secret: SecretBytes) throws(VaultError)
        -> (key: SecretBytes, parameters: [UInt8])
    {
        let salt = try explained { try Random.bytes(saltBytes) }
        return (try derive(kind, from: secret, parameters: salt), salt)
    }

    static func derive(_ kind: Slot.Kind, from secret: SecretBytes, parameters: [UInt8]) throws(VaultError)
        -> SecretBytes
    {
        guard parameters.count == saltBytes else { throw VaultError.slotParametersRefused(kind: kind) }
        let info = Array("latchkey slot \(kind)".utf8)
        return try explained {
            try KeyDerivation.hkdf(secret: secret, salt: parameters, info: info, count: Seal.keyBytes)
        }
    }
}
