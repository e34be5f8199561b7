import Foundation
import Glibc
import Testing

@testable import Board

@Suite("gpsd")
struct GPSDTests {
    private static let version = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    private static let fix = #"{"class":"TPV","mode":3,"lat":49.2827,"lon":-123.1207,"alt":100.0}"#

    private func read(_ lines: String...) -> GPSDReader.Outcome {
        var reader = GPSDReader()
        return reader.receive(Array(lines.map { $0 + "\r\n" }.joined().utf8))
    }

    @Test("gpsd reports a fix once its receiver has one, in pieces of any size")
    func fixes() {
        let expected = GPSDReader.Outcome.fix(GPSFix(latitude: 49.2827, longitude: -123.1207))
        #expect(read(Self.version, #"{"class":"TPV","mode":1}"#, #"{"class":"SKY"}"#, Self.fix) == expected)
        var reader = GPSDReader()
        var outcomes = (Self.version + "\n" + Self.fix + "\n").utf8.map { reader.receive([$0]) }
        #expect(outcomes.popLast() == expected)
        #expect(outcomes.allSatisfy { $0 == .nothing })
    }

    @Test(
        "gpsd has no fix in modes 0 and 1, nor without numbers, nor off the Earth",
        arguments: [
            #"{"class":"TPV","mode":1,"lat":1.0,"lon":1.0}"#, #"{"class":"TPV","lat":1.0,"lon":1.0}"#,
            #"{"class":"TPV","mode":3}"#, #"{"class":"TPV","mode":3,"lat":91,"lon":0}"#,
            #"{"class":"TPV","mode":2,"lat":"1","lon":1}"#, #"{"class":"TPV","mode":4,"lat":1,"lon":1}"#,
            #"{"class":"POLL","mode":3,"lat":1,"lon":1}"#,
        ])
    func withoutFix(report: String) { #expect(read(Self.version, report) == .nothing) }

    @Test("a server that does not introduce itself as gpsd, or sends anything else, is not taken for gpsd")
    func others() {
        let refusals = [
            read(Self.fix), read("SSH-2.0-OpenSSH_9.2"), read(Self.version, "{}"), read(Self.version, "[1]"),
            read(String(repeating: "a", count: GPSDReader.lineLimit + 1)),
        ]
        for refusal in refusals {
            guard case .refused = refusal else {
                Issue.record("\(refusal)")
                continue
            }
        }
    }

    @Test("gpsd is looked for on this machine alone")
    func addresses() {
        #expect(GPSDAddress("127.0.0.1:2947")?.description == "127.0.0.1:2947")
        #expect(GPSDAddress("localhost:1") == .port(1, isVersion6: false))
        #expect(GPSDAddress("[::1]:65535")?.description == "[::1]:65535")
        #expect(GPSDAddress("/run/gpsd.sock") == .path("/run/gpsd.sock"))
        for wrong in [
            "", "/", "2947", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "192.0.2.1:2947", "gps.example:2947",
            "run/gpsd.sock", "/" + String(repeating: "a", count: 107), "localhost:+1x",
        ] { #expect(GPSDAddress(wrong) == nil, "\(wrong)") }
    }

    /// A listener at a Unix socket that says `text` to whoever connects, and nothing more.
    private func serving(_ text: String, _ body: (GPSDClient) async throws -> Void) async throws {
        let path = "/tmp/gpsd-\(UInt32.random(in: .min ... .max))"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(listener)
            unlink(path)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        #expect(isBound && listen(listener, 4) == 0)
        let server = Thread {
            let peer = accept(listener, nil, nil)
            _ = send(peer, text, text.utf8.count, Int32(MSG_NOSIGNAL))
            var rest = [UInt8](repeating: 0, count: 256)
            while recv(peer, &rest, rest.count, 0) > 0 {}
            close(peer)
        }
        server.start()
        try await body(GPSDClient(try #require(GPSDAddress(path))))
    }

    @Test("gpsd is asked over its socket, and waited for as long as the caller wants")
    func client() async throws {
        try await serving("\(Self.version)\n\(Self.fix)\n") { client in
            let fix = try await client.fix(within: .seconds(60))
            #expect(fix.latitude == 49.2827)
        }
        try await serving(Self.version + "\n") { client in
            await #expect(throws: BoardError.self) { try await client.fix(within: .milliseconds(50)) }
        }
        try await serving("220 mail.example ESMTP\r\n") { client in
            await #expect {
                try await client.fix(within: .seconds(60))
            } throws: { error in
                if case .gpsdFailed? = error as? BoardError { true } else { false }
            }
        }
        let nobody = GPSDClient(try #require(GPSDAddress("/tmp/nobody-listens-here")))
        await #expect {
            try await nobody.fix(within: .seconds(60))
        } throws: { error in
            if case .gpsdFailed(_, let reason)? = error as? BoardError {
                reason.contains("No such file")
            } else {
                false
            }
        }
    }
}
