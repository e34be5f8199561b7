import Board
import Cryptography
import Foundation
import Gateway
import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import Agent
@testable import AgentConsole
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentMessages

@Suite("An enrollment that waits for the agent")
struct EnrollmentContentTests {
    static let line =
        "https://gw.example:8443/connect/device/config?sessionData=a&subjectKeyHash="
        + String(repeating: "0", count: 64)

    @Test(
        "a first-boot enrollment is one URL with the key's hash, however an editor ends its line",
        arguments: [
            line, line + "\n", " \t\(line)\r\n\r\n", "\u{FEFF}\(line)\r\n", line.replacing("https", with: "HTTPS"),
            "\"\(line)\"\n", "\u{201C}\(line)\u{201D}", "[InternetShortcut]\r\nURL=\(line)\r\n",
        ])
    func url(text: String) throws {
        guard case .url = try EnrollmentContent(parsing: Array(text.utf8), of: "PATH") else {
            Issue.record("it is not a URL")
            return
        }
    }

    @Test("a first-boot enrollment may be UTF-16 with a mark, as Windows saves text")
    func utf16() throws {
        for (mark, encoding) in [([0xFF, 0xFE], String.Encoding.utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian)] {
            let bytes = mark.map(UInt8.init) + (try #require((Self.line + "\r\n").data(using: encoding)))
            guard case .url = try EnrollmentContent(parsing: bytes, of: "PATH") else {
                Issue.record("it is not a URL")
                continue
            }
        }
    }

    @Test(
        "a first-boot enrollment that is refused says what it is",
        arguments: [
            ("[InternetShortcut]\r\nIconIndex=0\r\n", "it is an internet shortcut without a line URL="),
            ("[InternetShortcut]\r\nURL=file:///etc/shadow\r\n", "it begins neither with https://"),
            ("\n\nh\u{0}t\u{0}", "line 3 contains the byte 0"), (" \n", "it is empty"),
        ])
    func reason(text: String, reason: String) {
        #expect {
            try EnrollmentContent(parsing: Array(text.utf8), of: "PATH")
        } throws: {
            ($0 as? FirstBootError)?.message.contains(reason) == true
        }
    }

    @Test(
        "a first-boot enrollment is no other file, no second line, no URL without hash and no binary",
        arguments: [
            "", " \n", "/etc/shadow", "file:///etc/shadow", "http://gw.example/?subjectKeyHash=00", line + "\n" + line,
            line + " x", "# comment\n" + line, line + "\u{0}", line + "ä", "{", "{}",
            "https://gw.example/connect/device/config?sessionData=a", line + String(repeating: "a", count: 4096),
        ])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try EnrollmentContent(parsing: Array(text.utf8), of: "PATH") }
    }

    @Test("a first-boot enrollment that was refused is not tried again, and one that nobody refused is")
    func passing() {
        func refusal(_ status: Int, _ code: Int) -> GatewayError {
            .refused(Refusal(operation: .fetchConfiguration, status: status, code: code))
        }
        #expect(FirstBootService.mayPass(GatewayError.noAnswer(.fetchConfiguration, .timeout(url: "URL"))))
        #expect(FirstBootService.mayPass(GatewayError.enrollmentKeyMismatch(host: "HOST")))
        #expect(
            FirstBootService.mayPass(
                GatewayError.unexpectedAnswer(.fetchConfiguration, status: 200, reason: "a page")))
        #expect(FirstBootService.mayPass(refusal(503, 1_000_000)))
        #expect(!FirstBootService.mayPass(refusal(500, 1_000_132)))
        #expect(!FirstBootService.mayPass(refusal(401, 1_000_201)))
        #expect(!FirstBootService.mayPass(GatewayError.enrollmentURLWithoutKeyHash))
        #expect(!FirstBootService.mayPass(FirstBootError.malformed(place: "PATH", reason: "REASON")))
        #expect(!FirstBootService.mayPass(AccountError.tooMany(limit: 8)))
    }
}

@Suite("Record of taken enrollments")
struct EnrollmentLedgerTests {
    @Test("a taken enrollment is remembered by hash, with why it was refused, in bounded number")
    func ledger() {
        var ledger = EnrollmentLedger().adding("a", .refused("used before")).adding("b", .taken)
        ledger = EnrollmentLedger(parsing: ledger.bytes)
        #expect(ledger["a"] == .refused("used before") && ledger["b"] == .taken && ledger["c"] == nil)
        #expect(ledger.adding("a", .taken)["a"] == .taken)
        for number in 0..<EnrollmentLedger.limit { ledger = ledger.adding("\(number)", .taken) }
        #expect(ledger["a"] == nil && ledger["b"] == nil && ledger["0"] == .taken)
        #expect(EnrollmentLedger(parsing: Array("nonsense".utf8)) == EnrollmentLedger())
    }
}

@Suite("The helper of the first boot")
struct FirstBootHelperTests {
    private func ask(_ request: JSON, _ files: [String], _ credentials: [String] = []) -> JSON {
        FirstBootHelper.answer(to: request.bytes, files: files, credentials: credentials)
    }

    @Test("the first-boot helper has wiped an enrollment only where that enrollment was")
    func wipedThere() {
        let (file, credential) = (EnrollmentFile.usual, EnrollmentFile.credentialPaths[0])
        #expect(WaitingEnrollment.Source.file(path: file).isWiped(by: [credential, file]))
        #expect(!WaitingEnrollment.Source.file(path: file).isWiped(by: [credential]))
        #expect(WaitingEnrollment.Source.credential.isWiped(by: [file, credential]))
        #expect(!WaitingEnrollment.Source.credential.isWiped(by: [file]))
    }

    @Test("the first-boot helper says why a credential is still there, and nothing of a file that is gone")
    func remains() {
        let (file, credential) = (WaitingEnrollment.Source.file(path: "/f"), WaitingEnrollment.Source.credential)
        let notFound = "not found in /etc/credstore or /run/credstore"
        #expect(credential.whyNotWiped(nil, nil) == "root's helper does not answer")
        #expect(credential.whyNotWiped(["wiped": []], nil) == notFound)
        #expect(credential.whyNotWiped(["wiped": ["/f"]], nil) == notFound)
        #expect(credential.whyNotWiped(["wiped": [], "fault": "read-only"], nil) == "read-only")
        #expect(file.whyNotWiped(nil, nil) == nil && file.whyNotWiped(["wiped": []], nil) == nil)
        #expect(file.whyNotWiped(nil, "denied") == "denied")
    }

    @Test("the first-boot helper answers only an enrollment, and takes settings of root alone")
    func nothingElse() throws {
        try withFolder { folder in
            let (file, settings) = ("\(folder)/secret", "\(folder)/latchkey.toml")
            let line = EnrollmentContentTests.line
            for text in ["root:$y$j9T$abc:20000:0:99999:7:::\n", "{\"password\":\"hunter2\"}", line + " x", ""] {
                try Data(text.utf8).write(to: URL(filePath: file))
                let answer = ask(["do": "read"], [file])
                #expect(answer["content"] == nil && answer["fault"] != nil)
                #expect(text.isEmpty || !answer.text.contains(text))
            }
            try Data(line.utf8).write(to: URL(filePath: file))
            try Data("[enrollment]\nfile = \"\(file)\"\n".utf8).write(to: URL(filePath: settings))
            func read() throws -> JSON {
                try FirstBootHelper.answer(to: (["do": "read"] as JSON).bytes, settings: settings, of: Features.all)
            }
            #expect(chmod(settings, 0o644) == 0)
            // Also a drop-in, and the directory that it is in.
            let (dropIns, dropIn) = ("\(folder)/latchkey.d", "\(folder)/latchkey.d/image.toml")
            #expect(mkdir(dropIns, 0o755) == 0)
            try Data("[broker]\nport = 1\n".utf8).write(to: URL(filePath: dropIn))
            #expect(chmod(dropIn, 0o644) == 0)
            #expect(try read()["path"]?.string == file)
            for (path, mode) in [(settings, 0o664), (settings, 0o646), (dropIn, 0o777), (dropIns, 0o777)] {
                #expect(chmod(path, mode_t(mode)) == 0)
                #expect(try read() == ["fault": .string("users other than root may write \(path)")])
                #expect(chmod(path, 0o755) == 0)
            }
            guard geteuid() == 0 else { return }
            #expect(chown(settings, 65_534, 0) == 0)
            #expect(try read()["content"] == nil)
        }
    }

    @Test("the first-boot helper reads the first file that is there, and wipes only what has the hash")
    func files() throws {
        try withFolder { folder in
            let (missing, file, credential) = ("\(folder)/none", "\(folder)/enroll.url", "\(folder)/credential")
            let line = EnrollmentContentTests.line
            for path in [file, credential] { try Data(line.utf8).write(to: URL(filePath: path)) }
            let read = ask(["do": "read"], [missing, file])
            #expect(read["path"]?.string == file)
            #expect(read["content"]?.string.flatMap { Base64.decode($0) } == Array(line.utf8))
            #expect(ask(["do": "read"], [missing]) == [:])

            let other = EnrollmentLedger.hash(of: Array("other".utf8))
            #expect(ask(["do": "wipe", "sha256": .string(other)], [file], [credential]) == ["wiped": []])
            #expect(FileManager.default.fileExists(atPath: file))
            let hash = EnrollmentLedger.hash(of: Array(line.utf8))
            let wiped = ask(["do": "wipe", "sha256": .string(hash)], [missing, file], [credential])
            #expect(wiped == ["wiped": [.string(file), .string(credential)]])
            #expect(!FileManager.default.fileExists(atPath: file))
            // What cannot be wiped keeps nothing else from it.
            try Data(line.utf8).write(to: URL(filePath: credential))
            let both = ask(["do": "wipe", "sha256": .string(hash)], ["\(folder)"], [credential])
            #expect(both["wiped"] == [.string(credential)] && both["fault"] != nil)
        }
    }

    /// Contents of a file of which an earlier wipe overwrote some sectors; the last sector is a short one.
    static let partsOfAWipe: [[UInt8]] = ["0", "0a", "0aa", "a0", "aa0"].map { (sectors: String) -> [UInt8] in
        sectors.utf8.flatMap { [UInt8](repeating: $0 == UInt8(ascii: "0") ? 0 : $0, count: 512) }.dropLast(500)
    }

    @Test("the first-boot helper ends a wipe that power loss ended, and hands over nothing of what it left")
    func endsWipe() throws {
        try withFolder { folder in
            let file = "\(folder)/enroll.url"
            let wipe: JSON = ["do": "wipe", "sha256": .string(EnrollmentLedger.hash(of: Array("other".utf8)))]
            for content in Self.partsOfAWipe {
                try Data(content).write(to: URL(filePath: file))
                let zeros = [UInt8](repeating: 0, count: content.count)
                #expect(ask(["do": "read"], [file])["content"]?.string.flatMap { Base64.decode($0) } == zeros)
                #expect(ask(wipe, [file]) == ["wiped": [.string(file)]])
                #expect(!FileManager.default.fileExists(atPath: file))
            }
            // As PowerShell writes a URL: a person still needs it.
            try Data(EnrollmentContentTests.line.utf8.flatMap { [$0, 0] }).write(to: URL(filePath: file))
            #expect(ask(["do": "read"], [file])["fault"] != nil)
            #expect(ask(wipe, [file]) == ["wiped": []])
            #expect(FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("the first-boot helper is asked again where it gave no answer, and not for ever")
    func again() async throws {
        try await withFolder { folder in
            let script = """
                import socket, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen(8)
                print("listening", flush=True)
                for answer in (b"", b"{", b'{"wiped":[]}', b"", b"", b"", b""):
                    asking = listener.accept()[0]
                    asking.makefile().readline()
                    asking.sendall(answer)
                    asking.close()
                """
            let socket = "\(folder)/helper.sock"
            let helper = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-c", script, socket])
            _ = try await helper.output.line(containing: "listening")
            #expect(await FirstBootHelper.ask(["do": "wipe"], at: socket) == ["wiped": []])
            #expect(await FirstBootHelper.ask(["do": "wipe"], at: socket) == nil)
            #expect(try await helper.ended() == 0)
        }
    }

    @Test("the first-boot helper is believed when it answers late, and not asked again meanwhile")
    func late() async throws {
        try await withFolder { folder in
            // Asked again, it would say that nothing was there to wipe.
            let script = """
                import select, socket, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(sys.argv[1])
                listener.listen(8)
                print("listening", flush=True)
                asking = listener.accept()[0]
                asking.makefile().readline()
                if select.select([listener], [], [], 11)[0]:
                    listener.accept()[0].sendall(b'{"wiped":[]}')
                asking.sendall(b'{"wiped":["/a"]}')
                """
            let socket = "\(folder)/helper.sock"
            let helper = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-c", script, socket])
            _ = try await helper.output.line(containing: "listening")
            let answer = await FirstBootHelper.ask(["do": "wipe"], at: socket, patience: .seconds(180))
            #expect(answer == ["wiped": ["/a"]])
            #expect(try await helper.ended() == 0)
        }
    }

    @Test("the first-boot helper follows no link, and refuses long files and what is not a request")
    func hostile() throws {
        try withFolder { folder in
            let (link, long) = ("\(folder)/link", "\(folder)/long")
            try Data("content".utf8).write(to: URL(filePath: "\(folder)/file"))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/file")
            #expect(ask(["do": "read"], [link])["fault"] != nil)
            let hash = EnrollmentLedger.hash(of: Array("content".utf8))
            #expect(ask(["do": "wipe", "sha256": .string(hash)], [link])["fault"] != nil)
            try Data(repeating: 0x41, count: EnrollmentContent.limit + 1).write(to: URL(filePath: long))
            #expect(ask(["do": "read"], [long])["fault"] != nil)
            for request: JSON in [[:], ["do": "wipe"], ["do": "write"], "read"] {
                #expect(ask(request, [long]) == ["fault": "not a request"])
            }
            #expect(FirstBootHelper.answer(to: [0xFF], files: [long]) == ["fault": "not a request"])
        }
    }
}

@Suite("The LED of a board that is not enrolled")
struct FirstBootIndicationTests {
    @Test(
        "the LED of a board without enrollment flashes once while it waits, four times when refused, else is dark",
        arguments: [
            (.trying, .flashing(times: 1, pause: .seconds(2))), (.scanning, .flashing(times: 1, pause: .seconds(2))),
            (.refused, .flashing(times: 4, pause: .seconds(2))), (.notUsed, .off), (nil, .off),
        ] as [(FirstBootProgress.Stage?, LEDPattern)])
    func pattern(stage: FirstBootProgress.Stage?, shown: LEDPattern) {
        let lights = Lights()
        lights.show(stage?.pattern, .enrollment)
        #expect(lights.pattern == shown)
        lights.show(ConnectionLight.pattern(isEnrolled: true, isConnected: true), .connection)
        #expect(lights.pattern == .on)
    }
}
