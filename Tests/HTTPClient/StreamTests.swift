import Foundation
import Groundwork
import HTTPClient
import Testing

@Suite("A stream over a Unix socket", .timeLimit(.minutes(5)))
struct StreamTests {
    private let client = HTTPClient()

    @Test("a stream over a Unix socket delivers the head first, then each piece as it arrives, then its end")
    func pieces() async throws {
        let server = try await UnixServer()
        let stream = try await client.open(server.request("/events"))
        #expect(stream.status == 200)
        #expect(stream.headers.first("Transfer-Encoding") == "chunked")
        var iterator = stream.makeAsyncIterator()
        for text in ["one", "two"] {
            server.process.write(text)
            #expect(try await iterator.next() == Array("\(text)\n".utf8))
        }
        server.process.write("end")
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("a stream over a Unix socket makes the server wait for a slow reader and keeps little in memory")
    func backPressure() async throws {
        let server = try await UnixServer()
        var stream: HTTPStream? = try await client.open(server.request("/endless"))
        var (largest, total) = (0, 0)
        for try await piece in stream! {
            largest = max(largest, piece.count)
            total += piece.count
            if total > 8 * HTTPStream.bufferLimit { break }
        }
        #expect(largest <= HTTPStream.bufferLimit)
        stream = nil
        // What was sent beyond what was read fits into the stream's own buffer and those of libcurl and the socket.
        let sent = try #require(Int(try await server.process.said("closed after ").dropFirst(13)))
        #expect(sent < total + HTTPStream.bufferLimit + 1_048_576)
    }

    @Test("a stream over a Unix socket that nobody reads stops the server")
    func unread() async throws {
        let server = try await UnixServer()
        var stream: HTTPStream? = try await client.open(server.request("/endless"))
        // Another exchange of the same thread shows that the paused transfer stops nobody else.
        for _ in 0..<20 { #expect(try await client.send(server.request("/status?code=200")).status == 200) }
        #expect(stream?.status == 200)
        stream = nil
        let sent = try #require(Int(try await server.process.said("closed after ").dropFirst(13)))
        #expect(sent < HTTPStream.bufferLimit + 1_048_576)
    }

    @Test("a stream over a Unix socket ends when its reader is canceled")
    func cancellation() async throws {
        let server = try await UnixServer()
        let stream = try await client.open(server.request("/events"))
        let (read, hasRead) = AsyncStream.makeStream(of: Void.self)
        let reader = Task {
            for try await _ in stream { hasRead.yield() }
        }
        server.process.write("one")
        for await _ in read { break }
        reader.cancel()
        await #expect(throws: HTTPError.cancelled) { try await reader.value }
    }

    @Test("a stream over a Unix socket that is canceled before its head arrived throws")
    func cancelledOpening() async throws {
        let server = try await UnixServer()
        let opening = Task { try await client.open(server.request("/silence")) }
        #expect(try await server.process.said("asked") == "asked")
        opening.cancel()
        await #expect(throws: HTTPError.cancelled) { try await opening.value }
        #expect(try await server.process.said("left") == "left")
    }

    @Test("a stream over a Unix socket that breaks off delivers what arrived, then throws")
    func broken() async throws {
        let server = try await UnixServer()
        var received: [UInt8] = []
        let error = await #expect(throws: HTTPError.self) {
            for try await piece in try await client.open(server.request("/cut")) { received += piece }
        }
        #expect(received == Array("0123456789".utf8))
        #expect(error?.code == "http.connection-lost")
    }

    /// `server.py` on a socket in a directory of its own.
    private final class UnixServer: Sendable {
        let process: TestServer
        let path: String

        init() async throws {
            let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            path = directory.appending(path: "socket").path
            process = try await TestServer(["--unix", path])
        }

        deinit { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }

        func request(_ target: String) -> HTTPRequest {
            var request = HTTPRequest("GET", "http://localhost\(target)")
            request.unixSocket = path
            return request
        }
    }
}
