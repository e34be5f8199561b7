import ArgumentParser
import Testing

@testable import latchkey

@Suite("The help of the commands, on a terminal of 80 columns")
struct HelpTests {
    private static let columns = 80

    struct Page: Sendable, CustomTestStringConvertible {
        let path: [String]
        let text: String
        var testDescription: String { path.joined(separator: " ") }
    }

    static let pages = pages(of: Latchkey.self, ["latchkey"])

    private static func pages(of command: any ParsableCommand.Type, _ path: [String]) -> [Page] {
        [Page(path: path, text: Latchkey.helpMessage(for: command, includeHidden: false, columns: columns))]
            + command.configuration.subcommands.flatMap { pages(of: $0, path + [$0._commandName]) }
    }

    @Test("the help of the commands fills its lines, as nothing breaks a paragraph by hand", arguments: pages)
    func paragraphs(page: Page) {
        let lines = page.text.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.hasPrefix("USAGE") }
        for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && !next.isEmpty && !line.hasPrefix("  ")
        {
            let word = next.prefix { $0 != " " }
            // The parser leaves the last column free.
            #expect(line.count + 1 + word.count >= Self.columns, "there is room for \(word) after: \(line)")
            #expect(!line.contains("  "), "a gap in: \(line)")
        }
    }

    @Test("the help of the commands has no example that is torn apart", arguments: pages)
    func examples(page: Page) throws {
        for line in page.text.split(separator: "\n") where line.hasPrefix("  $ latchkey") {
            let words = line.dropFirst("  $ latchkey ".count).prefix { !"<>|".contains($0) }
            #expect(throws: Never.self, "\(line)") { try Latchkey.parseAsRoot(Self.arguments(String(words))) }
        }
    }

    /// As a shell takes them, where only single quotes are used.
    private static func arguments(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
        }
    }

    /// A name made of the type's costs each start of the program some 0.1 ms.
    @Test("every command says its name itself")
    func names() {
        func nameless(below command: any ParsableCommand.Type) -> [String] {
            (command.configuration.commandName == nil ? [String(describing: command)] : [])
                + command.configuration.subcommands.flatMap(nameless)
        }
        #expect(nameless(below: Latchkey.self) == [])
    }

    @Test("the help offers --version once, and says which socket and settings are the default")
    func options() throws {
        #expect(Self.pages.filter { $0.text.contains("--version") }.map(\.path) == [["latchkey"]])
        for page in Self.pages where page.text.contains("--socket <") {
            #expect(
                page.text.contains("default:\n                          /run/latchkey/api.sock")
                    || page.text.contains("default: /run/latchkey/api.sock"), "\(page.testDescription)")
        }
        let run = try #require(Self.pages.first { $0.path.last == "run" }).text
        #expect(run.contains("/etc/latchkey/latchkey.toml"))
        #expect(run.ranges(of: "warning").count == 1)
    }

    @Test("the help does not recommend the enrollment URL as an argument, where the process list shows it")
    func enrollment() throws {
        #expect(!Self.pages.contains { $0.text.contains("enroll 'https") })
        let enroll = try #require(Self.pages.first { $0.path.last == "enroll" }).text
        #expect(enroll.contains("$ latchkey enroll -\n"))
    }
}
