import Groundwork
import Testing

@testable import LocalAPI

@Suite("Router", .timeLimit(.minutes(5)))
struct RouterTests {
    @Test("the router passes on the value of a name in the pattern")
    func parameters() async throws {
        let served = try Served()
        #expect(
            try await served.ask("GET", "/v1/things/door%20bell?color=red").json == [
                "name": "door bell", "color": "red",
            ])
        #expect(try await served.ask("DELETE", "/v1/things/door").json == ["removed": "door"])
        try await served.stop()
    }

    @Test("the router prefers the pattern with the fewest names, in whatever order they were added")
    func literalFirst() async throws {
        let served = try Served()
        #expect(try await served.ask("GET", "/v1/things/first").json == ["name": "the first"])
        try await served.stop()
    }

    @Test("the router serves routes below another path too, with its path parameters described")
    func moved() throws {
        var routes = Router()
        for path in ["/v1/token", "/v1/logins/{id}", "/v1/here", "/v2/token"] {
            routes.on("GET", path, needs: .operate, .init("", answer: .object([:]))) { _ in .json([:]) }
        }
        let name = Schema.string("name of an account")
        var all = Router()
        all.add(routes)
        all.add(
            routes.moved(
                from: "/v1", to: "/v1/accounts/{account}", describing: ["account": name], leavingOut: ["/v1/here"]))
        #expect(
            all.routes.map(\.path).sorted() == [
                "/v1/accounts/{account}/logins/{id}", "/v1/accounts/{account}/token", "/v1/here", "/v1/logins/{id}",
                "/v1/token", "/v2/token",
            ])
        #expect(all.routes.allSatisfy { $0.permission == .operate })
        let parameter = all.openAPI["paths"]?["/v1/accounts/{account}/token"]?["get"]?["parameters"]?.array?.first
        #expect(parameter?["description"] == "name of an account" && parameter?["required"] == true)
    }

    @Test("the router reports an unknown route, and where the routes are listed")
    func notFound() async throws {
        let served = try Served()
        for path in ["/", "/v1", "/v1/nothing", "/v1/things", "/v1/things/a/b", "/V1/peer"] {
            let answer = try await served.ask("GET", path)
            #expect(answer.status == 404 && answer.code == "local-api.not-found", "\(path)")
            #expect(answer.json?["error"]?["remedy"]?.string?.contains("/v1/openapi.json") == true)
        }
        try await served.stop()
    }

    @Test("the router lists the methods of a path")
    func methodNotAllowed() async throws {
        let served = try Served()
        let answer = try await served.ask("POST", "/v1/things/door", body: "{}")
        #expect(answer.status == 405 && answer.code == "local-api.method-not-allowed")
        #expect(answer.headers["allow"] == "DELETE, GET, HEAD")
        #expect(try await served.ask("BREW", "/v1/echo").headers["allow"] == "POST")
        try await served.stop()
    }

    @Test("the router answers HEAD with the head of GET and nothing else")
    func head() async throws {
        let served = try Served()
        let get = try await served.ask("GET", "/v1/things/first")
        let head = try await served.ask("HEAD", "/v1/things/first")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(head.headers["content-length"] == "\(get.body.count)")
        #expect(head.headers["content-type"] == "application/json")

        // A stream is not started for its head.
        let stream = try await served.ask("HEAD", "/v1/events")
        #expect(stream.status == 200 && stream.body.isEmpty)
        #expect(stream.headers["content-type"] == "text/event-stream")
        try await served.stop()
    }

    @Test("the router refuses a parameter that the route does not describe, and lists those that it does")
    func unknownParameter() async throws {
        let served = try Served()
        let answer = try await served.ask("GET", "/v1/things/door?shade=red")
        #expect(answer.status == 400 && answer.code == "local-api.unknown-parameter")
        #expect(answer.json?["error"]?["remedy"] == "it accepts: color")
        try await served.stop()
    }

    @Test("the router answers with the full explanation of any error, and the status of its kind")
    func explainedErrors() async throws {
        let served = try Served()
        let teapot = try await served.ask("GET", "/v1/teapot")
        #expect(teapot.status == 503)
        #expect(teapot.headers["content-type"] == "application/json")
        #expect(
            teapot.json == [
                "error": [
                    "code": "kitchen.teapot", "kind": "unavailable", "message": "it is a teapot",
                    "remedy": "ask the coffee machine",
                    "cause": "kitchen.no-beans",
                    "gateway": ["domain": "endpoint", "number": 1_000_105, "xCaErr": 1_000_105, "httpStatus": 418],
                ]
            ])
        let cellar = try await served.ask("GET", "/v1/cellar")
        #expect(cellar.status == 500)
        #expect(
            cellar.json == [
                "error": ["code": "cellar.flooded", "kind": "internal", "message": "the cellar is flooded"]
            ])
        try await served.stop()
    }

    @Test("the router does not show an error that was not written for people")
    func bareError() async throws {
        let served = try Served()
        let answer = try await served.ask("GET", "/v1/secret")
        #expect(answer.status == 500 && answer.code == "internal.unexpected")
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("hunter2"))
        try await served.stop()
    }
}
