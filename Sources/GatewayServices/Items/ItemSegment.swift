/// Whose items are meant (MAG 11.1).
public enum ItemSegment: String, Sendable, CaseIterable {
    /// The application's, which is the board's.
    case application
    /// The logged-in user's, shared between the user's applications; at the gateway only.
    case user
    /// The logged-in user's in this application.
    case applicationUser = "application-user"

    var needsUser: Bool { self != .application }

    /// Below the base of the service.
    var path: String {
        switch self {
        case .application: "/Client/Data"
        case .user: "/User/Data"
        case .applicationUser: "/Client/User/Data"
        }
    }
}

/// An item that is stored under a key, here or at the gateway.
public struct StoredItem: Sendable, Equatable {
    public let key: String
    /// A media type, such as `text/plain`.
    public let type: String
    /// When it was saved, as the place where it is stored writes it.
    public let modified: String?
    public let value: [UInt8]

    /// The largest value, in bytes: 64 KiB.
    public static let valueLimit = 64 << 10
    /// The longest key, in bytes.
    static let keyLimit = 128

    /// - Throws: ``ItemError/keyMissing``, ``ItemError/keyInvalid(reason:)``
    static func check(key: String) throws(ItemError) {
        guard !key.isEmpty else { throw .keyMissing }
        guard key.utf8.count <= keyLimit, key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .keyInvalid(reason: "it is longer than \(keyLimit) bytes, or has control characters")
        }
    }

    /// - Throws: ``ItemError/typeInvalid``, ``ItemError/valueTooLarge(bytes:limit:)``
    static func check(type: String, value: [UInt8]) throws(ItemError) {
        guard isType(type) else { throw .typeInvalid }
        guard value.count <= valueLimit else { throw .valueTooLarge(bytes: value.count, limit: valueLimit) }
    }

    /// Visible ASCII and blanks, at most 127 bytes.
    static func isType(_ text: String) -> Bool {
        (1...127).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

/// An entry of a list of items, without its value.
public struct ItemEntry: Sendable, Equatable {
    public let key: String
    public let type: String
    public let modified: String?
    /// Whether it is encrypted: with a password here, or sealed by a board at the gateway.
    public let isEncrypted: Bool
}
