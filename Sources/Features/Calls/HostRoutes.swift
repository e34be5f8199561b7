import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import LocalAPI
import Vault

/// The hosts beside the gateways that may be called (MAG 1.3).
extension CallsFeature {
    package func addHostRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/hosts", needs: .read,
            .init(
                "The hosts other than the gateways that may be called, and how each must prove its identity",
                answer: .object(all: ["hosts": .array(of: .host, "those of the settings first")]))
        ) { _ in
            let list = self.gateways.hosts
            let reports = list.fixed.map { $0.report(true) } + list.added.map { $0.report(false) }
            return .json(["hosts": .array(reports)])
        }
        router.on(
            "POST", "/v1/hosts", needs: .operate,
            .init(
                "Add a host that may be called; an owner may also replace the trust in an added host",
                body: Schema.hostMembers,
                required: ["host"], answer: .host)
        ) { request in
            try self.checkMayTrust(request)
            let host = try HostSecurity(json: request.json)
            try await self.gateways.hosts.add(host) {
                try await self.store($1, of: host.name, endsTrust: $0, by: request)
            }
            return .json(host.report(false))
        }
        router.on(
            "DELETE", "/v1/hosts/{host}", needs: .operate,
            .init(
                "Remove an added host, and what grants allow there; only for owners",
                path: ["host": .string("host:port")],
                answer: .object(all: ["removed": .string("host:port")]))
        ) { request in
            try self.checkMayTrust(request)
            let name = request.parameters["host"] ?? ""
            try await self.gateways.hosts.remove(name) {
                try await self.store($1, of: name, endsTrust: $0, by: request)
            }
            return .json(["removed": .string(name)])
        }
    }

    /// A user who may not have a token does not say which server gets it, either.
    ///
    /// - Throws: ``GrantError/onlyOwners``
    private func checkMayTrust(_ request: LocalRequest) throws(GrantError) {
        guard request.isOwner || !authorizer.book.isLimited(LocalProgram(request)) else { throw .onlyOwners }
    }

    /// Stores a change of the hosts. What was allowed at a host ends with the trust that it was allowed for.
    ///
    /// - Throws: ``GrantError/trustOfOwners(host:)``, what the vault throws
    private func store(
        _ changes: [Change], of name: String, endsTrust: Bool, by request: LocalRequest
    ) async throws {
        guard endsTrust else { return try await host.vault.commit(changes) }
        guard request.isOwner else { throw GrantError.trustOfOwners(host: name) }
        try await authorizer.ending(atHost: name) { [host] in try await host.vault.commit(changes + $0) }
    }
}

extension HostSecurity {
    fileprivate func report(_ isInSettings: Bool) -> JSON {
        .object((json.object ?? [:]).merging(["inSettings": .bool(isInSettings)]) { own, _ in own })
    }
}

extension Schema {
    fileprivate static var hostMembers: [String: Schema] {
        [
            "host": .string("name or IP address, IPv6 in brackets"),
            "port": .integer("443 by default", in: 1...65_535),
            "public": .boolean(
                "whether it belongs to a third party and gets no token, identifier or device certificate"),
            "certificates": .array(
                of: .string("a certificate: PEM, or DER in base64"),
                "trust anchors of its certificate chain; at most 16"),
            "pins": .array(of: .string("SHA-256 of a public key, in hexadecimal or base64"), "at most 16"),
            "publicAuthorities": .boolean("whether its chain may end at an authority that the system trusts"),
            "nameCheck": .string(
                "how its certificate must name the host; off: not at all; common-name: also by its common name",
                choices: ServerTrust.NameCheck.allCases.map(\.rawValue)),
            "timeoutSeconds": .integer("time limit of a call; 60 by default", in: 1...HostSecurity.timeoutLimit),
        ]
    }

    fileprivate static var host: Schema {
        named(
            "Host",
            .object(
                hostMembers.merging(["inSettings": .boolean("whether only the settings file can change it")]) {
                    own, _ in
                    own
                },
                required: [
                    "host", "port", "public", "certificates", "pins", "publicAuthorities", "nameCheck", "inSettings",
                ], "A host that may be called"))
    }
}
