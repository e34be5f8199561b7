import Groundwork

extension TokenURI {
    static let scheme = "pkcs11:"

    /// The attributes that are understood (RFC 7512 section 2.3).
    enum Attribute: String {
        case token, manufacturer, serial, model
        case libraryManufacturer = "library-manufacturer"
        case libraryDescription = "library-description"
        case libraryVersion = "library-version"
        case slotID = "slot-id"
        case object, id, type
    }

    /// Reads a URI of at most ``limit`` bytes. What is not understood is refused, as are attributes that are empty or
    /// there twice.
    ///
    /// - Throws: ``TokenError/uriInvalid(reason:)``, ``TokenError/pinInURI``
    public init(_ text: String) throws(VaultError) {
        guard text.utf8.count <= Self.limit else { throw Self.invalid("it has more than \(Self.limit) bytes") }
        // A scheme is read in either case (RFC 3986 section 3.1).
        guard text.prefix(Self.scheme.count).lowercased() == Self.scheme else {
            throw Self.invalid("it does not begin with \(Self.scheme)")
        }
        let parts = text.dropFirst(Self.scheme.count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { try Self.refuseQuery(parts[1]) }
        self.init()
        var seen: Set<Attribute> = []
        for part in parts[0].isEmpty ? [] : parts[0].split(separator: ";", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw Self.invalid("an attribute has no value") }
            guard let attribute = try Self.attribute(pair[0]) else { throw Self.invalid("it has an unknown attribute") }
            guard seen.insert(attribute).inserted else { throw Self.invalid("\(attribute.rawValue) is used twice") }
            try set(attribute, pair[1])
        }
    }

    private static func invalid(_ reason: String) -> VaultError { .token(.uriInvalid(reason: reason)) }

    /// The attributes after `?` say where the PIN and the module are (RFC 7512 section 2.4).
    private static func refuseQuery(_ query: Substring) throws(VaultError) {
        for part in query.split(separator: "&", omittingEmptySubsequences: false) {
            _ = try attribute(part.prefix { $0 != "=" })
        }
        throw invalid("it has a part after ?")
    }

    private static func attribute(_ name: Substring) throws(VaultError) -> Attribute? {
        switch name {
        case "pin-value", "pin-source": throw .token(.pinInURI)
        case "module-path", "module-name": throw invalid("the module is a setting of its own, not a part of it")
        default: return Attribute(rawValue: String(name))
        }
    }

    private mutating func set(_ attribute: Attribute, _ encoded: Substring) throws(VaultError) {
        let value = try Self.decoded(encoded, of: attribute)
        switch attribute {
        case .token: token = try Self.text(value, attribute, limit: 32)
        case .manufacturer: manufacturer = try Self.text(value, attribute, limit: 32)
        case .serial: serial = try Self.text(value, attribute, limit: 16)
        case .model: model = try Self.text(value, attribute, limit: 16)
        case .libraryManufacturer: libraryManufacturer = try Self.text(value, attribute, limit: 32)
        case .libraryDescription: libraryDescription = try Self.text(value, attribute, limit: 32)
        case .libraryVersion:
            guard let version = LibraryVersion(String(decoding: value, as: UTF8.self)) else {
                throw Self.invalid("\(attribute.rawValue) is not a version")
            }
            libraryVersion = version
        case .slotID:
            let text = String(decoding: value, as: UTF8.self)
            guard Self.isDigits(text[...]), let number = UInt(text) else {
                throw Self.invalid("\(attribute.rawValue) is not a number")
            }
            slotID = number
        case .object: object = try Self.text(value, attribute, limit: Self.nameLimit)
        case .id:
            guard value.count <= Self.nameLimit else {
                throw Self.invalid("\(attribute.rawValue) has more than \(Self.nameLimit) bytes")
            }
            id = value
        case .type:
            guard let type = ObjectType(rawValue: String(decoding: value, as: UTF8.self)) else {
                throw Self.invalid("\(attribute.rawValue) is not public or private")
            }
            self.type = type
        }
    }

    private static func decoded(_ encoded: Substring, of attribute: Attribute) throws(VaultError) -> [UInt8] {
        guard encoded.utf8.allSatisfy(isAllowed) else {
            throw invalid("\(attribute.rawValue) has a character that needs percent-encoding")
        }
        guard let value = PercentEncoding.decode(encoded.utf8) else {
            throw invalid("\(attribute.rawValue) has a % without two hexadecimal digits")
        }
        guard !value.isEmpty else { throw invalid("\(attribute.rawValue) is empty") }
        return value
    }

    /// What stands for itself in a value, and `%` (RFC 7512 section 2.3, `pk11-pchar`).
    private static func isAllowed(_ byte: UInt8) -> Bool {
        PercentEncoding.isUnreserved(byte) || ":[]@!$'()*+,=&%".utf8.contains(byte)
    }

    private static func text(
        _ bytes: [UInt8], _ attribute: Attribute, limit: Int
    ) throws(VaultError) -> String {
        guard bytes.count <= limit else { throw invalid("\(attribute.rawValue) has more than \(limit) bytes") }
        guard let text = String(validating: bytes, as: UTF8.self), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw invalid("\(attribute.rawValue) is not text")
        }
        return text
    }

    fileprivate static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension TokenURI.LibraryVersion {
    /// Reads `MAJOR` or `MAJOR.MINOR` (RFC 7512 section 2.3).
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy(TokenURI.isDigits), let major = UInt8(parts[0]),
            let minor = parts.count == 2 ? UInt8(parts[1]) : 0
        else { return nil }
        self.init(major: major, minor: minor)
    }
}
