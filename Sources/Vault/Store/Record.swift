import Cryptography

/// The scope and name that identify a record in the vault.
///
/// Both parts are printable ASCII (0x20 to 0x7E), so that two names are equal exactly when their bytes are.
public struct RecordName: Hashable, Sendable {
    /// Empty for the board itself, else the owner of the record: a gateway's `host:port/prefix`. At most 1024 bytes.
    public let scope: String
    /// 1 to 255 bytes.
    public let name: String

    public init(scope: String, name: String) {
        self.scope = scope
        self.name = name
    }

    var isAllowed: Bool {
        let printable: ClosedRange<UInt8> = 0x20...0x7e
        return (1...255).contains(name.utf8.count) && scope.utf8.count <= 1024
            && name.utf8.allSatisfy(printable.contains) && scope.utf8.allSatisfy(printable.contains)
    }
}

extension RecordName: CustomStringConvertible {
    public var description: String { scope.isEmpty ? name : "\(name) of \(scope)" }
}

extension RecordName: Comparable {
    public static func < (left: RecordName, right: RecordName) -> Bool {
        (left.scope, left.name) < (right.scope, right.name)
    }
}

/// The kind of a record's content. An open set: modules may add their own, 1 to 64 bytes of printable ASCII.
public struct RecordKind: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A private key, which only a ``KeyStore`` may read.
    public static let privateKey = RecordKind(rawValue: "private-key")
    public static let certificateChain = RecordKind(rawValue: "certificate-chain")
    public static let token = RecordKind(rawValue: "token")
    public static let clientCredentials = RecordKind(rawValue: "client-credentials")
    public static let configuration = RecordKind(rawValue: "configuration")
    public static let state = RecordKind(rawValue: "state")
    /// The state of the passcode, which only ``Compartment`` writes.
    static let passcode = RecordKind(rawValue: "passcode")
    /// A value in pieces; its own kind is in the content.
    static let pieces = RecordKind(rawValue: "pieces")

    var isAllowed: Bool {
        (1...64).contains(rawValue.utf8.count) && rawValue.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Whether only this module writes such records.
    var isReserved: Bool { self == .passcode || self == .pieces }
}

/// A record after reading and unsealing.
public struct Record: Sendable, Equatable {
    public let name: RecordName
    public let kind: RecordKind
    /// The vault's generation when the record was written, from 1. It increases with every write of the record and is
    /// never reused, even after the record was removed and written again.
    public let version: Int64
    public let content: SecretBytes
}

/// One step of a commit.
public enum Change: Sendable {
    /// Writes a record, or replaces the one of that name, which may have another level.
    case put(RecordName, RecordKind, SecretBytes, level: ProtectionLevel = .always)
    /// Writes a record as ``put(_:_:_:level:)`` does, of a person: of level ``ProtectionLevel/unlocked``, or always
    /// while the vault has no such levels.
    case putPersonal(RecordName, RecordKind, SecretBytes)
    /// Removes a record; a missing one is not an error.
    case remove(RecordName)

    /// The maximum size of a record's content, in bytes: 1 MiB.
    public static let contentLimit = 1 << 20

    func check() throws(VaultError) {
        switch self {
        case .put(let name, let kind, let content, _), .putPersonal(let name, let kind, let content):
            guard name.isAllowed, kind.isAllowed, !kind.isReserved, name != Compartment.record else {
                throw VaultError.nameNotAllowed(name: name, kind: kind)
            }
            guard KeyReference(name.name) == nil else { throw VaultError.recordIsKey(name: name) }
            guard content.count <= Self.contentLimit else {
                throw VaultError.contentTooLong(name: name, bytes: content.count, limit: Self.contentLimit)
            }
        case .remove(let name):
            guard name.isAllowed, name != Compartment.record else {
                throw VaultError.nameNotAllowed(name: name, kind: nil)
            }
        }
    }
}
