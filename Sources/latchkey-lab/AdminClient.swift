import ArgumentParser
import Foundation
import Groundwork

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where the running lab is.
struct AdminOptions: ParsableArguments {
    @Option(help: "The admin address of the running lab.")
    var admin = "http://127.0.0.1:8480"

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// Calls the admin API.
    /// - Throws: ``AdminFailure``
    func call(_ method: String, _ path: String, _ input: JSON? = nil) async throws -> JSON {
        guard let url = URL(string: "\(admin)/api/\(path)") else {
            throw ValidationError("\(admin) is no address")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = input.map { Data($0.bytes) }
        let (data, response): (Data, URLResponse)
        do {
            (data, response) = try await URLSession.shared.data(for: request)
        } catch {
            throw AdminFailure.noLab(address: admin)
        }
        let answer = (try? JSON(parsing: data, limit: 16 << 20)) ?? .null
        guard (response as? HTTPURLResponse)?.statusCode == 200 else {
            throw AdminFailure.refused(reason: answer["error"]?.string ?? "it gave no reason")
        }
        return answer
    }

    /// Prints `answer` if JSON was asked for, else what `text` makes of it.
    func show(_ answer: JSON, _ text: (JSON) -> String) {
        print(json ? answer.prettyText : text(answer))
    }

    /// Prints a list that the lab has, a line for each, or that there are none.
    func showList(_ member: String, called name: String, _ line: (JSON) -> String) async throws {
        show(try await call("GET", "state")[member] ?? []) { list in
            let lines = (list.array ?? []).map(line)
            return lines.isEmpty ? "no \(name)" : lines.joined(separator: "\n")
        }
    }
}

enum AdminFailure: Explained, Equatable {
    case noLab(address: String)
    case refused(reason: String)

    var code: String {
        switch self {
        case .noLab: "lab.not-running"
        case .refused: "lab.refused"
        }
    }

    var message: String {
        switch self {
        case .noLab(let address): "no lab answers at \(address)"
        case .refused(let reason): "the lab refused: \(reason)"
        }
    }

    var remedy: String? {
        switch self {
        case .noLab: "start one with latchkey-lab run, or name its admin address with --admin"
        case .refused: nil
        }
    }

    /// What the command prints after "Error: ".
    var description: String { ([message] + [remedy].compactMap(\.self)).joined(separator: "\n") }
}
