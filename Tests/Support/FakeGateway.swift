import Foundation
import Groundwork
import Proximity
import Synchronization

/// The events of a test, kept.
package struct Recorder: Sendable {
    package let events: Broadcast<ProximityEvent>
    package let log = Log<ProximityEvent>()

    package init(_ events: Broadcast<ProximityEvent> = Broadcast()) {
        self.events = events
        let stream = events.subscribe(bound: 4096)
        Task { [log] in for await event in stream { log.append(event) } }
    }

    package var names: [String] { log.entries.map { String($0.name.dropFirst("proximity.".count)) } }
}

package struct GatewayFailure: Explained, Equatable {
    package let code: String
    package let message: String

    package var explanation: Explanation { Explanation(code, .refused, message) }
    package static let examples = [GatewayFailure(code: "gateway.refused", message: "REASON")]

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }
}

/// A gateway that does as the test says, and keeps what it was asked.
package final class FakeGateway: ProximityGateway {
    package struct Behavior {
        package var session: GatewayFailure?
        /// Done each time the session is asked for, before the answer.
        package var whenSessionIsAsked: (@Sendable () async -> Void)?
        package var authorization: GatewayFailure?
        package var polls: [Result<Bool, GatewayFailure>] = []
        package var logIn: GatewayFailure?
        /// The name of the user who is logged in.
        package var user: String? = "alice"
        /// Why the URL is none that authorizes a device.
        package var form: GatewayFailure?
        package var authURL = ownURL
    }
    package let behavior = Mutex(Behavior())
    package let authorized = Log<String>()
    package let polled = Log<Int>()
    /// Asked before authorizing and polling; the test can hold it.
    package let gate = Gate(isOpen: true)

    package init() {}

    @discardableResult
    package func requireUserSession() async throws -> String? {
        let (failure, act) = behavior.withLock { ($0.session, $0.whenSessionIsAsked) }
        await act?()
        if let failure { throw failure }
        return behavior.withLock { $0.user }
    }

    package func sessionIdentifier(in providerURL: String) async throws -> String {
        if let failure = behavior.withLock({ $0.form }) {
            throw ProximityError.invalidAuthorizeURL(reason: failure.message)
        }
        return String(providerURL.lowercased().prefix { $0 != "?" })
    }

    package func checkOrigin(_ providerURL: String) throws {
        guard providerURL.hasPrefix("https://gw.lab.test:8443/") else {
            throw GatewayFailure(code: "gateway.foreign-url", message: "not a URL of this gateway")
        }
    }

    package func authorize(_ providerURL: String) async throws {
        authorized.append(providerURL)
        await gate.pass()
        if let failure = behavior.withLock({ $0.authorization }) { throw failure }
    }

    package func beginAuthorization() async throws -> PendingAuthorization {
        PendingAuthorization(authURL: behavior.withLock { $0.authURL }) { [self] in
            let (outcome, failure) = behavior.withLock { state in
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
