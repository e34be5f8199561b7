import Groundwork

/// An attribute of a schema (RFC 7643 section 7): what the lab says of it, and what it takes of it from a client.
struct SCIMAttribute: Sendable {
    enum Kind: String, Sendable { case string, boolean, integer, reference, complex }
    enum Mutability: String, Sendable { case readWrite, readOnly, immutable }

    var name: String
    var kind = Kind.string
    /// What it is, for people.
    var text: String
    var isMany = false
    var isRequired = false
    var isCaseExact = false
    var mutability = Mutability.readWrite
    /// Whether no other resource of the server may have its value.
    var isUnique = false
    /// The usual values; others are taken too.
    var choices: [String] = []
    /// What a reference may lead to.
    var references: [String] = []
    var parts: [SCIMAttribute] = []

    /// What a client calls the resource: every resource may have it, so no schema says so (RFC 7643 section 3.1).
    static let externalID = SCIMAttribute(
        name: "externalId", text: "The identifier of the client that made it", isCaseExact: true)

    /// The same, and all that is in it, for what only the server sets.
    var readOnly: SCIMAttribute {
        var copy = self
        copy.mutability = .readOnly
        copy.parts = parts.map(\.readOnly)
        return copy
    }

    var json: JSON {
        var members: [String: JSON] = [
            "name": .string(name), "type": .string(kind.rawValue), "multiValued": .bool(isMany),
            "description": .string(text), "required": .bool(isRequired), "caseExact": .bool(isCaseExact),
            "mutability": .string(mutability.rawValue), "returned": "default",
            "uniqueness": isUnique ? "server" : "none",
        ]
        if !choices.isEmpty { members["canonicalValues"] = .array(choices.map(JSON.string)) }
        if !references.isEmpty { members["referenceTypes"] = .array(references.map(JSON.string)) }
        if !parts.isEmpty { members["subAttributes"] = .array(parts.map(\.json)) }
        return .object(members)
    }

    /// What a client may set of a resource, or of an attribute with parts. Other members are passed over (RFC 7644
    /// section 3.3).
    static func taken(_ members: [String: JSON], by attributes: [SCIMAttribute]) throws(SCIMFault) -> [String: JSON] {
        var taken: [String: JSON] = [:]
        for attribute in attributes where attribute.mutability != .readOnly {
            let value = members.first { $0.key.lowercased() == attribute.name.lowercased() }?.value
            taken[attribute.name] = try attribute.taken(value)
        }
        return taken
    }

    private func taken(_ value: JSON?) throws(SCIMFault) -> JSON? {
        // An empty list, and null, are no value (RFC 7643 section 2.5).
        guard let value, value != .null, value != .array([]), value != "" else {
            guard !isRequired else { throw SCIMFault(400, "invalidValue", "\(name) is missing") }
            return nil
        }
        guard isMany else { return try one(value) }
        guard let values = value.array else { throw wrong("a list") }
        var taken: [JSON] = []
        for value in values { taken.append(try one(value)) }
        return .array(taken)
    }

    private func one(_ value: JSON) throws(SCIMFault) -> JSON {
        switch kind {
        case .string, .reference: guard value.string != nil else { throw wrong("a text") }
        case .boolean: guard value.bool != nil else { throw wrong("true or false") }
        case .integer: guard value.integer != nil else { throw wrong("a whole number") }
        case .complex:
            guard let members = value.object else { throw wrong("an object") }
            return .object(try Self.taken(members, by: parts))
        }
        return value
    }

    private func wrong(_ kind: String) -> SCIMFault { SCIMFault(400, "invalidValue", "\(name) is not \(kind)") }
}
