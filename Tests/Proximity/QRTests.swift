import Foundation
import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Proximity

@Suite("A QR code")
struct QRCodeTests {
    @Test("a QR code has correction H for a URL as gateways write them, and fits 80 columns (MAG 7.3)")
    func usual() throws {
        let code = try QRCode(ownURL)
        #expect(code.correction == .high)
        #expect(code.fullWidth <= 80)
        let longer = try QRCode(ownURL + String(repeating: "f", count: 60), fitting: 80)
        #expect(longer.fullWidth <= 80)
    }

    @Test("a QR code falls back to a lower correction where it would not fit the code, or the columns")
    func fallback() throws {
        #expect(try QRCode(String(repeating: "a", count: 1273)).correction == .high)
        #expect(try QRCode(String(repeating: "a", count: 1274)).correction == .quartile)
        #expect(try QRCode(String(repeating: "a", count: 2953)).correction == .low)
        let text = String(repeating: "a", count: 200)
        #expect(try QRCode(text, fitting: 80).correction != .high)
        #expect(try QRCode(text, fitting: 80).fullWidth <= 80)
    }

    @Test("a QR code is refused for nothing, for too much and for what a reader could not give back")
    func refused() {
        for text in ["", String(repeating: "a", count: 2954), "a\u{0}b"] {
            #expect(throws: ProximityError.textTooLongForQRCode(bytes: text.utf8.count)) { try QRCode(text) }
        }
    }

    @Test("a QR code has its three finder patterns and a light margin")
    func finders() throws {
        let code = try QRCode(ownURL)
        for (row, column) in [(0, 0), (0, code.width - 7), (code.width - 7, 0)] {
            for offset in 0..<7 {
                #expect(
                    code.isDark(row: row, column: column + offset) && code.isDark(row: row + 6, column: column + offset)
                )
            }
            #expect(!code.isDark(row: row + 1, column: column + 1) && code.isDark(row: row + 3, column: column + 3))
        }
        #expect(!code.isDark(row: -1, column: 0) && !code.isDark(row: 0, column: code.width))
    }

    @Test(
        "a QR code is drawn for dark and light terminals, one the other's negative",
        arguments: [ownURL, ownURL + "/a/little/longer"])
    func terminal(url: String) throws {
        let code = try QRCode(url)
        let light = try modules(code.terminalText(.light, columns: 80), ink: true, code)
        let dark = try modules(code.terminalText(.dark, columns: 80), ink: false, code)
        for row in 0..<code.fullWidth {
            for column in 0..<code.fullWidth {
                let isDark = code.isDark(row: row - QRCode.margin, column: column - QRCode.margin)
                #expect(light[row][column] == isDark && dark[row][column] == isDark)
            }
        }
    }

    /// The dark modules of a drawing.
    private func modules(_ text: String, ink: Bool, _ code: QRCode) -> [[Bool]] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(Array.init)
        #expect(lines.count == (code.fullWidth + 1) / 2 && lines.allSatisfy { $0.count == code.fullWidth })
        return lines.flatMap { line in
            [line.map { ($0 == "█" || $0 == "▀") == ink }, line.map { ($0 == "█" || $0 == "▄") == ink }]
        }
    }

    @Test("a QR code says so when the terminal is too narrow for it")
    func tooWide() throws {
        let code = try QRCode(ownURL)
        let error = #expect(throws: ProximityError.qrCodeTooWide(columns: code.fullWidth, available: 40)) {
            try code.terminalText(.dark, columns: 40)
        }
        #expect(error?.remedy?.contains("PNG") == true)
    }

    @Test(
        "a QR code is a PNG picture whose check sums are right and whose pixels are its modules",
        arguments: [1, 3, 8, 1000])
    func png(scale: Int) throws {
        let code = try QRCode(ownURL)
        let picture = try Picture(code.png(scale: scale))
        #expect(picture.side <= QRCode.pictureLimit)
        let pixels = picture.side / code.fullWidth
        #expect(scale > 8 || pixels == scale)
        for row in 0..<code.fullWidth {
            for column in 0..<code.fullWidth {
                let isDark = code.isDark(row: row - QRCode.margin, column: column - QRCode.margin)
                #expect(picture.isBlack(row: row * pixels, column: column * pixels) == isDark)
                #expect(picture.isBlack(row: (row + 1) * pixels - 1, column: (column + 1) * pixels - 1) == isDark)
            }
        }
    }

    @Test("a QR code is an SVG picture with a square for each dark module")
    func svg() throws {
        let code = try QRCode(ownURL)
        let dark = (0..<code.width).reduce(0) { sum, row in
            sum + (0..<code.width).count { code.isDark(row: row, column: $0) }
        }
        #expect(code.svg.components(separatedBy: "h1v1h-1z").count == dark + 1)
        #expect(code.svg.contains("viewBox=\"0 0 \(code.fullWidth) \(code.fullWidth)\""))
    }

    /// A PNG read by its standard, with check sums computed in another way than the writer's.
    private struct Picture {
        let side: Int
        private let rows: [[UInt8]]

        init(_ bytes: [UInt8]) throws {
            #expect(bytes.prefix(8) == [137, 80, 78, 71, 13, 10, 26, 10])
            var (index, names, header, content) = (8, [String](), [UInt8](), [UInt8]())
            while index + 12 <= bytes.count {
                let length = Self.number(bytes[index..<(index + 4)])
                let body = bytes[(index + 4)..<(index + 8 + length)]
                let sum = Self.number(bytes[(index + 8 + length)..<(index + 12 + length)])
                #expect(Int(Self.crc(body)) == sum)
                names.append(String(decoding: body.prefix(4), as: UTF8.self))
                if names.last == "IHDR" { header = Array(body.dropFirst(4)) }
                if names.last == "IDAT" { content = Array(body.dropFirst(4)) }
                index += 12 + length
            }
            #expect(names == ["IHDR", "IDAT", "IEND"] && index == bytes.count)
            let side = Self.number(header[0..<4])
            #expect(Array(header[8...]) == [1, 0, 0, 0, 0] && Self.number(header[4..<8]) == side)
            var (raw, position, isLast) = ([UInt8](), 2, false)
            #expect((Int(content[0]) << 8 | Int(content[1])) % 31 == 0)
            while !isLast {
                isLast = content[position] == 1
                let count = Int(content[position + 1]) | Int(content[position + 2]) << 8
                #expect(
                    content[position + 3] == ~content[position + 1] && content[position + 4] == ~content[position + 2])
                raw += content[(position + 5)..<(position + 5 + count)]
                position += 5 + count
            }
            var (low, high) = (1, 0)
            for byte in raw {
                low = (low + Int(byte)) % 65_521
                high = (high + low) % 65_521
            }
            #expect(Self.number(content[position...]) == high << 16 | low)
            let stride = (side + 7) / 8 + 1
            #expect(raw.count == stride * side)
            self.side = side
            rows = (0..<side).map { Array(raw[($0 * stride)..<(($0 + 1) * stride)]) }
            #expect(rows.allSatisfy { $0[0] == 0 })
        }

        func isBlack(row: Int, column: Int) -> Bool { rows[row][1 + column / 8] & (0x80 >> UInt8(column % 8)) == 0 }

        private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

        private static let table: [UInt32] = (0..<256).map { value in
            var rest = UInt32(value)
            for _ in 0..<8 { rest = rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1 }
            return rest
        }

        private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
            var sum = UInt32.max
            for byte in bytes { sum = table[Int((sum ^ UInt32(byte)) & 0xFF)] ^ (sum >> 8) }
            return sum ^ UInt32.max
        }
    }
}

@Suite("Logging in by a QR code", .timeLimit(.minutes(5)))
struct QRLoginTests {
    let clock = ManualClock()
    let recorder = Recorder()
    let gateway = FakeGateway()
    let shown = Log<String>()

    private func run(_ plan: PollingPlan = PollingPlan()) -> (QRLogin, Task<String, any Error>) {
        let login = QRLogin(gateway: gateway, plan: plan, clock: clock, events: recorder.events)
        return (login, Task { [shown] in try await login.run { shown.append($0) } })
    }

    @Test("a login by a QR code shows auth_url verbatim and polls, first after 10 s (MAG 7.3, MAG checklist 35)")
    func whole() async throws {
        gateway.behavior.withLock { $0.polls = [.success(false), .success(true)] }
        let (_, login) = run()
        try await shown.wait(for: ownURL)
        await clock.advance(by: .seconds(10))
        try await gateway.polled.wait(for: 1)
        await clock.advance(by: .seconds(5))
        #expect(try await login.value == "alice")
        try await recorder.log.wait(for: .loginSucceeded(userName: "alice"))
        #expect(
            recorder.log.entries == [
                .qrCodeShown(seconds: 36), .polled(attempt: 1, of: 6), .qrCodeHidden, .authorizationCodeReceived,
                .loginSucceeded(userName: "alice"),
            ])
        #expect(
            recorder.log.entries.compactMap(\.notification) == [
                "MASProximityLoginQRCodeDidStartDisplayingQRCodeImage",
                "MASProximityLoginQRCodeDidStopDisplayingQRCodeImage",
                "MASDeviceDidReceiveAuthorizationCodeFromProximityLoginNotification",
            ])
    }

    @Test("a login by a QR code gives up after six polls (MAG checklist 35)")
    func limit() async throws {
        let (_, login) = run()
        for poll in 1...6 {
            await clock.advance(by: .seconds(poll == 1 ? 10 : 5))
            try await gateway.polled.wait(for: poll)
        }
        await #expect(throws: ProximityError.notAuthorizedInTime) { try await login.value }
        try await recorder.log.wait(for: .authorizationErrorReceived(.notAuthorizedInTime))
        #expect(gateway.polled.entries.count == 6)
        let event = recorder.log.entries.first { $0 == .authorizationErrorReceived(.notAuthorizedInTime) }
        #expect(event?.notification == "MASDeviceDidReceiveErrorFromProximityLoginNotification")
    }

    @Test("a login by a QR code reports that the gateway could not be asked (MAG 8.6: 650103)")
    func pollingFails() async throws {
        gateway.behavior.withLock { $0.polls = [.failure(GatewayFailure(code: "gateway.down", message: "it is down"))] }
        let (_, login) = run(PollingPlan(limit: 1))
        await clock.advance(by: .seconds(10))
        let error = await #expect(throws: ProximityError.self) { try await login.value }
        #expect(error == .qrPollingFailed(reason: "it is down"))
        #expect(error?.numbers.ios == 650_103)
    }

    @Test("a login by a QR code polls at the intervals it is given")
    func plan() async throws {
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let (_, login) = run(PollingPlan(first: .seconds(2), interval: .seconds(1), limit: 1))
        await clock.advance(by: .seconds(2))
        #expect(try await login.value == "alice")
        #expect(
            PollingPlan(first: .seconds(-1), interval: .zero, limit: 3).times(from: .seconds(5))
                == [.seconds(5), .seconds(6), .seconds(7)])
    }

    @Test("a login by a QR code can be stopped, and hides the code")
    func stopped() async throws {
        let (login, running) = run()
        try await recorder.log.wait { if case .qrCodeShown = $0 { true } else { false } }
        await #expect(throws: ProximityError.loginInProgress) { try await login.run { _ in } }
        await login.stop()
        await #expect(throws: CancellationError.self) { try await running.value }
        try await recorder.log.wait(for: .qrCodeHidden)
    }

    @Test("a login by a QR code refuses what is not a URL")
    func noURL() async throws {
        gateway.behavior.withLock { $0.authURL = "" }
        let (_, login) = run()
        let error = await #expect(throws: ProximityError.self) { try await login.value }
        #expect(error?.numbers.ios == 650_102)
        #expect(shown.entries.isEmpty)
    }
}
