import Foundation
import Groundwork
import LocalAPI
import TestSupport
import Testing

@testable import latchkey

@Suite("Streams of the command", .timeLimit(.minutes(5)))
struct FollowingTests {
    private func server(_ path: String) throws -> LocalServer {
        var router = Router()
        router.on("GET", "/v1/ticks", needs: .read, .init("Ticks", events: ["tick": .openObject("")])) { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: LocalEvent.self)
            continuation.yield(LocalEvent(name: "tick", data: ["n": 1]))
            // Open until the reader or the server goes.
            continuation.onTermination = { _ in }
            return .events(Held(stream: stream, continuation: continuation))
        }
        let server = LocalServer(socketPath: path, policy: AccessPolicy(owners: [getuid()]), router: router)
        try server.listen()
        return server
    }

    private static func socketPath() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "f-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: "api.sock").path
    }

    /// A stream that nothing ends from inside.
    private struct Held: AsyncSequence, Sendable {
        let stream: AsyncStream<LocalEvent>
        let continuation: AsyncStream<LocalEvent>.Continuation
        func makeAsyncIterator() -> AsyncStream<LocalEvent>.Iterator { stream.makeAsyncIterator() }
    }

    @Test("a followed stream goes on with the daemon that comes after the one it began with")
    func goesOn() async throws {
        let path = try Self.socketPath()
        defer { try? FileManager.default.removeItem(atPath: path.parentDirectory) }
        let ticks = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            var count = 0
            try await Following(
                client: LocalClient(socketPath: path), path: "/v1/ticks", isKnown: true,
                backoff: Backoff(initial: .milliseconds(20), cap: .milliseconds(100))
            ).run { event in
                guard event.name == "tick" else { return true }
                ticks.continuation.yield()
                count += 1
                return count < 2
            }
        }
        for _ in 0..<2 {
            let server = try server(path)
            let serving = Task { try await server.run() }
            for await _ in ticks.stream.prefix(1) { break }
            serving.cancel()
            try await serving.value
        }
        try await reader.value
    }

    @Test("what happens while a command that follows asks for the present state is shown after it")
    func followsFromState() async throws {
        for (command, path) in [
            (["status"], "/v1/status"), (["proximity", "status"], "/v1/proximity"),
            (["consent", "ask"], "/v1/proximity/consents"),
        ] {
            let events = Broadcast<LocalEvent>()
            var router = Router()
            router.on(
                "GET", "/v1/events", needs: .read,
                .init("Events", events: ["proximity.consent-asked": .openObject("")])
            ) { _ in .events(events.subscribe()) }
            router.on("GET", path, needs: .read, .init("State", answer: .openObject(""))) { _ in
                events.send(LocalEvent(name: "proximity.consent-asked", data: ["id": 7, "event": "asked"]))
                return .json(["consents": []])
            }
            let socket = try Self.socketPath()
            defer { try? FileManager.default.removeItem(atPath: socket.parentDirectory) }
            let server = LocalServer(socketPath: socket, policy: AccessPolicy(owners: [getuid()]), router: router)
            try server.listen()
            let serving = Task { try await server.run() }
            let asks = command == ["consent", "ask"]
            let running = try RunningProgram(
                Program(name: "latchkey").url,
                command + (asks ? [] : ["--follow"]) + ["--json", "--socket", socket])
            let shown = asks ? running.errors : running.output
            try await shown.wait(for: asks ? "Let it in?" : #""asked""#)
            running.signal(SIGKILL)
            serving.cancel()
            try await serving.value
        }
    }

    @Test("a stream from a daemon that does not run at all is an error")
    func notRunning() async {
        await #expect(throws: LocalAPIError.daemonNotRunning(path: "/nowhere/api.sock")) {
            try await Following(client: LocalClient(socketPath: "/nowhere/api.sock"), path: "/v1/ticks").run { _ in true
            }
        }
    }
}
