import Glibc
import Storage
import Synchronization

/// What cannot be kept, such as on a full disk, stays at the broker, which sends it again on another connection. The
/// present one, or the next, goes on without it: the messages whose sending gives back room must not wait for that
/// room.
extension InboxStore {
    struct Unkept: Sendable {
        /// What the messages count in all of their inboxes.
        let bytes: Int
        let fault: MessagingError
    }

    /// What a transaction takes beside its messages, in bytes: its log with the index of it, and pages of the file.
    private static let spare = 128 << 10

    /// Why messages stay at the broker; `nil` while they are kept.
    public nonisolated var obstacle: MessagingError? { unkept.withLock { $0?.fault } }

    /// Whether an inbox wants one of the messages that the broker sends until it is acknowledged. An inbox may have
    /// been added since the message was read.
    nonisolated func wantsPromised(of messages: [IncomingMessage]) -> Bool {
        messages.contains { $0.qos == .atLeastOnce && wants($0) }
    }

    /// - Returns: whether the messages are kept.
    func keepOrNote(_ messages: [IncomingMessage]) -> Bool {
        do {
            try keep(messages)
            return true
        } catch {
            let policies = policies
            let bytes = messages.reduce(0) { sum, message in
                sum + message.keptSize * policies.count { $0.wants(message) }
            }
            noteUnkept(bytes: bytes, error)
            return false
        }
    }

    func noteUnkept(bytes: Int, _ fault: MessagingError) {
        let isFirst = unkept.withLock { unkept in
            defer { unkept = Unkept(bytes: bytes, fault: fault) }
            return unkept == nil
        }
        if isFirst { note(.notKept(fault)) }
    }

    /// Whether what could not be kept can be now, as far as that can be found out without it.
    func canKeepAgain() -> Bool {
        guard let bytes = unkept.withLock({ $0?.bytes }) else { return true }
        do {
            let name = path + ".room"
            let file = try PlainFile(name, creating: true, of: path)
            unlink(name)
            // In the log, and later in the file.
            _ = try file.reserve(2 * bytes + Self.spare)
        } catch {
            return false
        }
        guard (try? change { try $0.rewriteOwner() }) != nil else { return false }
        unkept.withLock { $0 = nil }
        note(.keptAgain)
        return true
    }
}
