import AgentCore
import FoundationEssentials
import Groundwork
import LocalAPI
import Settings
import Vault

/// The vault's passcode: what the board has of persons is behind it, once one is set.
package struct PasscodeFeature: Feature {
    let host: Host
    package let desk: PasscodeDesk

    package init(_ host: Host) {
        self.host = host
        desk = PasscodeDesk(host)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        PasscodeSettings.read(from: &root, into: &configuration)
    }

    package static var checks: [any HealthCheck] { [PasscodeCheck()] }
    package static var errors: [any Explained.Type] { [PasscodePolicyError.self] }
    package static var events: [any ReportedEvent.Type] { [PasscodeEvent.self] }

    package func services() -> [any Service] {
        [
            host.restarting("passcode") {
                try await desk.begin()
                try await desk.lockInTime()
            }
        ]
    }

    package func examine(into state: inout AgentState) async throws {
        state.passcode = try await desk.compartment.status()
    }

    package static var statusMembers: [String: Schema] {
        ["passcode": PasscodeStatus.answer.schema("The vault's passcode; absent if there is none")]
    }

    package func status() async throws -> [String: JSON] {
        // Damage is what the doctor reports.
        guard let status = try? await desk.compartment.status(), status.state != .none else { return [:] }
        return ["passcode": PasscodeStatus.answer.json(status)]
    }
}

extension PasscodeStatus {
    static let answer: Answer<PasscodeStatus> = [
        "state": .schema(.string("whether there is a passcode", choices: State.allCases.map(\.rawValue))) {
            $0.state.rawValue
        },
        "locked": .of("whether what the board has of persons needs the passcode") { $0.state == .set && !$0.isOpen },
        "open": .schema(.array(of: .string("level"), "the levels behind the passcode that are open")) { status in
            status.open.map(\.rawValue).sorted()
        },
        "failures": .of("wrong passcodes since one was right") { $0.failures },
        "triesLeft": .schema(.integer("wrong passcodes until everything behind it is erased").orNull) { $0.triesLeft },
        "waitSeconds": .of("until the next passcode can be tried") { $0.waitSeconds },
        "expires": .schema(.time("when it has to be changed").orNull) { $0.expires },
        "hasHardware": .of(
            "whether a chip has a part of its key: else a copy of the disk and its key can be guessed at"
        ) { $0.hasHardware },
    ]
}

extension AgentState {
    var passcode: PasscodeStatus? {
        get { self[Optional<PasscodeStatus>.self, default: nil] }
        set { self[Optional<PasscodeStatus>.self, default: nil] = newValue }
    }
}

/// Fails while an erasure cannot go on, and warns of a passcode that expires.
struct PasscodeCheck: HealthCheck {
    static let name = "passcode"

    func run(_ agent: AgentState) -> Verdict {
        guard let status = agent.passcode, status.state != .none else { return .skip("no passcode is set") }
        switch status.state {
        case .wiping:
            return .fail(
                "what was behind the passcode is being erased",
                remedy: "make the chip of the settings available again: the erasure then goes on by itself")
        case .none, .default: return .pass("switched off: what is behind it opens with the vault")
        case .set: break
        }
        if let expires = status.expires, expires.timeIntervalSince(agent.now) < Double(PasscodeDesk.warnedDays) * 86_400
        {
            return .warn(
                "expires \(expires.formatted(.iso8601))", remedy: "change it: latchkey vault passcode set")
        }
        let state = status.isOpen ? "open" : "locked"
        let tries = status.failures > 0 ? "; \(status.failures) wrong since it was last right" : ""
        return .pass(
            status.hasHardware
                ? "set and \(state), with a part of its key in the chip\(tries)"
                : "set and \(state); without a chip, a copy of the disk and its key can be guessed at\(tries)")
    }
}
