import Foundation
import GatewayLab
import TestSupport
import Testing

/// Each row is a `killPoint` between the answer to an enrollment that waited in a file, and the end of that file.
@Suite("Killed while the enrollment of the first boot is taken", .timeLimit(.minutes(8)))
struct FirstBootStateTests {
    struct State: Sendable, CustomTestStringConvertible {
        let point: String
        let meaning: String
        /// Whether the board has taken it, so that it goes on by itself.
        let isTaken: Bool
        var testDescription: String { "\(point): \(meaning)" }
    }

    static let states = [
        State(
            point: "first-boot-answered", meaning: "the URL is used up and refused; a new one enrolls", isTaken: false),
        State(point: "first-boot-committed", meaning: "taken; the file is wiped at the next start", isTaken: true),
        State(point: "first-boot-overwritten", meaning: "taken; what is left of the file is removed", isTaken: true),
    ]

    @Test("a kill during first boot still uses the URL once, makes one device, and ends the file", arguments: states)
    func recovers(_ state: State) async throws {
        try await inTurn {
            let lab = try await Lab.start()
            let file = URL(filePath: "/tmp/lk-boot-\(UInt32.random(in: .min ... .max)).url")
            defer { try? FileManager.default.removeItem(at: file) }
            let board = try TestBoard(settings: "[enrollment]\nfile = \"\(file.path)\"\nhelper = \"\"\n")
            do {
                try Data(try await lab.mintEnrollmentURL().utf8).write(to: file)
                board.environment = ["LATCHKEY_KILL_AT": state.point]
                let daemon = try board.launch()
                #expect(try await daemon.ended() == 128 + SIGKILL)
                #expect(daemon.errors.text.contains("killed at \(state.point)\n"))
                board.environment = [:]
                try await board.start()
                let log = try #require(board.daemon).errors
                if !state.isTaken {
                    _ = try await log.line(containing: "enrollment.refused")
                    #expect(try await board.status().registration.state == "unregistered")
                    try Data(try await lab.mintEnrollmentURL().utf8).write(to: file)
                    try await board.stop()
                    try await board.start()
                }
                _ = try await #require(board.daemon).errors.line(containing: "enrollment.wiped")
                _ = try await board.status { $0.registration.state == "registered" }
                #expect(!FileManager.default.fileExists(atPath: file.path))
                #expect(lab.requestCounts[.enrollment, default: 0] == (state.isTaken ? 1 : 3))
                #expect(await lab.devices().count == 1)
            } catch {
                try? await board.tearDown()
                await lab.stop()
                throw error
            }
            try await board.tearDown()
            await lab.stop()
        }
    }
}
