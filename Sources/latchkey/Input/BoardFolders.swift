import Agent
import AgentCore
import Board
import Groundwork
import LocalAPI

/// The folders to search for board definitions: the given ones, else those of the answering daemon, else those of the
/// settings.
struct BoardFolders {
    let folders: [String]
    /// The daemon's report of its own board; `nil` if none answered.
    let report: JSON?
    /// The board settings of this machine; not used if there is a daemon's report.
    let settings: BoardSettings

    /// Name of the definition that the daemon uses.
    var current: String? { report?["name"]?.string }

    init(_ given: [String], _ client: LocalClient) async throws {
        let report = given.isEmpty ? try await Self.report(from: client) : nil
        let known = report?["directories"]?.array?.compactMap(\.string)
        settings =
            known == nil
            ? try AgentConfiguration.load(path: Environment["LATCHKEY_CONFIG"]).board : AgentConfiguration().board
        folders = given.isEmpty ? known ?? settings.directories : given
        self.report = report
    }

    /// - Returns: `nil` if no daemon answers, or only one that waits for its vault.
    private static func report(from client: LocalClient) async throws -> JSON? {
        do {
            return try await client.get("/v1/board")
        } catch {
            switch error {
            case .daemonNotRunning, .socketForbidden: return nil
            case .remote(_, let explanation) where explanation.kind == .unknownRoute: return nil
            default: throw error
            }
        }
    }
}
