import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI

/// The configuration in use, the gateways that the board knows, and starting and stopping what talks to them.
extension GatewayFeature {
    package func addGatewayListRoute(to router: inout Router) {
        router.on(
            "GET", "/v1/gateways", needs: .read,
            .init(
                "The gateways that the board knows; their registrations are kept",
                answer: .object(all: ["gateways": .array(of: KnownGateway.schema(), "ordered by name")]))
        ) { _ in
            .json(["gateways": .array(try await self.knownGateways())])
        }
    }

    package func addGatewayRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/gateway", needs: .read,
            .init(
                "The configuration in use: gateway, application, device, endpoints", answer: ConfigurationInUse.schema()
            )
        ) { request in
            .json(try await self.report(ofConfigurationOf: try await self.gateways.account(of: request)))
        }
        let answer = Schema.object(all: ["start": .start])
        router.on(
            "POST", "/v1/gateway/stop", needs: .operate,
            .init(
                "Stop the connections to the gateway and the broker, also across restarts; messages wait on the board",
                answer: answer)
        ) { request in
            let name = try await self.gateways.account(of: request).name
            try await self.gateways.stop(name)
            return .json(["start": .object(await self.gateways.startState(of: name).members)])
        }
        router.on(
            "POST", "/v1/gateway/start", needs: .operate, .init("Restart the gateway connection", answer: answer)
        ) { request in
            let name = try await self.gateways.account(of: request).name
            try await self.gateways.start(name)
            return .json(["start": .object(await self.gateways.startState(of: name).members)])
        }
        router.on(
            "POST", "/v1/gateway/use", needs: .operate,
            .init(
                "Switch to a gateway that the board knows, or to that of the default document, and register there",
                body: [
                    "gateway": .string("its URL, or its host with or without the port"),
                    "default": .boolean("true: the default document of the settings"),
                ], answer: .gatewayStatus)
        ) { request in
            let body = RequestBody(request)
            let name = try request.accountName()
            let text = try body.optionalString("gateway")
            guard try (text == nil) == body.bool("default", default: false) else {
                throw AgentError.badRequest(member: "the body", fault: "needs exactly one of gateway and default")
            }
            let former = await self.gateways.table[name]?.gateway.identity
            let status =
                if let text { try await self.gateways.use(text, as: name) } else {
                    try await self.gateways.useDefaultDocument(as: name)
                }
            var report = status.report(at: self.host.time.now)
            if let former, former != status.gateway { report["switchedFrom"] = ["url": .string(former.baseURL)] }
            return .json(.object(report))
        }
    }

    private func knownGateways() async throws -> [JSON] {
        let accounts = try await gateways.store.accounts()
        var reports: [JSON] = []
        for identity in try await gateways.store.known() {
            let known = KnownGateway(
                identity: identity, account: accounts.first { $0.value == identity }?.key,
                isRegistered: try await gateways.store.isRegistered(at: identity),
                isStopped: try await gateways.store.isStopped(at: identity))
            reports.append(known.json)
        }
        return reports
    }

    private func report(ofConfigurationOf account: Account) async throws -> JSON {
        let status = try await account.session.status()
        return ConfigurationInUse(
            gateway: account.gateway, status: status, deviceName: host.deviceName,
            nameCheck: host.settings.gateway.nameCheck.rawValue,
            start: await gateways.startReport(of: account.name, status)
        ).json
    }
}

private struct KnownGateway: Answered {
    let identity: GatewayIdentity
    let account: String?
    let isRegistered: Bool
    let isStopped: Bool

    static let answer: Answer<KnownGateway> = [
        "url": .of("URL of the gateway") { $0.identity.baseURL },
        "host": .of("host name or address") { $0.identity.host },
        "port": .schema(.integer("TCP port", in: 1...65_535)) { $0.identity.port },
        "prefix": .of("prefix of its paths; may be empty") { $0.identity.prefix },
        "account": .of("account at this gateway; missing if there is none") { $0.account },
        "registered": .of("whether the board has a registration there") { $0.isRegistered },
        "stopped": .of("whether a user has stopped the connection to it") { $0.isStopped },
    ]
}

/// Nothing secret: neither the client's secret nor the document itself.
private struct ConfigurationInUse: Answered {
    let gateway: GatewayConfiguration
    let status: GatewayStatus
    let deviceName: String
    let nameCheck: String
    let start: JSON

    static let answer: Answer<ConfigurationInUse> = [
        "gateway": .of("The active gateway") { $0.gateway.identity },
        "application": .schema(application.schema("What the document says about it")) { application.json($0) },
        "device": .schema(device.schema()) { device.json($0) },
        "endpoints": .schema(.array(of: endpoint.schema(), "the gateway's own")) {
            $0.gateway.namedEndpoints.map { endpoint.json(($0.name, $0.path)) }
        },
        "customEndpoints": .schema(.array(of: endpoint.schema(), "those that the document adds")) {
            $0.gateway.customEndpoints.sorted { $0.key < $1.key }.map { endpoint.json(($0.key, $0.value)) }
        },
        "trust": .schema(trust.schema()) { trust.json($0) },
        "singleSignOn": .of("whether logins begin a session at the gateway") { $0.gateway.singleSignOn },
        "keyBits": .of("size of the device's RSA key") { $0.gateway.keyBits }, "start": .schema(.start) { $0.start },
    ]

    private static let application: Answer<ConfigurationInUse> = [
        "name": .of("name of the application") { $0.gateway.application.name },
        "organization": .of("its owner") { $0.gateway.application.organization },
        "description": .of("for people") { $0.gateway.application.description },
        "type": .of("type of the client") { $0.gateway.application.type },
        "registeredBy": .of("an administrator") { $0.gateway.application.registeredBy },
        "environment": .of("environment of the client") { $0.gateway.application.environment },
        "status": .of("status of the client") { $0.gateway.application.status },
        "masterClientID": .of("client that the administrator set up") { $0.gateway.masterClientID },
        "clientID": .of("client that the board uses; missing before it has one") { $0.status.client?.clientID },
        "scope": .of("scopes separated by blanks") { $0.gateway.scope },
        "redirectURI": .of("final address of browsers") { $0.gateway.redirectURI },
    ]

    private static let device: Answer<ConfigurationInUse> = [
        "name": .of("name that the board registers with") { $0.deviceName },
        "registration": .schema(.registration) { GatewayStatus.registrationAnswer.json($0.status) },
        "certificateEnds": .of("end of the device certificate") { $0.status.certificate?.notAfter },
    ]

    private static let endpoint: Answer<(name: String, path: String)> = [
        "name": .of("name to call it by") { $0.name }, "path": .of("path below the gateway, or a URL") { $0.path },
    ]

    private static let trust: Answer<ConfigurationInUse> = [
        "certificates": .of("trust anchors of the gateway's certificate chain") { $0.gateway.anchors.count },
        "pins": .of("hashes of public keys") { $0.gateway.pins.count },
        "publicAuthorities": .of("whether the system's authorities are trusted") { $0.gateway.usesPublicAnchors },
        "nameCheck": .of("how its certificate must name the host") { $0.nameCheck },
    ]
}
