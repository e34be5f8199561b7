import Connectivity
import Cryptography
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Messaging
import Storage
import Testing
import Vault

@testable import Agent
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentGateway
@testable import AgentMPin
@testable import AgentMessages
@testable import AgentOAuthServers
@testable import AgentUsers

/// One look at an agent, and what one check must say of it.
struct Row: Sendable, CustomTestStringConvertible {
    let check: any HealthCheck
    let verdict: String
    let says: String
    let state: AgentState

    init(_ check: any HealthCheck, _ verdict: String, _ says: String, _ change: (inout AgentState) -> Void) {
        self.check = check
        self.verdict = verdict
        self.says = says
        var state = AgentState(now: Date(timeIntervalSince1970: 1_800_000_000), clockIsPlausible: true)
        change(&state)
        self.state = state
    }

    var testDescription: String { "\(type(of: check).name): \(verdict), \(says)" }
}

extension Row {
    /// The checks of what the agent stores, of its accounts and of the way to their servers.
    static let ofAccounts: [Row] = [
        Row(ClockCheck(), "pass", "plausible") { _ in },
        Row(ClockCheck(), "fail", "the clock is wrong") { $0.clockIsPlausible = false },

        Row(DefaultDocumentCheck(), "skip", "name none") { _ in },
        Row(DefaultDocumentCheck(), "pass", "https://gw.example:8443, in use") {
            $0.found[DefaultDocumentCheck.name] = ["gateway": "https://gw.example:8443", "isActive": true]
        },
        Row(DefaultDocumentCheck(), "pass", "another configuration is in use") {
            $0.found[DefaultDocumentCheck.name] = ["gateway": "https://gw.example:8443", "isActive": false]
        },
        Row(DefaultDocumentCheck(), "fail", "no configuration at /d") {
            $0.found[DefaultDocumentCheck.name] = ["message": "no configuration at /d"]
        },
        Row(FirstBootCheck(), "skip", "no enrollment is waiting") { _ in },
        Row(FirstBootCheck(), "pass", "in PATH was used") {
            $0.found[FirstBootCheck.name] = ["state": "taken", "place": "PATH"]
        },
        Row(FirstBootCheck(), "warn", "QR code") {
            $0.found[FirstBootCheck.name] = ["state": "scanning", "place": "NAME"]
        },
        Row(FirstBootCheck(), "warn", "no network") {
            $0.found[FirstBootCheck.name] = ["state": "trying", "place": "PATH", "error": ["message": "no network"]]
        },
        Row(FirstBootCheck(), "warn", "could not be wiped") {
            $0.found[FirstBootCheck.name] = [
                "state": "not-wiped", "place": "PATH", "error": ["message": "it could not be wiped"],
            ]
        },
        Row(FirstBootCheck(), "fail", "used before") {
            $0.found[FirstBootCheck.name] = ["state": "refused", "place": "PATH", "error": ["message": "used before"]]
        },
        Row(WeakSettingsCheck(), "pass", "everything that can be verified is verified") { _ in },
        Row(WeakSettingsCheck(), "warn", "gateway.verify_id_tokens is false") {
            var settings = AgentConfiguration()
            settings[GatewaySettings.self].verifiesIDTokens = false
            $0.found[WeakSettingsCheck.name] = .array(settings.weakSettings.map(JSON.string))
        },
        Row(GatewayCheck(), "warn", "the gateway connection is stopped") { $0.found[GatewayCheck.stopped] = true },
        Row(BrokerCheck(), "skip", "the gateway connection is stopped") {
            $0.messages.broker = .init(address: "gw.example:8883", isConnected: false, lastError: nil)
            $0.found[BrokerCheck.stopped] = true
        },

        Row(VaultCheck(), "pass", "systemd-credential") { $0.vaultSlot = .systemdCredential },
        Row(VaultCheck(), "warn", "development key file") { $0.vaultSlot = .developmentFile },
        Row(VaultCheck(), "fail", "a record cannot be read") {
            $0.vaultSlot = .developmentFile
            $0.vaultFaults = [.recordDisplaced(name: RecordName(scope: "", name: "x"))]
        },
        Row(VaultCheck(), "fail", "has version 9") {
            $0.vaultFaults = [.newerVersion(path: "/s/vault.db", found: 9, supported: 1)]
        },

        Row(SessionLockCheck(), "pass", "no user's session is locked") { _ in },
        Row(SessionLockCheck(), "pass", "the session of alice") { $0.found["locks"] = ["users": ["alice"]] },
        Row(SessionLockCheck(), "warn", "has not revoked") {
            $0.found["locks"] = ["users": ["alice", "bob"], "leftOver": true]
        },
        Row(SessionLockCheck(), "warn", "there is none") {
            $0.found["locks"] = ["users": ["alice"], "lacksButton": true]
        },

        Row(StorageCheck(), "pass", "there is free space") { _ in },
        Row(StorageCheck(), "fail", "read-only") { $0.diskTrouble = "the disk of /s is read-only" },
        Row(StorageCheck(), "warn", "a.db.damaged-1 and 1 more") {
            $0.setAside = ["a.db.damaged-1", "b.db.damaged-1"]
        },

        Row(NetworkCheck(), "skip", "not watched yet") { _ in },
        Row(NetworkCheck(), "pass", "through eth0 (ethernet)") {
            $0.network = .way(NetworkWay(interface: "eth0", kind: .ethernet))
        },
        Row(NetworkCheck(), "fail", "no network") { $0.network = .none },
        Row(NetworkCheck(), "pass", "the gateway is on this machine") {
            ($0.network, $0.gateway.host) = (.none, "127.0.0.1")
        },
        Row(NetworkCheck(), "skip", "cannot watch the network: REASON") {
            $0.network = .unknown(.notWatched(reason: "REASON"))
        },
        Row(LocationCheck(), "skip", "do not disclose") { _ in },
        Row(LocationCheck(), "pass", "gpsd") { $0.found["location"] = ["source": "gpsd"] },
        Row(LocationCheck(), "warn", "no receiver") {
            $0.found["location"] = ["source": "gpsd", "fault": ["message": "no receiver"]]
        },

        Row(NameResolutionCheck(), "skip", "no gateway") { _ in },
        Row(NameResolutionCheck(), "pass", "gw.example is found") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .success(200)
        },
        Row(NameResolutionCheck(), "fail", "gw.example has no address") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .failure(.cannotResolve(host: "gw.example"))
        },

        Row(GatewayCheck(), "warn", "not enrolled") { _ in },
        Row(GatewayCheck(), "pass", "answers") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .success(200)
        },
        Row(GatewayCheck(), "warn", "status 503") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .success(503)
        },
        Row(GatewayCheck(), "fail", "cannot connect") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .failure(.cannotConnect(host: "gw.example", port: 8443, reason: "refused"))
        },
        Row(GatewayCheck(), "pass", "is reachable") {
            $0.gateway.host = "gw.example"
            $0.gateway.probe = .failure(.tls(host: "gw.example", refusal: .pinMismatch))
        },

        Row(ServerKeyCheck(), "pass", "the gateway's key is the one") { $0.gateway.probe = .success(404) },
        Row(ServerKeyCheck(), "skip", "not reached") {
            $0.gateway.probe = .failure(.cannotResolve(host: "gw.example"))
        },
        Row(ServerKeyCheck(), "fail", "not trusted") {
            $0.gateway.probe = .failure(.tls(host: "gw.example", refusal: .pinMismatch))
        },

        Row(DeviceCertificateDates(), "skip", "no certificate") { _ in },
        Row(DeviceCertificateDates(), "pass", "30 days left") { $0.gateway.certificateEnd = days(30.5, after: $0.now) },
        Row(DeviceCertificateDates(), "warn", "29 days left") { $0.gateway.certificateEnd = days(29.5, after: $0.now) },
        Row(DeviceCertificateDates(), "pass", "29 days left") {
            $0.gateway.certificateEnd = days(29.5, after: $0.now)
            $0.gateway.renewDays = 14
        },
        Row(DeviceCertificateDates(), "fail", "ended") { $0.gateway.certificateEnd = days(-0.1, after: $0.now) },

        Row(AccountsCheck(), "skip", "no account besides the default one is at a gateway") { _ in },
        Row(AccountsCheck(), "fail", "the stored data of plant3 cannot be used: ") {
            $0.gateway.otherAccounts = [account(endsIn: 30, after: $0.now)]
            $0.gateway.unusableAccount = ("plant3", Explanation(of: GatewayError.noGrantApplies))
        },
        Row(AccountsCheck(), "pass", "plant2 is registered") {
            $0.gateway.otherAccounts = [account(endsIn: 30, after: $0.now)]
        },
        Row(AccountsCheck(), "pass", "all 2 at gateways besides") {
            $0.gateway.otherAccounts = [account(endsIn: 30, after: $0.now), account(endsIn: 30, after: $0.now)]
        },
        Row(AccountsCheck(), "warn", "plant2 is not registered") {
            $0.gateway.otherAccounts = [.init(name: "plant2", registration: .unregistered)]
        },
        Row(AccountsCheck(), "warn", "plant2 awaits activation") {
            $0.gateway.otherAccounts = [.init(name: "plant2", registration: .pending)]
        },
        Row(AccountsCheck(), "warn", "plant2: ") {
            $0.gateway.otherAccounts = [account(endsIn: 30, after: $0.now, .noGrantApplies)]
        },
        Row(AccountsCheck(), "fail", "the certificate of plant2 expired") {
            $0.gateway.otherAccounts = [account(endsIn: 30, after: $0.now), account(endsIn: -0.1, after: $0.now)]
        },

        Row(MPinCheck(), "skip", "there is no M-Pin back end") { _ in },
        Row(MPinCheck(), "pass", "1 user is registered") {
            $0.found[MPinCheck.name] = [["name": "door", "users": [["user": "alice", "state": "REGISTERED"]]]]
        },
        Row(MPinCheck(), "warn", "alice is blocked at door") {
            $0.found[MPinCheck.name] = [["name": "door", "users": [["user": "alice", "state": "BLOCKED"]]]]
        },
        Row(MPinCheck(), "warn", "the registration of bob at door is not finished") {
            $0.found[MPinCheck.name] = [
                [
                    "name": "door",
                    "users": [["user": "alice", "state": "REGISTERED"], ["user": "bob", "state": "ACTIVATED"]],
                ]
            ]
        },
        Row(MPinCheck(), "fail", "door: damaged") {
            $0.found[MPinCheck.name] = [["name": "door", "lastError": ["message": "damaged"]]]
        },
        Row(OAuthAccountsCheck(), "skip", "there is none") { _ in },
        Row(OAuthAccountsCheck(), "pass", "it works") {
            $0.found[OAuthAccountsCheck.name] = [["name": "cloud", "needsPerson": false]]
        },
        Row(OAuthAccountsCheck(), "warn", "no user is logged in at cloud") {
            $0.found[OAuthAccountsCheck.name] = [["name": "own"], ["name": "cloud", "needsPerson": true]]
        },
        Row(OAuthAccountsCheck(), "warn", "cloud: refused") {
            $0.found[OAuthAccountsCheck.name] = [["name": "cloud", "lastError": ["message": "refused"]]]
        },

        Row(BrokerCheck(), "skip", "none before") { _ in },
        Row(BrokerCheck(), "pass", "connected to b:8883 (TCP, direct)") {
            $0.messages.broker = .init(address: "b:8883", isConnected: true)
        },
        Row(BrokerCheck(), "pass", "connected to b:443/mqtt (WebSocket through the proxy p:3128)") {
            $0.messages.broker = .init(
                address: "b:443/mqtt", isConnected: true, way: "WebSocket through the proxy p:3128")
        },
        Row(BrokerCheck(), "pass", "it has reported 2 errors, the last: may not publish") {
            $0.messages.broker = .init(
                address: "b:8883", isConnected: true, reports: 2,
                lastReport: BrokerReport(topic: "t/error", text: "may not publish", time: $0.now))
        },
        Row(BrokerCheck(), "warn", "connected to b:8884 (TCP, direct), as the first broker is away") {
            $0.messages.broker = .init(address: "b:8884", isConnected: true)
            $0.messages.broker?.preferredError = .cannotConnect(BrokerAddress(host: "b", port: 8883), reason: "refused")
        },
        Row(BrokerCheck(), "warn", "messages for inboxes wait") {
            $0.messages.broker = .init(
                address: "b:8883", isConnected: true, inboxFault: .inboxUnusable(.full(path: "/s/inbox.db")))
        },
        Row(BrokerCheck(), "warn", "not connected to b:8883 yet") {
            $0.messages.broker = .init(address: "b:8883", isConnected: false)
        },
        Row(BrokerCheck(), "fail", "refuses") {
            $0.messages.broker = .init(
                address: "b:8883", isConnected: false,
                lastError: MessagingError.refused(BrokerAddress(host: "b", port: 8883), .notAuthorized))
        },

        Row(OutboxCheck(), "skip", "none before") { _ in },
        Row(OutboxCheck(), "fail", "the disk is full") {
            $0.messages.outboxFault = .outboxUnusable(.full(path: "/s/outbox.db"))
        },
        Row(OutboxCheck(), "pass", "3 messages wait") {
            $0.messages.outbox = .init(depth: 3, dropped: 0, oldestAge: 3599)
        },
        Row(OutboxCheck(), "warn", "the oldest for 60 minutes") {
            $0.messages.outbox = .init(depth: 3, dropped: 0, oldestAge: 3600)
        },
        Row(OutboxCheck(), "warn", "2 messages were dropped") { $0.messages.outbox = .init(depth: 0, dropped: 2) },
    ]

    private static func days(_ days: Double, after now: Date) -> Date { now + days * 86_400 }

    private static func account(
        endsIn days: Double, after now: Date, _ error: GatewayError? = nil
    ) -> GatewayFindings.OtherAccount {
        .init(
            name: "plant2", registration: .registered, certificateEnd: Self.days(days, after: now), lastError: error)
    }
}
