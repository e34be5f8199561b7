import ArgumentParser
import Groundwork
import Testing

@testable import latchkey

@Suite("Tables of the command")
struct TableTests {
    @Test("tables of the command have heading and columns on a terminal, and tabs in a pipe")
    func text() {
        var table = Table("KEY", "TYPE", "")
        table.add("a", "text/plain", "")
        table.add("long-key", "a/b", "encrypted")
        #expect(
            table.text(onTerminal: true) == """
                KEY       TYPE
                a         text/plain
                long-key  a/b         encrypted
                """)
        #expect(table.text(onTerminal: false) == "a\ttext/plain\t\nlong-key\ta/b\tencrypted")
        #expect(Table("KEY").text(onTerminal: false).isEmpty)
    }

    @Test("tables of pages say which entries they show, and of how many")
    func summary() throws {
        func page(_ start: Int64, _ count: Int, of total: Int64) -> JSON {
            [
                "total": .integer(total), "startIndex": .integer(start),
                "resources": .array(.init(repeating: [:], count: count)),
            ]
        }
        #expect(DirectoryOptions.summary(page(13, 12, of: 30), "user") == "13–24 of 30 users")
        #expect(DirectoryOptions.summary(page(1, 1, of: 1), "group") == "1–1 of 1 group")
        #expect(DirectoryOptions.summary(page(13, 0, of: 5), "user") == "none of 5 users")
    }

    @Test("tables are asked for with every query value percent-encoded, and without what was not given")
    func query() throws {
        let options = try DirectoryOptions.parse(["--filter", #"a eq "b&c""#, "--descending", "--start", "13"])
        #expect(
            options.query.text == "?filter=a%20eq%20%22b%26c%22&sortOrder=descending&startIndex=13&count=12")
        #expect((["by": nil] as QueryText).text.isEmpty)
        for wrong in [["--start", "0"], ["--count", "201"], ["--attributes", "a", "--without", "b"]] {
            #expect(throws: (any Error).self) { try DirectoryOptions.parse(wrong) }
        }
    }
}
