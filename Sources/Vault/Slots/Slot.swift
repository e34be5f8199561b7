import Cryptography
import FoundationEssentials

/// One way to open the vault: its root key, wrapped with this slot's key.
public struct Slot: Sendable, Equatable {
    /// The kind of a slot. An open set; each ``SlotKey`` defines its own.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let systemdCredential = Kind(rawValue: "systemd-credential")
        public static let passphrase = Kind(rawValue: "passphrase")
        public static let developmentFile = Kind(rawValue: "development-file")
        public static let tpm = Kind(rawValue: "tpm")
        public static let pkcs11 = Kind(rawValue: "pkcs11")

        public var description: String { rawValue }
        /// Whether its key is stored unencrypted beside the vault: for development, never for a board in the field.
        public var isDevelopment: Bool { self == .developmentFile }
        /// Whether a slot of this kind protects nothing beyond its vault, so that a damaged one can be replaced. A kind
        /// that this program does not know may be a key in hardware, or one that counts tries.
        public var isReplaceable: Bool { [.systemdCredential, .passphrase, .developmentFile].contains(self) }
    }

    public let id: Int64
    public let kind: Kind
    public let created: Date
    /// Whether bytes of the slot have changed since it was written, so that it can no longer open the vault.
    public let isDamaged: Bool
}

/// A key that opens slots of one kind.
///
/// A passphrase or a TPM 2.0 can conform: `parameters` contain what the kind needs to get its key again (a salt and a
/// cost, or an object sealed by the TPM). They are not secret, are at most 4096 bytes, and come from a file that may be
/// hostile, so ``wrappingKey(from:)`` limits the work that it does for them. The vault has both functions run on
/// ``NamedThread/keys``, outside of any transaction: they may block.
public protocol SlotKey: Sendable {
    var kind: Slot.Kind { get }

    /// Makes a 32-byte key for a new slot, and the parameters from which ``wrappingKey(from:)`` gets it again.
    func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8])

    /// - Throws: ``VaultError``; ``VaultError/slotParametersRefused(kind:)`` for parameters outside the bounds.
    func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes
}

/// A slot as stored in the file.
struct StoredSlot: Equatable {
    static let limit = 16
    static let parametersLimit = 4096

    let id: Int64
    let kind: Slot.Kind
    let created: Date
    let parameters: [UInt8]
    /// The root key, encrypted with the slot's key (AES-256-GCM).
    let wrapped: [UInt8]
    /// Distinguishes a changed byte from a wrong key, which AES-GCM cannot. It is not protection against forgery and
    /// need not be: a forged slot does not open.
    let digest: [UInt8]

    var isDamaged: Bool {
        digest != Self.digest(kind: kind, parameters: parameters, wrapped: wrapped)
            || parameters.count > Self.parametersLimit
    }

    var slot: Slot { Slot(id: id, kind: kind, created: created, isDamaged: isDamaged) }

    static func digest(kind: Slot.Kind, parameters: [UInt8], wrapped: [UInt8]) -> [UInt8] {
        var writer = FieldWriter(purpose: "latchkey slot digest 1")
        writer.append(kind.rawValue)
        writer.append(parameters)
        writer.append(wrapped)
        return SHA256.hash(writer.bytes)
    }

    /// The additional data that is authenticated with the wrapped root key.
    static func label(vaultID: [UInt8], kind: Slot.Kind, parameters: [UInt8]) -> [UInt8] {
        var writer = FieldWriter(purpose: "latchkey slot 1")
        writer.append(vaultID)
        writer.append(kind.rawValue)
        writer.append(parameters)
        return writer.bytes
    }

    /// The root key; `nil` if `key` is not the slot's.
    func unwrap(vaultID: [UInt8], key: SecretBytes) throws -> SecretBytes? {
        let label = Self.label(vaultID: vaultID, kind: kind, parameters: parameters)
        let rootKey = try AESGCM.openGenuine(wrapped, key: key, authenticating: label)
        return rootKey.flatMap { $0.count == Seal.keyBytes ? $0 : nil }
    }
}
