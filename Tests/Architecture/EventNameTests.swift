import Foundation
import Testing

/// The names of events are for output. What the program does about an event it decides by the event's case: the
/// compiler then finds every place that a new event, or a renamed one, concerns.
@Suite("Decisions by the name of an event")
struct EventNameTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    /// The rooms that see events themselves. The command and other programs get their names only, over the local API.
    private static let rooms = [
        "Gateway", "GatewayServices", "Messaging", "Board", "Connectivity", "Bluetooth", "Prompts", "Proximity",
        "AgentCore", "Features", "Agent",
    ]

    private static func lines(of room: String) throws -> [(place: String, text: String)] {
        let folder = sources.appending(path: room)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try files.flatMap { file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            return text.components(separatedBy: "\n").enumerated().map { ("\(room)/\(file):\($0 + 1)", $1) }
        }
    }

    /// The first parts of all names that events have.
    private static func families() throws -> Set<String> {
        let text = try rooms.flatMap(lines).map(\.text).joined(separator: "\n")
        return Set(text.matches(of: /EventReport\(\s*"([a-z]+)\./).map { String($0.1) })
    }

    /// A comparison, a case or a set of cases, or a prefix, that names an event or a family of them.
    private static func decides(_ text: String, _ families: Set<String>) -> Bool {
        let names = families.sorted().joined(separator: "|")
        let patterns = [
            #"(==|!=|~=)\s*"(\#(names))\.[a-z]"#, #"\bcase\s[^:]*"(\#(names))\.[a-z]"#, #"hasPrefix\("(\#(names))[.-]"#,
            #"\.contains\("(\#(names))\.[a-z]"#, #"\[("[a-z.-]+", )*"(\#(names))\.[a-z-]+"(, "[a-z.-]+")*\]\.contains"#,
            #"\bevent\.name\s*(==|!=)"#, #"switch\s+(event|trouble)\.name\b"#,
            #"\bevent\.name\.(hasPrefix|hasSuffix|contains)"#,
        ]
        return patterns.contains { text.range(of: $0, options: .regularExpression) != nil }
    }

    @Test("nothing is decided by an event's name in the rooms that see the event itself")
    func undecided() throws {
        let families = try Self.families()
        #expect(
            families == [
                "gateway", "broker", "outbox", "items", "message", "button", "sensor", "agent", "vault", "proximity",
                "prompt", "network", "inbox", "action", "grants", "mpin", "oauth", "enrollment", "telemetry",
                "homeassistant", "certificates",
            ])
        for line in try Self.rooms.flatMap(Self.lines) where Self.decides(line.text, families) {
            Issue.record("\(line.place): \(line.text.trimmingCharacters(in: .whitespaces))")
        }
    }

    @Test(
        "the search finds decisions by the name of an event",
        arguments: [
            #"for await event in events where event.name == "broker.connected" {"#,
            #"case "gateway.user-did-authenticate": self = .loggedIn"#,
            #"case "gateway.did-switch", "gateway.device-did-register", "gateway.device-did-deregister","#,
            #"let name = event.name.hasPrefix("gateway-") ? String(event.name.dropFirst(8)) : event.name"#,
            #"for await event in told where event.name.hasPrefix("broker.") { change.yield() }"#,
            #"["sensor.failed", "sensor.recovered"].contains(trouble.name)"#, "switch event.name {",
        ])
    func found(line: String) throws {
        #expect(Self.decides(line, try Self.families()))
    }
}
