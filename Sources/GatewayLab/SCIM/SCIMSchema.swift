import Groundwork

/// A kind of resource, and what its resources have (RFC 7643 sections 6 and 7): exactly what the lab keeps.
struct SCIMSchema: Sendable {
    var name: String
    var id: String
    var text: String
    var attributes: [SCIMAttribute]
    /// Where its resources are, below the base address; `nil` for those that describe the server.
    var endpoint: String?

    var json: [String: JSON] {
        [
            "schemas": [.string(Self.schema.id)], "id": .string(id), "name": .string(name),
            "description": .string(text), "attributes": .array(attributes.map(\.json)),
        ]
    }

    static let user = SCIMSchema(
        name: "User", id: "urn:ietf:params:scim:schemas:core:2.0:User", text: "A person",
        attributes: [
            SCIMAttribute(name: "userName", text: "What the person logs in with", isRequired: true, isUnique: true),
            SCIMAttribute(
                name: "name", kind: .complex, text: "The parts of the person's name",
                parts: [
                    SCIMAttribute(name: "formatted", text: "The whole name"),
                    SCIMAttribute(name: "familyName", text: "The family name"),
                    SCIMAttribute(name: "givenName", text: "The given name"),
                ]),
            SCIMAttribute(name: "displayName", text: "The name to show"),
            SCIMAttribute(name: "active", kind: .boolean, text: "Whether the person may log in"),
            many("emails", "Addresses for mail", choices: ["work", "home", "other"]),
            many("phoneNumbers", "Telephone numbers", choices: ["work", "home", "mobile", "fax", "pager", "other"]),
            many("photos", "Pictures, as URLs", isReference: true, choices: ["photo", "thumbnail"]),
            SCIMAttribute(
                name: "groups", kind: .complex, text: "The groups that the person is in", isMany: true,
                parts: member(of: "Group", text: "The group's identifier")
            ).readOnly,
        ], endpoint: "/Users")

    /// With the owner, which the protocol adds to the groups of RFC 7643 (MAG 10).
    static let group = SCIMSchema(
        name: "Group", id: "urn:ietf:params:scim:schemas:core:2.0:Group", text: "A group of people",
        attributes: [
            SCIMAttribute(name: "displayName", text: "The group's name", isRequired: true, isUnique: true),
            SCIMAttribute(
                name: "owner", kind: .complex, text: "Who made the group",
                parts: member(of: "User", text: "The user's identifier")
            ).readOnly,
            SCIMAttribute(
                name: "members", kind: .complex, text: "Who is in the group", isMany: true,
                parts: member(of: "User", text: "The user's identifier") + [
                    SCIMAttribute(
                        name: "type", text: "The kind of member", mutability: .immutable, choices: ["User"])
                ]),
        ], endpoint: "/Groups")

    static let all = [user, group, configuration, resourceType, schema]

    /// An attribute with several values, each with a kind.
    private static func many(
        _ name: String, _ text: String, isReference: Bool = false, choices: [String]
    ) -> SCIMAttribute {
        SCIMAttribute(
            name: name, kind: .complex, text: text, isMany: true,
            parts: [
                SCIMAttribute(
                    name: "value", kind: isReference ? .reference : .string, text: "The value",
                    references: isReference ? ["external"] : []),
                SCIMAttribute(name: "display", text: "The value to show"),
                SCIMAttribute(name: "type", text: "Which one it is", choices: choices),
                SCIMAttribute(name: "primary", kind: .boolean, text: "Whether it is to be preferred"),
            ])
    }

    /// The parts of an attribute that names another resource.
    private static func member(of type: String, text: String) -> [SCIMAttribute] {
        [
            SCIMAttribute(name: "value", text: text, isCaseExact: true, mutability: .immutable),
            SCIMAttribute(
                name: "$ref", kind: .reference, text: "Its address", isCaseExact: true, mutability: .immutable,
                references: [type]),
            SCIMAttribute(name: "display", text: "Its name").readOnly,
        ]
    }
}
