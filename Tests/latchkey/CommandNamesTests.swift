import CommandWords
import Foundation
import Testing

@testable import latchkey

@Suite("Commands that are not there")
struct CommandNamesTests {
    @Test(
        "a command that does not exist is answered with the one that was likely meant",
        arguments: [
            (["statsu"], "latchkey status"), (["enrol"], "latchkey enroll"), (["sub", "x"], "latchkey subscribe"),
            (["board", "lits"], "latchkey board list"), (["help", "publsh"], "latchkey publish"),
            (["hlep"], "latchkey help"),
            (["xyzzy"], nil), (["consent", "5"], nil),
        ] as [([String], String?)])
    func unknown(arguments: [String], suggestion: String?) {
        let error = #expect(throws: UnknownCommand.self) { try CommandNames.check(arguments, of: Latchkey.self) }
        #expect(error?.suggestion == suggestion)
    }

    @Test(
        "names of commands are not looked for in arguments and options",
        arguments: [
            [], ["status"], ["publish", "statsu", "x"], ["help"], ["help", "board", "list"], ["--bogus"],
            ["board", "--help"], ["consent"],
        ])
    func known(arguments: [String]) {
        #expect(throws: Never.self) { try CommandNames.check(arguments, of: Latchkey.self) }
    }
}
