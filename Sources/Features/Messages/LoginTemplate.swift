import AgentCore

/// A part of the broker's login as the settings have it: names in braces stand for what only the registration knows.
///
/// The protocol says how a user logs in to the broker, and not how a board without one does (MAG 9.1).
package enum LoginTemplate {
    /// Those of every part.
    package static let names: Set = ["mag-identifier", "client", "device"]
    /// The access token is for the password alone: brokers write the other parts into their logs.
    package static let namesOfPassword = names.union(["token"])

    /// Replaces each name once: the replacement is not read again.
    package static func fill(_ template: String, with values: [String: String]) -> String {
        pieces(of: template).map { $0.isName ? values[String($0.text)] ?? "" : String($0.text) }.joined()
    }

    package static func fault(of template: String, knowing names: Set<String>) -> (fault: String, fix: String)? {
        let isKnown = pieces(of: template).allSatisfy { piece in
            piece.isName ? names.contains(String(piece.text)) : !piece.text.contains { $0 == "{" || $0 == "}" }
        }
        guard !isKnown else { return nil }
        return (
            "has a name in braces that is not allowed here",
            "use \(names.sorted().map { "{\($0)}" }.joined(separator: ", ")), and no other braces"
        )
    }

    private static func pieces(of template: String) -> [(text: Substring, isName: Bool)] {
        var pieces: [(Substring, Bool)] = []
        var rest = template[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            pieces.append((rest[..<start], false))
            pieces.append((rest[rest.index(after: start)..<end], true))
            rest = rest[rest.index(after: end)...]
        }
        return pieces + [(rest, false)]
    }
}
