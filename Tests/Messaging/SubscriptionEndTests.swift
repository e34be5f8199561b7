import Foundation
import TestSupport
import Testing

@testable import Messaging

@Suite("The end of a subscription", .timeLimit(.minutes(5)))
struct SubscriptionEndTests {
    @Test("the end of a subscription waits for the message just passed on, and nothing comes after it")
    func endDuringDelivery() async throws {
        let inbox = Inbox(payloadLimit: .max)
        let (hasEnded, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let subscription = inbox.subscribe(try TopicFilter("#"), qos: .atLeastOnce, bound: 4) { hasEnded.signal() }
        let taken = Counter()
        let (endings, hasBegun) = AsyncStream<Task<Int, Never>>.makeStream()
        subscription.deliver { _ in
            let end = Task {
                await subscription.end()
                isOver.signal()
                return taken.count
            }
            hasBegun.yield(end)
            // The end has begun, and must not be over as long as this works.
            hasEnded.wait()
            #expect(isOver.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
            taken.next()
            return true
        }
        let message = IncomingMessage(
            topic: "t", payload: [], qos: .atLeastOnce, retained: false, receivedAt: Date(timeIntervalSince1970: 0))
        let thread = Thread { inbox.deliver([message]) }
        thread.start()
        for await end in endings.prefix(1) { #expect(await end.value == 1) }
        inbox.deliver([message])
        #expect(taken.count == 1)
        #expect(!subscription.pass { true })
    }
}
