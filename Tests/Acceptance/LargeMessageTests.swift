import Cryptography
import Foundation
import TestSupport
import Testing

/// What anybody can do to a board who may publish to one of its topics.
@Suite("Messages that are too large", .timeLimit(.minutes(8)))
struct LargeMessageTests {
    /// The most memory that a process had so far, in kB (proc(5)).
    private static func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    @Test(
        "messages that are too large take no memory, and those after them arrive over the same connection",
        arguments: [false, true])
    func memory(isSecure: Bool) async throws {
        let folder = URL(filePath: "/tmp/lk-large-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let started = StartedPrograms()
        defer { started.endAll() }
        try await StartedPrograms.$here.withValue(started) {
            let authority = isSecure ? try TestAuthority() : nil
            let broker = try await OtherBroker(in: folder, authority: authority)
            let certificate = folder.appending(path: "ca.pem")
            try authority?.certificate.pem.write(to: certificate, atomically: true, encoding: .utf8)
            let release = FootprintTests.release.map { Program(url: URL(filePath: $0)) }
            let board = try TestBoard(
                program: release ?? Program(name: "latchkey"),
                settings: """
                    [[brokers]]
                    name = "plant"
                    host = "\(broker.address)"
                    client_id = "board"
                    \(isSecure ? "certificates = [\"\(certificate.path)\"]" : "tls = false")
                    """)
            try await board.start()
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let reader = try board.follow("subscribe", "--broker", "plant", "plant/order")
            _ = try await broker.program.errors.line(containing: "Sending SUBACK to board")
            let process = try #require(board.daemon?.processIdentifier)
            let before = try Self.peak(of: process)

            let large = folder.appending(path: "large")
            try Data(count: 64 << 20).write(to: large)
            let secure = isSecure ? ["--cafile", certificate.path] : []
            for what in [["-f", large.path], ["-m", "after"]] {
                let published = try await Program(url: URL(filePath: "/usr/bin/mosquitto_pub")).run(
                    ["-h", broker.address, "-p", "\(broker.port)", "-q", "1", "-t", "plant/order"] + secure + what)
                #expect(published.status == 0, "\(published.errors)")
            }
            _ = try await reader.output.line(containing: "after")
            #expect(try Self.peak(of: process) - before < 16 << 10)
            #expect(try await broker.connections(of: "board", atLeast: 1) == 1)
            let dropped = try await events.output.line(containing: "message.too-large")
            #expect(dropped.contains("67108864"), "\(dropped)")
            try await board.tearDown()
        }
    }
}
