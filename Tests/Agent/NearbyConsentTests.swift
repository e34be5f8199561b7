import Bluetooth
import Foundation
import Groundwork
import Proximity
import Synchronization
import Testing

@testable import Agent
@testable import Gateway

@Suite("Letting devices nearby in", .timeLimit(.minutes(2)))
struct NearbyConsentTests {
    @Test("tells who waits; at the agent's end answers them, leaves the air, ends Bluetooth and keeps the record, in this order")
    func closing() async throws {
        try await withVicinity { vicinity in
            var ends = vicinity.nearby.sharingEnds.subscribe().makeAsyncIterator()
            let told = vicinity.nearby.events.subscribe()
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            let id = await vicinity.question()
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
            #expect(names == [
                "sharing-started", "central-connected", "central-subscribed", "request-received", "consent-asked",
                "consent-answered", "sharing-end-requested", "session-not-authorized", "session-notified", "sharing-stopped",
            ])
        }
    }

    @Test("asks the gateway after a grant; what it says is told and kept, and others may ask")
    func granted() async throws {
        try await withVicinity { vicinity in
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            try await vicinity.nearby.desk.answer(await vicinity.question(), grant: true, by: .button)
            await peripheral.acts.wait(for: .notified(central(1), "1"))
            #expect(await vicinity.nearby.isSharing)
            await vicinity.nearby.close()
            #expect(await vicinity.audit("outcome") == ["failed"])
            #expect(await vicinity.audit("code") == ["gateway.not-registered"])
            #expect(await vicinity.audit("by") == ["button"])
        }
    }

    @Test("is for the user who agreed: in the name of one who logged in later nobody is even asked")
    func anotherUser() async throws {
        try await withVicinity { vicinity in
            let peripheral = try await vicinity.share()
            try await vicinity.nearby.shared?.requireUserSession()
            try await vicinity.logIn("bob", at: Date(timeIntervalSince1970: 1_900_000_060))
            peripheral.request(by: central(1))
            await peripheral.acts.wait(for: .notified(central(1), "1"))
            #expect(!vicinity.recorder.names.contains("consent-asked"))
            await #expect(throws: GatewayError.userRequired) { try await vicinity.nearby.shared?.requireUserSession() }
        }
    }

    @Test("lets nobody in whom nobody answers in the time of the settings")
    func patience() async throws {
        try await withVicinity { $0.proximity.consentSeconds = 1 } _: { vicinity in
            let peripheral = try await vicinity.share()
            peripheral.request(by: central(1))
            await peripheral.acts.wait(for: .notified(central(1), "2"))
            await vicinity.nearby.close()
            #expect(await vicinity.audit("decision") == ["timed-out"])
        }
    }

    @Test("goes by a scanned code of its own gateway, after consent")
    func scanned() async throws {
        try await withVicinity { vicinity in
            let foreign = await #expect(throws: ProximityError.self) {
                try await vicinity.nearby.authorize(scanned: "https://gw.evil.test/auth", name: nil, by: vicinity.session)
            }
            #expect(foreign?.code == "proximity.invalid-authorize-url")
            #expect(!vicinity.recorder.names.contains("consent-asked"))

            let asking = Task { try await vicinity.nearby.authorize(scanned: ownURL, name: "phone", by: vicinity.session) }
            try await vicinity.nearby.desk.answer(await vicinity.question(), grant: false, by: .user("root"))
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

@Suite("The record of consent beside its writer", .timeLimit(.minutes(2)))
struct NearbyRecordTests {
    /// Has somebody refused at once, as the settings admit no more than four questions a minute.
    private func refuse(_ count: Int, by desk: ConsentDesk, first: Int = 0) async {
        for number in first..<(first + count) {
            _ = await desk.ask(Requester(name: "\(number)", address: "C0:FF:EE:00:00:01", way: .ble))
        }
    }

    /// Uses up what one device may ask.
    private func useUp(_ desk: ConsentDesk) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await desk.ask(Requester(name: "first", address: "C0:FF:EE:00:00:01", way: .ble)) }
            while await desk.pending.isEmpty, !Task.isCancelled { await Task.yield() }
            try? await desk.answer(1, grant: false, by: .button)
        }
    }

    @Test("has every question in the order of its answer, also those whose record waits when the agent ends")
    func order() async throws {
        try await withVicinity { $0.proximity.requestsPerMinute = 1 } _: { vicinity in
            await useUp(vicinity.nearby.desk)
            let storage = await StorageHold()
            await refuse(200, by: vicinity.nearby.desk)
            storage.letGo()
            await vicinity.nearby.close()
            let names = await vicinity.audit("name")
            #expect(names == ["first"] + (0..<200).map { "\($0)" })
            #expect(vicinity.auditFailures.entries == [])
        }
    }

    @Test("is bounded while the disk does not keep up: the newest are left out, and that is told")
    func bound() async throws {
        try await withVicinity { $0.proximity.requestsPerMinute = 1 } _: { vicinity in
            await useUp(vicinity.nearby.desk)
            let storage = await StorageHold()
            await refuse(1100, by: vicinity.nearby.desk)
            storage.letGo()
            await vicinity.nearby.close()
            let kept = await vicinity.audit("name").dropFirst().compactMap { $0.flatMap { Int($0) } }
            // What waits, and what the writer has taken, sooner or later, before it is held up.
            #expect((1023...1025).contains(kept.count))
            let (isInOrder, begins) = (kept == kept.sorted(), kept.starts(with: 0..<1023))
            #expect(isInOrder && begins)
            #expect(vicinity.auditFailures.entries.count == 1100 - kept.count)
            #expect(vicinity.auditFailures.entries.allSatisfy { $0.code == "agent.state-directory" })
        }
    }
}

/// Keeps the thread of all databases busy, for as short as can be: others' tests use it too.
private final class StorageHold: Sendable {
    private actor Holder {
        nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

        func hold(until end: DispatchSemaphore, _ begun: CheckedContinuation<Void, Never>) {
            begun.resume()
            _ = end.wait(timeout: .now() + 30)
        }
    }
    private let end = DispatchSemaphore(value: 0)

    /// Returns when it is busy.
    init() async {
        let end = end
        await withCheckedContinuation { begun in Task { await Holder().hold(until: end, begun) } }
    }

    func letGo() { end.signal() }
}

@Suite("Being let in by devices nearby", .timeLimit(.minutes(2)))
struct NearbyLogInTests {
    @Test("goes on once at a time, by whichever way, and may be tried again after it failed")
    func once() async throws {
        let gateway = try SilentServer()
        let server: [String: Any] = ["hostname": "127.0.0.1", "port": Int(gateway.port), "prefix": ""]
        try await withVicinity(document: { $0["server"] = server }, isLoggedIn: false) { vicinity in
            let (nearby, session) = (vicinity.nearby, vicinity.session)
            let first = Task { try await nearby.logInByQRCode(at: session) { _ in } }
            let connection = await gateway.connection()
            await #expect(throws: ProximityError.loginInProgress) { try await nearby.logInByBluetooth(at: session) }
            await #expect(throws: ProximityError.loginInProgress) {
                try await nearby.logInByQRCode(at: session) { _ in }
            }
            close(connection)
            gateway.end()
            let failure = await #expect(throws: (any Error).self) { try await first.value }
            #expect(!(failure is ProximityError), "it failed by the gateway: \(failure.map { "\($0)" } ?? "")")
            let next = await #expect(throws: (any Error).self) { try await nearby.logInByBluetooth(at: session) }
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
