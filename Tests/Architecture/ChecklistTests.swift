import Foundation
import Testing

/// What protocols demand of clients and servers is numbered. Titles of tests name the numbers that they prove.
@Suite("The checklists of the protocols")
struct ChecklistTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The numbers of a list, in its order.
    /// - Parameters:
    ///   - page: below docs/protocols.
    ///   - heading: the line above the list, which ends at the next heading.
    private static func demanded(by page: String, below heading: String) throws -> [Int] {
        let text = try String(contentsOf: root.appending(path: "docs/protocols/\(page)"), encoding: .utf8)
        let list = try #require(text.range(of: "\n\(heading)\n"))
        let end = text[list.upperBound...].firstRange(of: /\n##/)?.lowerBound ?? text.endIndex
        return text[list.upperBound..<end].matches(of: /(?m)^(\d+)\.\s/).compactMap { Int($0.1) }
    }

    /// The numbers after "MAG checklist": `7`, `24, 18`.
    private static func named(of protocolName: String, in text: String) -> [Int] {
        text.matches(of: /\b([A-Z]+) checklist (\d+(?:, \d+(?![.\d]))*)/).filter { $0.1 == protocolName }.flatMap {
            match in
            match.2.split(separator: ", ").compactMap { Int($0) }
        }
    }

    /// All numbers that titles of tests name.
    private static func named(of protocolName: String) throws -> Set<Int> {
        let tests = root.appending(path: "Tests")
        var numbers: Set<Int> = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: tests.path)
        where file.hasSuffix("Tests.swift") && !file.hasSuffix("ChecklistTests.swift") {
            let text = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
            for title in text.matches(of: /@Test\(\s*"([^"]*)"/) {
                numbers.formUnion(named(of: protocolName, in: String(title.1)))
            }
        }
        return numbers
    }

    @Test("each number of the gateway's checklist is named by a test, and tests name no other")
    func gateway() throws {
        let demanded = try Self.demanded(by: "mag.md", below: "### 14.2 Checklist")
        #expect(demanded == Array(1...70))
        let named = try Self.named(of: "MAG")
        #expect(Set(demanded).subtracting(named).sorted() == [])
        #expect(named.subtracting(demanded).sorted() == [])
    }

    @Test("each number of M-Pin's checklist is named by a test, and tests name no other")
    func mpin() throws {
        let demanded = try Self.demanded(by: "mpin.md", below: "## 10. Conformance checklist")
        #expect(demanded == Array(1...42))
        let named = try Self.named(of: "MPIN")
        #expect(Set(demanded).subtracting(named).sorted() == [])
        #expect(named.subtracting(demanded).sorted() == [])
    }

    @Test("the search for checklist numbers finds those of the named protocol only")
    func search() {
        #expect(Self.named(of: "MAG", in: "is refused (MAG 4.5, MAG checklist 63, 49, 51)") == [63, 49, 51])
        #expect(Self.named(of: "MAG", in: "OAMMS checklist 90") == [])
        #expect(Self.named(of: "MPIN", in: "U, UT and V (MPIN 2.8, MPIN checklist 8, 9)") == [8, 9])
        #expect(Self.named(of: "MAG", in: "go with another client (MAG checklist 7, MAG 12.4)") == [7])
    }
}
