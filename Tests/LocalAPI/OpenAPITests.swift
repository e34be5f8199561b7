import Foundation
import Groundwork
import Testing

@testable import LocalAPI

@Suite("OpenAPI document", .timeLimit(.minutes(5)))
struct OpenAPITests {
    private func document() async throws -> JSON {
        let served = try Served()
        let answer = try await served.ask("GET", "/v1/openapi.json")
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/json")
        try await served.stop()
        return try JSON(parsing: answer.body)
    }

    @Test("the OpenAPI document is OpenAPI 3.1 and lists every route, including its own")
    func everyRoute() async throws {
        let document = try await document()
        #expect(document["openapi"] == "3.1.0")
        let listed = (document["paths"]?.object ?? [:]).flatMap { path, methods in
            (methods.object ?? [:]).keys.map { "\($0.uppercased()) \(path)" }
        }
        #expect(
            Set(listed) == [
                "GET /v1/peer", "GET /v1/things/{name}", "GET /v1/things/first", "DELETE /v1/things/{name}",
                "POST /v1/echo",
                "POST /v1/count", "GET /v1/wait", "GET /v1/teapot", "GET /v1/cellar", "GET /v1/secret",
                "GET /v1/events",
                "GET /v1/few", "GET /v1/framed", "GET /v1/broken", "GET /v1/offered", "GET /v1/counted",
                "GET /v1/flood",
                "GET /v1/openapi.json",
            ])
    }

    @Test("the OpenAPI document gives each operation an identifier, its permission, a success and a failure")
    func operations() async throws {
        let operations = (try await document()["paths"]?.object ?? [:]).values.flatMap { ($0.object ?? [:]).values }
        let identifiers = operations.compactMap { $0["operationId"]?.string }
        #expect(identifiers.count == operations.count)
        #expect(Set(identifiers).count == operations.count)
        for operation in operations {
            #expect(operation["description"]?.string?.hasPrefix("Needs the permission to ") == true)
            #expect(
                operation["responses"]?["default"]?["content"]?["application/json"]?["schema"] == [
                    "$ref": "#/components/schemas/Error"
                ])
            #expect(operation["responses"]?["200"] != nil || operation["responses"]?["202"] != nil)
        }
    }

    @Test("the OpenAPI document describes parameters, bodies and events")
    func details() async throws {
        let paths = try await document()["paths"]
        #expect(
            paths?["/v1/things/{name}"]?["get"]?["parameters"] == [
                ["name": "name", "in": "path", "required": true, "schema": ["type": "string"]],
                [
                    "name": "color", "in": "query", "required": false, "schema": ["type": "string"],
                    "description": "of the thing",
                ],
            ])
        let stream = paths?["/v1/few"]?["get"]?["responses"]?["200"]?["content"]
        #expect(stream?["text/event-stream"] != nil)
        let events = stream?["application/x-ndjson"]?["schema"]?["anyOf"]
        #expect(events?[0]?["properties"]?["event"]?["enum"] == ["count"])
        #expect(events?[0]?["properties"]?["data"]?["type"] == "integer")
        #expect(events?[1]?["properties"]?["event"]?["enum"] == ["error"])
    }

    @Test("the OpenAPI document states the real status of a success, and lists a named schema once")
    func statusAndNames() {
        var router = Router()
        let part = Schema.named("Part", .object(["next": .string("").orNull], required: ["next"]))
        router.on(
            "POST", "/v1/parts", needs: .operate,
            .init(
                "Add parts", body: ["name": .string("of one"), "count": .integer("")], required: ["name"], status: 202,
                answer: .array(of: part, ""))
        ) { _ in .json([]) }
        router.on("GET", "/v1/parts", needs: .read, .init("Parts", events: ["part.*": part])) { _ in .json([]) }
        let (document, post) = (router.openAPI, router.openAPI["paths"]?["/v1/parts"]?["post"])
        #expect(
            post?["requestBody"]?["content"]?["application/json"]?["schema"] == [
                "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": [
                    "name": ["type": "string", "description": "of one"], "count": ["type": ["integer", "null"]],
                ],
            ])
        let add = post?["responses"]
        #expect(
            add?["202"]?["content"]?["application/json"]?["schema"]?["items"] == ["$ref": "#/components/schemas/Part"])
        #expect(add?["200"] == nil)
        #expect(
            document["components"]?["schemas"]?["Part"] == [
                "type": "object", "required": ["next"], "additionalProperties": false,
                "properties": ["next": ["type": ["string", "null"]]],
            ])
        let line = document["paths"]?["/v1/parts"]?["get"]?["responses"]?["200"]?["content"]?["application/x-ndjson"]?[
            "schema"]
        #expect(line?["anyOf"]?[0]?["properties"]?["event"]?["pattern"] == #"^part\.[a-z-]+$"#)
    }

    @Test("the OpenAPI document is valid for an independent JSON parser")
    func validJSON() async throws {
        let bytes = try await document().bytes
        #expect(try JSONSerialization.jsonObject(with: Data(bytes)) is [String: Any])
    }
}
