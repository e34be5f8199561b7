import Cryptography
import Foundation
import Groundwork
import TestSupport

@testable import Messaging

/// A real proxy, Debian's tinyproxy, on a loopback port of its own; stopped with its last reference.
struct TestProxy {
    let port: Int
    private let program: Program
    private let bench: Bench

    /// - Parameter login: the only user and password that it accepts.
    init(login: (user: String, password: String)? = nil) async throws {
        (bench, port) = (try Bench(), try UnusedPort.reserve())
        let file = try bench.write(
            """
            Port \(port)
            Listen 127.0.0.1
            Timeout 600
            LogLevel Info
            MaxClients 50
            \(login.map { "BasicAuth \($0.user) \($0.password)" } ?? "")

            """, to: "tinyproxy.conf")
        program = try Program("/usr/bin/tinyproxy", ["-d", "-c", file])
        guard await program.firstLine(containing: "Accepting connections") != nil else {
            throw TestBroker.BrokerDidNotStart()
        }
    }

    func proxy(_ login: String = "") throws -> BrokerProxy { try BrokerProxy(url: "http://\(login)127.0.0.1:\(port)") }

    /// Waits for a line of its log.
    func says(_ text: String) async -> Bool { await program.firstLine(containing: text) != nil }
}

extension Station {
    /// Why its first attempt failed.
    func failure() async -> MessagingError? {
        let events = messenger.events.subscribe()
        run()
        return await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
    }
}
