import Cryptography
import Groundwork

/// A reference to a private key: where it is stored and under which name, such as `software:device-3f2a9c01d4e7b65a`.
///
/// It is not secret; modules store it instead of the key. It is valid only in the ``KeyStore`` of the scope in which
/// the key was created.
public struct KeyReference: Hashable, Sendable {
    /// Where a key is stored.
    public enum Keeper: String, Sendable, CaseIterable {
        /// In the vault itself, sealed.
        case software
        /// In this board's TPM 2.0.
        case tpm
        /// On a PKCS#11 token.
        case pkcs11

        /// For people: `in the TPM`.
        public var place: String {
            switch self {
            case .software: "in the sealed store"
            case .tpm: "in the TPM"
            case .pkcs11: "on a PKCS#11 token"
            }
        }
    }

    /// The maximum length of a name, in bytes.
    public static let nameLimit = 64

    public let keeper: Keeper
    /// 1 to ``nameLimit`` of a to z, 0 to 9 and `-`.
    public let name: String

    /// `nil` if the name is not allowed.
    public init?(_ keeper: Keeper, name: String) {
        guard (1...Self.nameLimit).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.keeper = keeper
        self.name = name
    }

    /// A reference with a unique name: the label, and 64 random bits.
    ///
    /// - Parameter label: what the key is for, at most 47 characters that are allowed in a name.
    /// - Returns: `nil` for an invalid label.
    /// - Throws: `CryptographyError` when the system has no random bytes.
    public static func fresh(_ keeper: Keeper, label: String) throws(CryptographyError) -> KeyReference? {
        guard !label.isEmpty else { return nil }
        return KeyReference(keeper, name: "\(label)-\(Hex.encode(try Random.bytes(8)))")
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// The record of a key. No other record may have such a name.
    func record(in scope: String) -> RecordName { RecordName(scope: scope, name: description) }
}

extension KeyReference: LosslessStringConvertible {
    /// Parses ``description``. `nil` for an unknown keeper, and for a name that is too long or has other characters.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let keeper = Keeper(rawValue: String(parts[0])) else { return nil }
        self.init(keeper, name: String(parts[1]))
    }

    public var description: String { "\(keeper.rawValue):\(name)" }
}
