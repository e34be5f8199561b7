public import Cryptography
import Groundwork

/// A key with its certificate that this board shows to some servers, beside the identity that a gateway gave it.
public struct ClientIdentity: Sendable, Equatable {
    /// The maximum length of a name, in bytes: a key's reference has the name and a number of its own.
    public static let nameLimit = 47
    /// The maximum number of hosts that one identity is for.
    public static let hostLimit = 32

    /// 1 to ``nameLimit`` lower-case letters, digits and hyphens.
    public let name: String
    public let key: KeyReference
    /// When it can be used.
    public let level: ProtectionLevel
    /// The key's own certificate first, each followed by its issuer's. Empty until the certificate of a requested
    /// identity is installed.
    public internal(set) var chain: [Certificate]
    /// The servers that it is shown to, as `host:port`, sorted. Each is one identity's at most.
    public internal(set) var hosts: [String]

    public var certificate: Certificate? { chain.first }

    static func isName(_ text: String) -> Bool {
        text.utf8.count <= nameLimit && KeyReference(.software, name: text) != nil
    }

    /// A name from what a file or a certificate calls an identity; `nil` if nothing of it is left.
    static func name(from text: String) -> String? {
        var name = ""
        for scalar in text.lowercased().unicodeScalars {
            if ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) {
                name.unicodeScalars.append(scalar)
            } else if !name.isEmpty, !name.hasSuffix("-") {
                name += "-"
            }
            // Room for a number after it.
            if name.utf8.count == nameLimit - 3 { break }
        }
        while name.hasSuffix("-") { name.removeLast() }
        return name.isEmpty ? nil : name
    }
}

/// How identities are stored: each in a scope of its own, with its key, so that the key of one in hardware keeps no other
/// out of an export.
extension ClientIdentity {
    // No gateway's scope begins like this: there is a port before its slash.
    private static let scopePrefix = "client-identities/"
    private static let recordName = "identity"
    static let kind = RecordKind(rawValue: "client-identity")

    static func scope(of name: String) -> String { scopePrefix + name }

    static func record(of name: String) -> RecordName { RecordName(scope: scope(of: name), name: recordName) }

    /// The name of the identity whose scope it is.
    static func name(ofScope scope: String) -> String? {
        scope.hasPrefix(scopePrefix) ? String(scope.dropFirst(scopePrefix.count)) : nil
    }

    /// Whether a record makes an identity of this kind, beside its private key.
    public static func isRecord(_ name: RecordName) -> Bool { name.scope.hasPrefix(scopePrefix) }

    var change: Change {
        let document: JSON = [
            "key": .string(key.description), "level": .string(level.rawValue),
            "chain": .array(chain.map { .string(Base64.encode($0.der)) }), "hosts": .array(hosts.map(JSON.string)),
        ]
        return .put(Self.record(of: name), Self.kind, SecretBytes(document.bytes), level: level)
    }

    /// `nil` for anything but what ``change`` writes.
    init?(named name: String, decoding content: SecretBytes) {
        guard let document = try? JSON(parsing: content.exposed()),
            let key = document["key"]?.string.flatMap(KeyReference.init),
            let level = document["level"]?.string.flatMap(ProtectionLevel.init),
            let chain = document["chain"]?.array, let hosts = document["hosts"]?.array
        else { return nil }
        (self.name, self.key, self.level) = (name, key, level)
        self.chain = chain.compactMap { $0.string.flatMap { Base64.decode($0) }.flatMap { try? Certificate(der: $0) } }
        self.hosts = hosts.compactMap(\.string)
        guard self.chain.count == chain.count, self.hosts.count == hosts.count else { return nil }
    }
}
