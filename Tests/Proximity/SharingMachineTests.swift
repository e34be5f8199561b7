import Bluetooth
import Prompts
import TestSupport
import Testing

@testable import Proximity

@Suite("The machine of a shared session")
struct SharingMachineTests {
    private let now = Duration.seconds(100)

    private func machine(_ change: (inout SharingLimits) -> Void = { _ in }) -> SharingMachine {
        var limits = SharingLimits()
        change(&limits)
        return SharingMachine(limits: limits) { $0.hasPrefix("https://gw.lab.test:8443/") }
    }

    private func write(
        _ pieces: [[UInt8]], by id: CentralID, _ machine: inout SharingMachine, at time: Duration
    ) -> [SharingMachine.Action] {
        pieces.flatMap { machine.receive(.written(id, characteristic: characteristic, value: $0), now: time) }
    }

    private func refusals(_ actions: [SharingMachine.Action]) -> [RequestRefusal] {
        actions.compactMap {
            if case .report(.requestRefused(_, .requestRefused(let refusal))) = $0 { refusal } else { nil }
        }
    }

    private func tickets(_ actions: [SharingMachine.Action]) -> [SharingMachine.Ticket] {
        actions.compactMap { if case .consider(let ticket) = $0 { ticket } else { nil } }
    }

    private func answers(_ actions: [SharingMachine.Action]) -> [SharingAnswer] {
        actions.compactMap { if case .notify(_, _, let answer, _) = $0 { answer } else { nil } }
    }

    @Test("a shared session considers a request that came before the subscription (MAG 8.4)")
    func beforeSubscription() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let tickets = tickets(write(pieces(), by: central(1), &machine, at: now))
        #expect(tickets.map(\.url) == [ownURL])
        #expect(tickets.first?.requester.name == "Pixel")
        #expect(tickets.first?.requester.address == "\(address(1))")
    }

    @Test("a shared session keeps the pieces of several centrals apart (MAG 8.5)")
    func apart() {
        var machine = machine()
        let (one, two) = (pieces("https://gw.lab.test:8443/1"), pieces("https://gw.lab.test:8443/2"))
        _ = machine.receive(.connected(central(1)), now: now)
        _ = machine.receive(.connected(central(2)), now: now)
        let actions = zip(one, two).flatMap {
            write([$0], by: central(1), &machine, at: now) + write([$1], by: central(2), &machine, at: now)
        }
        #expect(tickets(actions).map(\.url) == ["https://gw.lab.test:8443/1", "https://gw.lab.test:8443/2"])
    }

    @Test("a shared session never considers the URL of another gateway (MAG checklist 36)")
    func foreign() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let actions = write(pieces("https://evil.test/auth"), by: central(1), &machine, at: now)
        #expect(tickets(actions).isEmpty)
        #expect(refusals(actions) == [.foreignGateway])
        #expect(answers(actions) == [.failed])
    }

    @Test("a shared session answers 1 to what is not a request (MAG 8.5)", arguments: ["hello", "{}", ""])
    func garbage(text: String) {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let actions = write([Array(text.utf8), Array("EOM".utf8)], by: central(1), &machine, at: now)
        #expect(refusals(actions).count == 1)
        #expect(answers(actions) == [.failed])
    }

    @Test("a shared session may be asked again on the same connection when nobody was asked")
    func again() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        for verdict in [
            SharingMachine.Verdict.declined(.busy), .failed(.noUserSession(reason: "")), .declined(.replayed),
        ] {
            let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
            #expect(answers(machine.considered(ticket, verdict, now: now)) == [.failed])
        }
    }

    @Test("foreign URLs count only against their sender, and from many addresses keep nobody else away")
    func foreignFromMany() {
        var machine = machine { $0.requestsPerMinute = 6 }
        for number in 0..<200 {
            let id = CentralID(address: address(UInt8(number)), number: number)
            _ = machine.receive(.connected(id), now: now)
            #expect(
                refusals(write(pieces("https://evil.test/\(number)"), by: id, &machine, at: now)) == [.foreignGateway])
            _ = machine.receive(.disconnected(id), now: now)
        }
        let friend = CentralID(address: address(250), number: 250)
        _ = machine.receive(.connected(friend), now: now)
        #expect(tickets(write(pieces(), by: friend, &machine, at: now)).count == 1)
        var other = self.machine { ($0.requestsPerMinute, $0.requestsPerConnection) = (3, 10) }
        _ = other.receive(.connected(friend), now: now)
        let refused = (0..<4).flatMap {
            refusals(write(pieces("https://evil.test/\($0)"), by: friend, &other, at: now))
        }
        #expect(refused == [.foreignGateway, .foreignGateway, .foreignGateway, .tooMany])
    }

    @Test("a shared session knows who waits: those whose requests are under consideration")
    func waiting() {
        var machine = machine()
        for number in 1...2 { _ = machine.receive(.connected(central(UInt8(number))), now: now) }
        #expect(machine.waiting.isEmpty)
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        #expect(machine.waiting == [central(1)])
        _ = machine.considered(ticket, .authorized, now: now)
        #expect(machine.waiting.isEmpty)
    }

    @Test(
        "a shared session answers 0, 1 or 2 (MAG 8.2)",
        arguments: [
            (SharingMachine.Verdict.authorized, SharingAnswer.authorized),
            (.failed(.authorizationFailed(answer: "down")), .failed),
            (.declined(.refused(by: .button)), .declined), (.declined(.timedOut), .declined),
            (.declined(.sharingEnded(by: .button)), .declined), (.declined(.busy), .failed),
            (.declined(.tooMany), .failed),
            (.declined(.replayed), .failed), (.declined(.ambiguous), .failed),
        ])
    func answer(verdict: SharingMachine.Verdict, answer: SharingAnswer) {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        #expect(answers(machine.considered(ticket, verdict, now: now)) == [answer])
    }

    @Test("a shared session hangs up a central that asks too often, even after it came back")
    func tooOften() {
        var machine = machine()
        var refused: [RequestRefusal] = []
        var actions: [SharingMachine.Action] = []
        for number in 0..<7 {
            let id = CentralID(address: address(1), number: number)
            _ = machine.receive(.connected(id), now: now)
            actions = write(pieces("https://gw.lab.test:8443/\(number)"), by: id, &machine, at: now)
            refused += refusals(actions)
            _ = machine.receive(.disconnected(id), now: now)
        }
        #expect(refused == [.tooMany])
        #expect(actions.contains { if case .notify(_, _, .failed, hangUp: true) = $0 { true } else { false } })
    }

    @Test("a shared session hangs up a central with too many requests on one connection")
    func tooManyOnOne() {
        var machine = machine { $0.requestsPerMinute = 100 }
        _ = machine.receive(.connected(central(1)), now: now)
        let garbage = [Array("x".utf8), Array("EOM".utf8)]
        for _ in 0..<5 { #expect(refusals(write(garbage, by: central(1), &machine, at: now)) == [.notJSON]) }
        #expect(refusals(write(pieces(), by: central(1), &machine, at: now)) == [.tooMany])
        #expect(write(pieces(), by: central(1), &machine, at: now).isEmpty)
    }

    @Test("a shared session hangs up a central that floods it while its request is considered")
    func flood() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        #expect(write([Array("a few more".utf8)], by: central(1), &machine, at: now).isEmpty)
        let actions = write(Array(repeating: [], count: 256), by: central(1), &machine, at: now)
        #expect(
            actions == [
                .abandon(ticket), .report(.centralHungUp("\(central(1))", .flooding)), .hangUp(central(1)),
            ])
        #expect(!machine.isWanted(ticket))
    }

    @Test("a shared session hangs up a central whose request is too long")
    func tooLong() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let actions = write(
            Array(repeating: [UInt8](repeating: 32, count: 200), count: 60), by: central(1), &machine, at: now)
        #expect(refusals(actions) == [.tooLong])
        #expect(actions.contains(.report(.centralHungUp("\(central(1))", .tooLong))))
    }

    @Test("a shared session hangs up silent, slow and lingering centrals at their times")
    func deadlines() {
        var machine = machine()
        let (silent, slow, done) = (central(1), central(2), central(3))
        #expect(machine.receive(.connected(silent), now: now).contains(.wake(at: now + .seconds(30))))
        _ = machine.receive(.connected(slow), now: now)
        _ = write([[123]], by: slow, &machine, at: now + .seconds(5))
        _ = machine.receive(.connected(done), now: now)
        let ticket = tickets(write(pieces(), by: done, &machine, at: now))[0]
        let told = machine.considered(ticket, .authorized, now: now)
        #expect(told.contains(.wake(at: now + .seconds(10))), "earlier than the one asked for")
        #expect(machine.expire(now: now + .seconds(10)).contains(.report(.centralHungUp("\(done)", .finished))))
        #expect(machine.expire(now: now + .seconds(30)).contains(.report(.centralHungUp("\(silent)", .silent))))
        let late = machine.expire(now: now + .seconds(35))
        #expect(refusals(late) == [.tooSlow])
        #expect(late.contains(.report(.centralHungUp("\(slow)", .slow))))
        #expect(machine.expire(now: now + .seconds(99)).isEmpty)
    }

    @Test("a shared session does not hurry a central whose request a person looks at")
    func patience() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        _ = write(pieces(), by: central(1), &machine, at: now)
        #expect(machine.expire(now: now + .seconds(600)).isEmpty)
    }

    @Test("a shared session has room for eight centrals")
    func room() {
        var machine = machine()
        for number in 1...8 { _ = machine.receive(.connected(central(UInt8(number))), now: now) }
        #expect(
            machine.receive(.connected(central(9)), now: now)
                == [.report(.centralHungUp("\(central(9))", .tooMany)), .hangUp(central(9))])
        #expect(write(pieces(), by: central(9), &machine, at: now).isEmpty)
        _ = machine.receive(.disconnected(central(1)), now: now)
        #expect(machine.receive(.connected(central(10)), now: now) == [.report(.centralConnected("\(central(10))"))])
    }

    @Test("a shared session stops asking when the requester leaves, and reports that it could not answer")
    func left() {
        var machine = machine()
        _ = machine.receive(.connected(central(1)), now: now)
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        #expect(
            machine.receive(.disconnected(central(1)), now: now)
                == [.abandon(ticket), .report(.centralDisconnected("\(central(1))"))])
        let actions = machine.considered(ticket, .authorized, now: now)
        #expect(actions.contains(.report(.sessionAuthorized(ticket.requester))))
        #expect(
            actions.contains(
                .report(
                    .sessionNotNotified(ticket.requester, .centralUnsubscribed(central: "\(central(1))")))))
        #expect(answers(actions).isEmpty)
    }

    @Test("a shared session for one device ends when that device has read its answer and left")
    func once() {
        var machine = SharingMachine(endsAfterOne: true) { _ in true }
        for number in 1...2 { _ = machine.receive(.connected(central(UInt8(number))), now: now) }
        let declined = tickets(write(pieces("https://a/1"), by: central(1), &machine, at: now))[0]
        #expect(!machine.considered(declined, .declined(.timedOut), now: now).contains(.finish(.done)))
        let ticket = tickets(write(pieces("https://a/2"), by: central(1), &machine, at: now))[0]
        _ = machine.considered(ticket, .authorized, now: now)
        #expect(!machine.notified(central(1), ticket.requester, .authorized, failure: nil).contains(.finish(.done)))
        #expect(refusals(write(pieces("https://a/3"), by: central(2), &machine, at: now)) == [.busy])
        #expect(machine.receive(.disconnected(central(1)), now: now).contains(.finish(.done)))
    }

    @Test("a shared session ends when every central has its answer, and takes no more requests until then")
    func end() {
        var machine = machine()
        for number in 1...2 { _ = machine.receive(.connected(central(UInt8(number))), now: now) }
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        #expect(machine.end(.requested, now: now) == [.abandon(ticket), .wake(at: now + .seconds(2))])
        #expect(machine.end(.expired, now: now) == [])
        let refused = write(pieces("https://gw.lab.test:8443/2"), by: central(2), &machine, at: now)
        #expect(refusals(refused) == [.busy])
        _ = machine.notified(central(2), ticket.requester, .failed, failure: nil)
        #expect(answers(machine.considered(ticket, .declined(.sharingEnded(by: .button)), now: now)) == [.declined])
        #expect(machine.notified(central(1), ticket.requester, .declined, failure: nil).last == .finish(.requested))
        var idle = self.machine()
        #expect(idle.end(.expired, now: now).last == .finish(.expired))
    }

    @Test("a shared session for one device ends even when that device stays")
    func onceStays() {
        var machine = SharingMachine(endsAfterOne: true) { _ in true }
        _ = machine.receive(.connected(central(1)), now: now)
        let ticket = tickets(write(pieces(), by: central(1), &machine, at: now))[0]
        _ = machine.considered(ticket, .authorized, now: now)
        _ = machine.notified(central(1), ticket.requester, .authorized, failure: nil)
        #expect(machine.expire(now: now + .seconds(10)).contains(.finish(.done)))
    }
}
