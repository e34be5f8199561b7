import Foundation
import Testing

/// What a room says of its events, and what follows from them there, names each case: a new event then fails to compile
/// until that is said. Who reacts to events of several rooms asks for their type (`AgentEvent.ofBoard`).
@Suite("Switches over an event")
struct EventSwitchTests {
    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    /// The rooms that see events themselves, as in ``EventNameTests``.
    private static let rooms = [
        "Gateway", "GatewayServices", "Messaging", "Board", "Connectivity", "Bluetooth", "Prompts", "Proximity",
        "AgentCore", "Features", "Agent",
    ]

    /// Each `default` of a switch over `self` in an extension of an event's type, or over a variable called an event.
    ///
    /// - Returns: the numbers of their lines, from 1.
    private static func defaults(in text: String) -> [Int] {
        var found: [Int] = []
        var isOfEvent = false
        /// The indentations of the switches that are open, and whether they are over events.
        var open: [(indentation: Int, isOverEvent: Bool)] = []
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            let indentation = line.prefix { $0 == " " }.count
            let code = line.dropFirst(indentation)
            if indentation == 0, code.hasSuffix("{") {
                isOfEvent = code.contains(/\b(extension|enum) [\w.]*Event[ :]/)
            }
            if code == "}" { open.removeAll { $0.indentation >= indentation } }
            if code.hasSuffix("{"), let subject = code.firstMatch(of: /\bswitch (?:await )?([\w.?]+) \{$/)?.1 {
                // Not by word boundaries, as Swift sees none at the dots of a path.
                let isEvent = subject.contains(/(?:^|[.?])\w*[eE]vent$/)
                open.append((indentation, isEvent || subject == "self" && isOfEvent))
            }
            if code.hasPrefix("default:") || code.hasPrefix("@unknown default:"),
                open.last(where: { $0.indentation == indentation })?.isOverEvent == true
            {
                found.append(number + 1)
            }
        }
        return found
    }

    @Test("no switch over an event has a default in the rooms that see the event itself", arguments: rooms)
    func complete(room: String) throws {
        let folder = Self.sources.appending(path: room)
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!files.isEmpty)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            guard text.utf8.firstRange(of: "default:".utf8) != nil else { continue }
            #expect(Self.defaults(in: text) == [], "\(room)/\(file): name the cases in place of the default")
        }
    }

    @Test(
        "the search finds a default in a switch over an event, and only that one",
        arguments: [
            ("switch event {\ncase .connected: break\ndefault: continue\n}", [3]),
            ("    switch change.event {\n    case .lost: break\n    default: continue\n    }", [3]),
            ("extension GatewayEvent {\n    switch self {\n    default: nil\n    }\n}", [3]),
            ("switch message.event {\ncase .a(let b):\n    switch b {\n    default: break\n    }\n}", []),
            ("switch error {\ndefault: break\n}\nswitch event {\ncase .lost: break\n}", []),
            ("extension Refusal {\n    switch self {\n    default: nil\n    }\n}", []),
        ])
    func found(text: String, lines: [Int]) {
        #expect(Self.defaults(in: text) == lines)
    }
}
