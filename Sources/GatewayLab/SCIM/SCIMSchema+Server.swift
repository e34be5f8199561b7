import Groundwork

/// The schemas of what describes the server itself (RFC 7643 section 8.7.2), as far as the lab uses them.
extension SCIMSchema {
    static let configuration = SCIMSchema(
        name: "ServiceProviderConfig", id: "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig",
        text: "What the server can do",
        attributes: [
            option("patch", "Changes by PATCH"),
            option("bulk", "Several operations at once", limits: ["maxOperations", "maxPayloadSize"]),
            option("filter", "Filters", limits: ["maxResults"]), option("changePassword", "Changes of passwords"),
            option("sort", "Sorted lists"), option("etag", "Versions of resources"),
            SCIMAttribute(
                name: "authenticationSchemes", kind: .complex, text: "How clients are authenticated", isMany: true,
                isRequired: true,
                parts: [
                    SCIMAttribute(name: "type", text: "The kind", isRequired: true),
                    SCIMAttribute(name: "name", text: "Its name", isRequired: true),
                    SCIMAttribute(name: "description", text: "What it is", isRequired: true),
                    SCIMAttribute(
                        name: "specUri", kind: .reference, text: "Its standard", isCaseExact: true,
                        references: ["external"]),
                    SCIMAttribute(name: "primary", kind: .boolean, text: "Whether it is to be preferred"),
                ]),
        ].map(\.readOnly))

    static let resourceType = SCIMSchema(
        name: "ResourceType", id: "urn:ietf:params:scim:schemas:core:2.0:ResourceType",
        text: "A kind of resource, and where it is",
        attributes: [
            SCIMAttribute(name: "id", text: "The identifier"),
            SCIMAttribute(name: "name", text: "The name", isRequired: true),
            SCIMAttribute(name: "description", text: "What it is"),
            SCIMAttribute(
                name: "endpoint", kind: .reference, text: "The address, below the base address", isRequired: true,
                isCaseExact: true, references: ["uri"]),
            SCIMAttribute(
                name: "schema", kind: .reference, text: "The schema", isRequired: true, isCaseExact: true,
                references: ["uri"]),
        ].map(\.readOnly))

    static let schema = SCIMSchema(
        name: "Schema", id: "urn:ietf:params:scim:schemas:core:2.0:Schema", text: "What a resource has",
        attributes: [
            SCIMAttribute(name: "id", text: "The URN", isRequired: true, isCaseExact: true),
            SCIMAttribute(name: "name", text: "The name", isRequired: true),
            SCIMAttribute(name: "description", text: "What it is"),
            SCIMAttribute(
                name: "attributes", kind: .complex, text: "The attributes", isMany: true, isRequired: true,
                parts: properties + [
                    SCIMAttribute(
                        name: "subAttributes", kind: .complex, text: "The parts", isMany: true, parts: properties)
                ]),
        ].map(\.readOnly))

    /// What a schema says of an attribute.
    private static let properties = [
        SCIMAttribute(name: "name", text: "The name", isRequired: true, isCaseExact: true),
        SCIMAttribute(name: "type", text: "The type of its values", isRequired: true),
        SCIMAttribute(name: "multiValued", kind: .boolean, text: "Whether it has several values", isRequired: true),
        SCIMAttribute(name: "description", text: "What it is"),
        SCIMAttribute(name: "required", kind: .boolean, text: "Whether it is required"),
        SCIMAttribute(name: "canonicalValues", text: "Its usual values", isMany: true, isCaseExact: true),
        SCIMAttribute(name: "caseExact", kind: .boolean, text: "Whether case matters"),
        SCIMAttribute(name: "mutability", text: "Who may change it, and when", isCaseExact: true),
        SCIMAttribute(name: "returned", text: "When it is returned", isCaseExact: true),
        SCIMAttribute(name: "uniqueness", text: "Where no other has its value", isCaseExact: true),
        SCIMAttribute(name: "referenceTypes", text: "What it leads to", isMany: true, isCaseExact: true),
    ]

    private static func option(_ name: String, _ text: String, limits: [String] = []) -> SCIMAttribute {
        SCIMAttribute(
            name: name, kind: .complex, text: text, isRequired: true,
            parts: [
                SCIMAttribute(
                    name: "supported", kind: .boolean, text: "Whether the server can do it", isRequired: true)
            ]
                + limits.map {
                    SCIMAttribute(name: $0, kind: .integer, text: "The most it accepts", isRequired: true)
                })
    }
}
