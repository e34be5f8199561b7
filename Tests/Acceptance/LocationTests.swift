import Foundation
import GatewayLab
import TestSupport
import Testing

/// What calls say of where the board is, and of its telephone number.
@Suite("Location and telephone number", .serialized, .timeLimit(.minutes(15)))
struct LocationTests {
    private static let fixed = "[location]\nsource = \"fixed\"\nlatitude = 49.2827\nlongitude = -123.1207\n"

    private static func withBoard(
        enabled: Bool = true, settings: String = "", _ body: (Lab, TestBoard) async throws -> Void
    ) async throws {
        var lab = CallBoard.lab
        (lab.locationEnabled, lab.telephoneNumberEnabled) = (enabled, enabled)
        try await withLabAndBoard(lab, settings: settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await body(lab, board)
        }
    }

    private func headers(_ board: TestBoard) async throws -> [String: String] {
        try await CallBoard.call(board, "POST", "/lab/echo", "-d", "{}")["headers"] as? [String: String] ?? [:]
    }

    private static let nowhere = ["49.28", "123.12"]

    @Test("calls say where the board is, with six decimals and a dot, and nothing else does (MAG checklist 28, 29)")
    func fixed() async throws {
        try await Self.withBoard(settings: Self.fixed + "[gateway]\nmsisdn = \"+15550100\"\n") { lab, board in
            let place = try await CallBoard.call(board, "/lab/place/anywhere")
            #expect(place["header"] as? String == "49.282700,-123.120700")
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/place/nowhere") == (
                    "gateway.location-demanded", 100_301, 76
                ))
            let own = try await CallBoard.call(board, "/lab/place/anywhere", "-H", "geo-location: 1.000000,2.000000")
            #expect(own["header"] as? String == "1.000000,2.000000")
            #expect(
                try await CallBoard.call(board, "/lab/telephone/anyone")["number"] as? String == "+15550100")
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/telephone/nobody") == (
                    "gateway.telephone-number-demanded", 100_304, 76
                ))

            let shown = try await board.ask("location")
            #expect(shown["source"] as? String == "fixed" && shown["latitude"] as? Double == 49.2827)
            #expect(try await board.latchkey("location").output.contains("49.2827,-123.1207 (fixed)"))
            let status = try await board.ask("status")
            #expect(value(status, "location", "isKnown") as? Bool == true)
            let doctor = try await board.latchkey("doctor").output
            #expect(doctor.contains("location"))
            for place in Self.nowhere {
                #expect(!"\(status)".contains(place) && !doctor.contains(place))
                #expect(board.daemon?.errors.text.contains(place) == false)
            }
        }
    }

    @Test("calls say no location without the gateway's or the owner's consent, and say why (MAG checklist 28)")
    func withoutConsent() async throws {
        try await Self.withBoard(enabled: false, settings: Self.fixed + "[gateway]\nmsisdn = \"+15550100\"\n") {
            lab, board in
            let sent = try await headers(board)
            #expect(sent["geo-location"] == nil && sent["msisdn"] == nil && sent["mag-identifier"] != nil)
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/place/anywhere") == (
                    "gateway.location-not-enabled", 100_302, 78
                ))
        }
        try await Self.withBoard { lab, board in
            let sent = try await headers(board)
            #expect(sent["geo-location"] == nil && sent["msisdn"] == nil)
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/place/anywhere") == (
                    "gateway.location-off", 100_303, 78
                ))
            #expect(
                try await CallBoard.refusal(board, "call", "/lab/telephone/anyone") == (
                    "gateway.telephone-number-demanded", 100_305, 76
                ))
            #expect(try await CallBoard.refusal(board, "location").0 == "gateway.location-off")
            #expect(try await board.ask("status")["location"] == nil)
        }
    }

    @Test("gpsd is asked when a location is needed, and a call whose API demands one is repeated with it")
    func gpsd() async throws {
        let file = URL(filePath: "/tmp/lk-gps-\(UInt32.random(in: .min ... .max))")
        func move(_ place: String) throws { try place.write(to: file, atomically: true, encoding: .utf8) }
        try move("none")
        defer { try? FileManager.default.removeItem(at: file) }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "gps.py").path
        let receiver = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-B", script, file.path])
        do {
            let port = try await receiver.output.line(containing: "port ").dropFirst("port ".count)
            let settings = """
                [location]
                source = "gpsd"
                gpsd = "127.0.0.1:\(port)"
                max_age_seconds = 15
                wait_seconds = 15
                """
            try await Self.withBoard(settings: settings) { lab, board in
                // Nothing is known yet: calls that could do without a location are made without one.
                #expect(try await headers(board)["geo-location"] == nil)
                #expect(
                    try await CallBoard.refusal(board, "call", "/lab/place/anywhere") == (
                        "gateway.location-unknown", 100_301, 75
                    ))
                #expect(try await CallBoard.refusal(board, "location").0 == "board.no-fix")
                try move("-33.8568 151.2153")
                lab.resetCounts()
                let place = try await CallBoard.call(board, "/lab/place/anywhere")
                #expect(place["header"] as? String == "-33.856800,151.215300")
                #expect(lab.requestCounts[.place] == 2)
                // Now it is known where to ask: the next call says it at once.
                #expect(try await headers(board)["geo-location"] == "-33.856800,151.215300")
                #expect(try await board.ask("location")["latitude"] as? Double == -33.8568)
                let doctor = try await board.latchkey("doctor").output
                #expect(doctor.contains("gpsd") && !doctor.contains("33.85"))
                // What was said is forgotten, and the place is another now.
                try move("48.8584 2.2945")
                let end = ContinuousClock.now + .seconds(180)
                while try await CallBoard.call(board, "/lab/place/anywhere")["header"] as? String
                    != "48.858400,2.294500", .now < end
                {}
                #expect(.now < end)
                #expect(board.daemon?.errors.text.contains("48.85") == false)

                _ = try await receiver.stop(SIGTERM)
                try await board.stop()
                try await board.start()
                #expect(try await CallBoard.refusal(board, "location").0 == "board.gpsd-failed")
            }
        } catch {
            _ = try? await receiver.stop(SIGTERM)
            throw error
        }
    }
}
