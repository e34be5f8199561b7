import AgentCore
import Gateway
import LocalAPI

/// Finding accounts.
extension GatewayAccounts {
    /// - Throws: ``AgentError/notEnrolled`` for the default account, ``AccountError/unknown(_:)`` for any other
    package func account(_ name: AccountName) throws -> Account {
        if let account = table[name] { return account }
        throw name == .gateway ? AgentError.notEnrolled : AccountError.unknown(name)
    }

    /// The default account's link.
    package var link: Link? { table[.gateway]?.link }

    /// - Throws: ``AgentError/notEnrolled``
    package func activeLink() throws(AgentError) -> Link {
        guard let link else { throw .notEnrolled }
        return link
    }

    /// The account at a gateway that a request is about: the one in its path, else the default one.
    ///
    /// - Throws: ``AccountError``, ``AgentError/notEnrolled``
    package func account(of request: LocalRequest) async throws -> Account {
        let name = try request.accountName()
        if let account = table[name] { return account }
        if let kind = try await host.accounts.kind(of: name), kind.name != Gateways.kind {
            throw AccountError.otherKind(name, kind: kind.name)
        }
        return try account(name)
    }
}
