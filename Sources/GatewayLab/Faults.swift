import Groundwork
import Synchronization

/// A fault of the lab on purpose, at one endpoint or at all of them.
public struct Fault: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// Answers correctly, but only after this time.
        case delay(milliseconds: Int)
        /// Closes the connection without an answer; nothing has been done.
        case drop
        /// Processes the request and closes the connection without an answer.
        case dropAnswer
        /// Answers this status with no `x-ca-err`.
        case status(Int)
        /// Answers an error with this `x-ca-err` and status.
        case error(code: Int, status: Int)
        /// Answers `200 text/html` as a captive portal does.
        case captivePortal
        /// Answers something wrong, at an endpoint of M-Pin.
        case lie(MPinLie)
    }

    public var kind: Kind
    /// `nil` means every endpoint.
    public var endpoint: Endpoint?
    /// How many more requests are affected; `nil` means all until the fault is cleared.
    public var remaining: Int?

    public init(_ kind: Kind, at endpoint: Endpoint? = nil, times: Int? = nil) {
        self.kind = kind
        self.endpoint = endpoint
        self.remaining = times
    }
}

/// The certificate that the gateway shows in a TLS handshake.
public enum ServerFace: String, Sendable, CaseIterable {
    /// Its own key with a valid certificate.
    case genuine
    /// A certificate of the lab's CA for another key: pins do not match.
    case otherKey = "other-key"
    /// Its own key with a certificate that ended yesterday.
    case expired
    /// Its own key with a certificate for another host.
    case otherHost = "other-host"
    /// Its own key with a certificate that names the host in its common name alone, as old gateways have.
    case commonNameOnly = "common-name-only"
    /// The right name, certified by a CA that is not trusted.
    case otherAuthority = "other-authority"
}

/// The faults that are set, and how many more requests they affect.
final class FaultInjector: Sendable {
    private let faults = Mutex<[Fault]>([])

    var all: [Fault] { faults.withLock { $0 } }

    func inject(_ fault: Fault) { faults.withLock { $0.append(fault) } }

    func clear() { faults.withLock { $0 = [] } }

    /// The faults for a request at `endpoint`, in the order they were set; each is counted down.
    /// - Parameter endpoint: `nil` for a path that is not an endpoint.
    func take(for endpoint: Endpoint?) -> [Fault.Kind] {
        faults.withLock { faults in
            var struck: [Fault.Kind] = []
            for index in faults.indices where faults[index].endpoint == nil || faults[index].endpoint == endpoint {
                struck.append(faults[index].kind)
                faults[index].remaining = faults[index].remaining.map { $0 - 1 }
            }
            faults.removeAll { $0.remaining.map { $0 <= 0 } ?? false }
            return struck
        }
    }
}

extension Fault {
    /// The names of the kinds and what they do, for messages.
    public static let kinds = [
        ("delay", "answers correctly, but only after --milliseconds"),
        ("drop", "closes the connection without an answer; nothing has been done"),
        ("drop-answer", "processes the request and closes the connection without an answer"),
        ("status", "answers --status without an x-ca-err"),
        ("error", "answers --status with the x-ca-err --code"),
        ("captive-portal", "answers 200 with an HTML page, like a hotel's network"),
        ("lie", "answers something wrong at an endpoint of M-Pin, as --lie says"),
    ]
}

extension ServerFace {
    /// What is wrong with it, for messages.
    public var summary: String {
        switch self {
        case .genuine: "the lab's own key and a valid certificate"
        case .otherKey: "a certificate of the lab's authority for another key, so that no pin matches"
        case .expired: "the lab's own key with a certificate that ended yesterday"
        case .otherHost: "the lab's own key with a certificate for another host"
        case .commonNameOnly: "the lab's own key with a certificate that names the host in its common name alone"
        case .otherAuthority: "the right name, certified by an authority that is not trusted"
        }
    }
}
