import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI

/// The configuration in use, the gateways that the board knows, and starting and stopping what talks to them.
extension GatewayFeature {
    package func addGatewayListRoute(to router: inout Router) {
        let gateway = Schema.object(
            [
                "url": .string("URL of the gateway"), "host": .string("host name or address"),
                "port": .integer("TCP port", in: 1...65_535), "prefix": .string("prefix of its paths; may be empty"),
                "account": .string("account at this gateway; missing if there is none"),
                "registered": .boolean("whether the board has a registration there"),
                "stopped": .boolean("whether a user has stopped the connection to it"),
            ], required: ["url", "host", "port", "prefix", "registered", "stopped"])
        router.on(
            "GET", "/v1/gateways", needs: .read,
            .init(
                "The gateways that the board knows; their registrations are kept",
                answer: .object(["gateways": .array(of: gateway, "ordered by name")], required: ["gateways"]))
        ) { _ in
            .json(["gateways": .array(try await self.knownGateways())])
        }
    }

    package func addGatewayRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/gateway", needs: .read,
            .init("The configuration in use: gateway, application, device, endpoints", answer: .gatewayConfiguration)
        ) { request in
            .json(try await self.report(ofConfigurationOf: try await self.gateways.account(of: request)))
        }
        let answer = Schema.object(["start": .start], required: ["start"])
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
            var report: [String: JSON] = [
                "url": .string(identity.baseURL), "host": .string(identity.host),
                "port": .integer(Int64(identity.port)),
                "prefix": .string(identity.prefix),
                "registered": .bool(try await gateways.store.isRegistered(at: identity)),
                "stopped": .bool(try await gateways.store.isStopped(at: identity)),
            ]
            report["account"] = accounts.first { $0.value == identity }.map { .string($0.key) }
            reports.append(.object(report))
        }
        return reports
    }

    /// Nothing secret: neither the client's secret nor the document itself.
    private func report(ofConfigurationOf account: Account) async throws -> JSON {
        let (gateway, status) = (account.gateway, try await account.session.status())
        let application = gateway.application
        var described: [String: JSON] = [
            "organization": .string(application.organization), "masterClientID": .string(gateway.masterClientID),
        ]
        let optional = [
            "name": application.name, "description": application.description, "type": application.type,
            "registeredBy": application.registeredBy, "environment": application.environment,
            "status": application.status, "clientID": status.client?.clientID, "scope": gateway.scope,
            "redirectURI": gateway.redirectURI,
        ]
        for (name, text) in optional { described[name] = text.map(JSON.string) }
        var device: [String: JSON] = [
            "name": .string(host.deviceName), "registration": status.report(at: host.time.now)["registration"] ?? .null,
        ]
        device["certificateEnds"] = status.certificate.map { .string($0.notAfter.formatted(.iso8601)) }
        let own = gateway.namedEndpoints.map { ["name": .string($0.name), "path": .string($0.path)] as JSON }
        let custom = gateway.customEndpoints.sorted { $0.key < $1.key }.map {
            ["name": .string($0.key), "path": .string($0.value)] as JSON
        }
        return [
            "gateway": gateway.identity.json, "application": .object(described), "device": .object(device),
            "endpoints": .array(own), "customEndpoints": .array(custom),
            "trust": [
                "certificates": .integer(Int64(gateway.anchors.count)), "pins": .integer(Int64(gateway.pins.count)),
                "publicAuthorities": .bool(gateway.usesPublicAnchors),
                "nameCheck": .string(host.settings.gateway.nameCheck.rawValue),
            ],
            "singleSignOn": .bool(gateway.singleSignOn), "keyBits": .integer(Int64(gateway.keyBits)),
            "start": await gateways.startReport(of: account.name, status),
        ]
    }
}

extension Schema {
    fileprivate static var gatewayConfiguration: Schema {
        let endpoint = Schema.object(
            ["name": .string("name to call it by"), "path": .string("path below the gateway, or a URL")],
            required: ["name", "path"])
        let application: [String: Schema] = [
            "name": .string("name of the application"), "organization": .string("its owner"),
            "description": .string("for people"), "type": .string("type of the client"),
            "registeredBy": .string("an administrator"), "environment": .string("environment of the client"),
            "status": .string("status of the client"),
            "masterClientID": .string("client that the administrator set up"),
            "clientID": .string("client that the board uses; missing before it has one"),
            "scope": .string("scopes separated by blanks"), "redirectURI": .string("final address of browsers"),
        ]
        return object(
            [
                "gateway": gatewayMembers["gateway"] ?? .openObject("the gateway"),
                "application": .object(
                    application, required: ["organization", "masterClientID"], "What the document says about it"),
                "device": .object(
                    [
                        "name": .string("name that the board registers with"), "registration": registration,
                        "certificateEnds": .time("end of the device certificate"),
                    ], required: ["name", "registration"]),
                "endpoints": .array(of: endpoint, "the gateway's own"),
                "customEndpoints": .array(of: endpoint, "those that the document adds"),
                "trust": .object(
                    [
                        "certificates": .integer("trust anchors of the gateway's certificate chain"),
                        "pins": .integer("hashes of public keys"),
                        "publicAuthorities": .boolean("whether the system's authorities are trusted"),
                        "nameCheck": .string("how its certificate must name the host"),
                    ], required: ["certificates", "pins", "publicAuthorities", "nameCheck"]),
                "singleSignOn": .boolean("whether logins begin a session at the gateway"),
                "keyBits": .integer("size of the device's RSA key"), "start": start,
            ],
            required: [
                "gateway", "application", "device", "endpoints", "customEndpoints", "trust", "singleSignOn", "keyBits",
                "start",
            ])
    }
}
