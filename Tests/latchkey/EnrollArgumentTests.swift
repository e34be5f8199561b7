import Foundation
import Groundwork
import Testing

@testable import latchkey

@Suite("Argument of latchkey enroll")
struct EnrollArgumentTests {
    @Test(
        "an enroll argument that looks like a URL goes to the daemon as one, even when it is a wrong one",
        arguments: [
            "https://gw.example/connect/device/config?sessionData=x", "http://gw.example/?sessionData=x",
            " https://gw.example/ \n",
        ])
    func url(text: String) throws {
        let expected: JSON = ["url": .string(text.trimmingCharacters(in: .whitespacesAndNewlines))]
        #expect(try Enroll.body(of: text) == expected)
        #expect(try Enroll.body(in: text, of: "standard input") == expected)
    }

    @Test("an enroll argument that is a document is taken as it is")
    func document() throws {
        #expect(try Enroll.body(in: " {\"server\": {}}\n", of: "standard input") == ["configuration": ["server": [:]]])
    }

    @Test("an enroll argument that is a path, also as a file URL, is read")
    func path() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "enroll-\(UUID().uuidString).json")
        try Data("{\"a\": 1}".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Enroll.body(of: file.path) == ["configuration": ["a": 1]])
        #expect(try Enroll.body(of: "file://\(file.path)") == ["configuration": ["a": 1]])
        #expect(throws: InputError.unreadable(name: "/nowhere.json", reason: "No such file or directory")) {
            try Enroll.body(of: "/nowhere.json")
        }
    }

    @Test("an enroll argument may be a file that holds the URL")
    func fileWithURL() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "url-\(UUID().uuidString).txt")
        try Data("https://gw.example/?a=b\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Enroll.body(of: file.path) == ["url": "https://gw.example/?a=b"])
    }

    @Test(
        "an enroll argument may be a file as editors, shells and desktops of Windows save it",
        arguments: [
            "\u{FEFF}https://gw.example/?a=b\r\n", "\"https://gw.example/?a=b\"", "<https://gw.example/?a=b>\n",
            "[InternetShortcut]\r\nURL=https://gw.example/?a=b\r\nIconIndex=0\r\n",
            "[{000214A0-0000-0000-C000-000000000046}]\nProp3=19,11\n[InternetShortcut]\nurl=\"https://gw.example/?a=b\"\n",
            "[Desktop Entry]\nType=Link\nURL=https://gw.example/?a=b\n",
        ])
    func written(text: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "url-\(UUID().uuidString).url")
        defer { try? FileManager.default.removeItem(at: file) }
        let expected: JSON = ["url": "https://gw.example/?a=b"]
        for content in [Data(text.utf8), try #require(text.data(using: .utf16))] {
            try content.write(to: file)
            #expect(try Enroll.body(of: file.path) == expected)
        }
        #expect(try Enroll.body(in: text, of: "standard input") == expected)
    }

    @Test("an enroll argument that is a document may begin with a byte order mark")
    func markedDocument() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "mark-\(UUID().uuidString).json")
        try Data("\u{FEFF}{\"a\": 1}\r\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Enroll.body(of: file.path) == ["configuration": ["a": 1]])
    }

    @Test("an enroll argument that is a shortcut without a URL, or no text, says so")
    func nothingIn() {
        let shortcut = "it is an internet shortcut without a line URL="
        #expect(throws: InputError.unreadable(name: "standard input", reason: shortcut)) {
            try Enroll.body(in: "[InternetShortcut]\r\nIconIndex=0\r\n", of: "standard input")
        }
        #expect(throws: InputError.unreadable(name: "FILE", reason: "line 2 is not UTF-8: save it as UTF-8")) {
            try Input.text(Array("a\n".utf8) + [0xE4], of: "FILE")
        }
    }

    @Test("a pasted shortcut is waited for up to the line with its URL")
    func pasted() {
        #expect(!Enroll.isWhole("[InternetShortcut]", endingIn: "[InternetShortcut]"))
        #expect(Enroll.isWhole("[InternetShortcut]\nURL=https://gw.example/", endingIn: "URL=https://gw.example/"))
        #expect(Enroll.isWhole("https://gw.example/", endingIn: "https://gw.example/"))
        #expect(!Enroll.isWhole("", endingIn: ""))
    }

    @Test("an enroll argument of another kind is refused by its name, without being shown")
    func neither() {
        let error = #expect(throws: InputError.neitherURLNorDocument(name: "standard input")) {
            try Enroll.body(in: "sessionData=s3cret", of: "standard input")
        }
        #expect(error?.message.contains("s3cret") == false)
        let other = #expect(throws: InputError.neitherURLNorDocument(name: "/etc/passwd")) {
            try Enroll.body(of: "/etc/passwd")
        }
        #expect(other?.message.contains("/etc/passwd") == true && other?.remedy?.isEmpty == false)
    }
}
