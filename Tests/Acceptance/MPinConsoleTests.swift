import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("M-Pin on the console's page", .timeLimit(.minutes(15)))
struct MPinConsoleTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "mpin_console.py").path

    @Test("two M-Pin users register, choose PINs and log in on the console, and the log has none of it")
    func people() async throws {
        try await MPinBoard.with(settings: "[console]\nenabled = true\n") { lab, board in
            try await lab.changeMPinPolicy { $0.setDeviceName = true }
            try await board.stop()
            try await board.start()
            let address = try #require(try await board.ask("console")["address"] as? String)
            let folder = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"] ?? board.folder.path
            let person = try RunningProgram(
                URL(filePath: "/usr/bin/python3"),
                ["-B", Self.script, address, folder, lab.adminURL, lab.adminToken])
            let status = try await person.ended(within: 600)
            #expect(status == 0, "\(person.errors.text)")
            #expect(FileManager.default.fileExists(atPath: folder + "/console-mpin.png"))
            #expect(
                try await MPinBoard.states(board)
                    == ["alice@lab.example": "REGISTERED", "bob@lab.example": "REGISTERED"])
            #expect(await lab.mpinUsers().allSatisfy { $0.lastLogin != nil })
            #expect(await lab.mpinUsers().map(\.deviceName) == ["front door", nil])
            let log = try #require(board.daemon?.errors.text)
            for secret in [MPinBoard.pin, "open, please", "not this one"] { #expect(!log.contains(secret)) }
        }
    }
}
