import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages
@testable import LocalAPI
@testable import Messaging

@Suite("A slow reader", .timeLimit(.minutes(5)))
struct SlowReaderTests {
    /// What was written to one reader's stream.
    private final class Written: Sendable {
        private let condition = AsyncCondition([UInt8]())

        /// - Parameter mayOffer: whether what is offered is taken, and not only what waits.
        /// - Parameter begun: called at the beginning of each write that waits.
        func writer(
            _ form: StreamForm, waitingAt gates: [Gate] = [], mayOffer: Bool,
            begun: @escaping @Sendable () -> Void = {}
        ) -> StreamWriter {
            let turns = Counter()
            return StreamWriter(
                form,
                put: { [self] bytes, passage in
                    begun()
                    let turn = turns.next()
                    if let last = gates.last { await (turn < gates.count ? gates[turn - 1] : last).pass() }
                    return passage {
                        condition.change { $0 += bytes }
                        return true
                    }
                },
                add: { [self] make in
                    guard mayOffer else { return false }
                    let bytes = make()
                    condition.change { $0 += bytes }
                    return true
                })
        }

        var text: String { condition.read { String(decoding: $0, as: UTF8.self) } }

        /// Waits for the message whose content is the number.
        func records(through number: Int, _ form: StreamForm) async throws -> [String] {
            let end = Self.bytes(number, form)
            return try Self.records(await condition.wait { $0.suffix(end.count) == end ? $0 : nil }, form)
        }

        private static func bytes(_ number: Int, _ form: StreamForm) -> [UInt8] {
            var output: [UInt8] = []
            MessageEncoder(nil).write(SlowReaderTests.message(number), as: form, to: &output)
            return output
        }

        private static func records(_ bytes: [UInt8], _ form: StreamForm) throws -> [String] {
            var (frames, lines) = (FrameSplitter(), LineSplitter())
            let records = try form == .frames ? frames.add(bytes) : lines.add(bytes)
            return try records.map { try shown(LocalRecord($0, in: form)) }
        }

        static func shown(_ record: LocalRecord) -> String {
            switch record {
            case .message(let bytes): "message \(String(decoding: bytes, as: UTF8.self))"
            case .event(let event): event.json.text
            }
        }
    }

    private static func message(_ number: Int) -> IncomingMessage {
        IncomingMessage(
            topic: "a/b", payload: Array("\(number)".utf8), qos: .atLeastOnce, retained: false,
            receivedAt: Date(timeIntervalSince1970: 0))
    }

    private static func expected(_ number: Int, _ form: StreamForm) -> String {
        guard form == .lines else { return "message \(number)" }
        let digits = "\(number)"
        return #"""
            message {"bytes":\#(digits.count),"qos":1,"receivedAt":"1970-01-01T00:00:00Z","retained":false,\#
            "text":"\#(digits)","topic":"a/b"}
            """#
    }

    @Test(
        "a slow reader loses its oldest messages and learns how many, while another gets them all",
        arguments: [StreamForm.lines, .frames], [false, true])
    func besideQuick(form: StreamForm, mayOffer: Bool) async throws {
        try await withFolder { folder in
            let outbox = try await Outbox.open(at: folder + "/outbox.db", durability: .memory)
            let messenger = Messenger(address: BrokerAddress(host: "localhost", port: 1), outbox: outbox) {
                throw AgentError.subscriptionEnded
            }
            let (slow, quick) = (Written(), Written())
            let (encoder, gate) = (MessageEncoder(nil), Gate())
            var readers: [Task<Void, any Error>] = []
            for (written, gates) in [(slow, [gate]), (quick, [])] {
                let subscription = try await messenger.subscribe("a/#", bound: 1000)
                let deliveries = Deliveries(subscription: subscription, encoder: encoder)
                readers.append(
                    Task {
                        try await deliveries.write(
                            to: written.writer(form, waitingAt: gates, mayOffer: mayOffer && gates.isEmpty))
                    })
            }
            // The slow one does not even get away from the first event while all of this arrives.
            for first in stride(from: 0, to: 3000, by: 500) {
                await messenger.inbox.deliver((first..<first + 500).map(Self.message))
                _ = try await quick.records(through: first + 499, form)
            }
            let begun = LocalEvent(name: "subscribed", data: ["filter": "a/#"]).json.text
            let all = try await quick.records(through: 2999, form)
            #expect(all == [begun] + (0..<3000).map { Self.expected($0, form) })

            gate.open()
            let late = try await slow.records(through: 2999, form)
            let lagged = LocalEvent(
                name: "lagged",
                data: ["count": 2000, "message": "this reader was too slow: 2000 messages were left out"])
            #expect(late == [begun, lagged.json.text] + (2000..<3000).map { Self.expected($0, form) })
            for reader in readers {
                reader.cancel()
                try await reader.value
            }
        }
    }

    @Test("a slow reader gets nothing any more once its subscription has ended")
    func behindAtTheEnd() async throws {
        try await withFolder { folder in
            let outbox = try await Outbox.open(at: folder + "/outbox.db", durability: .memory)
            let messenger = Messenger(address: BrokerAddress(host: "localhost", port: 1), outbox: outbox) {
                throw AgentError.subscriptionEnded
            }
            let subscription = try await messenger.subscribe("a/#")
            let (written, gates) = (Written(), [Gate(), Gate()])
            let open = OpenSubscriptions()
            try open.add(subscription)
            let begun = AsyncStream.makeStream(of: Void.self)
            let reader = Task {
                let writer = written.writer(.lines, waitingAt: gates, mayOffer: false) { begun.continuation.yield() }
                try await Deliveries(subscription: subscription, encoder: MessageEncoder(nil), brokerSession: open)
                    .write(to: writer)
            }
            // The first event, then the message, wait for the reader.
            var writes = begun.stream.makeAsyncIterator()
            await writes.next()
            gates[0].open()
            await messenger.inbox.deliver([Self.message(1)])
            await writes.next()
            await open.end()
            gates[1].open()
            await #expect(throws: AgentError.subscriptionEnded) { try await reader.value }
            #expect(written.text == LocalEvent(name: "subscribed", data: ["filter": "a/#"]).json.text + "\n")
        }
    }
}
