import Cryptography
import Groundwork

/// What a program has stored under a key of its choice: a user with a password or another secret, a tenant, and
/// properties.
public struct Credential: Sendable, Equatable {
    public enum Value: Sendable, Equatable {
        case text(SecretBytes)
        case bytes(SecretBytes)

        public var content: SecretBytes {
            switch self {
            case .text(let content), .bytes(let content): content
            }
        }
        public var isText: Bool { if case .text = self { true } else { false } }
    }

    public struct Property: Sendable, Equatable {
        public var value: String
        /// For people.
        public var label: String?
        public var description: String?

        public init(value: String, label: String? = nil, description: String? = nil) {
            (self.value, self.label, self.description) = (value, label, description)
        }
    }

    /// The maximum size of a value, in bytes: 64 KiB.
    public static let valueLimit = 64 << 10
    /// The maximum size of another text, in bytes.
    public static let textLimit = 1024
    /// The most properties.
    public static let propertyLimit = 32

    public var user: String?
    public var value: Value?
    public var tenant: String?
    public var properties: [String: Property] = [:]
    public var level: LevelName

    public init(user: String? = nil, value: Value? = nil, tenant: String? = nil, level: LevelName) {
        (self.user, self.value, self.tenant, self.level) = (user, value, tenant, level)
    }

    /// Whether it was deleted, or never had anything.
    public var isEmpty: Bool { user == nil && value == nil && tenant == nil && properties.isEmpty }

    /// - Throws: `FormatError.tooLong`, ``ObjectError/nameNotAllowed``, ``ObjectError/full(limit:)``
    func check() throws {
        guard properties.count <= Self.propertyLimit else { throw ObjectError.full(limit: Self.propertyLimit) }
        for name in properties.keys { try CredentialStore.check(name) }
        let texts = [user, tenant] + properties.values.flatMap { [$0.value, $0.label, $0.description] }
        guard texts.allSatisfy({ ($0?.utf8.count ?? 0) <= Self.textLimit }),
            (value?.content.count ?? 0) <= Self.valueLimit
        else { throw FormatError.tooLong }
    }

    // MARK: As a record

    func encoded(name: String) -> SecretBytes {
        var members: [String: JSON] = ["name": .string(name), "level": .string(level.rawValue)]
        members["user"] = user.map(JSON.string)
        members["tenant"] = tenant.map(JSON.string)
        switch value {
        case .text(let text): members["text"] = .string(text.exposedText())
        case .bytes(let bytes): members["bytes"] = .string(bytes.withUnsafeBytes { Base64.encode($0) })
        case nil: break
        }
        members["properties"] = .object(
            properties.mapValues { property in
                var members: [String: JSON] = ["value": .string(property.value)]
                members["label"] = property.label.map(JSON.string)
                members["description"] = property.description.map(JSON.string)
                return .object(members)
            })
        return SecretBytes(JSON.object(members).bytes)
    }

    /// `nil` for anything but ``encoded(name:)``.
    static func decode(_ content: SecretBytes) -> (name: String, credential: Credential)? {
        guard let json = try? content.withUnsafeBytes({ try JSON(parsing: Array($0)) }),
            let name = json["name"]?.string, let level = json["level"]?.string.flatMap(LevelName.init(rawValue:)),
            let properties = json["properties"]?.object
        else { return nil }
        var credential = Credential(user: json["user"]?.string, tenant: json["tenant"]?.string, level: level)
        if let text = json["text"]?.string { credential.value = .text(SecretBytes(utf8: text)) }
        if let bytes = json["bytes"]?.string {
            guard let bytes = Base64.decode(bytes), credential.value == nil else { return nil }
            credential.value = .bytes(SecretBytes(bytes))
        }
        for (name, property) in properties {
            guard let value = property["value"]?.string else { return nil }
            credential.properties[name] = Property(
                value: value, label: property["label"]?.string, description: property["description"]?.string)
        }
        return (name, credential)
    }
}
