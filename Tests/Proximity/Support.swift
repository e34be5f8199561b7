import Bluetooth
import Foundation
import Groundwork
import Proximity
import Synchronization

extension ManualClock: ProximityClock {
    var date: Date { Date(timeIntervalSince1970: 1_900_000_000) }

    /// Moves on, once somebody sleeps until exactly then.
    func advance(by duration: Duration) async { move(to: await sleeper(until: now + duration)) }
}

/// What happened, in order, for a test to wait for.
final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var watchers: [(count: Int, matches: @Sendable (Entry) -> Bool, continuation: CheckedContinuation<Entry, Never>)] = []
    }
    private let state = Mutex(State())

    var entries: [Entry] { state.withLock { $0.entries } }

    func append(_ entry: Entry) {
        state.withLock { state in
            state.entries.append(entry)
            let entries = state.entries
            state.watchers.removeAll { watcher in
                let found = entries.filter(watcher.matches)
                guard found.count >= watcher.count else { return false }
                watcher.continuation.resume(returning: found[watcher.count - 1])
                return true
            }
        }
    }

    /// The first entry that matches, or the `count`th, once it is there. A test's time limit bounds the wait.
    @discardableResult
    func wait(_ count: Int = 1, for matches: @escaping @Sendable (Entry) -> Bool) async -> Entry {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                let found = state.entries.filter(matches)
                if found.count >= count {
                    continuation.resume(returning: found[count - 1])
                } else {
                    state.watchers.append((count, matches, continuation))
                }
            }
        }
    }
}

extension Log where Entry: Equatable {
    @discardableResult
    func wait(for entry: Entry, _ count: Int = 1) async -> Entry where Entry: Sendable { await wait(count) { $0 == entry } }
}

/// The events of a test, kept.
struct Recorder: Sendable {
    let events: Broadcast<ProximityEvent>
    let log = Log<ProximityEvent>()

    init(_ events: Broadcast<ProximityEvent> = Broadcast()) {
        self.events = events
        let stream = events.subscribe(bound: 4096)
        Task { [log] in for await event in stream { log.append(event) } }
    }

    var names: [String] { log.entries.map { String($0.name.dropFirst("proximity.".count)) } }
}

struct GatewayFailure: Explained, Equatable {
    let code: String
    let message: String

    var explanation: Explanation { Explanation(code, .refused, message) }
    static let examples = [GatewayFailure(code: "gateway.refused", message: "REASON")]
}

/// A gateway that does as the test says, and keeps what it was asked.
final class FakeGateway: ProximityGateway {
    struct Behaviour {
        var session: GatewayFailure?
        /// Done each time the session is asked for, before the answer.
        var whenSessionIsAsked: (@Sendable () async -> Void)?
        var authorization: GatewayFailure?
        var polls: [Result<Bool, GatewayFailure>] = []
        var logIn: GatewayFailure?
        /// The name of the user who is logged in.
        var user: String? = "alice"
        /// Why the URL is none that authorizes a device.
        var form: GatewayFailure?
        var authURL = ownURL
    }
    let behaviour = Mutex(Behaviour())
    let authorized = Log<String>()
    let polled = Log<Int>()
    /// Asked before authorising and polling; the test can hold it.
    let gate = Gate()

    @discardableResult
    func requireUserSession() async throws -> String? {
        let (failure, act) = behaviour.withLock { ($0.session, $0.whenSessionIsAsked) }
        await act?()
        if let failure { throw failure }
        return behaviour.withLock { $0.user }
    }

    func sessionIdentifier(in providerURL: String) async throws -> String {
        if let failure = behaviour.withLock({ $0.form }) { throw ProximityError.invalidAuthorizeURL(reason: failure.message) }
        return String(providerURL.lowercased().prefix { $0 != "?" })
    }

    func checkOrigin(_ providerURL: String) throws {
        guard providerURL.hasPrefix("https://gw.lab.test:8443/") else {
            throw GatewayFailure(code: "gateway.foreign-url", message: "not a URL of this gateway")
        }
    }

    func authorize(_ providerURL: String) async throws {
        authorized.append(providerURL)
        await gate.pass()
        if let failure = behaviour.withLock({ $0.authorization }) { throw failure }
    }

    func beginAuthorization() async throws -> PendingAuthorization {
        PendingAuthorization(authURL: behaviour.withLock { $0.authURL }) { [self] in
            let (outcome, failure) = behaviour.withLock { state in
                (state.polls.isEmpty ? .success(false) : state.polls.removeFirst(), state.logIn)
            }
            polled.append(polled.entries.count + 1)
            guard try outcome.get() else { return .pending }
            return .authorized {
                if let failure { throw failure }
                return "alice"
            }
        }
    }
}

/// Open, or closed until the test opens it.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((true, []))

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

let service = BluetoothUUID("980c2f36-bde3-11e4-8dfc-aa07a5b093db")!
let characteristic = BluetoothUUID("980c34cc-bde3-11e4-8dfc-aa07a5b093db")!
let ownURL = "https://gw.lab.test:8443/auth/device/authorization/7b3f00aa7b3f00aa7b3f00aa7b3f00aa"

func address(_ number: UInt8) -> BluetoothAddress {
    BluetoothAddress("C0:FF:EE:00:00:\(Hex.encode([number]))", kind: .random)!
}

func central(_ number: UInt8) -> CentralID { CentralID(address: address(number), number: Int(number)) }

func pieces(_ url: String = ownURL, name: String? = "Pixel") -> [[UInt8]] {
    ProximityRequest(providerURL: url, deviceName: name)!.pieces()
}
