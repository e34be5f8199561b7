import Foundation
import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Event stream", .timeLimit(.minutes(5)))
struct StreamTests {
    @Test("an event stream is written as Server-Sent Events")
    func serverSent() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/few", headers: ["Connection: close"]))
        let head = RawResponse(try await client.text(through: "\r\n\r\n"))
        #expect(head.status == 200)
        #expect(head.headers["content-type"] == "text/event-stream")
        #expect(head.headers["cache-control"] == "no-store")
        let body = try await client.rest()
        for count in 1...3 { #expect(body.contains("id: \(count)\nevent: count\ndata: \(count)\n\n"), "\(body)") }
        #expect(body.hasSuffix("0\r\n\r\n"), "the end is one that the server meant")
        try await served.stop()
    }

    @Test("an event stream is written as one JSON object per line if the client prefers that")
    func lines() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(
            Served.request("GET", "/v1/few", headers: ["Accept: application/x-ndjson", "Connection: close"]))
        let head = RawResponse(try await client.text(through: "\r\n\r\n"))
        #expect(head.headers["content-type"] == "application/x-ndjson")
        #expect(try await client.rest().contains(#"{"data":2,"event":"count","id":"2"}"# + "\n"))
        try await served.stop()
    }

    @Test("an event stream never lets a name or identifier inject lines")
    func oneLine() {
        let event = LocalEvent(name: "a\ndata: x\r\n\u{0}", id: "1\nevent: y", data: "two\nlines")
        let text = "id: 1event: y\nevent: adata: x\ndata: \"two\\nlines\"\n\n"
        #expect(String(decoding: StreamForm.serverSent.bytes(of: event), as: UTF8.self) == text)
        #expect(StreamForm.lines.bytes(of: event).count { $0 == UInt8(ascii: "\n") } == 1)
    }

    @Test("an event stream ends with an error event if its source breaks off")
    func brokenOff() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/broken"))
        let body = try await client.text(through: "0\r\n\r\n")
        #expect(body.contains("event: count\ndata: 1\n\n"))
        #expect(body.contains(#"event: error\#ndata: {"error":{"cause":"kitchen.no-beans","code":"kitchen.teapot""#))
        try await served.stop()
    }

    @Test("an event stream of a stalled reader does not delay others, and is closed after a while")
    func stalledReader() async throws {
        var limits = LocalServer.Limits()
        limits.stall = .seconds(1)
        let served = try Served(limits: limits)
        let stalled = try served.connect()
        try await stalled.write(Served.request("GET", "/v1/flood"))

        let other = try served.connect()
        try await other.write(Served.request("GET", "/v1/events"))
        _ = try await other.text(through: "\r\n\r\n")
        for count in 1...50 {
            served.events.send(LocalEvent(name: "n", data: .integer(Int64(count))))
            #expect(try await other.text(through: "\n\n").contains("data: \(count)\n"))
            #expect(try await served.ask("GET", "/v1/peer").status == 200)
        }
        await served.letGo.pass()
        // What the kernel held for it is still there, a bounded lot; the end of the stream is not.
        let rest = try await stalled.rest()
        #expect(rest.utf8.count < 2 << 20)
        #expect(!rest.hasSuffix("0\r\n\r\n"))
        try await served.stop()
    }

    @Test("an event stream takes what is offered until its reader is behind, and what waits after it")
    func offered() async throws {
        let served = try Served()
        var count = 0
        var refused: JSON?
        for try await event in served.client.events("/v1/offered") {
            if event.name == "refused" { refused = event.data } else { count += 1 }
        }
        #expect(count > 10)
        #expect(refused == .integer(Int64(count)))
        try await served.stop()
    }

    @Test("an event stream keeps its reader's pace, even with events larger than the buffer")
    func largeEvents() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/events", headers: ["Accept: application/x-ndjson"]))
        _ = try await client.text(through: "\r\n\r\n")
        let large = String(repeating: "m", count: 3 * EventFeed.bound)
        for count in 1...5 {
            served.events.send(LocalEvent(name: "large", data: .string("\(count)\(large)")))
            #expect(try await client.text(through: "}\n").filter { $0 == "m" }.count == large.count)
        }
        try await served.stop()
    }

    @Test("an event stream releases its source at once when the reader vanishes")
    func vanishedReader() async throws {
        var limits = LocalServer.Limits()
        limits.requestsPerUser = 1
        let served = try Served(limits: limits)
        for _ in 1...20 {
            let client = try served.connect()
            try await client.write(Served.request("GET", "/v1/events"))
            // The place of the one before is free, though nothing was ever written to it.
            var head = RawResponse(try await client.text(through: "\r\n\r\n"))
            while head.status == 429, !Task.isCancelled {
                _ = try await client.text(through: "}\n")
                try await client.write(Served.request("GET", "/v1/events"))
                head = RawResponse(try await client.text(through: "\r\n\r\n"))
            }
            #expect(head.status == 200)
            client.close()
        }
        try await served.stop()
    }

    @Test("an event stream releases its source when the reader vanishes amid a flood")
    func vanishedInFlood() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/flood"))
        _ = try await client.text(through: "event: drop")
        client.close()
        await served.letGo.pass()
        try await served.stop()
    }

    @Test("an event stream continues for a reader that has closed its sending side")
    func halfClosed() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/events"))
        _ = try await client.text(through: "\r\n\r\n")
        client.closeWriting()
        #expect(await !client.isReadable(within: .milliseconds(200)))
        served.events.send(LocalEvent(name: "still", data: true))
        #expect(try await client.text(through: "\n\n").contains("event: still"))
        try await served.stop()
    }

    @Test("an event stream ends when the server stops, with the reason")
    func serverStops() async throws {
        let served = try Served()
        let stream = try served.connect()
        try await stream.write(Served.request("GET", "/v1/events"))
        _ = try await stream.text(through: "\r\n\r\n")
        let waiting = try served.connect()
        try await waiting.write(Served.request("GET", "/v1/wait"))
        await served.waits.pass()

        try await served.stop()
        let last = try await stream.rest()
        #expect(last.contains(#"event: error\#ndata: {"error":{"code":"local-api.stopping""#))
        #expect(last.hasSuffix("0\r\n\r\n"))
        let answer = RawResponse(try await waiting.rest())
        #expect(answer.status == 503 && answer.code == "local-api.stopping")
        served.opened.open()
    }
}
