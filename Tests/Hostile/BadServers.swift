import Cryptography
import Foundation
import TestSupport
import Testing

/// `bad_servers.py` at work: TLS servers that are wrong, each in one way.
final class BadServers: Sendable {
    let root: Certificate
    let intermediate: Certificate
    let leaf: Certificate
    let stranger: Certificate
    private let ports: [String: Int]
    private let program: RunningProgram

    init() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-bad-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Whatever is in it has been read when the servers are ready.
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "bad_servers.py")
        // Debian's own, for which Debian's library is made.
        program = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-W", "ignore", script.path, folder.path])
        _ = try await program.output.line(containing: "ready")
        ports = program.output.lines.reduce(into: [:]) { ports, line in
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = Int(words[1]) }
        }
        func certificate(_ name: String) throws -> Certificate {
            try Certificate(pem: String(contentsOf: folder.appending(path: "\(name).pem"), encoding: .utf8))
        }
        root = try certificate("root")
        intermediate = try certificate("intermediate")
        leaf = try certificate("leaf")
        stranger = try certificate("stranger")
    }

    func port(of name: String) throws -> Int {
        guard let port = ports[name] else { throw Unexpected("there is no bad server \(name): \(program.errors.text)") }
        return port
    }

    /// It ends by itself when the process of the tests does; with this, before.
    func stop() { kill(program.processIdentifier, SIGTERM) }

    deinit { stop() }

    /// One for all tests of this process.
    static var shared: BadServers { get async throws { try await starting.value } }
    private static let starting = Task { try await BadServers() }
}

/// What a client says of a server, of whichever protocol.
enum Verdict: Equatable, CustomStringConvertible {
    case accepted
    /// The certificate was judged, and this is the judgement.
    case refused(Judgement)
    /// TLS could not be agreed on.
    case failed
    /// The server took too long.
    case late
    /// The connection ended too early.
    case lost
    /// The server did not take the client's certificate.
    case clientRefused
    /// Something that no test expects.
    case other(String)

    enum Judgement: String { case pin, host, expired, notYetValid, weak, tooLong, untrusted }

    var description: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let judgement): "refused: \(judgement)"
        case .failed: "no TLS"
        case .late: "too late"
        case .lost: "lost"
        case .clientRefused: "client refused"
        case .other(let text): text
        }
    }

    init(_ refusal: TLSRefusal) {
        self =
            switch refusal {
            case .pinMismatch: .refused(.pin)
            case .hostMismatch, .commonNameOnly: .refused(.host)
            case .expired: .refused(.expired)
            case .notYetValid: .refused(.notYetValid)
            case .weak: .refused(.weak)
            case .chainTooLong: .refused(.tooLong)
            case .untrusted: .refused(.untrusted)
            }
    }
}

/// A bad server with what the client demands of it, and what must come of it.
struct BadServerCase: Sendable, CustomTestStringConvertible {
    let server: String
    var host = "localhost"
    var trust: Trust = .anchored
    let https: Verdict
    let mqtt: Verdict
    /// Another verdict of the same server, where the reason may be lost with the connection.
    var otherwise: Verdict?

    enum Trust: Sendable {
        case anchored, intermediateAlone, pinnedLeaf, pinnedIntermediate, pinnedStranger
        case anchoredAndPinnedIntermediate, anchoredAndPinnedElsewhere
    }

    init(_ server: String, _ verdict: Verdict, host: String = "localhost", trust: Trust = .anchored) {
        self.init(server, https: verdict, mqtt: verdict, host: host, trust: trust)
    }

    init(
        _ server: String, https: Verdict, mqtt: Verdict, or otherwise: Verdict? = nil, host: String = "localhost",
        trust: Trust = .anchored
    ) {
        (self.server, self.host, self.trust) = (server, host, trust)
        (self.https, self.mqtt, self.otherwise) = (https, mqtt, otherwise)
    }

    var testDescription: String { trust == .anchored ? server : "\(server), \(trust)" }

    /// One that no server's authority has issued, shown to those that ask for one and then refuse it.
    var identity: TLSIdentity? {
        get throws {
            guard server.hasPrefix("client-refused") else { return nil }
            let key = try PrivateKey(generating: .p256)
            var template = CertificateTemplate(
                subject: DistinguishedName([(.commonName, "board")]), notBefore: Date(timeIntervalSinceNow: -3600),
                notAfter: Date(timeIntervalSinceNow: 3600), isCA: false)
            template.usage = [.client]
            return TLSIdentity(key: key, chain: [try template.issue(for: key.publicKey, by: nil, signedWith: key)])
        }
    }

    /// As the gateway's session makes it of its configuration (MAG 1.4).
    func serverTrust(_ servers: BadServers) -> ServerTrust {
        func pin(_ certificate: Certificate) -> [PublicKeyPin] { [PublicKeyPin(of: certificate.publicKey)] }
        return switch trust {
        case .anchored: ServerTrust(host: host, anchors: [servers.root])
        case .pinnedLeaf: ServerTrust(host: host, pins: pin(servers.leaf))
        case .pinnedIntermediate: ServerTrust(host: host, pins: pin(servers.intermediate))
        case .pinnedStranger: ServerTrust(host: host, pins: pin(servers.stranger))
        case .anchoredAndPinnedIntermediate:
            ServerTrust(host: host, anchors: [servers.root], pins: pin(servers.intermediate))
        case .anchoredAndPinnedElsewhere: ServerTrust(host: host, anchors: [servers.root], pins: pin(servers.stranger))
        case .intermediateAlone: ServerTrust(host: host, anchors: [servers.intermediate])
        }
    }

    static let all: [BadServerCase] = [
        // The good server, and the trusts that it satisfies.
        .init("good", .accepted), .init("good-1.2", .accepted), .init("good", .accepted, trust: .pinnedLeaf),
        .init("good", .accepted, trust: .pinnedIntermediate),
        .init("good", .accepted, trust: .anchoredAndPinnedIntermediate),
        .init("good", .accepted, trust: .intermediateAlone),
        .init("client-wanted", https: .clientRefused, mqtt: .failed, or: .lost),
        // Certificates.
        .init("expired", .refused(.expired)), .init("not-yet-valid", .refused(.notYetValid)),
        .init("expired-intermediate", .refused(.expired)), .init("self-signed", .refused(.untrusted)),
        .init("other-authority", .refused(.untrusted)), .init("missing-intermediate", .refused(.untrusted)),
        .init("other-host", .refused(.host)), .init("other-address", .refused(.host), host: "127.0.0.1"),
        .init("name-in-subject", .refused(.host)), .init("address-as-name", .refused(.host), host: "127.0.0.1"),
        .init("wildcard-alone", .refused(.host)), .init("wildcard-top", .refused(.host), host: "gateway.com"),
        .init("wildcard-partial", .refused(.host), host: "gateway.lab.example"),
        .init("wildcard-deep", .refused(.host), host: "gateway.lab.example"),
        .init("weak-key", .refused(.weak)), .init("weak-intermediate", .refused(.weak)),
        .init("weak-signature", .refused(.weak)),
        .init("client-usage", .refused(.untrusted)), .init("issued-by-no-authority", .refused(.untrusted)),
        .init("issued-by-a-server", .refused(.untrusted)), .init("constraint-violated", .refused(.untrusted)),
        .init("unknown-critical", .refused(.untrusted)), .init("long-chain", .refused(.tooLong)),
        .init("huge-chain", .failed),
        // Pins.
        .init("good", .refused(.pin), trust: .pinnedStranger),
        .init("good", .refused(.pin), trust: .anchoredAndPinnedElsewhere),
        .init("missing-intermediate", .refused(.pin), trust: .pinnedIntermediate),
        .init("expired", .refused(.expired), trust: .pinnedIntermediate),
        .init("other-host", .refused(.host), trust: .pinnedIntermediate),
        // Protocol versions and ciphers.
        .init("tls-1.0", .failed), .init("tls-1.1", .failed), .init("no-forward-secrecy", .failed),
        .init("no-authenticated-encryption", .failed), .init("anonymous", .failed), .init("no-encryption", .failed),
        // The client's certificate, which TLS 1.3 judges only after the handshake: the server's reset may overtake its
        // reason where the client writes first.
        .init("client-refused-1.3", https: .clientRefused, mqtt: .failed, or: .lost),
        .init("client-refused-1.2", https: .clientRefused, mqtt: .failed),
        // Behavior.
        .init("mute", .late), .init("drips", .late), .init("records-without-end", .failed),
        .init("alerts-without-end", .failed),
        .init("truncated-record", https: .failed, mqtt: .lost), .init("oversized-record", .failed),
        .init("cut-in-handshake", https: .failed, mqtt: .lost), .init("garbage", .failed), .init("plain-http", .failed),
        .init("plain-mqtt", https: .failed, mqtt: .lost), .init("hangs-up", https: .failed, mqtt: .lost),
        .init("refuses", .failed),
        .init("renegotiates", https: .lost, mqtt: .failed), .init("speaks-after-goodbye", .lost),
    ]
}
