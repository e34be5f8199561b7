import Foundation
import Testing

/// A log names a test by its title alone.
@Suite("Titles of tests")
struct TestTitleTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// Words that begin no sentence with a subject: such a title goes on from something that the log does not show.
    private static let continuations: Set = [
        "also", "and", "are", "but", "can", "cannot", "did", "does", "had", "has", "have", "he", "is", "it", "its",
        "may", "must", "or", "she", "so", "than", "that", "their", "them", "then", "they", "too", "was", "were",
        "which", "who", "whose", "will",
    ]

    /// The titles of the tests that a file declares, in order: `nil` for a test without one.
    private static func titles(in text: String) -> [String?] {
        let pieces = text.components(separatedBy: "@Test")
        return zip(pieces, pieces.dropFirst()).filter { before, after in
            before.last { $0 != " " }?.isNewline != false && after.first?.isLetter != true
        }
        .map { $1.prefixMatch(of: /\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) } }
    }

    private static func hasSubject(_ title: String) -> Bool {
        !continuations.contains(title.prefix(while: \.isLetter).lowercased())
    }

    @Test("every test of the package has a title of its own that begins with its subject")
    func titled() throws {
        var files: [String: String] = [:]
        for file in try FileManager.default.subpathsOfDirectory(atPath: Self.tests.path).sorted()
        where file.hasSuffix(".swift") {
            let text = try String(contentsOf: Self.tests.appending(path: file), encoding: .utf8)
            for title in Self.titles(in: text) {
                guard let title else {
                    Issue.record("\(file): a test has no title")
                    continue
                }
                #expect(Self.hasSubject(title), "\(file): \(title)")
                if let other = files.updateValue(file, forKey: title) {
                    Issue.record("\(other) and \(file) have the title: \(title)")
                }
            }
        }
        #expect(files.count > 2000)
    }

    @Test(
        "the search for titles finds those of one line and of several, and tests without one",
        arguments: [
            ("    @Test(\"a \\\"b\\\"\", arguments: [1])\n    func a() {}", ["a \\\"b\\\""]),
            ("@Test(\n    \"is c\",\n    arguments: [1])\n@Test func d() {}", ["is c", nil]),
            ("@Test(.disabled()) func e() {}\n// @Test(\"f\")\n@TestSupport(\"g\")", [nil]),
        ])
    func found(text: String, titles: [String?]) {
        #expect(Self.titles(in: text) == titles)
    }

    @Test(
        "the search for subjects refuses what goes on from a suite's title",
        arguments: [("is refused", false), ("It's kept", false), ("an item is kept", true), ("items are kept", true)])
    func subjects(title: String, hasSubject: Bool) {
        #expect(Self.hasSubject(title) == hasSubject)
    }
}
