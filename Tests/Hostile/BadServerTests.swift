import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Messaging
import TestSupport
import Testing

@Suite("A server with one fault", .timeLimit(.minutes(8)))
struct BadServerTests {
    /// In place of the product's minute: what comes late here never comes.
    private static func patience(with bad: BadServerCase) -> Duration {
        bad.https == .late ? .seconds(1) : .seconds(60)
    }

    @Test(
        "a server with one fault is refused over HTTPS with the error that says why, and a good one is not",
        arguments: BadServerCase.all)
    func https(bad: BadServerCase) async throws {
        let servers = try await BadServers.shared
        var request = HTTPRequest(
            "GET", "https://127.0.0.1:\(try servers.port(of: bad.server))/", trust: bad.serverTrust(servers),
            identity: try bad.identity)
        request.handshakeTimeout = Self.patience(with: bad)
        do throws(HTTPError) {
            let answer = try await HTTPClient().send(request)
            #expect(answer.status == 200 && answer.body == Array("ok".utf8))
            #expect(bad.https == .accepted)
        } catch {
            #expect(Self.verdict(error) == bad.https, "\(error.code): \(error.message)")
            #expect(error.code == Self.code(bad.https, in: "http"))
            #expect(error.remedy != nil)
        }
    }

    @Test(
        "a server with one fault is refused over MQTT with the error that says why, and a good one is not",
        arguments: BadServerCase.all)
    func mqtt(bad: BadServerCase) async throws {
        let servers = try await BadServers.shared
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-bad-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = MessengerSettings()
        settings.connectTimeout = Self.patience(with: bad)
        let outbox = try await Outbox.open(at: folder.appending(path: "outbox.db").path)
        let messenger = Messenger(
            address: BrokerAddress(host: "127.0.0.1", port: try servers.port(of: bad.server)), outbox: outbox,
            settings: settings
        ) {
            BrokerCredentials(
                clientID: "board", userName: "board", password: SecretBytes(utf8: "token"),
                tls: try TLSContext(trust: bad.serverTrust(servers), identity: bad.identity))
        }
        let events = messenger.events.subscribe()
        let running = Task { try await messenger.run() }
        for await event in events {
            switch event {
            case .connected:
                #expect(bad.mqtt == .accepted)
            case .failed(let error, _):
                let verdict = Self.verdict(error)
                #expect(verdict == bad.mqtt || verdict == bad.otherwise, "\(error.code): \(error.message)")
                #expect(error.code == Self.code(verdict, in: "messaging"))
                #expect(error.remedy != nil)
            default: continue
            }
            break
        }
        running.cancel()
        _ = try? await running.value
        await outbox.close()
    }

    private static func verdict(_ error: HTTPError) -> Verdict {
        switch error {
        case .tls(_, let refusal): Verdict(refusal)
        case .handshakeFailed: .failed
        case .handshakeTimeout: .late
        case .connectionLost: .lost
        case .clientCertificateRefused: .clientRefused
        default: .other(error.message)
        }
    }

    private static func verdict(_ error: MessagingError) -> Verdict {
        switch error {
        case .tlsRefused(_, let refusal): Verdict(refusal)
        case .tlsFailed: .failed
        case .connectTimeout: .late
        case .connectionLost: .lost
        default: .other(error.message)
        }
    }

    /// The stable code of a verdict.
    private static func code(_ verdict: Verdict, in room: String) -> String {
        let codes =
            switch verdict {
            case .refused: (http: "http.server-not-trusted", messaging: "messaging.tls-refused")
            case .failed: (http: "http.handshake-failed", messaging: "messaging.tls-failed")
            case .late: (http: "http.handshake-timeout", messaging: "messaging.connect-timeout")
            case .lost: (http: "http.connection-lost", messaging: "messaging.connection-lost")
            case .clientRefused: (http: "http.client-certificate-refused", messaging: "messaging.tls-failed")
            case .accepted, .other: (http: "", messaging: "")
            }
        return room == "http" ? codes.http : codes.messaging
    }
}
