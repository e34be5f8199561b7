import Bluetooth
import Foundation
import Groundwork
import Prompts
import Proximity
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby
@testable import Gateway

@Suite("Letting devices nearby in", .timeLimit(.minutes(8)))
struct NearbyConsentTests {
    @Test("consent at the agent's end is answered, then the air, Bluetooth and the record end in this order")
    func closing() async throws {
        try await withVicinity { vicinity in
            var ends = vicinity.nearby.sharing.ends.subscribe().makeAsyncIterator()
            let told = vicinity.nearby.events.subscribe()
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            let id = try await vicinity.question()
            let waiting = await vicinity.report("consents")?.array
            #expect(waiting?.count == 1)
            #expect(waiting?.first?["name"] == "Pixel")
            #expect(waiting?.first?["id"] == .integer(Int64(id)))

            await vicinity.nearby.close()
            #expect(peripheral.acts.entries == [.notified(central(1), "2"), .stopped])
            #expect(vicinity.radio.closed.entries == [true])
            #expect(await vicinity.audit("decision") == ["sharing-ended"])
            #expect(await vicinity.audit("by") == ["agent"])
            #expect(await ends.next() == .requested)
            #expect(await ends.next() == nil)
            var names: [String] = []
            for await event in told { names.append(String(event.name.dropFirst("proximity.".count))) }
            #expect(
                names == [
                    "sharing-started", "central-connected", "central-subscribed", "request-received", "consent-asked",
                    "consent-answered", "sharing-end-requested", "session-not-authorized", "session-notified",
                    "sharing-stopped",
                ])
        }
    }

    @Test("the gateway is asked after a grant, its answer is reported and kept, and others may ask")
    func granted() async throws {
        try await withVicinity { vicinity in
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            try await vicinity.nearby.desk.answer(try await vicinity.question(), grant: true, by: .button)
            try await peripheral.acts.wait(for: .notified(central(1), "1"))
            #expect(await vicinity.nearby.isSharing)
            await vicinity.nearby.close()
            #expect(await vicinity.audit("outcome") == ["failed"])
            #expect(await vicinity.audit("code") == ["gateway.not-registered"])
            #expect(await vicinity.audit("by") == ["button"])
            #expect(await vicinity.audit("user") == ["alice"])
        }
    }

    @Test("consent is for the user who agreed, and nobody is asked in the name of a later user")
    func anotherUser() async throws {
        try await withVicinity { vicinity in
            let peripheral = try await vicinity.share()
            try await vicinity.nearby.sharing.gateway?.requireUserSession()
            try await vicinity.logIn("bob", at: Date(timeIntervalSince1970: 1_900_000_060))
            peripheral.request(by: central(1))
            try await peripheral.acts.wait(for: .notified(central(1), "1"))
            #expect(!vicinity.recorder.names.contains("consent-asked"))
            await #expect(throws: GatewayError.userRequired) {
                try await vicinity.nearby.sharing.gateway?.requireUserSession()
            }
        }
    }

    @Test("nobody is let in nearby without an answer in the time of the settings")
    func patience() async throws {
        try await withVicinity {
            $0.proximity.consentSeconds = 1
        } _: { vicinity in
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            try await peripheral.acts.wait(for: .notified(central(1), "2"))
            await vicinity.nearby.close()
            #expect(await vicinity.audit("decision") == ["timed-out"])
        }
    }

    @Test("a scanned code of the board's own gateway lets a device in, after consent")
    func scanned() async throws {
        try await withVicinity { vicinity in
            let foreign = await #expect(throws: ProximityError.self) {
                try await vicinity.nearby.authorize(
                    scanned: "https://gw.evil.test/auth", name: nil, by: vicinity.session)
            }
            #expect(foreign?.code == "proximity.invalid-authorize-url")
            #expect(!vicinity.recorder.names.contains("consent-asked"))

            let asking = Task {
                try await vicinity.nearby.authorize(scanned: ownURL, name: "phone", by: vicinity.session)
            }
            try await vicinity.nearby.desk.answer(try await vicinity.question(), grant: false, by: .user("root"))
            await #expect(throws: ProximityError.userDeclined(by: "user root")) { try await asking.value }
            await vicinity.nearby.close()
            #expect(await vicinity.audit("way") == ["qr"])
        }
        try await withVicinity(isLoggedIn: false) { vicinity in
            let error = await #expect(throws: ProximityError.self) {
                try await vicinity.nearby.authorize(scanned: ownURL, name: nil, by: vicinity.session)
            }
            #expect(error?.code == "proximity.no-user-session")
        }
    }
}

@Suite("Being let in by devices nearby", .timeLimit(.minutes(8)))
struct NearbyLoginTests {
    @Test("being let in by devices nearby goes on once at a time, and may be tried again after a failure")
    func once() async throws {
        let gateway = try SilentServer()
        let server: [String: Any] = ["hostname": "127.0.0.1", "port": Int(gateway.port), "prefix": ""]
        try await withVicinity(document: { $0["server"] = server }, isLoggedIn: false) { vicinity in
            let (nearby, session) = (vicinity.nearby, vicinity.session)
            let first = Task { try await nearby.logIn.byQRCode(at: session) { _ in } }
            let connection = await gateway.connection()
            await #expect(throws: ProximityError.loginInProgress) { try await nearby.logIn.byBluetooth(at: session) }
            await #expect(throws: ProximityError.loginInProgress) {
                try await nearby.logIn.byQRCode(at: session) { _ in }
            }
            close(connection)
            gateway.end()
            let failure = await #expect(throws: (any Error).self) { try await first.value }
            #expect(!(failure is ProximityError), "it failed by the gateway: \(failure.map { "\($0)" } ?? "")")
            let next = await #expect(throws: (any Error).self) { try await nearby.logIn.byBluetooth(at: session) }
            #expect(next as? ProximityError != .loginInProgress)
        }
    }
}

/// Takes connections, and says nothing.
private final class SilentServer: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(made, $0, length) + listen(made, 8) + getsockname(made, $0, &length)
            }
        }
        try #require(status == 0)
        (descriptor, port) = (made, UInt16(bigEndian: address.sin_port))
    }

    /// The next one; -1 when none came in time.
    func connection() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                var limit = timeval(tv_sec: 60, tv_usec: 0)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
                continuation.resume(returning: accept(descriptor, nil, nil))
            }
        }
    }

    func end() { close(descriptor) }
}
