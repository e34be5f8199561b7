import Foundation
import Groundwork
import TestSupport

@testable import LocalAPI

/// A running server with routes of every kind, on a socket in a directory of its own.
final class Served: Sendable {
    let directory: String
    let path: String
    let events = Broadcast<LocalEvent>()
    /// Opens when a handler of `/v1/wait` has begun.
    let waits = Gate()
    /// What `/v1/wait` waits for.
    let opened = Gate()
    /// Opens when the source of `/v1/flood` has been let go.
    let letGo = Gate()
    private let server: LocalServer
    private let running: Task<Void, any Error>

    /// - Parameters:
    ///   - policy: unless given, this process's user may do everything.
    ///   - addMore: adds routes of a test's own.
    init(
        policy: AccessPolicy? = nil, limits: LocalServer.Limits = LocalServer.Limits(), at path: String? = nil,
        addMore: (inout Router) -> Void = { _ in }
    ) throws {
        directory = try Self.makeDirectory()
        self.path = path ?? "\(directory)/api.sock"
        var router = Router()
        Self.addRoutes(to: &router, events, waits, opened, letGo)
        addMore(&router)
        server = LocalServer(
            socketPath: self.path, policy: policy ?? AccessPolicy(owners: [getuid()]), router: router, limits: limits)
        do {
            try server.listen()
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        running = Task { [server] in try await server.run() }
    }

    deinit {
        running.cancel()
        try? FileManager.default.removeItem(atPath: directory)
    }

    static func makeDirectory() throws -> String {
        let directory = "\(NSTemporaryDirectory())latchkey-api-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Stops the server, and waits until it has.
    func stop() async throws {
        running.cancel()
        try await running.value
    }

    var client: LocalClient { LocalClient(socketPath: path) }

    func connect() throws -> RawClient { try RawClient(path) }

    /// One request on a connection of its own.
    func ask(_ method: String, _ target: String, headers: [String] = [], body: String? = nil) async throws
        -> RawResponse
    {
        let client = try connect()
        try await client.write(Self.request(method, target, headers: headers + ["Connection: close"], body: body))
        return RawResponse(try await client.rest())
    }

    static func request(_ method: String, _ target: String, headers: [String] = [], body: String? = nil) -> String {
        let length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
        return (["\(method) \(target) HTTP/1.1", "Host: localhost"] + headers + length + ["", ""]).joined(
            separator: "\r\n")
            + (body ?? "")
    }

    private static func addRoutes(
        to router: inout Router, _ events: Broadcast<LocalEvent>, _ waits: Gate, _ opened: Gate, _ letGo: Gate
    ) {
        router.on("GET", "/v1/peer", needs: .read, .init("Who asks", answer: .openObject(""))) { request in
            .json(["uid": .integer(Int64(request.peer.uid)), "pid": .integer(Int64(request.peer.pid))])
        }
        router.on(
            "GET", "/v1/things/{name}", needs: .read,
            .init(
                "A thing", query: ["color": .string("of the thing")], answer: .openObject(""))
        ) { request in
            .json(["name": .string(request.parameters["name"] ?? ""), "color": .string(request.query["color"] ?? "")])
        }
        router.on("GET", "/v1/things/first", needs: .read, .init("The first thing", answer: .openObject(""))) { _ in
            .json(["name": "the first"])
        }
        router.on("DELETE", "/v1/things/{name}", needs: .operate, .init("Remove a thing", answer: .openObject(""))) {
            request in
            .json(["removed": .string(request.parameters["name"] ?? "")])
        }
        router.on(
            "POST", "/v1/echo", needs: .publish,
            .init(
                "The body again",
                body: [
                    "topic": .string("of a message").notEmpty(), "retain": .boolean(""), "qos": .integer("", in: 0...2),
                    "list": .array(of: .anything(""), ""), "more": .openObject(""),
                ], status: 202, answer: .openObject(""))
        ) { request in .json(request.json, status: 202) }
        router.on(
            "POST", "/v1/count", needs: .publish, .init("Bytes of the body", text: "anything", answer: .openObject(""))
        ) { request in
            .json(["bytes": .integer(Int64(request.body.count))])
        }
        router.on("GET", "/v1/wait", needs: .operate, .init("Waits", answer: .openObject(""))) { _ in
            waits.open()
            await opened.pass()
            return .json(["waited": true])
        }
        router.on("GET", "/v1/teapot", needs: .read, .init("Fails", answer: .openObject(""))) { _ in
            throw Refusal.teapot
        }
        router.on("GET", "/v1/cellar", needs: .read, .init("Fails otherwise", answer: .openObject(""))) { _ in
            throw Refusal.flooded
        }
        router.on("GET", "/v1/secret", needs: .read, .init("Fails without an explanation", answer: .openObject(""))) {
            _ in
            struct Bare: Error { let secret = "hunter2" }
            throw Bare()
        }
        router.on(
            "GET", "/v1/events", needs: .read,
            .init(
                "What the test sends",
                events: [
                    "n": .integer(""), "large": .string(""), "late": .boolean(""), "still": .boolean(""),
                ])
        ) { _ in
            .events(events.subscribe())
        }
        router.on("GET", "/v1/few", needs: .read, .init("Three events", events: ["count": .integer("so far")])) { _ in
            .events(
                AsyncStream { continuation in
                    for count in 1...3 {
                        continuation.yield(LocalEvent(name: "count", id: "\(count)", data: .integer(Int64(count))))
                    }
                    continuation.finish()
                })
        }
        router.on("GET", "/v1/broken", needs: .read, .init("Breaks off", events: ["count": .integer("so far")])) { _ in
            .events(
                AsyncThrowingStream { continuation in
                    continuation.yield(LocalEvent(name: "count", data: 1))
                    continuation.finish(throwing: Refusal.teapot)
                })
        }
        router.on(
            "GET", "/v1/framed", needs: .read,
            .init("Messages, then breaks off", events: ["begun": .openObject("")], hasFrames: true)
        ) { _ in
            .stream { writer in
                guard await writer.send(LocalEvent(name: "begun", data: ["text": "a\nb"])) else { return }
                var messages: [UInt8] = []
                for content in [[], [0, 10, 13, 255], [UInt8](repeating: 10, count: 100_000)] {
                    StreamForm.write(frame: content, to: &messages)
                }
                guard await writer.send(messages) else { return }
                throw Refusal.teapot
            }
        }
        router.on(
            "GET", "/v1/offered", needs: .read,
            .init("Events until one is refused", events: ["drop": .string(""), "refused": .integer("")])
        ) { _ in
            .stream { writer in
                let drop = LocalEvent(name: "drop", data: .string(String(repeating: "~", count: 4096)))
                var count: Int64 = 0
                while writer.offer({ writer.form.bytes(of: drop) }) { count += 1 }
                _ = await writer.send(LocalEvent(name: "refused", data: .integer(count)))
            }
        }
        router.on(
            "GET", "/v1/counted", needs: .read,
            .init("Events of many lengths, offered or else sent", events: ["n": .string("")])
        ) { _ in
            .stream { writer in
                for number in 0..<2000 {
                    let text = "\(number) " + String(repeating: "~", count: number * 37 % 5000)
                    let event = writer.form.bytes(of: LocalEvent(name: "n", data: .string(text)))
                    if !writer.offer({ event }) { guard await writer.send(event) else { return } }
                    // The connection has nothing to write meanwhile.
                    if number % 20 == 0 { try await Task.sleep(for: .milliseconds(1)) }
                }
                throw Refusal.teapot
            }
        }
        router.on("GET", "/v1/flood", needs: .read, .init("Events without end", events: ["drop": .string("")])) { _ in
            let source = Flood(letGo: letGo)
            return .events(AsyncStream<LocalEvent>(unfolding: { source.next }))
        }
    }
}

/// Events without end, and word of when nobody wants them any more.
private final class Flood: Sendable {
    let letGo: Gate
    let next = LocalEvent(name: "drop", data: .string(String(repeating: "~", count: 4096)))

    init(letGo: Gate) { self.letGo = letGo }
    deinit { letGo.open() }
}
