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

    /// The tests of whole commands, but for this one, and of a command's output.
    private static let tests: String = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let files = names.filter { $0.hasSuffix("Tests.swift") && $0 != "ExitStatusTests.swift" }.sorted()
        return (files + ["../latchkey/OutputTests.swift"])
            .compactMap { try? String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
    }()

    @Test("the documented exit statuses are those of the program, and a test reaches each of them")
    func reached() throws {
        let documented = try Self.documented()
        let source = try String(
            contentsOf: Self.repository.appending(path: "Sources/Groundwork/Errors/ExitStatus.swift"), encoding: .utf8)
        let declared = source.matches(of: /case \w+ = (\d+)/).compactMap { Int($0.1) }
        // 74 is that of output that cannot be written, and 130 that of Ctrl-C: no kind of error has them.
        #expect(documented == [0] + (declared + [74]).sorted() + [130])
        for status in documented {
            let assertion = try Regex("(?:status|ended\\([^)]*\\)) == \(status)\\b")
            #expect(Self.tests.contains(assertion), "no test reaches \(status)")
        }
    }
}
