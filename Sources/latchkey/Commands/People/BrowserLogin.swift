import ArgumentParser
import Glibc
import Groundwork
import HTTPClient
import LocalAPI

/// A login in a browser, at a gateway or an OAuth server: on this machine, where the command waits for it on the
/// loopback interface; on a phone, where the gateway says when it is done; or anywhere, where a person enters the
/// address that the browser was led to.
struct BrowserLogin {
    let client: LocalClient
    /// The path of the account's route.
    let path: String
    var provider: String?
    var isPage = false
    /// Whether the address is shown as a QR code.
    var isForPhone = false
    var picture: String?
    var light = false
    /// Whether standard output is for a program alone.
    var asJSON = false
    /// Another than the account's, at an OAuth server.
    var scope: String?
    /// Whether to wait for a browser of this machine.
    var listens = true

    /// How often the gateway is asked whether the login was completed elsewhere, in milliseconds.
    private static let interval: Int32 = 3000

    /// - Returns: the logged-in user.
    /// - Throws: `LocalAPIError`, ``InputError``, `ProximityError`
    func run() async throws -> JSON {
        let offered = listens ? LoopbackListener() : nil
        var body: [String: JSON] = [:]
        if isPage { body["page"] = true }
        if picture != nil { body["picture"] = true }
        body["provider"] = provider.map(JSON.string)
        body["scope"] = scope.map(JSON.string)
        body["loopbackPort"] = offered.map { .integer(Int64($0.port)) }
        let begun = try await client.post(path, .object(body), timeout: .seconds(90))
        let url = try choose(of: begun)
        if let picture { try Output.picture(begun["picture"] ?? .null, to: picture) }
        let redirectURI = begun["redirectUri"]?.string ?? ""
        let listener = offered.flatMap { LoopbackListener.at(redirectURI, offered: $0) }
        if isForPhone {
            try QRText.show(url, light: light, isAside: asJSON)
            Terminal.error("Scan the code with a phone and log in there, or enter the browser's final address.")
        } else {
            let ending =
                listener == nil
                ? ", log in, and enter the browser's final address:"
                : " and log in. A browser of this machine completes the login; with any other, enter its final address:"
            Terminal.error("Open this address in a browser\(ending)\n\n  \(url)\n")
        }
        Terminal.prompt("Address: ")
        let user = try await wait(
            for: "\(path)/\(begun["id"]?.string ?? "")", listener, redirectURI: redirectURI,
            polls: begun["canPoll"]?.bool == true)
        return user
    }

    /// The address of a provider. A person who has not named one is asked, if there are several.
    private func choose(of begun: JSON) throws -> String {
        let own = begun["url"]?.string ?? ""
        let offered = begun["providers"]?.array ?? []
        guard provider == nil, !isPage, picture == nil, offered.count > 1, Terminal.inputIsTerminal else { return own }
        let names = offered.compactMap { $0["id"]?.string }
        let shown = Terminal.standardError.shown(names.joined(separator: ", "))
        let preset = Terminal.standardError.shown(begun["provider"]?.string ?? "")
        let answer = Input.answer(to: "Providers: \(shown)\nProvider [\(preset)]: ") ?? ""
        guard !answer.isEmpty else { return own }
        guard let found = offered.first(where: { $0["id"]?.string?.lowercased() == answer.lowercased() }),
            let url = found["url"]?.string
        else { throw ValidationError("the gateway offers \(shown)") }
        return url
    }

    private func wait(
        for path: String, _ listener: LoopbackListener?, redirectURI: String, polls: Bool
    ) async throws -> JSON {
        var input = STDIN_FILENO
        while true {
            var states = [input, listener?.descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&states, 2, polls ? Self.interval : -1)
            if count < 0, errno == EINTR { continue }
            if states[0].revents != 0 {
                if let line = readLine(), !line.isEmpty { return try await complete(path, ["answer": .string(line)]) }
                guard polls || listener != nil else {
                    throw InputError.unreadable(name: "standard input", reason: "it ended")
                }
                // Nothing is entered here; the browser's own ways are left.
                input = -1
            } else if states[1].revents != 0 {
                if let answer = listener?.answer(redirectURI: redirectURI) {
                    Terminal.error("")
                    if let user = try await complete(path, byBrowser: answer) { return user }
                }
            } else if count == 0 {
                let answer = try await complete(path, ["poll": true])
                if answer["loggedIn"]?.bool == true {
                    Terminal.error("")
                    listener?.answerLatecomer(redirectURI: redirectURI)
                    return answer
                }
            }
        }
    }

    /// - Returns: `nil` for an answer to another login, which every page in the browser can send here: the browser's
    ///   own is still awaited.
    private func complete(_ path: String, byBrowser answer: String) async throws -> JSON? {
        do {
            return try await complete(path, ["answer": .string(answer)])
        } catch LocalAPIError.remote(_, let explanation) where explanation.browserAnswer == .ofAnotherLogin {
            Terminal.error("A browser brought the answer to another login; still waiting.")
            return nil
        }
    }

    private func complete(_ path: String, _ body: JSON) async throws -> JSON {
        try await client.post(path, body, timeout: .seconds(180))
    }
}
