import Groundwork

/// The OpenAPI 3.1 document of the routes, generated from the routes, so that it always matches them.
extension Router {
    static let documentPath = "/v1/openapi.json"

    /// Adds the route that serves the document; the document describes that route too.
    mutating func addOpenAPI() {
        let description = RouteDescription("This document", answer: .openObject("OpenAPI 3.1"))
        var described = self
        described.on("GET", Self.documentPath, needs: .read, description) { _ in .json([:]) }
        // Generated for each request, because requests are rare: it neither delays the start nor takes up memory.
        let all = described
        on("GET", Self.documentPath, needs: .read, description) { _ in .json(all.openAPI) }
    }

    var openAPI: JSON {
        var paths: [String: JSON] = [:]
        var schemas = LocalResponse.errorSchema.definitions
        schemas["Error"] = LocalResponse.errorSchema.json
        for route in routes {
            // Once, because each evaluation makes all of its schemas.
            let description = route.description
            schemas.merge(description.definitions) { _, new in new }
            var methods = paths[route.path]?.object ?? [:]
            methods[route.method.lowercased()] = route.operation(description)
            paths[route.path] = .object(methods)
        }
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Latchkey local API", "version": "1",
                "description": .string(
                    """
                    HTTP on a Unix socket of the board. Access depends on the user and groups of the connecting \
                    program. Values marked \(Schema.sensitive) contain a secret or personal information: keep them \
                    out of logs.
                    """),
            ],
            "servers": [["url": "http://localhost"]],
            "paths": .object(paths),
            "components": ["schemas": .object(schemas)],
        ]
    }
}

extension Router.Route {
    fileprivate func operation(_ description: RouteDescription) -> JSON {
        var operation: [String: JSON] = [
            "operationId": .string(
                ([method.lowercased()] + segments.dropFirst().map(Self.word)).joined(separator: "-")),
            "summary": .string(description.summary),
            "description": .string("Needs the permission to \(permission.rawValue)."),
            "responses": [
                "\(description.status)": ["description": "Success", "content": Self.content(description)],
                "default": [
                    "description": "Failure",
                    "content": ["application/json": ["schema": ["$ref": "#/components/schemas/Error"]]],
                ],
            ],
        ]
        let parameters =
            parameterNames.map { Self.parameter($0, in: "path", description.path[$0], isRequired: true) }
            + description.query.sorted { $0.key < $1.key }.map { name, schema in
                let isRequired = description.requiredParameters.contains(name)
                return Self.parameter(name, in: "query", schema, isRequired: isRequired)
            }
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if let schema = description.bodySchema {
            operation["requestBody"] = [
                "required": .bool(!description.requiredMembers.isEmpty),
                "content": ["application/json": ["schema": schema.json]],
            ]
        } else if let text = description.text {
            operation["requestBody"] = [
                "required": true, "content": ["text/plain": ["schema": Schema.string(text).json]],
            ]
        }
        return .object(operation)
    }

    /// A stream is offered in several forms; a schema can only describe a line of NDJSON.
    private static func content(_ description: RouteDescription) -> JSON {
        if let answer = description.answer {
            return .object(
                description.texts.reduce(into: ["application/json": ["schema": answer.json]]) { content, type in
                    content[type] = ["schema": Schema.string("the same as text").json]
                })
        }
        let known =
            description.events.sorted { $0.key < $1.key } + [(key: "error", value: Schema.reference(to: "Error"))]
        let line: JSON = [
            "anyOf": .array(
                known.map { name, data in
                    Schema.object(
                        [
                            "event": .eventName(name), "data": data,
                            "id": .string("the reader's position in the stream, if the source supports it"),
                        ],
                        required: ["event", "data"]
                    ).json
                })
        ]
        return .object(
            description.forms.reduce(into: [:]) { content, form in
                let schema =
                    switch form {
                    case .serverSent: Schema.string("Server-Sent Events").json
                    case .lines: line
                    case .frames: Schema.string(frames).json
                    }
                content[form.mediaType] = ["schema": schema]
            })
    }

    private static let frames =
        """
        Frames: a byte for the kind, four for the length, the most significant one first, and that many bytes. Kind 0: \
        the bytes of a message; 1: any other event, as JSON
        """

    private static func parameter(_ name: String, in place: String, _ schema: Schema?, isRequired: Bool) -> JSON {
        var members = (schema ?? .string("")).json.object ?? [:]
        var parameter: [String: JSON] = ["name": .string(name), "in": .string(place), "required": .bool(isRequired)]
        parameter["description"] = members.removeValue(forKey: "description")
        parameter["schema"] = .object(members)
        return .object(parameter)
    }

    /// A path segment as part of an identifier: `{name}` becomes `name`.
    private static func word(_ segment: Substring) -> String { segment.filter { $0.isLetter || $0.isNumber } }
}
