import Foundation
import GatewayLab
import Groundwork
import Testing

/// What a person meets on the admin page, in headless Chromium. Outside ``GatewayLabTests``, as a browser takes longer
/// to start than its tests may take.
@Suite("Admin page in a browser", .serialized, .timeLimit(.minutes(15)))
struct PageTests {
    /// By WebDriver; it fails with what it saw.
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("page.py").path

    @Test(
        "the admin page fits phones and desktops, with buttons on the screen and devices before faults",
        arguments: [390, 1280])
    func layout(width: Int) async throws {
        try await withDevices { shop, _ in
            try await ask(shop, "layout", "\(width)")
        }
    }

    @Test("the admin page opens only with its link, and keeps the token out of its address")
    func link() async throws {
        try await withDevices { shop, _ in
            try await ask(shop, "link")
        }
    }

    @Test("the admin page asks before removing a device; buttons of two devices with one name are distinct")
    func removal() async throws {
        try await withDevices { shop, devices in
            try await ask(shop, "removal", devices[0], devices[1])
            #expect(await shop.lab.devices().map(\.magIdentifier) == [devices[1]])
        }
    }

    @Test("the admin page copies full identifiers, hides telemetry, pauses, and keeps the focus on refresh")
    func messages() async throws {
        try await withDevices { shop, devices in
            try await ask(shop, "messages", devices[0])
        }
    }

    @Test("the admin page shows M-Pin users, takes the codes of their mails, blocks, revokes and removes them")
    func mpin() async throws {
        try await Workshop.open { shop in
            try await MPinTests.play("page", in: shop)
            try await ask(shop, "mpin")
            let users = await shop.lab.mpinUsers()
            #expect(users.map(\.user) == ["alice@example.org"] && users.map(\.status) == [.active])
        }
    }

    private func ask(_ shop: Workshop, _ arguments: String...) async throws {
        do {
            try await run("python3", [Self.script, shop.lab.adminPageURL] + arguments)
        } catch let failure as ProgramFailure {
            Issue.record("\(failure.errors)")
        }
    }

    /// A lab with two devices of one name, a log-in that waits, a message and a reading.
    private func withDevices(_ body: (Workshop, [String]) async throws -> Void) async throws {
        try await Workshop.open({ $0.broker = true }) { shop in
            let board = try await shop.registered("first")
            let other = try await shop.registered("second")
            _ = try await shop.attempt(board.client)
            let phone = try await Phone(shop, "phone")
            var arrivals = shop.lab.arrivals.subscribe().makeAsyncIterator()
            for (topic, text) in [("door", "open"), ("telemetry", "{}")] {
                try await phone.publish("/2.0/client/devices/\(phone.deviceID)/custom/\(topic)", text)
                _ = await arrivals.next()
            }
            try await shop.lab.removeDevice(magIdentifier: phone.magIdentifier)
            try await body(shop, [board.magIdentifier, other.magIdentifier])
        }
    }
}
