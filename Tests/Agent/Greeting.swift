import AgentCore
import Groundwork
import LocalAPI
import Settings
import Synchronization

/// Greets programs that ask, and counts the greetings.
final class Greeting: Feature {
    static let text = Setting("greeting.text", preset: "Hello")
    private let host: Host
    private let count = Mutex<Int64>(0)

    init(_ host: Host) { self.host = host }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("greeting") { $0.string("text", &configuration[Self.text], .notEmpty) }
    }

    func addRoutes(to router: inout Router) {
        let answer = Schema.object(["text": .string("the greeting")], required: ["text"])
        router.on("GET", "/v1/greeting", needs: .read, .init("A greeting", answer: answer)) { _ in
            self.count.withLock { $0 += 1 }
            return .json(["text": .string(self.host.settings[Self.text])])
        }
    }

    static var checks: [any HealthCheck] { [GreetingCheck()] }

    func examine(into state: inout AgentState) async throws {
        state.found["greetings"] = .integer(count.withLock { $0 })
    }

    static var statusMembers: [String: Schema] { ["greetings": .integer("since the agent started")] }

    func status() async throws -> [String: JSON] {
        ["greetings": .integer(count.withLock { $0 })]
    }
}

/// Warns until the first greeting.
struct GreetingCheck: HealthCheck {
    static let name = "greeting"

    func run(_ agent: AgentState) -> Verdict {
        guard let count = agent.found["greetings"]?.integer, count > 0 else {
            return .warn("no program was greeted", remedy: "ask for it: GET /v1/greeting")
        }
        return .pass("\(count) greeted")
    }
}
