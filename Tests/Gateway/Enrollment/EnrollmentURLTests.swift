import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import Gateway

@Suite("Enrollment URL of a board")
struct EnrollmentURLTests {
    /// A hash whose encodings differ: bytes of 0xFF give `/` in base 64 and `_` in base64url.
    private static let hash = [UInt8](repeating: 0xFF, count: 32)

    @Test(
        "an enrollment URL without subjectKeyHash is refused before anything is sent (MAG checklist 1)",
        arguments: [
            "https://gw.lab.test:8443/connect/device/config", "https://gw.lab.test/c?sessionData=x",
            "https://gw.lab.test/c?subjectKeyHash=", "https://gw.lab.test/c?subjectKeyHash",
            "https://gw.lab.test/c?xsubjectKeyHash=a",
        ])
    func withoutHash(text: String) {
        #expect(throws: GatewayError.enrollmentURLWithoutKeyHash) { try Enrollment(url: text) }
        #expect(GatewayError.enrollmentURLWithoutKeyHash.localCode == 100_005)
    }

    @Test(
        "an enrollment URL with a hash that is not 32 bytes is refused",
        arguments: ["zz", "AAAA", "%3", "%3D", "%FF%FE"])
    func wrongHash(hash: String) {
        #expect(throws: GatewayError.enrollmentKeyHashInvalid) {
            try Enrollment(url: "https://gw.lab.test/c?subjectKeyHash=\(hash)")
        }
    }

    @Test("an enrollment URL may name its gateway by an IPv6 address, whose certificate is known by the pin alone")
    func address() throws {
        let url = try EnrollmentURL("https://[2001:DB8::1]:8443/connect/x?subjectKeyHash=\(Hex.encode(Self.hash))")
        #expect((url.host, url.port, url.isAddress) == ("[2001:db8::1]", 8443, true))
        let gateway = GatewayIdentity(host: "2001:db8:0::1", port: 8443, prefix: "")
        #expect(url.isBelow(gateway) && gateway.baseURL == "https://[2001:db8::1]:8443")
        #expect(GatewayIdentity(scope: gateway.scope) == gateway)
    }

    @Test(
        "an enrollment URL that is not https is refused",
        arguments: [
            "http://gw/c?subjectKeyHash=x", "ftp://gw/", "https://user@gw/c", "https://gw:0/c", "https://gw:99999/",
            "https:// gw/",
            "https://[::1%25eth0]/", "file://otherhost/etc/x", "",
        ])
    func noURL(text: String) {
        #expect { try Enrollment(url: text) } throws: {
            if case .enrollmentURLInvalid? = $0 as? GatewayError { true } else { false }
        }
    }

    @Test(
        "an enrollment URL's hash may be hex or base 64 of both alphabets, padded or percent-encoded",
        arguments: [
            Hex.encode(hash), Base64.encode(hash, alphabet: .urlSafe), Base64.encode(hash, alphabet: .urlSafe) + "%3D",
            Base64.encode(hash, alphabet: .urlSafe) + "=",
            Base64.encode(hash).replacingOccurrences(of: "/", with: "%2F"),
        ])
    func hashForms(text: String) throws {
        let url = try EnrollmentURL("https://GW.lab.test:9443/c?sessionData=a.b.c&subjectKeyHash=\(text)")
        #expect(url.pin.sha256 == Self.hash)
        #expect(url.host == "gw.lab.test")
        #expect(url.port == 9443)
    }

    @Test("an enrollment URL counts its first hash and is requested exactly as given (MAG quirk Q6)")
    func unchanged() throws {
        let one = Hex.encode(Self.hash)
        let text = "https://gw.lab.test/c?subjectKeyHash=\(one)&sessionData=x?subjectKeyHash=00"
        let url = try EnrollmentURL(text)
        #expect(url.pin.sha256 == Self.hash)
        #expect(url.text == text)
    }

    @Test("an enrollment URL is known as one of a gateway by its host, its port and the gateway's prefix")
    func gateway() throws {
        func isLikely(_ path: String, _ host: String, _ port: Int, _ prefix: String) throws -> Bool {
            try Enrollment(url: "https://GW.lab.test:8443/\(path)?subjectKeyHash=\(Hex.encode(Self.hash))")
                .isLikely(of: GatewayIdentity(host: host, port: port, prefix: prefix))
        }
        #expect(try isLikely("one/connect/c", "gw.lab.test", 8443, "one"))
        #expect(try isLikely("connect/c", "gw.lab.test", 8443, ""))
        for (host, port, prefix) in [
            ("gw.lab.test", 8443, ""), ("gw.lab.test", 8443, "on"), ("gw.lab.test", 443, "one"),
            ("other.lab.test", 8443, "one"),
        ] {
            #expect(try !isLikely("one/connect/c", host, port, prefix), "\(host):\(port)/\(prefix)")
        }
    }

    @Test("an enrollment URL may be a file, by path or file URL")
    func file() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "msso \(UUID()).json").path
        try Data(Documents.document()).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        for text in [path, URL(filePath: path).absoluteString] {
            let configuration = try await Enrollment(url: text).fetch(using: HTTPClient())
            #expect(configuration.masterClientID == "5c0e")
        }
    }

    @Test("an enrollment by a file that is missing, a directory or too large says so")
    func badFiles() async throws {
        await #expect(throws: GatewayError.configurationMissing(path: "/nonexistent/x.json")) {
            try await Enrollment(url: "/nonexistent/x.json").fetch(using: HTTPClient())
        }
        await #expect(throws: GatewayError.configurationUnreadable(source: "/tmp", reason: "it is not a regular file"))
        {
            try await Enrollment(url: "/tmp").fetch(using: HTTPClient())
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "large-\(UUID()).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(count: GatewayConfiguration.documentLimit + 1).write(to: URL(filePath: path))
        await #expect { try await Enrollment(url: path).fetch(using: HTTPClient()) } throws: {
            if case .configurationUnreadable? = $0 as? GatewayError { true } else { false }
        }
    }
}
