import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("The life of a registration", .timeLimit(.minutes(15)))
struct LifeTests {
    private func connected(_ board: TestBoard) async throws -> BoardStatus {
        try await board.status { $0.isConnected }
    }

    @Test("a restart keeps registration and tokens, and makes no unnecessary call")
    func restart() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let before = try await connected(board)
            try await board.stop()
            lab.resetCounts()
            try await board.start()
            let after = try await connected(board)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(lab.requestCounts.filter { $0.value > 0 }.isEmpty, "calls: \(lab.requestCounts)")
            let answer = try await board.latchkey("call", "GET", "/lab/hello")
            #expect(answer.status == 0)
            #expect(lab.requestCounts[.token, default: 0] == 0)
        }
    }

    /// Runs a command that does not find a library, in a mount namespace of its own.
    private static func without(_ library: String) -> [String] {
        [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-ec",
            """
            /sbin/ldconfig -p | sed -n 's/.*\(library) .*=> //p' | while read -r file; do mount --bind /dev/null "$file"; done
            exec "$@"
            """, "sh",
        ]
    }

    @Test(
        "a board with a valid token reaches its broker without libcurl, and calls that need libcurl say so",
        .enabled(if: getuid() == 0, "mounts as root"))
    func withoutCurl() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await connected(board)
            try await board.stop()
            board.launcher = Self.without("libcurl.so.4")
            try await board.start()
            _ = try await connected(board)
            let refused = try await board.latchkey("call", "GET", "/lab/hello", "--json")
            #expect(refused.status != 0)
            #expect(refused.errors.contains("libcurl.so.4, which could not be loaded"))
            #expect(refused.errors.contains("install the Debian package libcurl4"))
        }
    }

    @Test("the daemon without libmicrohttpd reports that and ends", .enabled(if: getuid() == 0, "mounts as root"))
    func withoutMicroHTTPD() async throws {
        let board = try TestBoard()
        board.launcher = Self.without("libmicrohttpd.so.12")
        let daemon = try board.launch()
        #expect(try await daemon.ended() != 0)
        #expect(daemon.errors.text.contains("libmicrohttpd.so.12, which could not be loaded"))
        #expect(daemon.errors.text.contains("install the Debian package libmicrohttpd12"))
        try await board.tearDown()
    }

    /// Runs a command on a board whose firmware tells this serial number.
    private static func on(serialNumber: String) -> [String] {
        [
            "/usr/bin/unshare", "--mount", "/bin/sh", "-ec",
            """
            mount -t tmpfs tmpfs /sys/firmware
            mkdir -p /sys/firmware/devicetree/base
            printf '\(serialNumber)\\0' > /sys/firmware/devicetree/base/serial-number
            exec "$@"
            """, "sh",
        ]
    }

    @Test(
        "a copied card sends nothing from another board, until a person lets it take the place of the first",
        .enabled(if: getuid() == 0, "mounts as root"))
    func copiedCard() async throws {
        try await withLabAndBoard { lab, board in
            board.launcher = Self.on(serialNumber: "100000001")
            try await board.stop()
            try await board.start()
            _ = try await board.enroll(at: lab)
            let before = try await connected(board)
            try await board.stop()
            lab.resetCounts()

            board.launcher = Self.on(serialNumber: "200000002")
            _ = try await board.launch().errors.line(containing: "waiting: the identity belongs to another board")
            let status = try await board.latchkey("status", "--json")
            #expect(status.output.contains("vault.other-board"))
            #expect(try await board.latchkey("doctor").output.contains("latchkey identity adopt"))
            #expect(try await board.latchkey("publish", "door/state", "open").status != 0)
            #expect(lab.requestCounts.filter { $0.value > 0 }.isEmpty, "calls: \(lab.requestCounts)")

            #expect(try await board.latchkey("identity", "adopt").status == 0)
            let after = try await connected(board)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
        }
    }

    @Test("a kill keeps registration and tokens as well")
    func kill() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let before = try await connected(board)
            try await board.stop(SIGKILL)
            try await board.start()
            let after = try await connected(board)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(await lab.devices().count == 1)
        }
    }

    @Test("switching to another gateway and back restores the first registration (MAG checklist 6)")
    func gatewaySwitch() async throws {
        let second = try await Lab.start()
        try await withLabAndBoard { first, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "version")
            let original = try await board.enroll(at: first)
            _ = try await connected(board)
            let switched = try await board.latchkey("enroll", try await second.mintEnrollmentURL())
            let status = try await board.status()
            let firstURL = try #require(original.gateway?.url)
            #expect(
                switched.output.contains("switched from   \(firstURL); the registration there is kept"),
                "\(switched.output)")
            #expect(status.otherGateways?.map(\.url) == [firstURL])
            let other = try await connected(board)
            #expect(other.registration.magIdentifier != original.registration.magIdentifier)
            _ = try await events.output.line(containing: "gateway.did-switch")
            let back = try await board.enroll(at: first)
            #expect(back.registration.magIdentifier == original.registration.magIdentifier)
            #expect(await first.devices().count == 1)
            _ = try await connected(board)
            try await events.output.lines(2) { $0.contains("gateway.did-switch") }
            try await events.stop()
            // A token that was valid is neither sent in vain nor told of as trouble.
            #expect(!events.output.text.contains("broker.refused"))
            #expect(try await board.status().lastError == nil)
        }
        await second.stop()
    }

    @Test("latchkey renew gets a certificate for the same registration and keeps subscriptions (MAG checklist 18)")
    func renew() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let before = try await connected(board)
            let serial = await lab.devices().first?.certificateSerial
            _ = try await board.ask("renew")
            let after = try await connected(board)
            #expect(await lab.devices().first?.certificateSerial != serial)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(lab.requestCounts[.renewal] == 1)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("latchkey deregister removes the device at the gateway, then the identity here (MAG 12.4)")
    func deregister() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await connected(board)
            _ = try await board.ask("deregister", "--yes")
            #expect(await lab.devices().filter { $0.status == .active }.isEmpty)
            let status = try await board.status { $0.broker == nil }
            #expect(status.registration.state == "unregistered")
            #expect(status.certificate == nil)
            #expect(status.token == nil)
            // The configuration stays (MAG 12.4), and nothing registers again by itself.
            #expect(status.gateway?.host == "localhost")
            lab.resetCounts()
            try await board.stop()
            try await board.start()
            _ = try await board.status()
            #expect(lab.requestCounts[.clientRegistration, default: 0] == 0)
        }
    }

    @Test("a removal that the gateway refuses keeps everything (MAG checklist 44)")
    func refusedRemoval() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let before = try await connected(board)
            lab.inject(Fault(.status(500), at: .removal, times: 1))
            let refused = try await board.latchkey("deregister", "--json", "--yes")
            #expect(refused.status != 0)
            let after = try await connected(board)
            #expect(after.registration.magIdentifier == before.registration.magIdentifier)
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
        }
    }

    @Test("latchkey reset removes the identity without telling the gateway; the next is another device (MAG 12.4)")
    func reset() async throws {
        try await withLabAndBoard { lab, board in
            let first = try await board.enroll(at: lab)
            _ = try await connected(board)
            lab.resetCounts()
            let asked = try await board.latchkey("reset")
            #expect(asked.status == 64)
            _ = try await board.ask("reset", "--yes")
            #expect(lab.requestCounts.filter { $0.value > 0 }.isEmpty)
            #expect(await lab.devices().count == 1)
            let again = try await board.enroll(at: lab)
            #expect(again.registration.deviceID != first.registration.deviceID)
        }
    }

    @Test("an access token that the gateway revoked is replaced within the call (MAG checklist 24)")
    func revokedToken() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let token = try await board.ask("token")["accessToken"] as? String
            try await lab.revokeTokens()
            #expect(try await board.latchkey("call", "GET", "/lab/hello").status == 0)
            #expect(try await board.ask("token")["accessToken"] as? String != token)
        }
    }
}
