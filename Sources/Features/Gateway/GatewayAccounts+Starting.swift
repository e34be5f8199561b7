import AgentCore
import Cryptography
import Gateway
import Groundwork

/// Stopping and starting what talks to a gateway, choosing a known one, and the default document (MAG 1.2, 13.1).
extension GatewayAccounts {
    package func startState(of name: AccountName) -> StartState {
        guard host.vaultFault == nil else { return .notInitialized }
        if let passing = table.passing[name] { return passing }
        if let account = table[name] { return account.session.isStopped ? .stopped : .started }
        return table.unusable[name] == nil ? .notConfigured : .notInitialized
    }

    /// Ends everything of an account that talks to its gateway or broker, until it is started, also across restarts.
    /// Readings and messages go on being accepted, and wait in the outbox.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, what the vault throws
    package func stop(_ name: AccountName) async throws {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        let account = try account(name)
        guard !account.session.isStopped else { return }
        host.report(AccountEvent.willStop, of: name)
        table.passing[name] = .willStop
        defer { table.passing[name] = nil }
        do {
            try await store.setStopped(true, at: account.gateway.identity)
        } catch {
            host.report(AccountEvent.didFailToStop(error), of: name)
            throw error
        }
        table.passing[name] = .isBeingStopped
        await connect(name, to: account.gateway)
        host.report(AccountEvent.didStop, of: name)
    }

    /// Starts an account that was stopped.
    ///
    /// - Throws: ``AgentError/notEnrolled``, ``AccountError/unknown(_:)``, what the vault throws
    package func start(_ name: AccountName) async throws {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        let account = try account(name)
        guard account.session.isStopped else { return }
        do {
            try await store.setStopped(false, at: account.gateway.identity)
        } catch {
            host.report(AccountEvent.didFailToStart(error), of: name)
            throw error
        }
        await connect(name, to: account.gateway)
    }

    // MARK: Choosing a gateway

    /// Switches an account to a gateway that the board knows, whose registration is found again.
    ///
    /// - Parameter text: its URL, its scope, its host with or without the port.
    /// - Throws: ``GatewayChoiceError``, the errors of ``enroll(_:as:registers:byDocument:)``
    package func use(_ text: String, as name: AccountName) async throws -> GatewayStatus {
        let found = try await store.known().filter { $0.isNamed(text) }
        guard let identity = found.first, let gateway = try await store.configuration(of: identity) else {
            throw GatewayChoiceError.unknown(text)
        }
        guard found.count == 1 else { throw GatewayChoiceError.ambiguous(text, found.map(\.baseURL)) }
        return try await enroll(gateway, as: name, registers: host.settings.registersByItself)
    }

    /// Switches an account to the gateway of the default document, wherever the account is now.
    ///
    /// - Throws: ``GatewayChoiceError/noDefaultDocument``, the errors of ``enroll(_:as:registers:byDocument:)``
    package func useDefaultDocument(as name: AccountName) async throws -> GatewayStatus {
        guard let gateway = try await defaultDocument() else { throw GatewayChoiceError.noDefaultDocument }
        // The fault that was found at the start is gone.
        defaultDocumentFault = nil
        return try await enroll(
            gateway, as: name, registers: host.settings.registersByItself, byDocument: SHA256.hash(gateway.bytes))
    }

    // MARK: The default document

    /// - Returns: `nil` if the settings name none.
    /// - Throws: ``GatewayError``
    package func defaultDocument() async throws -> GatewayConfiguration? {
        let path = host.settings[GatewaySettings.self].defaultDocument
        guard !path.isEmpty else { return nil }
        return try await Enrollment(url: path).fetch(using: host.client)
    }

    /// Takes the default document where there is no active configuration, or where the settings want it to replace that
    /// one; each content once. The caller must hold ``AccountRegistry/change``.
    package func takeDefaultDocument() async {
        do {
            let isActive = try await store.accounts()[AccountName.gateway.text] != nil
            guard !isActive || host.settings[GatewaySettings.self].documentReplaces,
                let gateway = try await defaultDocument()
            else { return }
            let hash = SHA256.hash(gateway.bytes)
            guard try await store.takenDocument() != hash else { return }
            try await adopt(gateway, as: .gateway, registers: host.settings.registersByItself, byDocument: hash)
            host.report(AccountEvent.defaultDocumentTaken(gateway.identity))
        } catch {
            defaultDocumentFault = Explanation(of: error)
            host.report(AccountEvent.defaultDocumentUnusable(error))
        }
    }
}

extension GatewayIdentity {
    /// Whether a person means this gateway by the text.
    fileprivate func isNamed(_ text: String) -> Bool {
        let text = text.lowercased().trimming { $0 == "/" }
        return [baseURL.lowercased(), scope.lowercased(), "\(host):\(port)", host].contains {
            $0.trimming { $0 == "/" } == text
        }
    }
}
