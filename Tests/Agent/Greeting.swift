import AgentCore
import Groundwork
import LocalAPI
import Settings
import Synchronization

/// The table `[greeting]`.
struct GreetingSettings: TypedValue {
    var text = "Hello"
}

/// What happens to the greeting.
enum GreetingEvent: ReportedEvent {
    case changed(to: String)

    static let meanings = ["greeting.changed": "programs are greeted with another text from now on"]

    static var details: [String: Schema] { ["text": .string("the new greeting")] }

    var report: EventReport {
        switch self {
        case .changed(let text):
            EventReport("greeting.changed", .routine, "programs are greeted with \(text)", ["text": .string(text)])
        }
    }
}

/// Greets programs that ask, and counts the greetings.
final class Greeting: Feature {
    private let host: Host
    private let kept: Mutex<(text: String, count: Int64)>

    init(_ host: Host) {
        self.host = host
        kept = Mutex((host.settings[GreetingSettings.self].text, 0))
    }

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("greeting") { $0.string("text", &configuration[GreetingSettings.self].text, .notEmpty) }
    }

    func addRoutes(to router: inout Router) {
        let answer = Schema.object(["text": .string("the greeting")], required: ["text"])
        router.on("GET", "/v1/greeting", needs: .read, .init("A greeting", answer: answer)) { _ in
            .json(["text": .string(self.greet())])
        }
        router.on(
            "POST", "/v1/greeting", needs: .operate,
            .init(
                "Greet with another text until the agent ends", body: ["text": .string("the greeting")],
                required: ["text"], answer: answer)
        ) { request in
            .json(["text": .string(self.change(to: try RequestBody(request).string("text")))])
        }
        router.on(
            "DELETE", "/v1/greeting", needs: .operate,
            .init("Greet with the text of the settings again", answer: answer)
        ) { _ in
            .json(["text": .string(self.change(to: self.host.settings[GreetingSettings.self].text))])
        }
    }

    private func greet() -> String {
        kept.withLock {
            $0.count += 1
            return $0.text
        }
    }

    private func change(to text: String) -> String {
        kept.withLock { $0.text = text }
        host.report(GreetingEvent.changed(to: text))
        return text
    }

    static var events: [any ReportedEvent.Type] { [GreetingEvent.self] }

    static var checks: [any HealthCheck] { [GreetingCheck()] }

    func examine(into state: inout AgentState) async throws {
        state.found["greetings"] = .integer(kept.withLock(\.count))
    }

    static var statusMembers: [String: Schema] { ["greetings": .integer("since the agent started")] }

    func status() async throws -> [String: JSON] {
        ["greetings": .integer(kept.withLock(\.count))]
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
