import Foundation
import Synchronization
import Testing

@testable import Messaging

@Suite("Messages held in memory")
final class HeldMessagesTests: Sendable {
    private let start = SuspendingClock.now

    private func messages(_ numbers: ClosedRange<Int64>) throws -> [QueuedMessage] {
        try numbers.map {
            QueuedMessage(id: $0, message: OutgoingMessage(topic: try Topic("t"), payload: [1, 2]), acceptedAt: Date())
        }
    }

    /// The numbers that were answered with success.
    private let answered = Mutex<[[Int64]]>([])

    /// Three that are awaited together, a reading for which nobody waits, and one that is awaited.
    private func held() throws -> HeldMessages {
        let answer: Outbox.Answer = { [self] result in
            if case .success(let numbers) = result { answered.withLock { $0.append(numbers) } }
        }
        var held = HeldMessages()
        held.hold(try messages(5...7), due: start + .seconds(1), answer: answer)
        held.hold(try messages(8...8), due: start + .seconds(5), answer: nil)
        held.hold(try messages(9...9), due: start + .milliseconds(1200), answer: answer)
        return held
    }

    @Test("held messages come in the order of their numbers, as many as are wanted")
    func pages() throws {
        var held = try held()
        #expect(held.page(after: 0, limit: 2, bytes: 1 << 20).messages.map(\.id) == [5, 6])
        #expect(held.page(after: 6, limit: 9, bytes: 1 << 20).messages.map(\.id) == [7, 8, 9])
        #expect(held.page(after: 6, limit: 9, bytes: 1 << 20).isLast)
        // After the first no more than so many bytes.
        #expect(held.page(after: 5, limit: 9, bytes: 1).messages.map(\.id) == [6])
        #expect(!held.page(after: 5, limit: 9, bytes: 1).isLast)
        #expect(held.page(after: 9, limit: 9, bytes: 1).isLast)
        #expect(held.remove(6).wasHeld)
        #expect(held.page(after: 4, limit: 9, bytes: 1 << 20).messages.map(\.id) == [5, 7, 8, 9])
    }

    @Test("held messages of one call are answered with the last of them, whatever their order")
    func groups() throws {
        var held = try held()
        let size = try messages(1...1)[0].size
        #expect(held.bytes == 5 * size)
        #expect(held.remove(7).finished == nil)
        #expect(held.remove(5).finished == nil)
        held.remove(9).finished?.succeed()
        let last = held.remove(6)
        #expect(last.finished?.numbers == 5...7)
        last.finished?.succeed()
        #expect(answered.withLock { $0 } == [[9], [5, 6, 7]])
        #expect(!held.remove(6).wasHeld)
        #expect((held.count, held.bytes) == (1, size))
    }

    @Test("held messages are due when the first of them is")
    func due() throws {
        var held = try held()
        #expect(held.nextDue == start + .seconds(1))
        for id in Int64(5)...7 { _ = held.remove(id) }
        #expect(held.nextDue == start + .milliseconds(1200))
        _ = held.remove(9)
        #expect(held.nextDue == start + .seconds(5))
        #expect(held.removeAll().map(\.numbers) == [8...8])
        #expect(held.isEmpty && held.bytes == 0 && held.nextDue == nil)
    }

    @Test("held messages that somebody waits for leave when they cannot be written, and readings stay")
    func withdrawal() throws {
        var held = try held()
        _ = held.remove(6)
        var forgotten: [Int64] = []
        let withdrawn = held.withdraw(postponingOthersUntil: start + .seconds(60)) { forgotten.append($0.id) }
        #expect(withdrawn.map(\.numbers) == [5...7, 9...9])
        #expect(forgotten == [5, 7, 9])
        #expect(held.all.map(\.id) == [8])
        #expect(held.bytes == (try messages(1...1)[0].size))
        #expect(held.nextDue == start + .seconds(60))
    }

    @Test(
        "a message is held in memory only while the broker may have it sooner, and a reading for seconds",
        arguments: [
            // spill, flush; then awaited and connected; awaited and away; a reading connected; a reading away.
            (250, 5000, [250, nil, 5000, 5000]), (0, 5000, [nil, nil, nil, 5000]), (250, 0, [250, nil, 250, nil]),
            (0, 0, [nil, nil, nil, nil]),
        ] as [(Int, Int, [Int?])])
    func patience(spill: Int, flush: Int, expected: [Int?]) {
        var policy = OutboxPolicy()
        (policy.spill, policy.flush) = (.milliseconds(spill), .milliseconds(flush))
        let found = [(true, true), (true, false), (false, true), (false, false)].map { isAwaited, isConnected in
            policy.patience(isAwaited: isAwaited, isConnected: isConnected)
        }
        #expect(found == expected.map { $0.map { .milliseconds($0) } })
    }
}
