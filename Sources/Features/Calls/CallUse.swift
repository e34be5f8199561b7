import AgentCertificates
import AgentCore
import AgentGateway
import Gateway
import Groundwork
import HTTPClient
import LocalAPI

extension CallsFeature {
    /// The call that a program asks for. A signature speaks for the board, not for the program: grants do not include
    /// that.
    ///
    /// - Throws: ``LocalAPIError/accessDenied(user:method:path:permission:)``, what reading the request throws
    package func asked(by request: LocalRequest) throws -> CallRequest {
        try authorizer.admit(request)
        let asked = try CallRequest(RequestBody(request))
        try PassedFields.check(asked, byOperator: request.mayOperate)
        if asked.signing != nil { try request.checkMayOperate() }
        return asked
    }
}

extension GatewayCalls {
    /// Lets a program make a call of the local API.
    ///
    /// - Throws: ``GrantError``, ``PromptError``, ``AgentError/badRequest(member:fault:)``
    package func permit(_ request: LocalRequest, _ asked: GatewayCall) async throws -> CallAuthorization {
        let program = LocalProgram(request)
        let account = try await gateways.account(of: request)
        let target = try asked.target(at: account.link.gateway, strictly: authorizer.book.isLimited(program))
        // Users who may operate may use the others, too; this one has a question and a record of its own.
        if target.host == ProgramGrant.gatewayHost,
            program.mayOperate
                ? GatewayConfiguration.letsIn(target.segments) : account.link.gateway.reserves(target.segments)
        {
            throw GrantError.reserved(path: "/" + DisplayText.clean(target.segments.joined(separator: "/")))
        }
        let use = GrantUse(
            principal: asked.principal, account: account.name, scopes: try GrantUse.scopes(asked.call.scope),
            target: target)
        return try await authorizer.permit(program, use, at: account.link)
    }

    /// The call with the certificate that was named for its host; one below the gateway shows the device's.
    ///
    /// - Throws: what the vault throws
    func showingCertificate(_ asked: GatewayCall, at link: Link) async throws -> GatewayCall {
        let host = try asked.target(at: link.gateway, strictly: false).host
        guard host != ProgramGrant.gatewayHost else { return asked }
        var asked = asked
        asked.call.identity = try await certificates.identity(forHost: host)
        return asked
    }

    /// Lets a program have a token itself.
    ///
    /// - Throws: ``GrantError``, ``PromptError``
    package func permit(
        _ request: LocalRequest, tokenAs principal: Principal?, scope: String?
    ) async throws -> CallAuthorization {
        let account = try await gateways.account(of: request)
        return try await authorizer.permit(
            LocalProgram(request),
            GrantUse(principal: principal, account: account.name, scopes: try GrantUse.scopes(scope)),
            at: account.link)
    }
}

extension GatewayCall {
    /// Where the call goes, as grants name it.
    ///
    /// - Parameter strictly: whether a path that two readers could read differently is refused; else it counts as none.
    fileprivate func target(at gateway: GatewayConfiguration, strictly: Bool) throws -> GrantUse.Target {
        let identity = gateway.identity
        var (host, path) = (ProgramGrant.gatewayHost, call.path)
        if path.hasPrefix("@") { path = try gateway.address(ofEndpoint: path.dropFirst()) }
        if !path.hasPrefix("/"), let address = try? HTTPSAddress(path) {
            path = String(address.url.dropFirst("https://\(address.host):\(address.port)".count))
            let prefix = identity.prefix.isEmpty ? "/" : "/\(identity.prefix)/"
            if address.host == identity.host, address.port == identity.port, path.hasPrefix(prefix) {
                path = String(path.dropFirst(prefix.count - 1))
            } else {
                host = "\(address.host):\(address.port)"
            }
        }
        do {
            return GrantUse.Target(host: host, segments: try StrictPath.segments(of: path.prefix { $0 != "?" }))
        } catch {
            guard strictly else { return GrantUse.Target(host: host, segments: []) }
            throw AgentError.badRequest(member: "path", fault: "is ambiguous")
        }
    }
}

extension GrantUse {
    /// - Parameter text: scopes with blanks between.
    /// - Throws: ``AgentError/badRequest(member:fault:)`` for what no grant could name.
    package static func scopes(_ text: String?) throws(AgentError) -> Set<String> {
        let names = (text ?? "").split(separator: " ", maxSplits: ProgramGrant.elementLimit).map(String.init)
        guard names.count <= ProgramGrant.elementLimit, names.allSatisfy(ProgramGrant.isScope) else {
            throw .badRequest(
                member: "scope",
                fault: "is not a list of at most \(ProgramGrant.elementLimit) scopes separated by blanks")
        }
        return Set(names)
    }
}
