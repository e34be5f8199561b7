import Foundation
import HTTPClient
import TestSupport

/// `server.py` on a port or socket of its own, ended with the last reference.
final class TestServer: Sendable {
    /// What `/echo` tells of a request.
    struct Echo: Decodable {
        let connection: Int
        /// The common name of the client's certificate.
        let certificate: String?
        let method: String
        let path: String
        let headers: [[String]]
        let body: String

        func values(_ name: String) -> [String] { headers.filter { $0[0] == name }.map { $0[1] } }
    }

    struct Ended: Error {}

    let port: Int
    private let process = Process()
    private let input: FileHandle
    private let lines: Lines

    init(_ arguments: [String] = []) async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server.py")
        let (input, output) = (try PrivatePipe(), try PrivatePipe())
        self.input = input.writing
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [script.path] + arguments
        process.standardInput = input.reading
        process.standardOutput = output.writing
        lines = Lines(output.reading)
        try process.run()
        try input.reading.close()
        try output.writing.close()
        port = Int(try await lines.first { $0.hasPrefix("port ") }.dropFirst(5))!
    }

    /// Not by SIGTERM, after which a program decides itself when it ends.
    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func http(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
    func https(_ path: String, host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    /// Waits for the server to say this.
    func said(_ beginning: String) async throws -> String { try await lines.first { $0.hasPrefix(beginning) } }

    func write(_ line: String) { input.write(Data("\(line)\n".utf8)) }

    /// The lines of a pipe, in order.
    private final class Lines: Sendable {
        private let stream: AsyncStream<String>

        init(_ handle: FileHandle) {
            let (stream, continuation) = AsyncStream.makeStream(of: String.self)
            self.stream = stream
            // Not a handler of the file handle's: libdispatch crashes where the number of a descriptor soon has another
            // owner.
            Thread.detachNewThread {
                var rest = ""
                while case let data = handle.nextPiece(), !data.isEmpty {
                    var lines = (rest + String(decoding: data, as: UTF8.self)).components(separatedBy: "\n")
                    rest = lines.removeLast()
                    for line in lines { continuation.yield(line) }
                }
                continuation.finish()
            }
        }

        func first(where fits: (String) -> Bool) async throws -> String {
            for await line in stream where fits(line) { return line }
            throw Ended()
        }
    }
}

extension HTTPResponse {
    func echo() throws -> TestServer.Echo { try JSONDecoder().decode(TestServer.Echo.self, from: Data(body)) }
}

extension HTTPRequest {
    /// A request to a server without TLS.
    static func plain(_ method: String, _ url: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil) -> HTTPRequest
    {
        var request = HTTPRequest(method, url, headers: headers, body: body)
        request.allowsPlainHTTP = true
        return request
    }
}
