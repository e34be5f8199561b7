import ArgumentParser
import Foundation
import GatewayLab
import Groundwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Where the running lab is, and its admin token.
struct AdminOptions: ParsableArguments {
    @Option(help: "Admin address of the running lab.")
    var admin = "http://127.0.0.1:8480"

    @Option(
        help: ArgumentHelp(
            "Data directory of the running lab, with its admin token; not needed for labs that this user started.",
            valueName: "directory"))
    var data: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// The admin address without the token of the printed link: the token is read from its file, never from an
    /// argument, which other users can see.
    /// - Throws: `ValidationError`
    func address() throws -> String {
        let address = admin.prefix { $0 != "#" }
        let plain = address.hasSuffix("/") ? String(address.dropLast()) : String(address)
        guard let url = URL(string: plain), url.scheme == "http", url.host != nil else {
            throw ValidationError("\(plain) is not an address such as http://127.0.0.1:8480.")
        }
        return plain
    }

    /// - Throws: `ValidationError`, `AdminFailure.noToken`
    func token() throws -> String {
        let address = try address()
        let file =
            data.map(AdminTokenFile.init(dataDirectory:)) ?? AdminTokenFile(port: URL(string: address)?.port ?? 80)
        guard let token = file.read() else { throw AdminFailure.noToken(path: file.path, address: address) }
        return token
    }

    /// Calls the admin API.
    /// - Throws: ``AdminFailure``, `ValidationError`
    func call(_ method: String, _ path: String, _ input: JSON? = nil) async throws -> JSON {
        let address = try address()
        guard let url = URL(string: "\(address)/api/\(path)") else {
            throw ValidationError("\(path) is not a valid path.")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // Without a token, the answer still shows whether a lab is running.
        let known = Result { try token() }
        if case .success(let token) = known {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        request.httpBody = input.map { Data($0.bytes) }
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw AdminFailure.noLab(address: address)
        }
        let answer = (try? JSON(parsing: data, limit: 16 << 20)) ?? .null
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200: return answer
        case 401:
            _ = try known.get()
            throw AdminFailure.wrongToken(address: address)
        default:
            throw AdminFailure.refused(
                Explanation(
                    answer["code"]?.string ?? "lab.bad-input",
                    answer["kind"]?.string.flatMap(ExplanationKind.init) ?? .invalidInput,
                    answer["error"]?.string ?? "no reason given"))
        }
    }

    /// Prints `answer` if JSON was requested, otherwise its text.
    func show(_ answer: JSON, _ text: (JSON) -> String) {
        print(json ? answer.prettyText : text(answer))
    }

    /// Prints a list of the lab as a table, or a line that it is empty.
    func showList(
        _ member: String, called name: String, _ table: Table, _ add: (inout Table, JSON) -> Void
    ) async throws {
        show(try await call("GET", "state")[member] ?? []) { list in
            let items = list.array ?? []
            var table = table
            for item in items { add(&table, item) }
            return items.isEmpty ? "no \(name)" : table.text
        }
    }
}

enum AdminFailure: Explained, Equatable {
    case noLab(address: String)
    case noToken(path: String, address: String)
    case wrongToken(address: String)
    /// The lab's error.
    case refused(Explanation)

    var explanation: Explanation {
        switch self {
        case .noLab(let address):
            Explanation(
                "lab.not-running", .notRunning, "no lab is answering at \(address)",
                remedy: "start one with latchkey-lab run, or specify its admin address with --admin")
        case .noToken(let path, let address):
            Explanation(
                "lab.unauthorized", .permission,
                "the lab at \(address) requires its admin token, but \(path) cannot be read", remedy: Self.rightUser)
        case .wrongToken(let address):
            Explanation(
                "lab.unauthorized", .permission, "the lab at \(address) has a different admin token",
                remedy: Self.rightUser)
        case .refused(let explanation): explanation
        }
    }

    private static let rightUser =
        "run this as the user who started the lab, or specify the lab's data directory with --data"

    static let examples: [AdminFailure] = [
        .noLab(address: "ADDRESS"), .noToken(path: "PATH", address: "ADDRESS"), .wrongToken(address: "ADDRESS"),
        .refused(
            Explanation("lab.bad-input", .invalidInput, "REASON", meaning: "the lab cannot use what it was given")),
    ]
}
