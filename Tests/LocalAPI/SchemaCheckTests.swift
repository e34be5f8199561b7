import Groundwork
import Testing

@testable import LocalAPI

@Suite("What a schema refuses", .timeLimit(.minutes(5)))
struct SchemaCheckTests {
    private static let body = Schema.object(
        [
            "displayName": .string("").notEmpty(), "by": .string("", choices: ["name", "id"]),
            "count": .integer("", in: 1...9), "value": .number("").orNull, "isOpen": .boolean(""),
            "members": .array(of: .string("").notEmpty(), "").notEmpty(atMost: 2), "open": .openObject(""),
            "names": .map(of: .integer(""), ""), "sign": .any(of: [.boolean(""), .object(["key": .string("")])]),
            "place": .named("Place", .object(["x": .integer("")], required: ["x"])), "any": .anything(""),
        ], required: ["displayName"])

    @Test(
        "a value that fits is taken",
        arguments: [
            #"{"displayName": "a"}"#, #"{"displayName": "a", "by": "id", "count": 9, "value": null, "isOpen": false}"#,
            #"{"displayName": "a", "count": 2.0, "value": 1.5, "members": ["a", "b"], "open": {"x": []}}"#,
            #"{"displayName": "a", "names": {"x": 1}, "sign": {"key": "k"}, "place": {"x": 1}, "any": [null]}"#,
            #"{"displayName": "a", "sign": true, "any": null}"#,
        ])
    func taken(text: String) throws { try Self.body.check(JSON(parsing: Array(text.utf8))) }

    @Test(
        "a value that does not fit is refused, and the member is named",
        arguments: [
            (#"{"displayName": ""}"#, "displayName", "is empty; it must have at least 1 character"),
            ("{}", "displayName", "is missing"), (#"{"displayName": 1}"#, "displayName", "is a number, not a string"),
            (#"{"displayName": null}"#, "displayName", "is null, not a string"),
            (#"{"by": "O"}"#, "by", "is not one of name, id"), (#"{"count": 10}"#, "count", "is not from 1 to 9"),
            (#"{"count": 1.5}"#, "count", "is a number, not a whole number"),
            (#"{"value": "1"}"#, "value", "is a string, not a number or null"),
            (#"{"isOpen": 1}"#, "isOpen", "is a number, not a boolean"),
            (#"{"members": []}"#, "members", "is empty; it must have at least 1 element"),
            (#"{"members": ["a", "b", "c"]}"#, "members", "has 3; it must have at most 2 elements"),
            (#"{"members": ["a", ""]}"#, "members[1]", "is empty; it must have at least 1 character"),
            (#"{"open": []}"#, "open", "is an array, not an object"),
            (#"{"names": {"x": "1"}}"#, "names.*", "is a string, not a whole number"),
            (#"{"sign": 1}"#, "sign", "is a number, not a boolean, and is a number, not an object"),
            (#"{"sign": {"key": 1}}"#, "sign.key", "is a number, not a string"),
            (#"{"sign": {"kye": "k"}}"#, "sign.kye", "is unknown; known are key"),
            (#"{"place": {}}"#, "place.x", "is missing"), ("[]", "", "is an array, not an object"),
        ])
    func refused(text: String, place: String, fault: String) {
        #expect(throws: Schema.Misfit(place: place, fault: fault)) {
            try Self.body.check(JSON(parsing: Array(text.utf8)))
        }
    }

    private func served() throws -> Served {
        try Served { router in
            router.on(
                "POST", "/v1/groups/{number}", needs: .publish,
                .init(
                    "", path: ["number": .integer("")],
                    query: ["by": .string("", choices: ["name", "id"]), "isNew": .boolean("")],
                    body: ["name": .string("").notEmpty(), "note": .string("")], required: ["name"],
                    answer: .openObject(""))
            ) { request in .json(["note": request.json["note"] ?? "none"]) }
            router.on(
                "GET", "/v1/groups", needs: .read,
                .init("", query: ["count": .integer("", in: 1...9)], required: ["count"], answer: .openObject(""))
            ) { _ in .json([:]) }
        }
    }

    @Test("a request that its route's description forbids is refused before the handler runs")
    func routes() async throws {
        let served = try served()
        for (method, target, body, message) in [
            ("POST", "/v1/groups/1", nil, "name: is missing"),
            ("POST", "/v1/groups/1", #"{"name": ""}"#, "name: is empty; it must have at least 1 character"),
            ("POST", "/v1/groups/1", #"{"name": "a", "nam": 1}"#, "nam: is unknown; known are name, note"),
            ("POST", "/v1/groups/one", #"{"name": "a"}"#, "number: is a string, not a whole number"),
            ("POST", "/v1/groups/1?by=O", #"{"name": "a"}"#, "by: is not one of name, id"),
            ("POST", "/v1/groups/1?isNew=1", #"{"name": "a"}"#, "isNew: is a string, not a boolean"),
            ("GET", "/v1/groups", nil, "count: is missing"),
            ("GET", "/v1/groups?count=10", nil, "count: is not from 1 to 9"),
            ("GET", "/v1/groups?count=9", #"{"x": 1}"#, "x: is unknown; no member is allowed"),
            ("POST", "/v1/count", nil, "the body of the request is missing"),
        ] as [(String, String, String?, String)] {
            let answer = try await served.ask(method, target, body: body)
            #expect(answer.status == 400 && answer.json?["error"]?["kind"] == "misuse", "\(target)")
            #expect(answer.json?["error"]?["message"]?.string == message)
        }
        let taken = try await served.ask("POST", "/v1/groups/1?by=id&isNew=true", body: #"{"name":"a","note":null}"#)
        #expect(taken.status == 200 && taken.json == ["note": .null])
        #expect(try await served.ask("GET", "/v1/groups?count=9", body: "{}").status == 200)
        try await served.stop()
    }
}
