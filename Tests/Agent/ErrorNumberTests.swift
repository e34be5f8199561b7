import Foundation
import Groundwork
import Testing

@testable import Agent
@testable import AgentCore

/// The error numbers of the protocol's public clients (MAG 8.6, 9.5, 11.2 and 13.4), each with what this board says in
/// its place: docs/protocols/error-numbers.md.
@Suite("Error numbers of the public clients")
struct ErrorNumberTests {
    /// Every number of the specification, by its domain. As ranges: a sum of arrays takes the compiler seconds.
    private static let numbers: [(domain: GatewayNumbers.Domain, numbers: [ClosedRange<Int>])] = [
        (
            .local,
            [
                -1 ... -1, 9999...9999, 100_001...100_005, 100_101...100_103, 100_201...100_206, 100_211...100_212,
                100_301...100_305, 100_401...100_408, 100_501...100_501, 110_001...110_005, 120_001...120_010,
                130_001...130_008, 130_101...130_107, 130_201...130_203, 131_001...131_001, 140_001...140_005,
                160_101...160_107, 160_201...160_202, 170_001...170_003, 180_000...180_003, 180_100...180_100,
                180_102...180_104,
            ]
        ),
        (.messaging, [500_001...500_003, 511_001...511_002, 530_003...530_004, 530_008...530_008]),
        (.storage, [101...106, 108...108, 300_001...300_003, 331_001...331_001]),
        (.proximityLocal, [650_001...650_016, 650_101...650_104, 651_001...651_001]),
    ]

    private struct Row {
        /// The codes in it.
        let codes: Set<String>
        /// What it says beside them.
        let words: String
    }

    /// The rows of the document: `| domain | number | name | here |`.
    private static func document() throws -> [GatewayNumbers.Domain: [Int: Row]] {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = repository.appending(path: "docs/protocols/error-numbers.md")
        var rows: [GatewayNumbers.Domain: [Int: Row]] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let domain = GatewayNumbers.Domain(rawValue: cells[0]), let number = Int(cells[1])
            else { continue }
            let codes = cells[3].matches(of: /`([a-z-]+\.[a-z0-9-]+)`/).map { String($0.1) }
            #expect(rows[domain, default: [:]][number] == nil, "\(domain.rawValue) \(number) is there twice")
            rows[domain, default: [:]][number] = Row(
                codes: Set(codes), words: cells[3].replacing(/`[^`]*`/, with: ""))
        }
        return rows
    }

    /// The codes of the errors that carry each number.
    private static let used: [GatewayNumbers.Domain: [Int: Set<String>]] = {
        var used: [GatewayNumbers.Domain: [Int: Set<String>]] = [:]
        func add(_ type: any Explained.Type) {
            for error in type.examples {
                let explanation = (error as any Explained).explanation
                guard let numbers = explanation.gateway, numbers.domain.isOfClient else { continue }
                used[numbers.domain, default: [:]][numbers.number, default: []].insert(explanation.code)
            }
        }
        Catalogue.types.forEach(add)
        return used
    }()

    @Test("each error number of the public clients is carried by the errors that the document lists")
    func documented() throws {
        let rows = try Self.document()
        for (domain, numbers) in Self.numbers {
            for number in numbers.joined() {
                let row = try #require(rows[domain]?[number], "\(domain.rawValue) \(number) is not in the document")
                let codes = Self.used[domain]?[number] ?? []
                #expect(
                    row.codes == codes,
                    "\(domain.rawValue) \(number) is carried by \(codes.sorted()), and the document says \(row.codes.sorted())"
                )
                if codes.isEmpty {
                    #expect(row.words.split(separator: " ").count >= 4, "\(domain.rawValue) \(number) has no reason")
                }
            }
        }
    }

    @Test("no error carries a number that the specification does not have")
    func known() {
        for (domain, carried) in Self.used {
            let known = Set(Self.numbers.filter { $0.domain == domain }.flatMap(\.numbers).joined())
            #expect(
                Set(carried.keys).isSubset(of: known), "\(domain.rawValue): \(Set(carried.keys).subtracting(known))")
        }
    }
}
