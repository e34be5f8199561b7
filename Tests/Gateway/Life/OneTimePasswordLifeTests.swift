import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A person who answers as the test says, and keeps what was asked.
private final class Person: OneTimePasswordAsker {
    /// Reads the mail: what the lab has sent.
    let lab: Lab
    let asked = Log<String>()
    private let channels: Mutex<[String?]>
    private let passwords: Mutex<[String?]>
    /// Passed before each answer.
    let gate = Gate(isOpen: true)
    /// Done when the first password is asked for.
    let atFirst: @Sendable () -> Void

    /// - Parameters:
    ///   - channels: are chosen in turn, then the first one always; `nil` refuses.
    ///   - passwords: are typed in turn, then the right one always; `nil` refuses.
    init(
        _ lab: Lab, channels: [String?] = [], passwords: [String?] = [], atFirst: @escaping @Sendable () -> Void = {}
    ) {
        self.lab = lab
        self.atFirst = atFirst
        self.channels = Mutex(channels)
        self.passwords = Mutex(passwords)
    }

    func channel(of choices: [String], for call: ChallengedCall, isRepeated: Bool) async throws -> String {
        asked.append("channel \(choices.joined(separator: " "))\(isRepeated ? " again" : "")")
        await gate.pass()
        let choice = channels.withLock { $0.isEmpty ? choices[0] : $0.removeFirst() }
        guard let choice else { throw MultiFactorError.channelCancelled(by: "test") }
        return choice
    }

    func password(
        for call: ChallengedCall, sentBy channel: String?,
        check: @escaping @Sendable (String) async throws -> OneTimePasswordVerdict
    ) async throws {
        while true {
            if !asked.entries.contains(where: { $0.hasPrefix("password") }) { atFirst() }
            asked.append("password by \(channel ?? "nothing")")
            await gate.pass()
            let sent = await lab.oneTimePasswords().first {
                $0.password != nil && $0.owner == call.userName ?? $0.owner
            }?.password
            let typed = passwords.withLock { $0.isEmpty ? sent : $0.removeFirst() }
            guard let typed else { throw MultiFactorError.passwordCancelled(by: "test") }
            switch try await check(typed) {
            case .settled: return
            case .wrong(let left): asked.append("wrong, \(left.map(String.init) ?? "?") left")
            }
        }
    }
}

@Suite("One-time passwords at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct OneTimePasswordLifeTests {
    /// A session where alice is logged in.
    private func withAlice(
        _ policy: @escaping @Sendable (inout OneTimePasswordPolicy) -> Void = { _ in },
        handlers: [any MultiFactorHandler] = [], _ test: (Bench, GatewaySession) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let session = GatewaySession(
                configuration: bench.configuration, vault: bench.vault, client: bench.client,
                board: DeviceDescription(name: "bench", model: "Test Board"), handlers: handlers,
                clock: bench.time.clock, uptime: bench.time.uptime)
            try await session.ready()
            try await session.logIn("alice")
            try await bench.lab.demandOneTimePasswords(at: [.hello, .upload, .file], policy)
            bench.lab.resetCounts()
            try await test(bench, session)
        }
    }

    private func hello(_ person: Person?, as principal: Principal = .user) -> APICall {
        var call = APICall("GET", "/lab/hello?q=1")
        (call.principal, call.passwordAsker) = (principal, person)
        return call
    }

    /// Makes calls at once, and returns when all have met the demand. The person's gate is closed then, so that none is
    /// answered.
    private func demandingCalls(
        _ count: Int, for person: Person, _ bench: Bench, _ session: GatewaySession
    ) async -> [Task<Int, any Error>] {
        person.gate.close()
        let answered = bench.lab.events.subscribe()
        let calls = (0..<count).map { _ in Task { try await session.call(hello(person)).status } }
        var demands = 0
        for await event in answered where event.errorCode == 8_000_140 {
            demands += 1
            if demands == count { break }
        }
        return calls
    }

    private func fault(_ work: () async throws -> some Any) async -> MultiFactorError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? MultiFactorError
        }
    }

    @Test("a call that needs a one-time password asks for it and is made again (MAG checklist 30)")
    func right() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let person = Person(bench.lab, channels: ["SMS"], passwords: ["000 000", "wrong"])
            let response = try await session.call(hello(person))
            #expect(response.status == 200)
            #expect(
                person.asked.entries == [
                    "channel EMAIL SMS EMAIL,SMS", "password by SMS", "wrong, ? left", "password by SMS",
                    "wrong, 2 left",
                    "password by SMS",
                ])
            // The first, one with the wrong password, one with the right one: what cannot be one is not sent.
            #expect(bench.count(.hello) == 3 && bench.count(.oneTimePassword) == 1)
            let sent = try #require(await bench.lab.oneTimePasswords().first)
            #expect(sent.owner == "alice" && sent.channels == ["SMS"] && sent.password == nil)
        }
    }

    @Test("one-time passwords are not asked for where nobody is, and the API's own answer is returned")
    func nobody() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let response = try await session.call(hello(nil))
            #expect(response.status == 401 && response.headers.first("x-ca-err") == "8000140")
            #expect(CallAnswer(response).passwordDemand == .notAsked(hasChoice: true))
            // A program that brings a password itself is left alone.
            var own = hello(Person(bench.lab))
            own.headers.set("x-otp", "123456")
            #expect(try await session.call(own).headers.first("X-OTP") == "required")
            #expect(bench.count(.oneTimePassword) == 0)
        }
    }

    @Test("one-time passwords need no choice of one channel, allow several, and are asked of the board too")
    func channels() async throws {
        try await withAlice({ $0.channels = ["QRCODE"] }) { (bench, session) async throws -> Void in
            let person = Person(bench.lab)
            #expect(try await session.call(hello(person)).status == 200)
            #expect(person.asked.entries == ["password by QRCODE"])
            try await bench.lab.demandOneTimePasswords(at: [.hello]) { $0.channels = ["EMAIL", "SMS"] }
            let both = Person(bench.lab, channels: ["EMAIL,SMS"])
            #expect(try await session.call(hello(both)).status == 200)
            #expect(await bench.lab.oneTimePasswords().first?.channels == ["EMAIL", "SMS"])
            let board = Person(bench.lab)
            try await bench.lab.demandOneTimePasswords(at: [.hello]) { $0.channels = ["SMS"] }
            let owner = try await session.status().magIdentifier
            let ofBoard = hello(board, as: .board)
            async let answer = session.call(ofBoard)
            #expect(try await answer.status == 200)
            #expect(await bench.lab.oneTimePasswords().contains { $0.owner == owner })
        }
    }

    @Test("one-time passwords that are too old are offered again, and without another the call ends (160105)")
    func expired() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let lab = bench.lab
            let late = Person(lab) { lab.advanceClock(by: .seconds(301)) }
            #expect(try await session.call(hello(late)).status == 200)
            #expect(
                late.asked.entries == [
                    "channel EMAIL SMS EMAIL,SMS", "password by EMAIL", "channel EMAIL SMS EMAIL,SMS again",
                    "password by EMAIL",
                ])
            #expect(bench.count(.oneTimePassword) == 2)
            let tired = Person(lab, channels: ["SMS", nil]) { lab.advanceClock(by: .seconds(301)) }
            #expect(await fault({ try await session.call(hello(tired)) }) == .expired)
        }
    }

    @Test("three wrong one-time passwords bar the user, and the gateway is not asked meanwhile (160107)")
    func barred() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let person = Person(bench.lab, passwords: ["1", "2", "3"])
            guard case .barred(let until?)? = await fault({ try await session.call(hello(person)) }) else {
                Issue.record("not barred")
                return
            }
            let end = try Date(until, strategy: .iso8601)
            #expect((10...110).contains(end.timeIntervalSince(bench.time.clock())))
            bench.lab.resetCounts()
            #expect(await fault({ try await session.call(hello(person)) }) == .barred(until: until))
            #expect(bench.count(.hello) == 0 && bench.count(.oneTimePassword) == 0)
            // Others are served, and so is a call that is not known to demand one, until it does.
            #expect(try await session.call(hello(nil, as: .board)).status == 401)
            var file = APICall("GET", "/lab/file/3")
            (file.principal, file.passwordAsker) = (.user, person)
            guard case .barred(let again?)? = await fault({ try await session.call(file) }) else {
                Issue.record("not barred")
                return
            }
            // Told anew, in whole seconds.
            #expect(abs(try Date(again, strategy: .iso8601).timeIntervalSince(end)) < 90)
            #expect(bench.count(.file) == 1 && bench.count(.oneTimePassword) == 0)
            bench.time.pass(101)
            bench.lab.advanceClock(by: .seconds(101))
            #expect(try await session.call(hello(person)).status == 200)
        }
    }

    @Test("one-time passwords that are ordered too often or cannot be sent are refused for a while (160106)")
    func limits() async throws {
        try await withAlice({ $0.deliveries = 1 }) { (bench, session) async throws -> Void in
            let person = Person(bench.lab)
            #expect(try await session.call(hello(person)).status == 200)
            guard case .limitExceeded(_?)? = await fault({ try await session.call(hello(person)) }) else {
                Issue.record("not refused")
                return
            }
            bench.time.pass(101)
            bench.lab.advanceClock(by: .seconds(101))
            for (code, status) in [(8_000_400, 400), (8_000_500, 500)] {
                bench.lab.inject(Fault(.error(code: code, status: status), at: .oneTimePassword, times: 1))
                guard case .notDelivered(status, code, _)? = await fault({ try await session.call(hello(person)) })
                else {
                    Issue.record("delivered")
                    return
                }
            }
            bench.lab.inject(Fault(.status(204), at: .oneTimePassword, times: 1))
            #expect(
                await fault({ try await session.call(hello(person)) })
                    == .notDelivered(
                        status: 204, caError: nil, reason: "the answer does not say that one was sent"))
        }
    }

    @Test("a call ends where the person refuses to choose a channel (160201) or to answer (160202)")
    func refused() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let first = Person(bench.lab, channels: [nil])
            #expect(await fault({ try await session.call(hello(first)) }) == .channelCancelled(by: "test"))
            #expect(bench.count(.oneTimePassword) == 0)
            let second = Person(bench.lab, passwords: [nil])
            #expect(await fault({ try await session.call(hello(second)) }) == .passwordCancelled(by: "test"))
        }
    }

    @Test("a one-time password for a session is asked for once by calls that meet the demand at once")
    func once() async throws {
        try await withAlice({ $0.remembers = 60 }) { (bench, session) async throws -> Void in
            let person = Person(bench.lab)
            let calls = await demandingCalls(3, for: person, bench, session)
            person.gate.open()
            for call in calls { #expect(try await call.value == 200) }
            #expect(person.asked.entries == ["channel EMAIL SMS EMAIL,SMS", "password by EMAIL"])
            #expect(bench.count(.oneTimePassword) == 1)
        }
    }

    @Test("one-time passwords for one call each are asked for in turn, and none is sent twice")
    func oneEach() async throws {
        try await withAlice({ $0.channels = ["SMS"] }) { (bench, session) async throws -> Void in
            let person = Person(bench.lab)
            let calls = await demandingCalls(2, for: person, bench, session)
            person.gate.open()
            for call in calls { #expect(try await call.value == 200) }
            #expect(person.asked.entries == ["password by SMS", "password by SMS"])
            #expect(!bench.lab.log.contains { $0.errorCode == 8_000_142 })
        }
    }

    @Test("a canceled call asks for no one-time password any more, and lets the next one in")
    func cancelled() async throws {
        try await withAlice { (bench, session) async throws -> Void in
            let person = Person(bench.lab)
            let calls = await demandingCalls(2, for: person, bench, session)
            for call in calls { call.cancel() }
            person.gate.open()
            for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
            #expect(try await session.call(hello(Person(bench.lab))).status == 200)
        }
    }
}
