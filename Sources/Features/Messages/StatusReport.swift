import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

// How the states of the messenger and the outbox appear in the status.

extension MessengerStatus.State: AnswerValue {}

extension MessengerStatus: Answered {
    package static let answer: Answer<MessengerStatus> = [
        "state": .of("what the connection does") { $0.state }, "address": .of("host:port") { $0.broker.description },
        "since": .of("since when") { $0.since }, "sent": .of("messages since the agent started") { $0.sent },
        "acknowledged": .of("messages since the agent started") { $0.acknowledged },
        "received": .of("messages since the agent started") { $0.received },
        "lastError": .schema(.problem) { $0.lastError?.explanation },
        "errorReports": .of("What the broker reported at topics whose last level is error") { $0.errors },
    ]

    package var errors: ErrorReports? { lastReport.map { ErrorReports(count: reports, last: $0) } }
}

/// The errors that a broker has reported.
package struct ErrorReports: Answered {
    let count: Int
    let last: BrokerReport

    package static let answer: Answer<ErrorReports> = [
        "count": .of("since the agent started") { $0.count }, "topic": .of("of the last") { $0.last.topic },
        "text": .of("of the last, as the broker worded it") { $0.last.text },
        "time": .of("when the last came") { $0.last.time },
    ]
}

extension OutboxStatus {
    package static let answer: Answer<(outbox: OutboxStatus, flushSeconds: Int, now: Date)> = [
        "depth": .of("messages that wait") { $0.outbox.depth }, "bytes": .of("that they take") { $0.outbox.bytes },
        "unwritten": .of("those in memory only; a power cut or a kill loses the board's own readings") {
            $0.outbox.unwritten
        },
        "flushSeconds": .of("how long readings stay there at most") { $0.flushSeconds },
        "accepted": .of("messages ever") { $0.outbox.accepted },
        "delivered": .of("messages ever") { $0.outbox.delivered },
        "dropped": .of("messages ever") { $0.outbox.dropped.total },
        "oldestAge": .of("of the message that waits longest, in seconds") { report in
            report.outbox.oldest.map { Int(report.now.timeIntervalSince($0)) }
        },
        "setAside": .of("file name of a damaged outbox") { $0.outbox.setAside },
        "rescued": .of("messages that were read from it") { $0.outbox.setAside == nil ? nil : $0.outbox.rescued },
        "deadLetters": .of("messages that are no longer sent, as the broker ended the connection on each") {
            $0.outbox.deadLetters
        },
    ]
}
