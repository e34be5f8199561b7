import COpenSSL

/// The subject or issuer of a certificate: attributes in their encoded order (RFC 5280 section 4.1.2.4).
public struct DistinguishedName: Sendable, Equatable {
    /// The type of an attribute, by its object identifier.
    public struct Attribute: Sendable, Hashable {
        /// In dotted decimal.
        public let objectIdentifier: String

        public init(objectIdentifier: String) { self.objectIdentifier = objectIdentifier }

        public static let commonName = Attribute(objectIdentifier: "2.5.4.3")
        public static let country = Attribute(objectIdentifier: "2.5.4.6")
        public static let locality = Attribute(objectIdentifier: "2.5.4.7")
        public static let state = Attribute(objectIdentifier: "2.5.4.8")
        public static let organization = Attribute(objectIdentifier: "2.5.4.10")
        public static let organizationalUnit = Attribute(objectIdentifier: "2.5.4.11")
        public static let domainComponent = Attribute(objectIdentifier: "0.9.2342.19200300.100.1.25")
        public static let userID = Attribute(objectIdentifier: "0.9.2342.19200300.100.1.1")

        /// The short name in RFC 4514 section 3, else the object identifier.
        var label: String {
            switch self {
            case .commonName: "CN"
            case .country: "C"
            case .locality: "L"
            case .state: "ST"
            case .organization: "O"
            case .organizationalUnit: "OU"
            case .domainComponent: "DC"
            case .userID: "UID"
            default: objectIdentifier
            }
        }
    }

    /// The maximum length of a value to encode, in bytes (RFC 5280 appendix A.1 has 64 characters for most).
    public static let valueLimit = 256

    public var attributes: [(Attribute, String)]

    public init(_ attributes: [(Attribute, String)] = []) { self.attributes = attributes }

    /// The first value of an attribute.
    public subscript(attribute: Attribute) -> String? { attributes.first { $0.0 == attribute }?.1 }

    public static func == (left: DistinguishedName, right: DistinguishedName) -> Bool {
        left.attributes.elementsEqual(right.attributes) { $0 == $1 }
    }
}

extension DistinguishedName: CustomStringConvertible {
    /// Such as `CN=clientName,OU=3f…,DC=RaspberryPi4,O=CA`: the format of RFC 4514, but in the encoded order.
    public var description: String {
        attributes.map { "\($0.0.label)=\(Self.escaped($0.1))" }.joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for (index, scalar) in value.unicodeScalars.enumerated() {
            switch scalar {
            case "\"", "+", ",", ";", "<", ">", "\\", "=": text += "\\\(scalar)"
            case "#" where index == 0, " " where index == 0: text += "\\\(scalar)"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": text += "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension DistinguishedName {
    /// - Parameter name: an `X509_NAME`, which is not changed.
    init(reading name: OpaquePointer?) throws(CryptographyError) {
        attributes = []
        for index in 0..<max(0, X509_NAME_entry_count(name)) {
            let entry = X509_NAME_get_entry(name, index)
            var identifier = [CChar](repeating: 0, count: 128)
            let length = OBJ_obj2txt(&identifier, Int32(identifier.count), X509_NAME_ENTRY_get_object(entry), 1)
            guard length > 0, length < identifier.count else {
                throw .malformed(.distinguishedName, reason: "it has an attribute without a type")
            }
            var value: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&value, X509_NAME_ENTRY_get_data(entry))
            guard count >= 0, let value else { throw .malformed(.distinguishedName, reason: takeOpenSSLReason()) }
            defer { latchkey_free(value) }
            let type = identifier.withUnsafeBytes { String(decoding: $0.prefix(Int(length)), as: UTF8.self) }
            attributes.append(
                (
                    Attribute(objectIdentifier: type),
                    String(decoding: UnsafeBufferPointer(start: value, count: Int(count)), as: UTF8.self)
                ))
        }
    }

    /// An `X509_NAME` of these attributes, which the caller must free. Values are UTF8String unless the attribute
    /// requires another type, such as IA5String for domainComponent.
    func encodedName() throws(CryptographyError) -> OpaquePointer {
        let name = try check("write a name", X509_NAME_new())
        do throws(CryptographyError) {
            for (attribute, value) in attributes { try Self.append(attribute, value, to: name) }
        } catch {
            X509_NAME_free(name)
            throw error
        }
        return name
    }

    private static func append(_ attribute: Attribute, _ value: String, to name: OpaquePointer)
        throws(CryptographyError)
    {
        let operation = "write \(attribute.label) of a name"
        let bytes = Array(value.utf8)
        guard !bytes.isEmpty, bytes.count <= valueLimit else {
            throw .invalidParameter(
                operation: operation, reason: "it has \(bytes.count) bytes, 1 to \(valueLimit) are allowed")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .invalidParameter(operation: operation, reason: "it contains a control character")
        }
        let type = try check(operation, OBJ_txt2obj(attribute.objectIdentifier, 1))
        defer { ASN1_OBJECT_free(type) }
        try check(operation, X509_NAME_add_entry_by_OBJ(name, type, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0))
    }
}
