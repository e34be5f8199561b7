import Bluetooth
import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import Prompts
import Proximity
import TestSupport
import Vault

@testable import Agent
@testable import AgentCore
@testable import AgentNearby
@testable import Gateway

/// Proximity log-in of a board whose radio does as the test says, and the session of its user.
struct Vicinity: Sendable {
    let nearby: Nearby
    let prompts: PromptDesk
    let session: GatewaySession
    let radio: FakeTransport
    /// An entry for each time that Bluetooth was begun with.
    let radios: Log<Bool>
    let recorder: Recorder
    let auditFailures: Log<AgentError>

    /// Begins to share, and returns when the radio is asked to.
    func beginSharing(_ term: SharingTerm = .endless, as number: Int = 1) async throws -> (
        Task<Void, any Error>, FakePeripheral
    ) {
        let sharing = Task { try await nearby.sharing.begin(term, of: session) }
        return (sharing, try await radio.served.wait(number) { _ in true })
    }

    /// Shares, on the air.
    func share(_ term: SharingTerm = .endless) async throws -> FakePeripheral {
        let (sharing, peripheral) = try await beginSharing(term)
        peripheral.feed.yield(.started)
        try await sharing.value
        return peripheral
    }

    /// The question that is asked when it comes, or came.
    func question() async throws -> Int {
        let event = try await recorder.log.wait { if case .consentAsked = $0 { true } else { false } }
        guard case .consentAsked(let request) = event else { return 0 }
        return request.id
    }

    /// Logs somebody in, in the place of whoever is.
    func logIn(_ name: String, at date: Date) async throws {
        let idToken = HeldIDToken(
            value: SecretBytes(utf8: "an id_token"), type: HeldIDToken.jwtBearer, expires: nil)
        let user = HeldUser(name: name, loggedInAt: date, tokens: HeldTokens(id: idToken))
        try await session.operations.run(.logIn(session.operations.nextNumber())) { parts, operation in
            try await parts.store.update(in: operation) { $0.user = user }
        }
    }

    func report(_ member: String) async -> JSON? { await nearby.report()[member] }

    /// What the record of consent says of each question, the oldest first.
    func audit(_ member: String) async -> [String?] { await nearby.audit.newest(10_000).map { $0[member]?.string } }
}

/// Gives a test a board whose user is alice; it does not register by itself, so no request needs a gateway.
///
/// - Parameters:
///   - document: changes the gateway's configuration.
///   - patience: beyond any pause of a busy machine, and short where a test waits for its end.
func withVicinity(
    _ configure: (inout AgentConfiguration) -> Void = { _ in },
    document change: (inout [String: Any]) -> Void = { _ in },
    patience: Sharing.Patience = .init(adapter: .seconds(300), farewell: .seconds(300)), isLoggedIn: Bool = true,
    _ body: (Vicinity) async throws -> Void
) async throws {
    try await withFolder { folder in
        var configuration = AgentConfiguration()
        configuration.stateDirectory = folder
        configure(&configuration)
        let vault = try await Vault.open(
            at: folder + "/vault.db", with: [DevelopmentKeyFile(folder + "/vault.key")], creating: true)
        let session = GatewaySession(
            configuration: try gateway(change), vault: vault, client: HTTPClient(),
            board: DeviceDescription(name: "bench", model: "Test Board"))
        let (radio, radios, failures) = (FakeTransport(), Log<Bool>(), Log<AgentError>())
        let prompts = PromptDesk()
        let nearby = Nearby(configuration, deviceName: "bench", prompts: prompts, patience: patience) {
            radios.append(true)
            return radio
        } onAuditFailure: {
            failures.append($0)
        }
        let vicinity = Vicinity(
            nearby: nearby, prompts: prompts, session: session, radio: radio, radios: radios,
            recorder: Recorder(nearby.events),
            auditFailures: failures)
        try? session.learn(ownURL)
        try await Gateways(vault: vault).activate(session.configuration, registers: false)
        if isLoggedIn { try await vicinity.logIn("alice", at: Date(timeIntervalSince1970: 1_900_000_000)) }
        try await body(vicinity)
        await nearby.close()
        await vault.close()
    }
}

extension GatewaySession {
    /// Knows from now on how its gateway names log-ins that wait.
    fileprivate func learn(_ url: String) throws {
        authorizations.remember(try ProviderForm(of: url, at: configuration.identity))
    }
}

func gateway(_ change: (inout [String: Any]) -> Void) throws -> GatewayConfiguration {
    let client: [String: Any] = [
        "client_id": "5c0e", "client_secret": "a secret", "scope": "openid msso", "redirect_uri": "labagent://callback",
        "environment": "ALL", "status": "ENABLED",
    ]
    var members: [String: Any] = [
        "server": ["hostname": "gw.lab.test", "port": 8443, "prefix": ""],
        "oauth": [
            "client": [
                "organization": "Lab Org", "client_name": "agent", "client_type": "confidential",
                "registered_by": "admin",
                "client_ids": [client],
            ]
        ],
        "mag": [
            "mobile_sdk": ["trusted_public_pki": true],
            "ble": ["msso_ble_service_uuid": "\(service)", "msso_ble_characteristic_uuid": "\(characteristic)"],
        ],
    ]
    change(&members)
    return try GatewayConfiguration(parsing: Array(try JSONSerialization.data(withJSONObject: members)))
}
