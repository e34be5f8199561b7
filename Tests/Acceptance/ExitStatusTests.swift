import Foundation
import TestSupport
import Testing

@Suite("The exit statuses")
struct ExitStatusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let repository = folder.deletingLastPathComponent().deletingLastPathComponent()

    /// The statuses of the table in docs/troubleshooting.md.
    private static func documented() throws -> [Int] {
        let page = try String(contentsOf: repository.appending(path: "docs/troubleshooting.md"), encoding: .utf8)
        return page.matches(of: /(?m)^\| (\d+) \| [^|]+ \|$/).compactMap { Int($0.1) }
    }

    /// The tests of whole commands, but for this one.
    private static let tests: String = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix("Tests.swift") && $0 != "ExitStatusTests.swift" }.sorted()
            .compactMap { try? String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
    }()

    @Test("the documented exit statuses are those of the program, and a test reaches each of them")
    func reached() throws {
        let documented = try Self.documented()
        let source = try String(
            contentsOf: Self.repository.appending(path: "Sources/Groundwork/Errors/ExitStatus.swift"), encoding: .utf8)
        let declared = source.matches(of: /case \w+ = (\d+)/).compactMap { Int($0.1) }
        #expect(documented == [0] + declared.sorted() + [130])
        for status in documented {
            let assertion = try Regex("(?:status|ended\\([^)]*\\)) == \(status)\\b")
            #expect(Self.tests.contains(assertion), "no test reaches \(status)")
        }
    }
}
