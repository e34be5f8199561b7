import Foundation
import Testing

/// A section's number says nothing without its document: "MAG 7.3" is found in docs/protocols, "7.3" nowhere.
@Suite("Section numbers of documents")
struct CitationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Numbers of sections that stand where one is cited, without the name of a document before them or before the
    /// list that they are in: in brackets, or as "of 8.6".
    private static func bare(in text: String) -> [String] {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let bytes = Array(text.utf8)
        // Most texts have no such number: a quick look saves the search.
        guard
            bytes.indices.dropFirst().dropLast().contains(where: {
                bytes[$0] == UInt8(ascii: ".") && digits.contains(bytes[$0 - 1]) && digits.contains(bytes[$0 + 1])
            })
        else { return [] }
        // `MAG 5.1, 5.3 and 7`, `RFC 6749 sections 4, 4.1.2`, `Vol 3 Part F 3.4`.
        let cited = #"[A-Z][\w.-]*( \d+)?( [Ss]ections?)? \d+(\.\d+)*\w?((, | and |, and | or | to |–)\d+(\.\d+)*)*"#
        let rest = text.replacingOccurrences(of: cited, with: "", options: .regularExpression)
        let brackets = /(?:\(|[;,…\d] )(1?\d\.\d{1,2})(?=[),:;]| and )/
        let words = /\bof (1?\d\.\d{1,2})(?=[),:;]|'s| and | that | has |$)/
        return rest.matches(of: brackets).map { String($0.1) } + rest.matches(of: words).map { String($0.1) }
    }

    /// The comments of a file, of several lines as one, and the titles of its tests.
    private static func prose(of text: String) -> [String] {
        var comments = [""]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("//") {
                comments[comments.count - 1] += code.drop { $0 == "/" }
            } else {
                comments.append("")
                if let mark = code.firstRange(of: " // ") { comments.append(String(code[mark.upperBound...])) }
            }
        }
        let titles = text.matches(of: /@(?:Test|Suite)\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) }
        return comments.filter { !$0.isEmpty } + titles
    }

    @Test("section numbers in comments and in titles of tests name their documents", arguments: ["Sources", "Tests"])
    func named(folder: String) throws {
        let folder = Self.root.appending(path: folder)
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where file.hasSuffix(".swift") && !file.hasSuffix("CitationTests.swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for prose in Self.prose(of: text) {
                #expect(Self.bare(in: prose) == [], "\(file): \(prose)")
            }
        }
    }

    @Test(
        "the search finds section numbers without a document, and only these",
        arguments: [
            ("asks for consent (8.5, MAG checklist 38)", ["8.5"]), ("the id_token stays (…201, 12.4)", ["12.4"]),
            ("goes with another client (MAG checklist 7, MAG 12.4)", []), ("cover all states of 8.6", ["8.6"]),
            ("by row (MAG 5.9, 12.4, MAG checklist 43)", []), ("(RFC 7515 sections 4, 4.1.11 and 5.2)", []),
            ("(Bluetooth Core, Vol 3 Part G 4.4.2, 4.6.1 and 4.7.1)", []), ("a median of 2.4 ms", []),
            ("as text (MPIN 1, 5.5)", []), ("since bluetoothd 5.66", []),
        ])
    func found(text: String, numbers: [String]) {
        #expect(Self.bare(in: text) == numbers)
    }
}
