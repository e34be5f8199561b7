import Groundwork
import LocalAPI

/// Logs in at an account of an OAuth server, by the grant that the account has.
struct AccountLogin {
    let options: ClientOptions
    let account: ChosenAccount
    /// What the person has given for it.
    let user: String?
    let readsPassword: Bool
    let assertion: String?
    let scope: String?
    let light: Bool
    /// Whether to wait for a browser of this machine.
    let listens: Bool

    /// - Returns: `nil` if the account is at a gateway, or there is none.
    static func grant(of account: ChosenAccount, by client: LocalClient) async throws -> String? {
        guard let name = account.name else { return nil }
        do throws(LocalAPIError) {
            return try await client.get("/v1/accounts/\(name)")["server"]?["grant"]?.string
        } catch {
            // The default account, which a login cannot make.
            guard case .remote(_, let explanation) = error, explanation.kind == .unconfigured else {
                throw error
            }
            return nil
        }
    }

    func run(_ grant: String) async throws {
        switch grant {
        case "device_code": try await logInByDeviceCode()
        case "password": try await logInByPassword()
        case "jwt_bearer" where assertion != nil, "saml2_bearer": try await logInByAssertion()
        case "client_credentials", "jwt_bearer":
            let answer = try await options.client.post(account.path("token"), scopeMember([:]), timeout: .seconds(90))
            options.show(answer) {
                let scope = $0["scope"]?.string.flatMap { $0.isEmpty ? nil : Terminal.standardOutput.shown($0) }
                return "this account needs no login; it has a token " + (scope.map { "for \($0)" } ?? "without a scope")
            }
        // The implicit grant's answer is in a fragment, which browsers never send.
        default: try await logInByBrowser(listens: listens && grant == "authorization_code")
        }
    }

    private func scopeMember(_ members: [String: JSON]) -> JSON {
        .object(scope.map { members.merging(["scope": .string($0)]) { own, _ in own } } ?? members)
    }

    private func logInByPassword() async throws {
        let name = try user ?? Self.askedName()
        let isTyped = !readsPassword && Terminal.inputIsTerminal
        let password = isTyped ? try Self.typedPassword(of: name) : try SecretAnswer.line()
        let answer = try await options.client.post(
            account.path("login"), scopeMember(["userName": .string(name), "password": .string(password)]),
            timeout: .seconds(90))
        options.show(answer, Login.welcome)
    }

    private static func askedName() throws -> String {
        Terminal.prompt("User name: ")
        return try Input.line()
    }

    private static func typedPassword(of name: String) throws -> String {
        try Input.withoutEcho("Password of \(Terminal.standardError.shown(name)): ")
    }

    private func logInByAssertion() async throws {
        let file = assertion ?? "-"
        let bytes = file == "-" ? try Input.standardInput(limit: 1 << 16) : try Input.file(file, limit: 1 << 16)
        let text = try Input.text(bytes, of: file == "-" ? "standard input" : file).trimmed
        let answer = try await options.client.post(
            account.path("login/assertion"), scopeMember(["assertion": .string(text)]), timeout: .seconds(90))
        options.show(answer, Login.welcome)
    }

    private func logInByBrowser(listens: Bool) async throws {
        let login = BrowserLogin(
            client: options.client, path: account.path("login/browser"), scope: scope, listens: listens)
        options.show(try await login.run(), Login.welcome)
    }

    private func logInByDeviceCode() async throws {
        var isLoggedIn = false
        for try await event in options.client.events(account.path("login/device"), posting: scopeMember([:])) {
            if options.json { Terminal.json(["event": .string(event.name), "data": event.data]) }
            switch event.name {
            case "device-code": if !options.json { try show(event.data) }
            case "logged-in":
                isLoggedIn = true
                if !options.json { Terminal.line(Login.welcome(event.data)) }
            default: break
            }
        }
        guard isLoggedIn else { throw LocalAPIError.noAnswer(reason: "the daemon ended the login without a result") }
    }

    private func show(_ code: JSON) throws {
        let out = Terminal.standardOutput
        if let complete = code["completeAddress"]?.string {
            do {
                try QRText.show(complete, light: light)
            } catch {
                // A narrow terminal; the code can be typed.
                Terminal.line(out.shown(complete))
            }
        }
        Terminal.line(
            "Open \(out.shown(code["address"]?.string ?? "")) and enter the code "
                + out.bold(out.shown(code["userCode"]?.string ?? "")))
    }
}
