import ArgumentParser
import Groundwork
import LocalAPI

/// A subcommand that sends one request to the daemon and shows the answer.
protocol RouteCommand: AsyncParsableCommand {
    associatedtype Options: RouteOptions
    var options: Options { get }

    /// Asks before something that cannot be undone, with ``Confirmation``. Asks nothing unless implemented.
    func confirm() async throws
    func request() async throws -> RouteRequest
    /// The answer as text for a person; with `--json` it is printed unchanged.
    func text(of answer: JSON) -> String
}

extension RouteCommand {
    func confirm() {}

    func run() async throws { try await sendAndShow() }

    /// What ``run()`` does, for a command whose exit status depends on the answer.
    @discardableResult
    func sendAndShow() async throws -> JSON {
        try await confirm()
        let answer = try await options.send(request())
        options.clientOptions.show(answer, text)
        return answer
    }
}

/// The options that a subcommand has because it sends a request: where the daemon is, and which account is meant.
protocol RouteOptions: ParsableArguments {
    var clientOptions: ClientOptions { get }

    /// The path of a route.
    ///
    /// - Parameter route: below `/v1/`, or below what these options select.
    func path(_ route: String) async throws -> String
}

extension RouteOptions {
    var client: LocalClient { clientOptions.client }
    var json: Bool { clientOptions.json }

    func show(_ answer: JSON, _ describe: (JSON) -> String) { clientOptions.show(answer, describe) }

    /// - Throws: `LocalAPIError`
    func send(_ request: RouteRequest) async throws -> JSON {
        guard let progress = request.progress else { return try await answer(to: request) }
        return try await ProgressLine.show(progress) { try await answer(to: request) }
    }

    private func answer(to request: RouteRequest) async throws -> JSON {
        let path = try await path(request.route)
        return switch request.method {
        case .get: try await client.get(path, timeout: request.timeout)
        case .post(let body): try await client.post(path, body, timeout: request.timeout)
        case .delete: try await client.delete(path, timeout: request.timeout)
        }
    }
}

extension ClientOptions: RouteOptions {
    var clientOptions: ClientOptions { self }

    func path(_ route: String) -> String { "/v1/\(route)" }
}

/// The options of a subcommand that is about one account.
struct AccountOptions: RouteOptions {
    @OptionGroup var account: AccountOption
    @OptionGroup var clientOptions: ClientOptions

    func path(_ route: String) async throws -> String { try await account.path(route, by: client) }
}
