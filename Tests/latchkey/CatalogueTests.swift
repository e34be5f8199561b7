import Agent
import AgentCore
import CommandWords
import Foundation
import Groundwork
import Testing

@testable import latchkey

/// The sources of this program, as far as they tell of errors and events.
private struct Sources {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// What the program of the board consists of: not the lab, which has errors of its own.
    static let all: [(path: String, text: String)] = {
        let folder = root.appending(path: "Sources")
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        let own = names.filter { $0.hasSuffix(".swift") && !$0.contains("Lab") && !$0.contains("latchkey-lab") }
        return own.sorted().compactMap { name in (try? text("Sources/\(name)")).map { (name, $0) } }
    }()

    /// The names of all types that are declared to explain themselves.
    static var explainedTypes: Set<String> {
        let declaration = /(?:enum|struct|class|extension) (\w+): [^{\n]*\bExplained\b/
        return Set(all.flatMap { $0.text.matches(of: declaration).map { String($0.1) } })
    }

    /// The names of the cases of an enumeration; none for any other type.
    static func cases(of type: String) throws -> Set<String> {
        guard
            let declaration = try Regex("(?s)enum \(type): [^{]*\\{\n(.*?)\n\\}", as: (Substring, Substring).self)
                .firstMatch(in: all.map(\.text).joined(separator: "\n"))
        else { return [] }
        // A case of the type itself is indented once; those of a type within it, and of a switch, further.
        return Set(declaration.1.matches(of: /(?m)^    case (\w+)/).map { String($0.1) })
    }
}

/// Of the Swift runtime.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

@Suite("The catalogue of errors and events")
struct CatalogueTests {
    private static let types: [any Explained.Type] =
        Catalogue.types + [
            UsageError.self, InputError.self, OutputError.self, Declined.self, MPinChoiceError.self, WaitError.self,
            SetupError.self,
        ]

    @Test("the catalogue has every type that explains itself")
    func everyType() {
        let found = Sources.explainedTypes
        #expect(found.count > 10)
        #expect(found == Set(Self.types.map { "\($0)" }))
    }

    @Test("the catalogue has an example of every case, so that no code is forgotten", arguments: types.indices)
    func cases(index: Int) throws {
        let type = Self.types[index]
        let declared = try Sources.cases(of: "\(type)")
        guard !declared.isEmpty else {
            #expect(ObjectIdentifier(type) == ObjectIdentifier(Declined.self))
            return
        }
        #expect(Set(type.examples.map { Self.nameOfCase($0) }) == declared, "\(type)")
    }

    /// What an error calls itself is its message.
    private static func nameOfCase(_ value: some Explained) -> String {
        enumCaseName(value).map { String(cString: $0) } ?? ""
    }

    @Test("the catalogue says of each error what a person and a program can use", arguments: types.indices)
    func content(index: Int) {
        for explanation in Self.types[index].examples.map({ ($0 as any Explained).explanation }) {
            #expect(explanation.code.wholeMatch(of: /[a-z-]+\.[a-z0-9-]+/) != nil, "\(explanation.code)")
            for text in [explanation.message, explanation.meaning, explanation.remedy].compactMap({ $0 }) {
                #expect(!text.isEmpty && !text.contains("\n") && text.last != ".", "\(text)")
            }
        }
    }

    @Test("the catalogue knows one kind for each code, whichever type says it")
    func oneKind() {
        let all = Self.types.flatMap { $0.examples.map { ($0 as any Explained).explanation } }
        for (code, said) in Dictionary(grouping: all, by: \.code) {
            #expect(Set(said.map(\.kind)).count == 1, "\(code)")
        }
    }

    @Test("the catalogue has every event that the sources report, and no other")
    func events() throws {
        let sources = Sources.all.map(\.text)
        var names = Set(sources.flatMap { $0.matches(of: /EventReport\(\s*"([a-z]+\.[a-z-]+)"/).map { String($0.1) } })
        let proximity = try Sources.text("Sources/Proximity/Events/ProximityEvent+Text.swift")
        names.formUnion(proximity.matches(of: /Wording\(\s*"([a-z-]+)"/).map { "proximity.\($0.1)" })
        let known = Explain.catalogue.entries.filter { $0.category == .event }.map(\.name)
        #expect(names.sorted() == known.sorted())
        #expect(names.count > 80)
    }

    @Test(
        "the catalogue finds numbers whole, by three digits or as public clients call them, and M-Pin statuses",
        arguments: [
            ("1000105", ["gateway.device-already-registered"]),
            ("105", ["gateway.device-already-registered", "items.vault-failed"]),
            ("1000101", ["gateway.certificate-invalid"]),
            ("101", ["gateway.device-unknown", "gateway.certificate-invalid", "items.full", "items.vault-failed"]),
            ("132", ["gateway.server-misconfigured", "gateway.enrollment-refused"]), ("8000142", ["gateway.refused"]),
            ("120004", ["gateway.not-registered", "gateway.registration-withdrawn"]), ("000", ["gateway.server-error"]),
            ("331001", ["items.local-disabled"]), ("140003", ["services.app-native"]),
            ("990", ["gateway.token-expired"]), ("3007990", ["gateway.token-expired"]), ("999", []),
            ("99999999999999999999", []),
            ("INCORRECT_PIN", ["mpin.blocked", "mpin.incorrect-pin"]), ("revoked", ["mpin.revoked"]), ("OK", []),
        ])
    func numbers(text: String, codes: [String]) {
        let found = Explain.catalogue.entries(named: text)
        #expect(found.map { $0.category == .error ? $0.name : $0.code ?? "" } == codes)
    }

    @Test("only the errors that leave a browser's login waiting say what was wrong with its answer")
    func browserAnswers() {
        var found: [String: BrowserAnswerFault] = [:]
        for type in Self.types {
            for explanation in type.examples.map({ ($0 as any Explained).explanation }) {
                found[explanation.code] = explanation.browserAnswer
            }
        }
        #expect(
            found == [
                "agent.browser-answer-invalid": .unusable, "oauth.browser-answer-invalid": .unusable,
                "oauth.state-mismatch": .ofAnotherLogin, "gateway.authorization-state-mismatch": .ofAnotherLogin,
            ])
    }

    @Test(
        "the catalogue names the nearest of what does not exist",
        arguments: [
            ("vault.no-slot-open", "vault.no-slot-opens"), ("VAULT.NO-SLOT", "vault.no-slot-opens"),
            ("brokr.failed", "broker.failed"),
            ("invalid-grant", "invalid_grant"),
        ])
    func nearest(typed: String, meant: String) {
        #expect(NearNames.nearest(to: typed, among: Explain.catalogue.entries.map(\.name)).first == meant)
    }

    @Test(
        "the catalogue offers nothing for a name that is like nothing",
        arguments: ["xyzzy", "", "q", "zzzzzzzzzzzzzzzzzzzzzzzz"])
    func nothingNear(typed: String) {
        #expect(NearNames.nearest(to: typed, among: Explain.catalogue.entries.map(\.name)) == [])
    }

    @Test("the catalogue's kinds are in the page of the local API, with the statuses that they have")
    func page() throws {
        let page = try Sources.text("Config/local-api.md")
        for kind in ExplanationKind.allCases {
            let row = "| `\(kind.rawValue)` | \(kind.httpStatus) | \(kind.exitStatus.rawValue) | \(kind.meaning) |"
            #expect(page.contains(row), "the page has no row: \(row)")
        }
    }

    @Test("the catalogue's codes are in the page of the local API by the HTTP status that each has there")
    func codesOfPage() throws {
        var count = 0
        for line in try Sources.text("Config/local-api.md").split(separator: "\n") {
            guard let row = line.firstMatch(of: /^\| ([0-9, ]+) \| ((?:`[a-z-]+\.[a-z0-9-]+`(?:, )?)+) \|/) else {
                continue
            }
            let said = Set(row.1.split(separator: ", ").compactMap { Int($0) })
            let names = row.2.matches(of: /`([^`]*)`/).map { String($0.1) }
            let kinds = names.flatMap { name in
                Explain.catalogue.entries(named: name).filter { $0.category == .error }.compactMap(\.kind)
            }
            #expect(Set(kinds.map(\.httpStatus)) == said, "\(line)")
            count += names.count
        }
        #expect(count > 20)
    }
}
