import Foundation
import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import LocalAPI

/// Streams whose reader waits for them on its own thread.
@Suite("Stream read by the calling thread", .timeLimit(.minutes(5)))
struct DirectStreamTests {
    /// Reads on a thread of its own: the server's handlers need those of the tests.
    private actor Reader {
        private let thread = NamedThread("reader")
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        /// The records up to the end, and the error that is there instead of one.
        func all(
            _ path: String, _ form: StreamForm, at socketPath: String
        ) async -> ([ArraySlice<UInt8>], LocalAPIError?) {
            let records = LocalClient(socketPath: socketPath).ownRecords(path, as: form)
            var found: [ArraySlice<UInt8>] = []
            do throws(LocalAPIError) {
                while let batch = try await records.next() { found += batch }
                return (found, nil)
            } catch {
                return (found, error)
            }
        }
    }

    private func read(_ path: String, as form: StreamForm = .lines, of served: Served) async -> (
        [ArraySlice<UInt8>], LocalAPIError?
    ) {
        await Reader().all(path, form, at: served.path)
    }

    @Test("a stream read by the calling thread has its records to the end, as lines and as frames")
    func records() async throws {
        let served = try Served()
        let (lines, error) = await read("/v1/few", of: served)
        #expect(error == nil)
        #expect(
            lines.map { String(decoding: $0, as: UTF8.self) }
                == (1...3).map { #"{"data":\#($0),"event":"count","id":"\#($0)"}"# })
        let (frames, _) = await read("/v1/framed", as: .frames, of: served)
        #expect(
            frames.map(\.count).prefix(4) == [
                #"{"data":{"text":"a\nb"},"event":"begun"}"#.utf8.count + 5, 5, 9, 100_005,
            ])
        try await served.stop()
    }

    @Test("a stream read by the calling thread has the daemon's error, or that there is no daemon")
    func errors() async throws {
        let served = try Served()
        let (_, error) = await read("/v1/teapot", of: served)
        #expect(error == .remote(status: 503, Refusal.teapot.explanation))
        try await served.stop()
        #expect(await read("/v1/few", of: served).1 == .daemonNotRunning(path: served.path))
    }

    @Test("a stream read by the calling thread has each byte once and in order, for quick and slow readers")
    func order() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write("GET /v1/counted HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n")
        let head = RawResponse(try await client.text(through: "\r\n\r\n"))
        #expect(head.status == 200 && head.headers["transfer-encoding"] == nil)
        // The other one has all before this one goes on.
        let (lines, error) = await read("/v1/counted", of: served)
        let slow = try await client.rest().split(separator: "\n").map { Array($0.utf8)[...] }
        #expect(error == nil)
        for lines in [lines, slow] {
            let events = try lines.dropLast().map { try JSON(parsing: $0, limit: 1 << 20)["data"]?.string ?? "" }
            #expect(events == (0..<2000).map { "\($0) " + String(repeating: "~", count: $0 * 37 % 5000) })
            #expect(String(decoding: lines.last ?? [], as: UTF8.self).contains("kitchen.teapot"))
        }
        try await served.stop()
    }

    @Test("a stream read by the calling thread ends as the daemon does")
    func stopped() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write("GET /v1/events HTTP/1.0\r\nAccept: application/x-ndjson\r\n\r\n")
        _ = try await client.text(through: "\r\n\r\n")
        served.events.send(LocalEvent(name: "n", data: 1))
        #expect(try await client.text(through: "\n").contains(#""data":1"#))
        async let rest = client.rest()
        try await served.stop()
        #expect(try await rest.contains("local-api.stopping"))
    }

    @Test("a stream read by the calling thread has its head whole, however it comes, and refuses others")
    func head() throws {
        let answer = "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nbody\n"
        for length in 0..<answer.utf8.count - 5 {
            var (head, bytes) = (ResponseHead(), Array(answer.utf8.prefix(length)))
            #expect(try !DirectStream.takeLines(of: &head, from: &bytes))
            #expect(!bytes.contains(UInt8(ascii: "\n")))
            bytes += answer.utf8.dropFirst(length)
            #expect(try DirectStream.takeLines(of: &head, from: &bytes))
            #expect(head.status == 404 && String(decoding: bytes, as: UTF8.self) == "body\n")
        }
        for text in ["HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "\r\n\r\n", "HTTP/1.1 2000\r\n\r\n"] {
            var (head, bytes) = (ResponseHead(), Array(text.utf8))
            #expect(throws: HTTPError.malformedResponse(url: "the local API")) {
                try DirectStream.takeLines(of: &head, from: &bytes)
            }
        }
        var (head, bytes) = (ResponseHead(), [UInt8](repeating: 0x41, count: ResponseHead.byteLimit + 1))
        #expect(throws: HTTPError.responseHeadTooLarge(url: "the local API")) {
            try DirectStream.takeLines(of: &head, from: &bytes)
        }
    }
}
