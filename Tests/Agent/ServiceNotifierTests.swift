import Foundation
import Glibc
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore

@Suite("Service notifications to systemd", .timeLimit(.minutes(5)))
struct ServiceNotifierTests {
    @Test("systemd is told start, life and end of the service, each in one datagram")
    func told() throws {
        try withFolder { folder in
            let systemd = try DatagramReceiver(folder + "/notify")
            let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": folder + "/notify"])
            notifier.ready("running on a board\nREADY=0")
            #expect(try systemd.text() == "READY=1\nSTATUS=running on a board READY=0")
            notifier.alive()
            #expect(try systemd.text() == "WATCHDOG=1")
            notifier.stopping()
            #expect(try systemd.text() == "STOPPING=1")
        }
    }

    @Test("systemd's socket is reached in the abstract name space")
    func abstract() throws {
        let name = "@latchkey-test-\(UUID().uuidString)"
        let systemd = try DatagramReceiver(name)
        ServiceNotifier(environment: ["NOTIFY_SOCKET": name]).alive()
        #expect(try systemd.text() == "WATCHDOG=1")
    }

    @Test(
        "nothing happens without systemd's socket, or with one that is not there",
        arguments: [
            [:], ["NOTIFY_SOCKET": "/nowhere/notify"], ["NOTIFY_SOCKET": ""],
            ["NOTIFY_SOCKET": String(repeating: "x", count: 200)],
        ])
    func absent(environment: [String: String]) {
        let notifier = ServiceNotifier(environment: environment)
        notifier.ready("nobody hears")
        notifier.stopping()
        #expect(notifier.watchdogInterval == nil)
    }

    @Test("a receiver of service notifications that does not read holds nobody up for long")
    func deaf() throws {
        try withFolder { folder in
            let receiver = try DatagramReceiver(folder + "/notify")
            let socket = UnixDatagram(path: folder + "/notify")
            var sent = 0
            // The kernel queues a few (net.unix.max_dgram_qlen), then makes the sender wait.
            while sent < 100_000, socket.send([1]) { sent += 1 }
            #expect(sent < 100_000)
            #expect(sent > 0)
            withExtendedLifetime(receiver) {}
        }
    }

    @Test(
        "the interval of the watchdog is systemd's, when it is meant for this process",
        arguments: [
            (["WATCHDOG_USEC": "2000000"], Duration.seconds(2)),
            (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "\(getpid())"], .seconds(2)),
            (["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "1"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "soon"], nil),
        ] as [([String: String], Duration?)])
    func interval(environment: [String: String], expected: Duration?) {
        #expect(ServiceNotifier(environment: environment).watchdogInterval == expected)
    }

    @Test("the watchdog is fed only when the agent answers")
    func watchdog() async throws {
        try await withFolder { folder in
            let systemd = try DatagramReceiver(folder + "/notify")
            let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": folder + "/notify", "WATCHDOG_USEC": "20000"])
            let asked = AsyncStream.makeStream(of: Void.self)
            let answers = AsyncStream.makeStream(of: Void.self)
            let watchdog = Watchdog(notifier: notifier) {
                asked.continuation.yield()
                _ = await answers.stream.first { _ in true }
            }
            let running = Task { await watchdog.run() }
            var questions = asked.stream.makeAsyncIterator()
            await questions.next()
            #expect(systemd.isEmpty, "fed before the agent answered")
            answers.continuation.yield()
            #expect(try await systemd.textOfTask() == "WATCHDOG=1")
            await questions.next()
            #expect(systemd.isEmpty, "fed though the second question was not answered")
            answers.continuation.finish()
            running.cancel()
            await running.value
        }
    }
}
