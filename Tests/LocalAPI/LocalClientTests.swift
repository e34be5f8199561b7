import Foundation
import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Client of the local API", .timeLimit(.minutes(5)))
struct LocalClientTests {
    @Test("the local client gets, posts and deletes JSON")
    func requests() async throws {
        let served = try Served()
        #expect(try await served.client.get("/v1/things/door?color=red") == ["name": "door", "color": "red"])
        #expect(try await served.client.post("/v1/echo", ["topic": "door"]) == ["topic": "door"])
        #expect(try await served.client.delete("/v1/things/door") == ["removed": "door"])
        try await served.stop()
    }

    @Test("the local client throws the daemon's error unchanged")
    func remoteError() async throws {
        let served = try Served()
        let teapot = LocalAPIError.remote(status: 503, Refusal.teapot.explanation)
        await #expect(throws: teapot) { try await served.client.get("/v1/teapot") }
        let missing = LocalAPIError.remote(status: 404, LocalAPIError.notFound(path: "/v1/nothing").explanation)
        await #expect(throws: missing) { for try await _ in served.client.events("/v1/nothing") {} }
        try await served.stop()
    }

    @Test("the local client reports that the daemon is not running, and how to start it")
    func notRunning() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/api.sock"
        let expected = LocalAPIError.daemonNotRunning(path: path)
        await #expect(throws: expected) { try await LocalClient(socketPath: path).get("/v1/status") }
        try DeadDaemon.leaveSocket(at: path)
        await #expect(throws: expected) { try await LocalClient(socketPath: path).get("/v1/status") }
        await #expect(throws: expected) { for try await _ in LocalClient(socketPath: path).events("/v1/events") {} }
        let lost = LocalClient(socketPath: path).explained(.connectionLost(url: path, reason: "of a library"))
        #expect(lost == .daemonEnded && lost.remedy?.contains("journalctl") == true)
        // Of a socket that no service has: systemctl would start another daemon.
        #expect(expected.remedy?.contains("systemctl") == false)
        #expect(
            LocalAPIError.daemonNotRunning(path: LocalClient.standardSocketPath).remedy?.contains(
                "systemctl start latchkey") == true)
    }

    @Test("the local client reads the events of a stream to its end")
    func events() async throws {
        let served = try Served()
        var events: [LocalEvent] = []
        for try await event in served.client.events("/v1/few") { events.append(event) }
        #expect(events == (1...3).map { LocalEvent(name: "count", id: "\($0)", data: .integer(Int64($0))) })
        try await served.stop()
    }

    @Test("the local client throws the daemon's error that breaks off a stream, after the events before it")
    func brokenStream() async throws {
        let served = try Served()
        var count = 0
        let error = await #expect(throws: LocalAPIError.self) {
            for try await _ in served.client.events("/v1/broken") { count += 1 }
        }
        #expect(error?.code == "kitchen.teapot" && error?.remedy == "ask the coffee machine")
        #expect(count == 1)
        try await served.stop()
    }

    @Test("the local client ends a stream in a canceled task, and the daemon releases its source")
    func cancelledStream() async throws {
        let served = try Served()
        let first = Gate()
        let reading = Task {
            var count = 0
            for try await _ in served.client.events("/v1/flood") {
                count += 1
                first.open()
            }
            return count
        }
        await first.pass()
        reading.cancel()
        #expect(try await reading.value > 0)
        await served.letGo.pass()
        try await served.stop()
    }

    @Test("the local client ends a stream when the reader stops reading")
    func leftStream() async throws {
        let served = try Served()
        for try await _ in served.client.events("/v1/flood") { break }
        await served.letGo.pass()
        try await served.stop()
    }

    @Test("the local client assembles lines from pieces of any size", arguments: 1...12)
    func lineSplitter(size: Int) throws {
        let text = Array("one\n\ntwo three\nfour".utf8)
        var splitter = LineSplitter()
        var lines: [ArraySlice<UInt8>] = []
        for start in stride(from: 0, to: text.count, by: size) {
            lines += try splitter.add(Array(text[start..<min(start + size, text.count)]))
        }
        #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "", "two three"])
    }

    @Test("the local client refuses a line without end")
    func endlessLine() {
        var splitter = LineSplitter()
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: LineSplitter.limit / 2)
        #expect(throws: LocalAPIError.noAnswer(reason: "a line of the event stream is too long")) {
            for _ in 1...3 { _ = try splitter.add(piece) }
        }
    }
}
