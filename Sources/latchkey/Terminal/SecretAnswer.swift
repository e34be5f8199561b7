import Groundwork
import LocalAPI

/// Passes a PIN or a passcode to the daemon: from standard input, or by prompts.
struct SecretAnswer {
    let client: LocalClient
    /// The secret's name in the request.
    let member: String
    /// Whether standard input has it, even if it is a terminal.
    let isGiven: Bool

    /// - Parameters:
    ///   - path: of the route, which takes prompts below `/prompted`.
    ///   - end: the name of the event with the result.
    func post(_ path: String, _ body: [String: JSON] = [:], endingWith end: String) async throws -> JSON {
        if !isGiven, Terminal.inputIsTerminal {
            return try await PromptedLogin(client: client, path: path + "/prompted", body: .object(body), end: end)
                .run()
        }
        var body = body
        body[member] = .string(try Self.line())
        return try await client.post(path, .object(body), timeout: .seconds(180))
    }

    /// The first line of standard input.
    static func line() throws(InputError) -> String {
        Input.expectSecret()
        return try Input.firstLine(of: Input.standardInput(limit: 4096))
    }

    /// The first two lines of standard input, or the only one.
    static func twoLines() throws(InputError) -> [String] {
        Input.expectSecret()
        return try Input.lines(of: Input.standardInput(limit: 4096)).prefix(2).filter { !$0.isEmpty }
    }
}
