import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

/// Who is asked, what is answered, and what is recorded.
@Suite("The consent desk", .timeLimit(.minutes(5)))
struct ConsentDeskTests: ConsentSuite {
    let scene = ConsentScene()

    @Test("the consent desk gives a person's answer at the local API once, and refuses a second answer")
    func oneAnswer() async throws {
        let desk = desk()
        async let answer = desk.ask(requester(1))
        try await isAsked(1)
        #expect(await desk.pending.map(\.requester) == [requester(1)])
        try await desk.answer(1, grant: true, by: .user("root"))
        await #expect(throws: ProximityError.noSuchRequest(id: 1)) {
            try await desk.answer(1, grant: false, by: .user("root"))
        }
        #expect(await answer.decision == .granted(by: .user("root")))
        #expect(await desk.pending.isEmpty)
    }

    @Test("the consent desk takes no answer for a refusal, when its patience ends")
    func timeOut() async {
        let desk = desk()
        async let answer = desk.ask(requester(1))
        await clock.advance(by: .seconds(30))
        #expect(await answer.decision == .timedOut)
        #expect(records.entries.map(\.outcome) == [.refused])
    }

    @Test("the consent desk asks one question at a time, with full patience, and has at most four wait")
    func line() async throws {
        let desk = desk { $0.waitingLimit = 2 }
        async let first = desk.ask(requester(1))
        try await isAsked(1)
        async let second = desk.ask(requester(2))
        while await desk.pending.count < 2, !Task.isCancelled { await Task.yield() }
        #expect(await desk.ask(requester(3)).decision == .busy)
        #expect(recorder.names.filter { $0 == "consent-asked" }.count == 1)
        await clock.advance(by: .seconds(30))
        #expect(await first.decision == .timedOut)
        try await isAsked(2)
        await outwait()
        #expect(await second.decision == .timedOut)
    }

    @Test("the consent desk lets one requester ask six times a minute, and all together four times that")
    func rate() async {
        let desk = desk { $0.policy = .grantAll }
        for _ in 0..<6 { #expect(await desk.ask(requester(1)).decision == .granted(by: .policy)) }
        #expect(await desk.ask(requester(1)).decision == .tooMany)
        for number in 2..<20 { #expect(await desk.ask(requester(UInt8(number))).decision == .granted(by: .policy)) }
        #expect(await desk.ask(requester(20)).decision == .tooMany)
        clock.move(by: .seconds(60))
        #expect(await desk.ask(requester(1)).decision == .granted(by: .policy))
    }

    @Test("the consent desk asks about a session once, however its URL is spelled, until it is forgotten")
    func replayed() async throws {
        let desk = desk()
        async let first = desk.ask(requester(1), about: "7b")
        try await isAsked(1)
        #expect(await desk.ask(requester(2), about: "7b").decision == .replayed, "also while it waits")
        try await desk.answer(1, grant: false, by: .user("root"))
        #expect(await first.decision == .refused(by: .user("root")))
        #expect(await desk.ask(requester(2), about: "7b").decision == .replayed)
        #expect(records.entries.map(\.decision) == [.refused(by: .user("root"))], "who was turned away is not recorded")
        async let silent = desk.ask(requester(2), about: "8c")
        await outwait()
        #expect(await silent.decision == .timedOut)
        #expect(await desk.ask(requester(3), about: "8c").decision == .replayed)
        clock.move(by: .seconds(900))
        async let later = desk.ask(requester(3), about: "7b")
        await clock.advance(by: .seconds(30))
        #expect(await later.decision == .timedOut)
    }

    @Test("the consent desk asks again about a session nobody was asked about, or an unanswered code")
    func notReplayed() async throws {
        let desk = desk { $0.waitingLimit = 1 }
        async let first = desk.ask(Requester(name: nil, address: nil, way: .qr), about: "7b")
        try await isAsked(1)
        #expect(await desk.ask(requester(2), about: "8c").decision == .busy)
        await outwait()
        #expect(await first.decision == .timedOut)
        async let again = desk.ask(Requester(name: nil, address: nil, way: .qr), about: "7b")
        await outwait()
        #expect(await again.decision == .timedOut)
        async let other = desk.ask(requester(2), about: "8c")
        await outwait()
        #expect(await other.decision == .timedOut)
    }

    @Test("the consent desk withdraws the question when whoever asked gives up")
    func withdrawn() async throws {
        let desk = desk()
        let asking = Task { await desk.ask(requester(1)) }
        try await isAsked(1)
        asking.cancel()
        #expect(await asking.value.decision == .withdrawn)
        #expect(await desk.pending.isEmpty)
    }

    @Test("the consent desk refuses at once where nobody is to be asked (MAG 8.5)")
    func nobody() async {
        let answer = await desk { $0.policy = .refuseAll }.ask(requester(1))
        #expect(!answer.decision.isGranted)
        #expect(answer.decision.error == .nobodyToAsk)
        #expect(answer.decision.error?.numbers == ErrorNumbers(android: 121, ios: 650_005))
    }

    @Test("the consent desk records who, how, by whose consent and with what outcome, each once")
    func audit() async throws {
        let desk = desk()
        async let granted = desk.ask(requester(1), inNameOf: "alice")
        try await isAsked(1)
        try await desk.answer(1, grant: true, by: .program("test"))
        let answer = await granted
        try await desk.begin(answer)
        #expect(records.entries.map(\.outcome) == [.unknown])
        await desk.conclude(answer, .failed(code: "gateway.refused"))
        async let refused = desk.ask(Requester(name: nil, address: nil, way: .qr))
        try await isAsked(2)
        try await desk.answer(2, grant: false, by: .user("root"))
        _ = await refused
        let records = records.entries.map(\.json)
        #expect(records.map { $0["id"] } == [1, 1, 2])
        #expect(records.map { $0["decision"] } == ["granted", "granted", "refused"])
        #expect(records.map { $0["by"] } == ["program test", "program test", "user root"])
        #expect(records.map { $0["outcome"] } == ["unknown", "failed", "refused"])
        #expect(records.map { $0["code"] } == [nil, "gateway.refused", nil])
        #expect(records.map { $0["address"] } == ["C0:FF:EE:00:00:01", "C0:FF:EE:00:00:01", .null])
        #expect(records.map { $0["name"] } == ["Phone 1", "Phone 1", .null])
        #expect(records.map { $0["way"] } == ["ble", "ble", "qr"])
        #expect(records.map { $0["user"] } == ["alice", "alice", .null])
        #expect(records.allSatisfy { $0["time"] == "2030-03-17T17:46:40Z" })
    }
}
