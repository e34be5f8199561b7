import Foundation
import Groundwork
import Testing

@testable import LocalAPI

@Suite("Documentation of the local API", .timeLimit(.minutes(5)))
struct DocumentationTests {
    private static let text = try? String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Config/local-api.md"),
        encoding: .utf8)

    @Test("the documentation of the local API has a Python example that works unchanged")
    func python() async throws {
        let example = try #require(
            Self.text?.components(separatedBy: "```python\n").dropFirst().first?
                .components(separatedBy: "```").first)
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var router = Router()
        router.on("GET", "/v1/status", needs: .read, .init("Status", answer: .openObject(""))) { _ in
            .json(["registration": ["state": "registered"]])
        }
        router.on("GET", "/v1/sensors/stream", needs: .read, .init("Readings", events: ["readings": .openObject("")])) {
            _ in
            .events(
                AsyncStream { continuation in
                    continuation.yield(LocalEvent(name: "readings", data: ["load": 1]))
                    continuation.finish()
                })
        }
        let path = "\(directory)/api.sock"
        let server = LocalServer(socketPath: path, policy: AccessPolicy(owners: [getuid()]), router: router)
        try server.listen()
        let running = Task { try await server.run() }
        #expect(
            try await OtherProgram.output(of: ["env", "LATCHKEY_SOCKET=\(path)", "python3", "-c", example])
                == "registered\nreadings {'load': 1}\n")
        running.cancel()
        try await running.value
    }

    @Test("the documentation of the local API names every code that the server itself answers with")
    func codes() throws {
        let text = try #require(Self.text)
        let errors: [LocalAPIError] = [
            .badTarget(reason: ""), .unknownParameter(name: "", known: []), .badBody(reason: ""),
            .badRequest(member: "", fault: ""), .notFound(path: ""),
            .methodNotAllowed(method: "", path: "", allowed: []),
            .accessDenied(user: "", method: "", path: "", permission: .read),
            .tooManyRequests(uid: 0, .ofUser(limit: 0)), .tooManyConnections(uid: 0, .ofOthers(limit: 0)),
            .bodyTooLarge(limit: 0),
            .headTooLarge(limit: 0), .requestTooSlow(limit: .zero), .stopping,
        ]
        for error in errors {
            let row = text.split(separator: "\n").first { $0.contains("`\(error.code)`") }
            #expect(
                row?.contains("\(error.kind.httpStatus)") == true, "\(error.code) with status \(error.kind.httpStatus)")
        }
    }

    @Test("the documentation of the local API names the default limits")
    func limits() throws {
        let text = try #require(Self.text)
        let limits = LocalServer.Limits()
        #expect(text.contains("\(limits.requestsPerUser) requests in progress"))
        #expect(text.contains("\(limits.connectionsPerUser) connections"))
        #expect(text.contains("\(limits.requestsOfOthers) and \(limits.connectionsOfOthers)"))
        #expect(text.contains("within\n\(limits.request.components.seconds) s"))
        #expect(text.contains("takes nothing for \(limits.stall.components.seconds) s"))
        #expect(text.contains("head may have \(limits.headBytes >> 10) KiB and its body \(limits.bodyBytes >> 20) MiB"))
    }
}
