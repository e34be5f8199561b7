import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

/// What is found of the broker and the outbox.
package struct MessagesFindings: Sendable {
    package struct Broker: Sendable {
        package var address: String
        package var isConnected: Bool
        package var lastError: (any Explained)?
        /// Errors that it has reported since the start.
        package var reports = 0
        package var lastReport: BrokerReport?
        /// Why messages for inboxes are left to it.
        package var inboxFault: MessagingError?
        /// How it is reached, such as `TCP, direct`.
        package var way = "TCP, direct"
        /// Why the first of several brokers is not used.
        package var preferredError: MessagingError?
    }

    package struct Outbox: Sendable {
        package var depth: Int
        package var dropped: Int
        package var deadLetters = 0
        /// How long the oldest message has waited, in seconds; `nil` when none waits.
        package var oldestAge: TimeInterval?
    }

    package var broker: Broker?
    package var outbox: Outbox?
    /// Why the outbox cannot be opened.
    package var outboxFault: MessagingError?
}

extension AgentState {
    package var messages: MessagesFindings {
        get { self[MessagesFindings.self, default: MessagesFindings()] }
        set { self[MessagesFindings.self, default: MessagesFindings()] = newValue }
    }
}
