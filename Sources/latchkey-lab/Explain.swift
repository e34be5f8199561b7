import ArgumentParser
import CommandWords
import GatewayLab
import Groundwork

/// Explains the lab's own error codes; those of the agent are explained by `latchkey explain`.
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain an error code of the lab, and what to do.",
        discussion: """
            Takes the codes that begin with lab. and needs no running lab. latchkey explain knows all others.

              $ latchkey-lab explain lab.cannot-listen
            """)

    @Argument(help: "Such as lab.not-running.", completion: .list(Explain.codes))
    var code: String?
    @Flag(help: "List every code.") var list = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (code == nil) == list else { throw ValidationError("Give one code, or --list.") }
    }

    /// - Throws: ``ParserError/unknownCode(_:nearest:)``
    func run() throws {
        let chosen = try code.map(Self.explanations(of:)) ?? Self.all
        if json {
            print(JSON.object(["errors": .array(chosen.map { .object($0.members) })]).prettyText)
        } else if list {
            var table = Table("CODE", "MEANING")
            for explanation in chosen { table.add(explanation.code, explanation.meaning ?? explanation.message) }
            print(table.text)
        } else {
            print(chosen.map(Self.text).joined(separator: "\n\n"))
        }
    }

    /// An example of every error, in the order of the codes. One code may have several texts.
    private static let all: [Explanation] = [
        LabError.examples.map(\.explanation), AdminFailure.examples.map(\.explanation),
        ParserError.examples.map(\.explanation),
    ].joined().reduce(into: []) { all, explanation in
        if !all.contains(explanation) { all.append(explanation) }
    }.sorted { $0.code < $1.code }

    private static var codes: [String] {
        all.map(\.code).reduce(into: []) { codes, code in if codes.last != code { codes.append(code) } }
    }

    private static func explanations(of code: String) throws(ParserError) -> [Explanation] {
        let found = all.filter { $0.code == code.lowercased() }
        guard !found.isEmpty else {
            throw .unknownCode(String(code.prefix(100)), nearest: NearNames.nearest(to: code, among: codes))
        }
        return found
    }

    private static func text(_ explanation: Explanation) -> String {
        let kind = explanation.kind
        let lines = [
            explanation.code, "  meaning      \(explanation.meaning ?? explanation.message)",
            explanation.remedy.map { "  what to do   \($0)" },
            "  kind         \(kind.rawValue): \(kind.meaning)", "  exit status  \(kind.exitStatus.rawValue)",
        ]
        return lines.compactMap(\.self).joined(separator: "\n")
    }
}
