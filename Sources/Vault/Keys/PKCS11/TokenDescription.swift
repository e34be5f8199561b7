import CPKCS11
import Groundwork

/// A token that a module has found, and what it says about itself.
public struct TokenDescription: Sendable, Equatable {
    public let label: String
    public let manufacturer: String
    public let model: String
    public let serial: String
    /// The module's number of the slot that the token is in. It may differ at the next start.
    public let slot: UInt
    /// Whether a wrong PIN was entered since the last right one.
    public let hasFailedTries: Bool
    /// Whether the next wrong PIN locks the token.
    public let isFinalTry: Bool
    public let isLocked: Bool
    public let mustChangePIN: Bool
    /// Whether private keys need a PIN at all.
    let needsLogin: Bool
    /// Whether the PIN is entered at the token itself.
    let hasPINPad: Bool
    let isInitialized: Bool

    init(_ info: CK_TOKEN_INFO, slot: UInt) {
        label = Self.text(info.label)
        manufacturer = Self.text(info.manufacturerID)
        model = Self.text(info.model)
        serial = Self.text(info.serialNumber)
        self.slot = slot
        hasFailedTries = info.flags & CKF_USER_PIN_COUNT_LOW != 0
        isFinalTry = info.flags & CKF_USER_PIN_FINAL_TRY != 0
        isLocked = info.flags & CKF_USER_PIN_LOCKED != 0
        mustChangePIN = info.flags & CKF_USER_PIN_TO_BE_CHANGED != 0
        needsLogin = info.flags & CKF_LOGIN_REQUIRED != 0
        hasPINPad = info.flags & CKF_PROTECTED_AUTHENTICATION_PATH != 0
        isInitialized = info.flags & CKF_TOKEN_INITIALIZED != 0
    }

    /// How errors call it.
    var name: String { label.isEmpty ? "with serial number \(serial)" : label }

    /// A field of fixed size, filled up with spaces (PKCS#11 2.40 section 3.2). Some modules end it with a zero.
    static func text<Field>(_ field: Field) -> String {
        withUnsafeBytes(of: field) { bytes in
            let used = bytes.prefix { $0 != 0 }
            return String(
                decoding: used[..<(used.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0)], as: UTF8.self)
        }
    }
}

/// What a module says about itself.
struct LibraryDescription {
    let manufacturer: String
    let description: String
    let version: TokenURI.LibraryVersion

    init(_ info: CK_INFO) {
        manufacturer = TokenDescription.text(info.manufacturerID)
        description = TokenDescription.text(info.libraryDescription)
        version = TokenURI.LibraryVersion(major: info.libraryVersion.major, minor: info.libraryVersion.minor)
    }
}
