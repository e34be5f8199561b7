import Groundwork

/// What the server says of itself (RFC 7644 section 4).
enum SCIMDescription: Equatable {
    case configuration
    case resourceTypes
    case resourceType(String)
    case schemas
    case schema(String)

    init?(_ segments: [String]) {
        switch (segments.first, segments.count) {
        case ("ServiceProviderConfig", 1): self = .configuration
        case ("ResourceTypes", 1): self = .resourceTypes
        case ("ResourceTypes", 2): self = .resourceType(segments[1])
        case ("Schemas", 1): self = .schemas
        case ("Schemas", 2): self = .schema(segments[1])
        default: return nil
        }
    }

    /// - Parameter base: the address of SCIM.
    func answer(_ query: Parameters, base: String) throws(SCIMFault) -> WireResponse {
        guard query["filter"] == nil else { throw SCIMFault(403, nil, "This list accepts no filter") }
        switch self {
        case .configuration: return .scim(Self.configuration(base))
        case .resourceTypes: return Self.list(Self.resourceTypes(base))
        case .schemas: return Self.list(Self.schemas(base))
        case .resourceType(let id): return try Self.one(id, of: Self.resourceTypes(base))
        case .schema(let id): return try Self.one(id, of: Self.schemas(base))
        }
    }

    private static func list(_ all: [JSON]) -> WireResponse { SCIMQuery.list(of: all, of: all.count) }

    private static func one(_ id: String, of all: [JSON]) throws(SCIMFault) -> WireResponse {
        guard let found = all.first(where: { $0["id"]?.string == id }) else { throw .absent }
        return .scim(found)
    }

    private static func meta(_ type: SCIMSchema, _ location: String) -> JSON {
        ["resourceType": .string(type.name), "location": .string(location)]
    }

    private static func schemas(_ base: String) -> [JSON] {
        SCIMSchema.all.map { schema in
            var members = schema.json
            members["meta"] = meta(.schema, "\(base)/Schemas/\(schema.id)")
            return .object(members)
        }
    }

    private static func resourceTypes(_ base: String) -> [JSON] {
        SCIMSchema.all.compactMap { schema in
            schema.endpoint.map { endpoint in
                [
                    "schemas": [.string(SCIMSchema.resourceType.id)], "id": .string(schema.name),
                    "name": .string(schema.name), "description": .string(schema.text), "endpoint": .string(endpoint),
                    "schema": .string(schema.id), "meta": meta(.resourceType, "\(base)/ResourceTypes/\(schema.name)"),
                ]
            }
        }
    }

    private static func configuration(_ base: String) -> JSON {
        [
            "schemas": [.string(SCIMSchema.configuration.id)], "patch": ["supported": false],
            "bulk": ["supported": false, "maxOperations": 0, "maxPayloadSize": 0],
            "filter": ["supported": true, "maxResults": .integer(Int64(LabServices.limit))],
            "changePassword": ["supported": false], "sort": ["supported": true], "etag": ["supported": false],
            "authenticationSchemes": [
                [
                    "type": "oauthbearertoken", "name": "OAuth Bearer Token",
                    "description": "An access token of the gateway with the scope mas_identity",
                    "specUri": "https://www.rfc-editor.org/info/rfc6750", "primary": true,
                ]
            ], "meta": meta(.configuration, base + "/ServiceProviderConfig"),
        ]
    }
}
