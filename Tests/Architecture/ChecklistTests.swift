import Foundation
import Testing

/// What the gateway's protocol demands of clients and servers is numbered (docs/protocols/mag.md, 14.2). Titles of
/// tests name the numbers that they prove.
@Suite("The checklist of the gateway's protocol")
struct ChecklistTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The numbers of the list, in its order.
    private static func demanded() throws -> [Int] {
        let text = try String(contentsOf: root.appending(path: "docs/protocols/mag.md"), encoding: .utf8)
        let list = try #require(text.firstRange(of: /### 14\.2 Checklist\n/))
        let end = text[list.upperBound...].firstRange(of: /\n##/)?.lowerBound ?? text.endIndex
        return text[list.upperBound..<end].matches(of: /(?m)^(\d+)\. (?:CLIENT|SERVER)\b/).compactMap { Int($0.1) }
    }

    /// The numbers after "MAG checklist": `7`, `24, 18`.
    private static func named(in text: String) -> [Int] {
        text.matches(of: /MAG checklist (\d+(?:, \d+(?![.\d]))*)/).flatMap { match in
            match.1.split(separator: ", ").compactMap { Int($0) }
        }
    }

    @Test("is proven in every number by a test that names it, and tests name no other")
    func proven() throws {
        let demanded = try Self.demanded()
        #expect(demanded == Array(1...70))
        let tests = Self.root.appending(path: "Tests")
        var named: Set<Int> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        where file.hasSuffix("Tests.swift") && !file.hasSuffix("ChecklistTests.swift") {
            let text = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
            for title in text.matches(of: /@Test\(\s*"([^"]*)"/) { named.formUnion(Self.named(in: String(title.1))) }
        }
        #expect(Set(demanded).subtracting(named).sorted() == [])
        #expect(named.subtracting(demanded).sorted() == [])
    }

    @Test("and the search finds what it is for")
    func search() {
        #expect(Self.named(in: "is refused (MAG 4.5, MAG checklist 63, 49, 51)") == [63, 49, 51])
        #expect(Self.named(in: "OAMMS checklist 90") == [])
        #expect(Self.named(in: "go with another client (MAG checklist 7, 12.4)") == [7])
    }
}
