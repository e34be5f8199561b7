import Groundwork

/// Names a token, or an object on one, independent of the module that reaches it (RFC 7512).
///
/// What a URI does not mention fits anything. The module is a setting and the PIN a secret, so neither is part of one.
public struct TokenURI: Sendable, Hashable {
    /// The class of an object.
    public enum ObjectType: String, Sendable {
        case publicKey = "public"
        case privateKey = "private"
    }

    /// The maximum length of a URI, in bytes.
    public static let limit = 1024
    /// The maximum length of an object's name or id, in bytes.
    static let nameLimit = 255

    /// The label of the token.
    public var token: String?
    public var manufacturer: String?
    public var serial: String?
    public var model: String?
    public var libraryManufacturer: String?
    public var libraryDescription: String?
    public var libraryVersion: LibraryVersion?
    public var slotID: UInt?
    /// The label of an object (`CKA_LABEL`).
    public var object: String?
    /// The identifier of an object (`CKA_ID`): 1 to 255 bytes.
    public var id: [UInt8]?
    public var type: ObjectType?

    /// A URI that fits every token.
    public init() {}

    public struct LibraryVersion: Sendable, Hashable {
        public let major: UInt8
        public let minor: UInt8
    }

    /// The same without what names an object.
    var ofToken: TokenURI {
        var uri = self
        (uri.object, uri.id, uri.type) = (nil, nil, nil)
        return uri
    }

    func fits(_ found: TokenDescription) -> Bool {
        func fits(_ wanted: String?, _ found: String) -> Bool { wanted == nil || wanted == found }
        return fits(token, found.label) && fits(manufacturer, found.manufacturer) && fits(serial, found.serial)
            && fits(model, found.model) && (slotID == nil || slotID == found.slot)
    }

    func fits(_ library: LibraryDescription) -> Bool {
        (libraryManufacturer == nil || libraryManufacturer == library.manufacturer)
            && (libraryDescription == nil || libraryDescription == library.description)
            && (libraryVersion == nil || libraryVersion == library.version)
    }
}

extension TokenURI: CustomStringConvertible {
    /// The URI that is read as this one. Each character that may need it is percent-encoded.
    public var description: String {
        var parts: [String] = []
        func add(_ name: Attribute, _ value: String?) {
            if let value { parts.append("\(name.rawValue)=\(PercentEncoding.encode(value))") }
        }
        add(.token, token)
        add(.manufacturer, manufacturer)
        add(.serial, serial)
        add(.model, model)
        add(.libraryManufacturer, libraryManufacturer)
        add(.libraryDescription, libraryDescription)
        add(.libraryVersion, libraryVersion.map { "\($0.major).\($0.minor)" })
        add(.slotID, slotID.map(String.init))
        add(.object, object)
        if let id { parts.append("\(Attribute.id.rawValue)=\(id.map { "%" + Hex.encode([$0]) }.joined())") }
        add(.type, type?.rawValue)
        return Self.scheme + parts.joined(separator: ";")
    }
}
