import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Messaging
import Settings
import Vault

/// The board's identity at its gateway: enrollment, registration, certificate, tokens and protected calls.
package struct GatewayFeature: Feature {
    package let host: Host
    package let gateways: GatewayAccounts

    package init(_ host: Host) {
        self.host = host
        gateways = GatewayAccounts(
            host, location: host.feature(LocationFeature.self).finder,
            passwordAsker: host.feature(OneTimePasswordFeature.self).asker)
    }

    package static func compare(with machine: inout MachineComparison) {
        let (key, path) = ("gateway.default_document", machine.configuration.gateway.defaultDocument)
        guard !path.isEmpty, case .missing = MachineComparison.look(at: path) else { return }
        machine.fail(key, "\(path) does not exist", fix: "put a gateway's msso_config.json there, or leave the key out")
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("gateway") { table in
            table.string("device_name", &configuration.deviceName, .any)
            table.integer("renew_days", &configuration.gateway.renewDays, in: 1...365)
            table.choice(
                "name_check", &configuration.gateway.nameCheck,
                ServerTrust.NameCheck.allCases.map { ($0.rawValue, $0) })
            table.string("default_document", &configuration[GatewaySettings.self].defaultDocument, .absolutePathOrEmpty)
            table.flag("default_document_replaces", &configuration[GatewaySettings.self].documentReplaces)
            table.choice(
                "registered_by", &configuration[GatewaySettings.self].registeredBy, ["board", "user"].map { ($0, $0) })
            table.flag("verify_id_tokens", &configuration[GatewaySettings.self].verifiesIDTokens)
            table.choice(
                "preload_keys", &configuration[GatewaySettings.self].preloadKeys,
                ["announced", "always", "never"].map { ($0, $0) })
            table.string("msisdn", &configuration.gateway.telephoneNumber, .telephoneNumber)
        }
    }

    package func addRoutes(to router: inout Router) {
        router.addOfAccounts {
            addIdentityRoutes(to: &$0)
            addGatewayRoutes(to: &$0)
        }
        addGatewayListRoute(to: &router)
    }

    package static var checks: [any HealthCheck] {
        [
            DefaultDocumentCheck(), WeakSettingsCheck(), NetworkCheck(), NameResolutionCheck(), GatewayCheck(),
            ServerKeyCheck(), DeviceCertificateDates(), DeviceKeyCheck(),
        ]
    }

    package func examine(into state: inout AgentState) async throws {
        state.found[DefaultDocumentCheck.name] = await gateways.findingOfDefaultDocument()
        state.found[WeakSettingsCheck.name] = .array(host.settings.weakSettings.map(JSON.string))
        guard let link = await gateways.link else { return }
        state.found[GatewayCheck.stopped] = .bool(link.session.isStopped)
        state.gateway.host = link.gateway.identity.host
        state.gateway.probe = await Self.probe(link)
        let status = try await link.session.status()
        state.gateway.certificateEnd = status.certificate?.notAfter
        if let keeper = status.key {
            var key = KeyFinding(keeper, wanted: host.settings.identity.choice.keeper)
            if keeper != .software { key.fault = await Self.fault(ofSigning: link.session) }
            state.gateway.key = key
        }
    }

    private static func fault(ofSigning session: GatewaySession) async -> Explanation? {
        do {
            try await session.trySigning()
            return nil
        } catch {
            return Explanation(of: error)
        }
    }

    /// Asks the gateway for its package discovery document (MAG E17), which needs neither registration nor token.
    private static func probe(_ link: Link) async -> Result<Int, HTTPError>? {
        guard let trust = try? link.session.trust(for: link.gateway.identity.host) else { return nil }
        var request = HTTPRequest(
            "GET", link.gateway.identity.baseURL + "/.well-known/openid-configuration", trust: trust)
        request.timeout = .seconds(20)
        // A new connection: an existing one would prove nothing.
        let prober = HTTPClient()
        do {
            return .success(try await prober.send(request).status)
        } catch {
            return .failure(error)
        }
    }

    package func services() -> [any Service] {
        let switches = gateways.store.events.subscribe()
        return [
            host.restarting("gateway events") { for await event in switches { host.report(event, ends: [.broker]) } }
        ]
    }

    package static var statusMembers: [String: Schema] {
        Schema.gatewayMembers.merging([
            "otherGateways": .array(of: .gatewayAddress, "other gateways at which the board is registered")
        ]) { own, _ in own }
    }

    package static var statusInStandby: [String: JSON] {
        ["registration": ["state": "unknown"], "start": .object(StartState.notInitialized.members)]
    }

    package func status() async throws -> [String: JSON] {
        guard let link = await gateways.link else {
            return [
                "registration": ["state": "unregistered"],
                "start": .object(await gateways.startState(of: .gateway).members),
            ]
        }
        let status = try await link.session.status()
        var members = status.report(at: host.time.now)
        members["start"] = await gateways.startReport(of: .gateway, status)
        if let trouble = host.lastTrouble, !trouble.isExplained(by: status.lastFailure) {
            members["lastError"] = trouble.json
        }
        let inUse = try await gateways.store.accounts().values
        let others = try await gateways.store.known().filter { !inUse.contains($0) }
        if !others.isEmpty { members["otherGateways"] = .array(others.map { ["url": .string($0.baseURL)] }) }
        return members
    }

    package func warnings() async throws -> [String] {
        var warnings = await gateways.table.all.filter(\.session.isStopped).map { account in
            "the gateway connection of \(account.name) is stopped; start it with: latchkey gateway start"
                + (account.name == .gateway ? "" : " --account \(account.name)")
        }
        if let fault = await gateways.defaultDocumentFault { warnings.append("the default document: \(fault.message)") }
        return warnings
    }

    package static var recordRules: RecordRules {
        RecordRules(kept: Gateways.recordsWithoutAccount) { name, _, _ in Gateways.isOfRegistration(name) }
    }

    package static var codes: [CatalogueEntry] { OAuthErrors.all }

    package static var errors: [any Explained.Type] {
        [GatewayChoiceError.self, GatewayError.self, MultiFactorError.self]
    }

    package static var events: [any ReportedEvent.Type] { [GatewayEvent.self] }

    package var accountKinds: [any AccountKind] { [GatewayKind(gateways: gateways)] }

    package func resume() async { await gateways.resume() }

    package func close() async { await gateways.close() }

    package func passcodeDidChange() async {
        let accounts = await gateways.table.all
        // A user who cannot be read is not in memory; a caller that needs the user is told why.
        for account in accounts { try? await account.session.refreshUser() }
        for account in accounts { await account.link.work?.userDidChange() }
    }

    package func personalRecords() async throws(VaultError) -> [RecordName] {
        var records: [RecordName] = []
        for scope in try await host.vault.scopes() {
            records += try await host.vault.names(scope: scope).filter(Gateways.isPersonal)
        }
        return records
    }
}

extension AgentConfiguration {
    package var sessionOptions: SessionOptions {
        var options = SessionOptions()
        options.verifiesIDTokens = self[GatewaySettings.self].verifiesIDTokens
        options.keyChoice = identity.choice
        return options
    }

    /// Whether the keys that sign a gateway's id_tokens are downloaded at the start.
    package func preloadsKeys(of gateway: GatewayConfiguration) -> Bool {
        switch self[GatewaySettings.self].preloadKeys {
        case "always": true
        case "never": false
        default: gateway.announcesPublishedKeys
        }
    }
}

extension AgentEvent {
    /// Whether the gateway's failure is newer than this event or caused it: without credentials there is no broker.
    fileprivate func isExplained(by failure: GatewayStatus.Failure?) -> Bool {
        // Another account's has nothing to do with it.
        guard account == .gateway, let failure else { return false }
        if case .failed(.credentialsUnavailable, _) = ofBoard(MessengerEvent.self) { return true }
        return failure.at > time
    }
}

extension AgentConfiguration {
    /// Whether a board registers without a user.
    package var registersByItself: Bool { self[GatewaySettings.self].registeredBy == "board" }
}
