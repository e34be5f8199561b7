import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

// How the states of the messenger and the outbox appear in the status.

extension MessengerStatus.State: AnswerValue {}

extension MessengerStatus: Answered {
    package static let answer: Answer<MessengerStatus> = [
        "state": .of("state of the connection") { $0.state }, "address": .of("host:port") { $0.broker.description },
        "since": .of("since when it is in this state") { $0.since },
        "way": .of("TCP or WebSocket, and through which proxy") { $0.way },
        "firstBrokerError": .schema(.problem) { $0.preferredError?.explanation },
        "sent": .of("messages since the agent started") { $0.sent },
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
        "count": .of("reports since the agent started") { $0.count },
        "topic": .of("topic of the last") { $0.last.topic },
        "text": .of("text of the last, as the broker worded it") { $0.last.text },
        "time": .of("when the last came") { $0.last.time },
    ]
}

extension OutboxStatus {
    package static let answer: Answer<(outbox: OutboxStatus, flushSeconds: Int, now: Date)> = [
        "depth": .of("waiting messages") { $0.outbox.depth }, "bytes": .of("their size") { $0.outbox.bytes },
        "unwritten": .of("those in memory only; a power cut or a killed agent loses the board's own readings") {
            $0.outbox.unwritten
        },
        "flushSeconds": .of("how long readings stay there at most") { $0.flushSeconds },
        "accepted": .of("messages so far") { $0.outbox.accepted },
        "delivered": .of("messages so far") { $0.outbox.delivered },
        "dropped": .of("messages so far") { $0.outbox.dropped.total },
        "oldestAge": .of("age of the oldest waiting message, in seconds") { report in
            report.outbox.oldest.map { Int(report.now.timeIntervalSince($0)) }
        },
        "setAside": .of("file name of a damaged outbox") { $0.outbox.setAside },
        "rescued": .of("messages that were read from it") { $0.outbox.setAside == nil ? nil : $0.outbox.rescued },
        "deadLetters": .of("messages that are no longer sent, because the broker ended the connection on each") {
            $0.outbox.deadLetters
        },
    ]
}
