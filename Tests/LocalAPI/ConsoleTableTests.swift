import Testing

@testable import LocalAPI

/// The sessions of the console, without a socket and a clock.
@Suite("Sessions of the console")
struct ConsoleTableTests {
    private let start = ContinuousClock.now
    private let idle = Duration.seconds(900)

    private func peer(_ uid: UInt32) -> Peer { Peer(uid: uid, pid: 1, groups: []) }

    @Test("a token opens one session of the console, once, and only while it is offered")
    func once() throws {
        var table = ConsoleTable(idle: idle)
        let token = try table.offer(to: peer(7), now: start).token
        let second = try table.offer(to: peer(7), now: start).token
        #expect(token != second && token.count == 64)
        #expect(throws: LocalAPIError.consoleTokenRefused) { try table.open("", now: start) }
        let session = try table.open(token, now: start)
        #expect(session.peer.uid == 7 && session.cookie != session.key)
        #expect(throws: LocalAPIError.consoleTokenRefused) { try table.open(token, now: start) }
        #expect(throws: LocalAPIError.consoleTokenRefused) {
            try table.open(second, now: start + ConsoleTable.offerLife)
        }
    }

    @Test("a session of the console needs both its cookie and its key, and those of no other")
    func bothHalves() throws {
        var table = ConsoleTable(idle: idle)
        let first = try table.open(try table.offer(to: peer(7), now: start).token, now: start)
        let other = try table.open(try table.offer(to: peer(8), now: start).token, now: start)
        #expect(table.session(cookies: ["x", first.cookie], key: first.key, now: start)?.id == first.id)
        #expect(table.session(cookies: [other.cookie], key: first.key, now: start) == nil)
        #expect(table.session(cookies: [first.cookie], key: "", now: start) == nil)
        #expect(table.session(cookies: [], key: first.key, now: start) == nil)
        // One that is only offered has neither.
        _ = try table.offer(to: peer(9), now: start)
        #expect(table.session(cookies: [""], key: "", now: start) == nil)
    }

    @Test(
        "a session of the console ends when unused for a while, not while streaming, and after half a day")
    func ends() throws {
        var table = ConsoleTable(idle: idle)
        let id = try table.open(try table.offer(to: peer(7), now: start).token, now: start).id
        #expect(table.expire(now: start + .seconds(899)) == (ended: [], next: start + idle))
        table.begin(id, now: start + .seconds(899))
        let late = start + .seconds(5000)
        #expect(table.expire(now: late) == (ended: [], next: late + idle))
        table.finish(id, now: late)
        #expect(table.expire(now: late + .seconds(899)).ended.isEmpty)
        #expect(table.expire(now: late + idle) == (ended: [id], next: nil))

        let used = try table.open(try table.offer(to: peer(7), now: start).token, now: start).id
        table.begin(used, now: start)
        #expect(table.expire(now: start + ConsoleTable.longestLife) == (ended: [used], next: nil))
    }

    @Test("a user's further session ends the one longest unused, and all users together have a limit")
    func limits() throws {
        var table = ConsoleTable(idle: idle)
        var ids: [Int] = []
        for second in 0..<ConsoleTable.limitOfUser {
            let now = start + .seconds(second)
            ids.append(try table.open(try table.offer(to: peer(7), now: now).token, now: now).id)
        }
        table.begin(ids[0], now: start + .seconds(60))
        #expect(try table.offer(to: peer(7), now: start + .seconds(61)).ended == [ids[1]])
        #expect(table.sessions.count == ConsoleTable.limitOfUser)
        for user in 8..<UInt32(8 + ConsoleTable.limit - ConsoleTable.limitOfUser) {
            _ = try table.offer(to: peer(user), now: start)
        }
        #expect(throws: LocalAPIError.tooManyConsoles(limit: ConsoleTable.limit)) {
            try table.offer(to: peer(99), now: start)
        }
        #expect(table.end { $0.peer.uid == 7 }.count == ConsoleTable.limitOfUser)
    }
}
