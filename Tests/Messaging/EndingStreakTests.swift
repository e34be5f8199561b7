import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("What several endings of connections in a row tell", .timeLimit(.minutes(5)))
struct EndingStreakTests {
    private static let takenOver = ConnectionLoss(cause: .hangUp, underWay: [])

    /// As many endings of connections that lived so long.
    private func streak(
        _ count: Int, life: Duration? = .seconds(1), loss: ConnectionLoss? = takenOver, isHangUp: Bool = true
    ) -> EndingStreak {
        var streak = EndingStreak()
        for _ in 0..<count { streak.connectionEnded(after: life, with: loss, isHangUp: isHangUp) }
        return streak
    }

    @Test("five connections that a broker ends within seconds, with nothing under way, tell of a rival")
    func rival() {
        #expect(streak(4).suspicion == nil)
        #expect(streak(5).suspicion == .rival)
        #expect(streak(5).count == 5)
    }

    @Test(
        "no rival is suspected for lines that break, messages that a broker does not take, or an idle limit",
        arguments: [
            (Duration.seconds(1), ConnectionLoss(cause: .silence, underWay: [])),
            (.seconds(1), ConnectionLoss(cause: .hangUp, underWay: [7])),
            (.seconds(60), ConnectionLoss(cause: .hangUp, underWay: [])),
        ])
    func noRival(life: Duration, loss: ConnectionLoss) {
        #expect(streak(50, life: life, loss: loss).suspicion == nil)
    }

    @Test("a suspicion stays while the pauses of both grow, and ends with a connection that lasts")
    func memory() {
        var streak = streak(5)
        streak.connectionEnded(after: .seconds(100), with: Self.takenOver, isHangUp: true)
        #expect(streak.suspicion == .rival)
        #expect(streak.count == 6)
        streak.connectionEnded(after: .seconds(200), with: Self.takenOver, isHangUp: true)
        #expect(streak.suspicion == nil)
        #expect(streak.count == 0)
    }

    @Test("five connections that end before an answer tell that the broker does not take their first messages")
    func refusedGreeting() {
        #expect(streak(5, life: nil, loss: nil).suspicion == .refusedGreeting)
        let unproven = ConnectionLoss(cause: .hangUp, underWay: [], isProven: false)
        #expect(streak(5, loss: unproven).suspicion == .refusedGreeting)
        // One that could not be made at all tells nothing.
        #expect(streak(5, life: nil, loss: nil, isHangUp: false).suspicion == nil)
    }

    @Test("a broker that takes no retained messages is said to refuse them, and is used without")
    func noRetained() async throws {
        let broker = try await TestBroker(
            TestBroker.Options(lines: ["allow_anonymous true", "retain_available false"]))
        let refused = try await Station(at: broker.address, running: false) { $0.presenceTopic = try Topic("status") }
        let events = refused.messenger.events.subscribe()
        refused.run()
        let error = await Station.first(of: events) {
            if case .failed(.greetingRefused(let broker, let count), _) = $0 {
                MessagingError.greetingRefused(broker, count: count)
            } else {
                nil
            }
        }
        #expect(error == .greetingRefused(broker.address, count: EndingStreak.limit))
        #expect(error?.remedy?.contains("broker.presence") == true)
        try await refused.stop()

        let taken = try await Station(at: broker.address) {
            $0.presenceTopic = try Topic("status")
            $0.retainsPresence = false
        }
        try await taken.publish("x", to: "t")
        try await taken.waitUntilSent()
        try await taken.stop()
    }

    @Test("two clients with one identifier at a real broker are told of each other, and set no message aside")
    func realRival() async throws {
        let broker = try await TestBroker()
        let one = try await Station(at: broker.address, clientID: "same", running: false) {
            $0.presenceTopic = try Topic("status")
        }
        let events = one.messenger.events.subscribe()
        let other = try await Station(at: broker.address, clientID: "same")
        one.run()
        let count = await Station.first(of: events) {
            if case .failed(.rival(_, let count), _) = $0 { count } else { nil }
        }
        #expect(try #require(count) >= EndingStreak.limit)
        #expect(await one.messenger.status().lastError?.code == "messaging.rival")
        try await one.publish("x", to: "t")
        try await other.stop()
        try await one.waitUntilSent()
        #expect(await one.outbox.status().deadLetters == 0)
        try await one.stop()
    }
}
