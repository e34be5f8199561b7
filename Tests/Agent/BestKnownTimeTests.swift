import Foundation
import Groundwork
import Messaging
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore

/// A clock that a test sets.
private final class SetClock: Sendable {
    private let value: Mutex<Date>
    init(_ date: Date) { value = Mutex(date) }
    var now: Date {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}

@Suite("Best known time")
struct BestKnownTimeTests {
    private let built = Date(timeIntervalSince1970: 1_790_000_000)

    private func time(_ folder: String, _ clock: SetClock) -> BestKnownTime {
        BestKnownTime(path: folder + "/clock", built: built) { clock.now }
    }

    @Test(
        "a board that wakes up in 1970 takes the program's build time for now, and reports its wrong clock")
    func epoch() throws {
        try withFolder { folder in
            let time = time(folder, SetClock(Date(timeIntervalSince1970: 30)))
            #expect(time.now == built)
            #expect(!time.isPlausible)
        }
    }

    @Test("a clock later than every known time is believed")
    func plausible() throws {
        try withFolder { folder in
            let time = time(folder, SetClock(built + 60))
            #expect(time.now == built + 60)
            #expect(time.isPlausible)
        }
    }

    @Test("the start of a certificate's validity raises what is known, and an earlier one does not lower it")
    func floor() throws {
        try withFolder { folder in
            let time = time(folder, SetClock(built + 60))
            time.notBefore(built + 3600)
            #expect(time.now == built + 3600)
            #expect(!time.isPlausible)
            time.notBefore(built - 3600)
            #expect(time.now == built + 3600)
        }
    }

    @Test("a confirmed time is known after a restart")
    func persists() throws {
        try withFolder { folder in
            time(folder, SetClock(built + 7200)).confirm(by: .new)
            let restarted = time(folder, SetClock(Date(timeIntervalSince1970: 30)))
            #expect(restarted.now == built + 7200)
            #expect(!restarted.isPlausible)
        }
    }

    @Test("an implausible clock confirms nothing")
    func notConfirmed() throws {
        try withFolder { folder in
            time(folder, SetClock(Date(timeIntervalSince1970: 30))).confirm(by: .new)
            #expect(BestKnownTime.modified(folder + "/clock") == nil)
        }
    }

    @Test("a clock that jumps back after it was confirmed is not believed")
    func jumpsBack() throws {
        try withFolder { folder in
            let clock = SetClock(built + 86_400)
            let time = time(folder, clock)
            time.confirm(by: .new)
            clock.now = built + 3600
            #expect(!time.isPlausible)
            #expect(time.now == built + 86_400)
        }
    }

    @Test("the best known time is written to its file at most once an hour")
    func rewritten() throws {
        try withFolder { folder in
            let clock = SetClock(built + 1000)
            let time = time(folder, clock)
            time.confirm(by: .new)
            clock.now += 3599
            time.confirm(by: .new)
            #expect(BestKnownTime.modified(folder + "/clock") == built + 1000)
            clock.now += 1
            time.confirm(by: .new)
            #expect(BestKnownTime.modified(folder + "/clock") == built + 4600)
        }
    }

    @Test("the best known time is kept as long as the agent runs where its file cannot be written")
    func unwritable() throws {
        let clock = SetClock(built + 1000)
        let time = BestKnownTime(path: "/proc/latchkey-clock", built: built) { clock.now }
        time.confirm(by: .new)
        clock.now = built
        #expect(time.now == built + 1000)
    }

    private static let year: TimeInterval = 365 * 86_400

    @Test("a stepped clock is not confirmed over a connection that was kept, and leaves no trace once it is set right")
    func kept() throws {
        try withFolder { folder in
            let clock = SetClock(built + 1000)
            let time = time(folder, clock)
            #expect(time.confirm(by: .kept))
            clock.now += Self.year
            // As a message that comes meanwhile does, which sees the step before.
            _ = time.watchedClock.steps
            #expect(!time.confirm(by: .kept))
            #expect(BestKnownTime.modified(folder + "/clock") == built + 1000)
            clock.now -= Self.year
            #expect(time.now == built + 1000)
            #expect(time.isPlausible)
        }
    }

    @Test("a step between the start and the first confirmation counts too")
    func keptFromStart() throws {
        try withFolder { folder in
            let clock = SetClock(built + 1000)
            let time = time(folder, clock)
            clock.now += Self.year
            #expect(!time.confirm(by: .kept))
            #expect(BestKnownTime.modified(folder + "/clock") == nil)
        }
    }

    @Test("a stepped clock is confirmed by a new connection, and by what takes the place of the kept ones")
    func renewedConnections() throws {
        try withFolder { folder in
            let clock = SetClock(built + 1000)
            let uptime = Mutex(Duration.zero)
            let time = BestKnownTime(
                path: folder + "/clock", built: built, systemTime: { clock.now }, uptime: { uptime.withLock { $0 } })
            clock.now += 86_400
            #expect(time.confirm(by: .new))
            #expect(BestKnownTime.modified(folder + "/clock") == built + 87_400)
            #expect(time.confirm(by: .kept))
            clock.now += 86_400
            #expect(!time.confirm(by: .kept))
            // Requests that were under way end over the connections of before.
            uptime.withLock { $0 += BestKnownTime.settling - .seconds(1) }
            #expect(time.confirm(by: .kept))
            #expect(BestKnownTime.modified(folder + "/clock") == built + 87_400)
            uptime.withLock { $0 += .seconds(1) }
            #expect(time.confirm(by: .kept))
            #expect(BestKnownTime.modified(folder + "/clock") == built + 173_800)
        }
    }

    @Test(
        "no time beyond the board's own certificate is confirmed, over whatever connection",
        arguments: [BestKnownTime.Connection.new, .kept])
    func beyondCertificate(connection: BestKnownTime.Connection) throws {
        try withFolder { folder in
            let clock = SetClock(built + 3600)
            let time = time(folder, clock)
            #expect(time.confirm(by: connection, before: built + 3600))
            #expect(BestKnownTime.modified(folder + "/clock") == nil)
            clock.now = built + 60
            #expect(time.now == built + 60)
        }
    }
}
