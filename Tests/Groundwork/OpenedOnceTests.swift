import Groundwork
import TestSupport
import Testing

@Suite("Values opened once", .timeLimit(.minutes(5)))
struct OpenedOnceTests {
    private final class Account: Sendable {}

    /// What is stored of one account. A reading sees what is stored when it begins, and ends when the gate is open.
    private final class Records: Sendable {
        private struct State {
            var isStored = true
            var readings = 0
        }
        private let state = AsyncCondition(State())
        let gate: Gate

        init(isSlow: Bool = false) { gate = Gate(isOpen: !isSlow) }

        var readings: Int { state.read { $0.readings } }

        func read() async -> Account? {
            let isStored = state.change { state in
                state.readings += 1
                return state.isStored
            }
            await gate.pass()
            return isStored ? Account() : nil
        }

        func erase() { state.change { $0.isStored = false } }

        /// Waits until this many readings have begun.
        func areRead(_ count: Int) async { await state.wait { $0.readings >= count ? () : nil } }
    }

    private struct Refused: Error {}

    private let accounts = OpenedOnce<Account>()

    private func account(_ records: Records, _ name: String = "a") async throws -> Account? {
        try await accounts.value(name) { await records.read() }
    }

    @Test("two callers that open a value at the same time get the same one, and so do those after them")
    func shared() async throws {
        let records = Records(isSlow: true)
        async let first = account(records)
        async let second = account(records)
        await records.areRead(2)
        records.gate.open()
        let (one, other) = try await (first, second)
        let later = try await account(records)
        #expect(one != nil)
        #expect(one === other)
        #expect(one === later)
        #expect(records.readings == 2)
    }

    @Test("a value that is removed while it is being opened is not kept, and nobody gets it")
    func removedMeanwhile() async throws {
        let records = Records(isSlow: true)
        async let opening = account(records)
        await records.areRead(1)
        try await accounts.remove("a") { _ in
            Issue.record("it was not open")
        } erasing: {
            records.erase()
        }
        records.gate.open()
        let opened = try await opening
        #expect(opened == nil)
        let later = try await account(records)
        #expect(later == nil)
    }

    @Test("a value whose removal fails while it is being opened is read again, and kept")
    func removalFails() async throws {
        let records = Records(isSlow: true)
        async let opening = account(records)
        await records.areRead(1)
        await #expect(throws: Refused.self) {
            try await accounts.remove("a", closing: { _ in }, erasing: { throw Refused() })
        }
        records.gate.open()
        let opened = try await opening
        #expect(opened != nil)
        #expect(records.readings == 2)
        let later = try await account(records)
        #expect(later === opened)
        #expect(records.readings == 2)
    }

    @Test("an open value is closed before what is stored of it is erased, and nobody gets it meanwhile")
    func removal() async throws {
        let records = Records()
        let log = AsyncCondition([String]())
        let opened = try await account(records)
        try await accounts.remove("a") { closed in
            #expect(closed === opened)
            log.change { $0.append("closed") }
        } erasing: {
            let meanwhile = try await account(records)
            #expect(meanwhile == nil)
            records.erase()
            log.change { $0.append("erased") }
        }
        #expect(log.read { $0 } == ["closed", "erased"])
        #expect(records.readings == 1)
        let later = try await account(records)
        #expect(later == nil)
        #expect(records.readings == 2)
    }

    @Test("the removal of one value leaves the others open")
    func others() async throws {
        let records = Records()
        let first = try await account(records, "a")
        _ = try await account(records, "b")
        try await accounts.remove("b", closing: { _ in }, erasing: {})
        let later = try await account(records, "a")
        #expect(later === first)
    }

    @Test("a value that cannot be opened is tried again by the next caller, and one that was made is not read")
    func failure() async throws {
        let records = Records()
        await #expect(throws: Refused.self) { try await accounts.value("a") { throw Refused() } }
        let opened = try await account(records, "a")
        #expect(opened != nil)
        let made = Account()
        accounts.keep(made, "b")
        let kept = try await account(records, "b")
        #expect(kept === made)
        #expect(records.readings == 1)
    }
}
